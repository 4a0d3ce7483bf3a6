//! The loop: batches in, steps, evaluations and checkpoints out.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use padir_checkpoint::{Extras, ModelCard};
use padir_model::{Device, Network, NetworkError};
use padir_text::batch::{BatchError, BatchReader, Batches, Position, Prefetch, Rank};
use padir_text::vocab::{VocabError, Vocabulary};

use crate::config::{Config, DeviceKind};
use crate::data::{self, DataError};
use crate::decoding::Decoding;
use crate::devset::{DevSet, Evaluation};
use crate::learner::{Learner, NotFinite};
use crate::objective::{Pairs, Tally};
use crate::record::{Kind, RecordError, Recorder, Row};
use crate::rundir::{RunDir, RunDirError, Standing, Status, manifest_of};
use crate::state::{self, Progress, StateError};

/// Somebody who watches a run.
pub trait Observer: Send {
    /// Something worth a remark happened.
    fn note(&mut self, text: &str);
    /// A step was made.
    fn stepped(&mut self, moment: &Moment);
    /// A dev set was evaluated.
    fn evaluated(&mut self, step: u64, set: &str, evaluation: &Evaluation);
}

/// A step and where it leads.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Steps made.
    pub step: u64,
    /// The last step, if it is known.
    pub last: Option<u64>,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The mean loss per token since the last line of the record.
    pub loss: f64,
    /// Target tokens per second since then.
    pub speed: f64,
    /// The learning rate.
    pub rate: f64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Whether this goes to the record.
    pub recorded: bool,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The last step was made.
    Steps,
    /// The time is up.
    Time,
    /// The last epoch is over.
    Epochs,
    /// The metric did not improve any more.
    Patience,
    /// Somebody stopped it.
    Stopped,
}

impl Ending {
    /// In words.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Steps => "all steps are made",
            Self::Time => "the time is up",
            Self::Epochs => "the last epoch is over",
            Self::Patience => "the metric does not improve any more",
            Self::Stopped => "it was stopped",
        }
    }
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Its directory.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// Its vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabError),
    /// Its data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its batches.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// Its network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A checkpoint.
    #[error(transparent)]
    State(#[from] StateError),
    /// The record.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The device is not there.
    #[error("this build has no {0}")]
    Device(&'static str),
    /// The loss is not a number any more.
    #[error("{source}; the batch is in {}", batch.display())]
    NotFinite {
        /// What was found.
        source: NotFinite,
        /// Where the batch was written.
        batch: PathBuf,
    },
    /// No pair can be learnt from.
    #[error(
        "no pair of the training data is within batch.max_source and batch.max_target, or a batch is too small for one"
    )]
    Nothing,
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

/// The device that a configuration asks for.
///
/// # Errors
/// If this build does not know it.
pub fn device(config: &Config) -> Result<Device, TrainError> {
    match config.device.kind {
        DeviceKind::Cpu => Ok(Device::flex().autodiff()),
        #[cfg(feature = "wgpu")]
        DeviceKind::Wgpu => Ok(Device::wgpu(padir_model::DeviceKind::DefaultDevice).autodiff()),
        #[cfg(not(feature = "wgpu"))]
        DeviceKind::Wgpu => Err(TrainError::Device("wgpu: build with --features wgpu")),
        #[cfg(feature = "cuda")]
        DeviceKind::Cuda => Ok(Device::cuda(config.device.index).autodiff()),
        #[cfg(not(feature = "cuda"))]
        DeviceKind::Cuda => Err(TrainError::Device("cuda: build with --features cuda")),
    }
}

/// A run in progress.
struct Trainer<'a> {
    config: &'a Config,
    directory: RunDir,
    vocabulary: Vocabulary,
    vocabulary_files: (Vec<u8>, Vec<u8>),
    dev_sets: Vec<DevSet>,
    learner: Learner,
    recorder: Recorder,
    progress: Progress,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    /// The last line of the record, later by what was no training since.
    since: Instant,
}

