//! `padir train`: a network from two text files and one configuration.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use padir_text::vocab::Vocabulary;
use padir_train::config::{Config, MANUAL};
use padir_train::cost;
use padir_train::devset::Evaluation;
use padir_train::rundir::{CONFIG, Changes, RunDirError};
use padir_train::trainer::{Ending, Moment, Observer, Start, TrainError, train};
use serde_json::json;

use super::data::table::grouped;
use crate::console::Console;
use crate::hint::WithHint;
use crate::interrupt::{Interrupted, stop_flag};
use crate::memory;

/// Train a model.
///
/// One TOML file says what is learnt from what; --manual prints one with every key. Everything about a
/// run is in its directory: the resolved configuration, hashes of all it read, metrics.jsonl, TensorBoard
/// events, checkpoints, the best model. Ctrl-C saves and ends, a second one ends at once; --resume goes on, to the bit.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir train --manual > en-de.toml
  padir train en-de.toml
  padir train en-de.toml --set run.dir=runs/try --set run.max_minutes=10
  padir train en-de.toml --resume
  padir train en-de.toml --resume-or-begin
  padir train en-de.toml --resume --accept-changes --set optimiser.clip_norm=1
  tensorboard --logdir runs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Train {
    /// The configuration.
    #[arg(value_name = "CONFIG", required_unless_present = "manual")]
    config: Option<PathBuf>,

    /// Override a key of the configuration.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Go on with the run that stands in the directory.
    #[arg(long)]
    resume: bool,

    /// Go on with the run that stands in the directory, or begin it if there is none.
    #[arg(long, conflicts_with = "resume")]
    resume_or_begin: bool,

    /// Go on even if learning rates, clipping, dropout or the like have changed, and note the changes in the record.
    #[arg(long, requires = "resume")]
    accept_changes: bool,

    /// Read and check the configuration, print it with all its defaults, and end.
    #[arg(long)]
    check: bool,

    /// Print a configuration with every key and what it means, and end.
    #[arg(long)]
    manual: bool,
}

impl Train {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if self.manual {
            return console.print(MANUAL);
        }
        let path = self.config.context("there is no configuration")?;
        let config = Config::read(&path, &self.set)
            .hint("`padir train --manual` prints a configuration with every key")?;
        check_memory(console, &config, self.check)?;
        if self.check {
            return console.print(&config.to_toml());
        }
        let goes_on = self.resume || self.resume_or_begin && config.run.dir.join(CONFIG).exists();
        let start = match (goes_on, self.accept_changes) {
            (false, _) => Start::Begin,
            (true, false) => Start::Resume(Changes::Refused),
            (true, true) => Start::Resume(Changes::Accepted),
        };
        let stop = stop_flag();
        let mut watcher = Watcher::new(console, &config);
        let ending =
            with_threads(config.run.threads, || train(&config, start, &mut watcher, &stop))?;
        watcher.bar.finish_and_clear();
        let best = watcher.last.take();
        let ending = advise(ending)?;
        let again = if ending == Ending::Stopped { "; --resume goes on" } else { "" };
        console.note(format!("ended: {}{again}", ending.reason()));
        if console.wants_json() {
            let summary = json!({
                "directory": config.run.dir,
                "ending": ending.reason(),
                "step": watcher.step,
                "evaluation": best,
            });
            console.print_json(&summary)?;
        }
        // Nothing that needs the model may go on.
        if ending == Ending::Stopped { Err(Interrupted.into()) } else { Ok(()) }
    }
}

/// Refuses a training that cannot fit into memory, and warns of one that may not. `always` if the estimate is wanted in any case.
fn check_memory(console: &Console, config: &Config, always: bool) -> Result<()> {
    let vocabulary = Vocabulary::load(&config.data.vocabulary)?;
    let model = config.model_config(&vocabulary);
    let need = cost::memory(config, &model);
    let (lasting, total) = (memory::human(need.lasting), memory::human(need.total()));
    if let Some(limit) = memory::limit().filter(|limit| need.lasting > *limit) {
        let limit = memory::human(limit);
        let count = grouped(model.parameter_count());
        return Err(anyhow!(
            "{count} parameters, their gradients and the optimiser need {lasting} of memory; there is {limit}"
        ))
        .hint("make the model smaller; Adafactor remembers less than AdamW, and optimiser.ema = 0 nothing");
    }
    let available = memory::available();
    if let Some(available) = available.filter(|available| need.total() > *available) {
        let available = memory::human(available);
        console.note(format_args!(
            "note: this training may need {total} of memory, and {available} is free; a smaller batch.tokens needs less"
        ));
    } else if always {
        console.note(format_args!(
            "memory: about {total}, {lasting} of it for parameters, gradients and the optimiser"
        ));
    }
    Ok(())
}

