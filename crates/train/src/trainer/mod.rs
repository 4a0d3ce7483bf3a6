//! The loop: batches in, steps, evaluations and checkpoints out.
//!
//! ```text
//! step ─► record ─► evaluation, if one is due ─► checkpoint, if one is due ─► next step
//! ```
//!
//! A run can be stopped anywhere in it. What is saved then is the state after the last whole step; an evaluation that
//! was not completed is made again when the run goes on.

mod beginning;
mod error;
mod observer;
mod saving;
mod speed;
mod watching;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use padir_model::Device;
use padir_score::Script;
use padir_text::batch::{BatchReader, Batches, Position, Prefetch, Rank};
use padir_text::vocab::Vocabulary;

use crate::config::{Config, DeviceKind, Difference};
use crate::data::{self, DataError};
use crate::devset::DevSet;
use crate::learner::Learner;
use crate::objective::{Pairs, Statistics};
use crate::record::{self, Kind, Known, Recorder, Row};
use crate::rundir::{Changes, RunDir, RunState, Status, manifest_of};
use crate::state::{self, Progress};
use speed::Speedometer;

pub use error::TrainError;
pub use observer::{Ending, Moment, Observer};

/// How a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// From nothing.
    Begin,
    /// Where it was left.
    Resume(Changes),
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
    vocabulary: Arc<Vocabulary>,
    vocabulary_files: (Vec<u8>, Vec<u8>),
    dev_sets: Vec<DevSet>,
    learner: Learner,
    recorder: Recorder,
    progress: Progress,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    speed: Speedometer,
    /// When the last checkpoint was made, or the session began.
    saved: Instant,
}

/// Trains until a budget is used up or `stop` is set. A run that is resumed goes on as if nothing had happened.
///
/// # Errors
/// If anything cannot be read or written, or the loss is not finite.
pub fn train(
    config: &Config,
    start: Start,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Ending, TrainError> {
    // What can be refused is refused before there is a run.
    let device = device(config)?;
    let vocabulary = Arc::new(Vocabulary::load(&config.data.vocabulary)?);
    let dev_sets = data::dev_sets(config, &vocabulary)?;
    let manifest = manifest_of(config)?;
    let (directory, changes) = match start {
        Start::Begin => (RunDir::begin(config, &manifest)?, Vec::new()),
        Start::Resume(changes) => RunDir::resume(config, &manifest, changes)?,
    };
    let mut note = |text: &str| observer.note(text);
    let shards = match data::shards(config, &vocabulary, directory.path(), stop, &mut note) {
        // There is no step to save yet, and nothing of the encoding is left.
        Err(DataError::Stopped) => return Ok(Ending::Stopped),
        shards => shards?,
    };
    let mut model = config.model_config(&vocabulary);
    model.provenance.vocabulary = Some(vocabulary.hash());
    model.provenance.data = Some(shards.digest());
    let network = beginning::network(config, &model, &vocabulary, &device)?;
    let mut learner = Learner::new(network, config);
    let mut reader = BatchReader::new(shards, config.batch_config(), Rank(0))?;
    if reader.epoch(0)?.batches() == 0 {
        return Err(TrainError::Nothing);
    }
    let progress =
        match state::load_last(directory.path(), &mut learner).map_err(TrainError::Load)? {
            Some(progress) => progress,
            None => beginning(&reader),
        };
    let position = reader.resume(&progress.bookmark)?;
    let recorder = open_record(start, &directory, &progress, &changes)?;
    // After the record knows of changes: they are not lost, whatever happens now.
    directory.describe(config, &manifest)?;
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
        speed: Speedometer::start(Instant::now()),
        saved: Instant::now(),
    };
    let epochs = config.run.max_epochs;
    let end = (epochs > 0).then(|| u32::try_from(epochs).unwrap_or(u32::MAX));
    let ending =
        trainer.announce(&changes).and_then(|()| trainer.run(reader.batches(position, end)));
    trainer.close(&ending)?;
    ending
}