/// Trains until a budget is used up or `stop` is set. A run that is resumed goes on as if nothing had happened.
///
/// # Errors
/// If anything cannot be read or written, or the loss is not finite.
pub fn train(
    config: &Config,
    resume: bool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Ending, TrainError> {
    // What can be refused is refused before there is a run.
    let device = device(config)?;
    let vocabulary = Vocabulary::load(&config.data.vocabulary)?;
    let dev_sets = data::dev_sets(config, &vocabulary)?;
    let manifest = manifest_of(config)?;
    let directory =
        if resume { RunDir::resume(config, &manifest)? } else { RunDir::begin(config, &manifest)? };
    let shards = data::shards(config, &vocabulary, directory.path())?;
    let mut model = config.model_config(&vocabulary);
    model.provenance.vocabulary = Some(vocabulary.hash());
    model.provenance.data = Some(shards.digest());
    let network = Network::initialise(&model, config.run.seed, &device)?;
    let mut learner = Learner::new(network, config);
    let mut reader = BatchReader::new(shards, config.batch_config(), Rank(0))?;
    if reader.epoch(0)?.batches() == 0 {
        return Err(TrainError::Nothing);
    }
    let begun = Progress {
        step: 0,
        tokens: 0,
        seconds: 0.0,
        bookmark: reader.bookmark(Position::default()),
        best: None,
        best_step: 0,
        waited: 0,
        evaluated: 0,
        tally: Tally::default(),
    };
    let progress = state::load_last(directory.path(), &mut learner)?.unwrap_or(begun);
    let position = reader.resume(&progress.bookmark)?;
    let recorded = directory.path().join(crate::record::FILE_NAME).exists();
    let recorder = if resume && recorded {
        Recorder::resume(directory.path(), progress.step)?.0
    } else {
        Recorder::begin(directory.path())?
    };
    let mut trainer = Trainer {
        config,
        vocabulary_files: (
            vocabulary.to_tokenizer_json().into_bytes(),
            vocabulary.to_model_bytes(),
        ),
        directory,
        vocabulary,
        dev_sets,
        learner,
        recorder,
        progress,
        observer,
        stop,
        since: Instant::now(),
    };
    let epochs = config.run.max_epochs;
    let end = (epochs > 0).then(|| u32::try_from(epochs).unwrap_or(u32::MAX));
    let ending = trainer.run(reader.batches(position, end));
    trainer.close(&ending)?;
    ending
}

impl Trainer<'_> {
    fn run(&mut self, batches: Batches) -> Result<Ending, TrainError> {
        self.greet()?;
        let mut batches = Prefetch::start(batches, 4).map_err(TrainError::Thread)?;
        let accumulate = self.config.optimiser.accumulate as usize;
        let started = Instant::now();
        let before = self.progress.seconds;
        self.since = Instant::now();
        loop {
            if let Some(ending) = self.limit(before + started.elapsed().as_secs_f64()) {
                self.finish(&ending)?;
                return Ok(ending);
            }
            let mut parts = Vec::new();
            let mut next = None;
            for batch in batches.by_ref().take(accumulate) {
                let batch = batch?;
                next = Some(batch.next);
                parts.push(Pairs::from(&batch));
            }
            let Some(next) = next else {
                self.finish(&Ending::Epochs)?;
                return Ok(Ending::Epochs);
            };
            let report = self.learner.learn(&parts).map_err(|source| self.bury(source, &parts))?;
            self.progress.tally.add(&report.tally);
            self.progress.step = self.learner.step();
            self.progress.tokens += report.tally.tokens;
            self.progress.seconds = before + started.elapsed().as_secs_f64();
            self.progress.bookmark.position = next;
            self.record(report.rate, report.norm, next.epoch)?;
            if self.progress.step.is_multiple_of(self.config.run.eval_every) {
                self.evaluate()?;
            }
            if self.progress.step.is_multiple_of(self.config.run.save_every) {
                self.save()?;
            }
        }
    }

    fn greet(&mut self) -> Result<(), TrainError> {
        let model = self.learner.network().config();
        let status = Status {
            standing: Standing::Running,
            parameters: model.parameter_count(),
            reason: None,
        };
        self.directory.set_status(&status)?;
        let step = self.progress.step;
        let from = if step > 0 { format!(", from step {step} on") } else { String::new() };
        self.observer.note(&format!("{} parameters{from}", model.parameter_count()));
        Ok(())
    }

    /// Whether something ends the run here.
    fn limit(&self, seconds: f64) -> Option<Ending> {
        let run = &self.config.run;
        if self.stop.load(Ordering::Relaxed) {
            Some(Ending::Stopped)
        } else if run.max_steps > 0 && self.progress.step >= run.max_steps {
            Some(Ending::Steps)
        } else if run.max_minutes > 0.0 && seconds >= 60.0 * run.max_minutes {
            Some(Ending::Time)
        } else if run.patience > 0 && self.progress.waited >= run.patience {
            Some(Ending::Patience)
        } else {
            None
        }
    }

    fn record(&mut self, rate: f64, norm: f64, epoch: u32) -> Result<(), TrainError> {
        let step = self.progress.step;
        let due = step.is_multiple_of(self.config.run.log_every);
        let elapsed = self.since.elapsed().as_secs_f64().max(1e-9);
        let speed = self.progress.tally.tokens as f64 / elapsed;
        let moment = Moment {
            step,
            last: (self.config.run.max_steps > 0).then_some(self.config.run.max_steps),
            epoch,
            loss: self.progress.tally.mean_loss(),
            speed,
            rate,
            seconds: self.progress.seconds,
            recorded: due,
        };
        self.observer.stepped(&moment);
        if due {
            let mut row = Row::now(Kind::Train, step, self.progress.seconds, self.progress.tokens)
                .with("loss", self.progress.tally.mean_loss())
                .with("entropy", self.progress.tally.mean_entropy())
                .with("accuracy", self.progress.tally.accuracy())
                .with("rate", rate)
                .with("norm", norm)
                .with("epoch", f64::from(epoch))
                .with("tokens_per_second", speed);
            if let Some(accuracy) = self.progress.tally.length_accuracy() {
                row = row.with("length_accuracy", accuracy);
            }
            self.recorder.append(&row)?;
            self.progress.tally = Tally::default();
            self.since = Instant::now();
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), TrainError> {
        let pause = Instant::now();
        let decoding = Decoding { settings: self.config.run.decode, fused: self.learner.fused() };
        let step = self.progress.step;
        let mut row = Row::now(Kind::Eval, step, self.progress.seconds, self.progress.tokens);
        self.learner.swap_average();
        for set in &self.dev_sets {
            let (network, objective) = (self.learner.network(), self.learner.objective());
            let evaluation = set.evaluate(network, objective, decoding, &self.vocabulary);
            let name = |measure: &str| format!("{}.{measure}", set.name);
            row = row
                .with(name("loss"), evaluation.tally.mean_loss())
                .with(name("entropy"), evaluation.tally.mean_entropy())
                .with(name("accuracy"), evaluation.tally.accuracy());
            if let Some(accuracy) = evaluation.tally.length_accuracy() {
                row = row.with(name("length_accuracy"), accuracy);
            }
            for (measure, value) in &evaluation.scores {
                row = row.with(name(measure), *value);
            }
            self.observer.evaluated(step, &set.name, &evaluation);
        }
        self.learner.swap_average();
        self.progress.evaluated = step;
        self.judge(&row)?;
        self.recorder.append(&row)?;
        // Evaluations are no part of the speed of training.
        self.since += pause.elapsed();
        Ok(())
    }

    /// Keeps the model if it is the best so far.
    fn judge(&mut self, row: &Row) -> Result<(), TrainError> {
        let Some(metric) = &self.config.run.metric else { return Ok(()) };
        let Some(&value) = row.values.get(&metric.to_string()) else { return Ok(()) };
        if self.progress.best.is_none_or(|best| metric.improves(best, value)) {
            self.progress.best = Some(value);
            self.progress.best_step = self.progress.step;
            self.progress.waited = 0;
            state::export(&self.directory.path().join("best"), &self.learner, &self.extras())?;
        } else {
            self.progress.waited += 1;
        }
        Ok(())
    }

    fn extras(&self) -> Extras<'_> {
        let (tokenizer, sentencepiece) = &self.vocabulary_files;
        let name =
            self.directory.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let card = ModelCard { title: name.unwrap_or_default(), ..ModelCard::default() };
        Extras {
            generation: None,
            card,
            tokenizer: Some(tokenizer),
            sentencepiece: Some(sentencepiece),
        }
    }

    fn save(&mut self) -> Result<(), TrainError> {
        let pause = Instant::now();
        let keep = self.config.run.keep.max(self.config.optimiser.average_last);
        let every = self.config.run.save_every;
        let (run, extras) = (self.directory.path(), self.extras());
        state::save(run, &self.learner, &self.progress, &extras, keep, every)?;
        self.since += pause.elapsed();
        Ok(())
    }

    /// The last evaluation, checkpoint and model.
    fn finish(&mut self, ending: &Ending) -> Result<(), TrainError> {
        let step = self.progress.step;
        let due = *ending != Ending::Stopped && self.progress.evaluated != step;
        if due {
            self.evaluate()?;
        }
        if due || state::steps(self.directory.path()).last() != Some(&step) {
            self.save()?;
        }
        if *ending != Ending::Stopped {
            let place = self.directory.path().join("final");
            let last = self.config.optimiser.average_last;
            if last > 1 {
                state::export_average(
                    self.directory.path(),
                    &place,
                    &self.learner,
                    &self.extras(),
                    last,
                )?;
            } else {
                state::export(&place, &self.learner, &self.extras())?;
            }
        }
        Ok(())
    }

    /// Saves the last good state and the batch that broke it.
    fn bury(&mut self, source: NotFinite, parts: &[Pairs]) -> TrainError {
        let batch = self.directory.path().join(format!("not-finite-{}.json", source.step));
        let rows =
            |side: &padir_model::Sentences| side.iter().map(<[u32]>::to_vec).collect::<Vec<_>>();
        let content: Vec<_> = parts
            .iter()
            .map(|pairs| serde_json::json!({"source": rows(&pairs.sources), "target": rows(&pairs.targets)}))
            .collect();
        let text = serde_json::Value::from(content).to_string();
        if let Err(error) = padir_base::file::write_atomically(&batch, text.as_bytes()) {
            self.observer.note(&format!("the batch could not be saved: {error}"));
        }
        if let Err(error) = self.save() {
            self.observer.note(&format!("the last good state could not be saved: {error}"));
        }
        TrainError::NotFinite { source, batch }
    }

    fn close(&self, ending: &Result<Ending, TrainError>) -> Result<(), TrainError> {
        let (standing, reason) = match ending {
            Ok(Ending::Stopped) => (Standing::Stopped, Ending::Stopped.reason().to_owned()),
            Ok(ending) => (Standing::Finished, ending.reason().to_owned()),
            Err(error) => (Standing::Failed, error.to_string()),
        };
        let parameters = self.learner.network().config().parameter_count();
        let status = Status { standing, parameters, reason: Some(reason) };
        match self.directory.set_status(&status) {
            // What ended the run matters more than that it could not be written down.
            Err(_) if ending.is_err() => Ok(()),
            other => Ok(other?),
        }
    }
}
