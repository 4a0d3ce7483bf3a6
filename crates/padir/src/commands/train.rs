//! `padir train`: a network from two text files and one configuration.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use padir_pipeline::numbers::clock;
use padir_pipeline::recipe::{Description, Fault, RecipeFiles, is_below};
use padir_text::vocab::Vocabulary;
use padir_train::config::{Config, ConfigError, MANUAL};
use padir_train::cost;
use padir_train::devset::{Evaluation, Sample};
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
/// One TOML file configures data, model, objective and optimiser; --manual prints one with every key. Everything about a
/// run is in its directory: the resolved configuration, hashes of all it read, metrics.jsonl, TensorBoard
/// events, checkpoints, the best model. Ctrl-C saves and ends, a second one ends at once; --resume continues, bit for bit.
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

    /// Resume the run in the directory.
    #[arg(long)]
    resume: bool,

    /// Resume the run in the directory, or begin it if there is none.
    #[arg(long, conflicts_with = "resume")]
    resume_or_begin: bool,

    /// Resume even if learning rates, clipping, dropout or the like have changed, and record the changes in metrics.jsonl.
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

impl Train {
    /// What a recipe wants to know of a training: what its configuration reads, and the run it makes.
    pub(crate) fn describe(&self, files: &RecipeFiles<'_>) -> Description {
        let mut description = Description { resumes: true, ..Description::default() };
        if !self.resume_or_begin {
            let message =
                "after an interruption this training could not go on: add \"--resume-or-begin\"";
            description.faults.push(Fault::Command(message.to_owned()));
        }
        let Some(path) = &self.config else { return description };
        let name = path.display().to_string();
        let Some(text) = files.text(&name) else {
            let message = format!("there is no {name:?} in [files]");
            description.faults.push(Fault::Command(message));
            return description;
        };
        match Config::preview(files.recipe(), text, &self.set) {
            Ok(config) => describe_run(&config, &mut description),
            Err(ConfigError::Problems { problems, .. }) => {
                let fault = |problem| Fault::InFile { name: name.clone(), problem };
                description.faults.extend(problems.into_iter().map(fault));
            }
            Err(error) => {
                description.faults.push(Fault::File { name, message: error.to_string() });
            }
        }
        description
    }
}

/// What a training reads and makes.
fn describe_run(config: &Config, description: &mut Description) {
    let dir = config.run.dir.display().to_string();
    if !is_below(&dir) {
        let message = format!("`run.dir` is {dir:?}, not below `dir`");
        description.faults.push(Fault::Command(message));
    }
    let paths = config.data.all_paths().into_iter().chain(&config.model.start_from);
    description.reads.extend(paths.map(|path| path.display().to_string()));
    let best = config.run.metric.as_ref().map(|_| format!("{dir}/best"));
    description.makes.extend(best.into_iter().chain([format!("{dir}/final")]));
    description.work.push(dir);
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
    /// Seconds after which training ends, if it does.
    time_limit: Option<f64>,
}

impl<'a> Watcher<'a> {
    fn new(console: &'a Console, config: &Config) -> Self {
        let bar = console.progress("steps", config.run.max_steps);
        let minutes = config.run.max_minutes;
        let time_limit = (minutes > 0.0).then_some(60.0 * minutes);
        Self { console, bar, step: 0, last: None, time_limit }
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
        self.say(&format!("{}{memory}", describe(moment, self.time_limit)));
    }

    fn evaluated(&mut self, step: u64, set: &str, evaluation: &Evaluation) {
        let statistics = &evaluation.statistics;
        let mut text = format!(
            "step {step}, {set}: loss {:.4}, accuracy {:.1} %",
            statistics.mean_loss(),
            100.0 * statistics.accuracy()
        );
        if let Some(accuracy) = statistics.length_accuracy() {
            let _ = write!(text, ", length accuracy {:.1} %", 100.0 * accuracy);
        }
        if let Some(accuracy) = statistics.length_accuracy_at_5() {
            let _ = write!(text, ", @5 {:.1} %", 100.0 * accuracy);
        }
        if let Some(confidence_accuracy) = statistics.confidence_accuracy() {
            let _ = write!(text, ", confidence accuracy {:.1} %", 100.0 * confidence_accuracy);
        }
        for (name, value) in &evaluation.scores {
            let _ = write!(text, ", {name} {value:.2}");
        }
        self.say(&text);
        for Sample { source, reference, hypothesis } in &evaluation.samples {
            self.say(&format!(
                "  source:     {source}\n  reference:  {reference}\n  hypothesis: {hypothesis}"
            ));
        }
        let mut scores = serde_json::Map::new();
        scores.insert("loss".to_owned(), json!(statistics.mean_loss()));
        scores.extend(
            evaluation.scores.iter().map(|(name, value)| ((*name).to_owned(), json!(value))),
        );
        self.last = Some(json!({"step": step, "set": set, "scores": scores}));
    }
}

/// A step in a line: how far, how well, how fast, and how long it will take.
fn describe(moment: &Moment, time_limit: Option<f64>) -> String {
    let &Moment { step, last, epoch, loss, speed, rate, seconds, .. } = moment;
    let of = last.map_or(String::new(), |last| format!("/{last}"));
    let by_steps = last.filter(|_| step > 0).map(|last| {
        let left = last.saturating_sub(step);
        seconds / step as f64 * left as f64
    });
    let by_time = time_limit.map(|limit| (limit - seconds).max(0.0));
    let left = [by_steps, by_time].into_iter().flatten().min_by(f64::total_cmp);
    let left = left.map_or(String::new(), |left| format!(", {} to go", clock(left)));
    let speed = grouped(speed.max(0.0).round() as u64);
    format!(
        "step {step}{of}, epoch {epoch}: loss {loss:.3}, {speed} tokens/s, rate {rate:.2e}, {}{left}",
        clock(seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_tells_the_total_and_the_time_to_go() {
        let moment = Moment {
            step: 1200,
            last: Some(9000),
            epoch: 3,
            loss: 2.345_678,
            speed: 12_345.6,
            rate: 0.015,
            seconds: 600.0,
            recorded: true,
        };
        let begin = "epoch 3: loss 2.346, 12,346 tokens/s, rate 1.50e-2, 0:10:00";
        for (case, last, limit, expected) in [
            ("steps", Some(9000), None, format!("step 1200/9000, {begin}, 1:05:00 to go")),
            ("time", None, Some(1800.0), format!("step 1200, {begin}, 0:20:00 to go")),
            ("both", Some(9000), Some(1800.0), format!("step 1200/9000, {begin}, 0:20:00 to go")),
            ("neither", None, None, format!("step 1200, {begin}")),
            ("late", None, Some(60.0), format!("step 1200, {begin}, 0:00:00 to go")),
        ] {
            assert_eq!(describe(&Moment { last, ..moment }, limit), expected, "{case}");
        }
    }
}