/// Where a run stands that has made no step.
fn beginning(reader: &BatchReader) -> Progress {
    Progress {
        step: 0,
        tokens: 0,
        seconds: 0.0,
        bookmark: reader.bookmark(Position::default()),
        best: None,
        best_step: 0,
        waited: 0,
        evaluated: 0,
        statistics: Statistics::default(),
    }
}

/// The record from here on; changes that were accepted are noted in it.
fn open_record(
    start: Start,
    directory: &RunDir,
    progress: &Progress,
    changes: &[Difference],
) -> Result<Recorder, TrainError> {
    let path = directory.path();
    let known = Known { step: progress.step, evaluated: progress.evaluated };
    let mut recorder = match start {
        // A run may have ended before its first line.
        Start::Resume(_) if path.join(record::FILE_NAME).exists() => {
            Recorder::resume(path, known)?.0
        }
        Start::Begin | Start::Resume(_) => Recorder::begin(path)?,
    };
    if !changes.is_empty() {
        let mut row = Row::now(Kind::Change, progress.step, progress.seconds, progress.tokens);
        row.changes = changes.iter().map(ToString::to_string).collect();
        recorder.append(&row)?;
    }
    Ok(recorder)
}

impl Trainer<'_> {
    fn announce(&mut self, changes: &[Difference]) -> Result<(), TrainError> {
        let model = self.learner.network().config();
        let status =
            Status { state: RunState::Running, parameters: model.parameter_count(), reason: None };
        self.directory.set_status(&status)?;
        let step = self.progress.step;
        let from = if step > 0 { format!(", from step {step} on") } else { String::new() };
        self.observer.note(&format!("{} parameters{from}", model.parameter_count()));
        for change in changes {
            self.observer.note(&format!("from here on: {change}"));
        }
        for note in &self.config.notes {
            self.observer.note(note);
        }
        self.note_misfits();
        Ok(())
    }

    /// Says if BLEU of a dev set would compare something else than words.
    fn note_misfits(&mut self) {
        let decode = &self.config.run.decode;
        for set in self.dev_sets.iter().filter(|_| decode.lines > 0) {
            let references = set.references.iter().map(String::as_str);
            if let Some(misfit) = Script::of(references).misfit(decode.tokenize) {
                let name = &set.name;
                self.observer.note(&format!(
                    "note: dev set {name}: {misfit}; run.decode.tokenize chooses another, such as \"zh\" or \"13a\""
                ));
            }
        }
    }

    fn run(&mut self, batches: Batches) -> Result<Ending, TrainError> {
        let mut batches = Prefetch::start(batches, 4).map_err(TrainError::Thread)?;
        let accumulate = self.config.optimiser.accumulate as usize;
        let started = Instant::now();
        let before = self.progress.seconds;
        self.speed = Speedometer::start(started);
        loop {
            // First, because a run that is resumed may owe it since before it was stopped.
            if self.owes_evaluation() {
                self.evaluate()?;
            }
            // The end saves by itself, after its evaluation.
            if let Some(ending) = self.limit(before + started.elapsed().as_secs_f64()) {
                return self.finish(ending);
            }
            if self.owes_checkpoint() {
                self.save()?;
            }
            let mut parts = Vec::new();
            let mut next = None;
            for batch in batches.by_ref().take(accumulate) {
                let batch = batch?;
                next = Some(batch.next);
                parts.push(Pairs::from(&batch));
            }
            let Some(next) = next else { return self.finish(Ending::Epochs) };
            if parts.iter().all(Pairs::is_empty) {
                // Pools with fewer pairs than batches are filled up with empty ones.
                self.progress.bookmark.position = next;
                continue;
            }
            let report = self.learner.learn(&parts).map_err(|found| self.dump(found, &parts))?;
            self.progress.statistics.add(&report.statistics);
            self.progress.step = self.learner.step();
            self.progress.tokens += report.statistics.tokens;
            self.progress.seconds = before + started.elapsed().as_secs_f64();
            self.progress.bookmark.position = next;
            self.speed.count(report.statistics.tokens);
            self.record(report.rate, report.norm, next.epoch)?;
        }
    }

    /// Whether something ends the run here.
    fn limit(&self, seconds: f64) -> Option<Ending> {
        let run = &self.config.run;
        if self.is_stopped() {
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

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