/// What a recipe wants to know of a training before it runs.
impl Train {
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    pub(crate) fn overrides(&self) -> &[String] {
        &self.set
    }

    /// Whether the same command line goes on with what was interrupted.
    pub(crate) fn can_be_repeated(&self) -> bool {
        self.resume_or_begin
    }
}

/// Works with as many threads as `run.threads` says; 0 leaves the choice to --threads.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    if threads == 0 {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.context("cannot start the worker threads")?.install(work))
}

/// Says what can be done about an error.
fn advise(ending: Result<Ending, TrainError>) -> Result<Ending> {
    let advice = match &ending {
        Err(TrainError::RunDir(RunDirError::Taken(_))) => {
            "--resume goes on with it; --set run.dir=… begins another"
        }
        Err(TrainError::RunDir(RunDirError::Absent(_))) => "leave --resume out to begin it",
        Err(TrainError::RunDir(RunDirError::Different { differences, .. }))
            if differences.iter().all(|difference| difference.negotiable) =>
        {
            "--accept-changes goes on with these and notes them in the record; --set run.dir=… begins another run"
        }
        Err(TrainError::RunDir(RunDirError::Different { .. })) => {
            "resume with what it was begun with, or begin another run with --set run.dir=…"
        }
        Err(TrainError::NotFinite { .. }) => {
            "a lower optimiser.schedule.peak, a longer warmup or optimiser.clip_norm = 1 usually help: \
             change them and go on with --resume --accept-changes; without its newest checkpoint the run goes on from further back"
        }
        Err(TrainError::Load(_)) => {
            "an older checkpoint of the run may still be good: remove the newest"
        }
        Err(TrainError::Save(_)) => {
            "make room; the checkpoints that stand are whole, and --resume goes on from the last"
        }
        _ => return Ok(ending?),
    };
    ending.hint(advice)
}

/// Shows a run as it goes: a bar on a terminal, plain lines elsewhere.
struct Watcher<'a> {
    console: &'a Console,
    bar: ProgressBar,
    step: u64,
    last: Option<serde_json::Value>,
}

impl<'a> Watcher<'a> {
    fn new(console: &'a Console, config: &Config) -> Self {
        let bar = console.progress("steps", config.run.max_steps);
        Self { console, bar, step: 0, last: None }
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| self.console.note(text));
    }
}

impl Observer for Watcher<'_> {
    fn note(&mut self, text: &str) {
        self.say(text);
    }

    fn stepped(&mut self, moment: &Moment) {
        self.step = moment.step;
        self.bar.set_position(moment.step);
        if !moment.recorded {
            return;
        }
        let memory = memory::held().map_or(String::new(), |bytes| format!(", {} MB", bytes >> 20));
        let left = moment.last.filter(|_| moment.step > 0).map(|last| {
            let seconds =
                moment.seconds / moment.step as f64 * last.saturating_sub(moment.step) as f64;
            format!(", {} to go", clock(seconds))
        });
        self.say(&format!(
            "step {} (epoch {}): loss {:.4}, {:.0} tokens/s, rate {:.2e}{memory}, {}{}",
            moment.step,
            moment.epoch,
            moment.loss,
            moment.speed,
            moment.rate,
            clock(moment.seconds),
            left.unwrap_or_default(),
        ));
    }

    fn evaluated(&mut self, step: u64, set: &str, evaluation: &Evaluation) {
        let tally = &evaluation.tally;
        let mut text = format!(
            "step {step}, {set}: loss {:.4}, accuracy {:.1} %",
            tally.mean_loss(),
            100.0 * tally.accuracy()
        );
        if let Some(accuracy) = tally.length_accuracy() {
            let _ = write!(text, ", lengths {:.1} %", 100.0 * accuracy);
        }
        if let Some(judgement) = tally.judgement() {
            let _ = write!(text, ", judged {:.1} %", 100.0 * judgement);
        }
        for (name, value) in &evaluation.scores {
            let _ = write!(text, ", {name} {value:.2}");
        }
        self.say(&text);
        if let Some(example) = evaluation.outputs.first() {
            self.say(&format!("  {example}"));
        }
        let mut scores = serde_json::Map::new();
        scores.insert("loss".to_owned(), json!(tally.mean_loss()));
        scores.extend(
            evaluation.scores.iter().map(|(name, value)| ((*name).to_owned(), json!(value))),
        );
        self.last = Some(json!({"step": step, "set": set, "scores": scores}));
    }
}

/// Hours, minutes and seconds.
pub(crate) fn clock(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}
