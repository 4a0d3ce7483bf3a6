//! `padir bench train`: steps of training, beside a peer and the limit of matrix products.
//!
//! Both train the same network from the same weights on the same batches. They take turns in one run, so that whatever else the
//! machine does falls on both. Tokens are real ones, of sources and targets; padding counts for nothing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Result, ensure};
use padir_text::batch::{BatchReader, Position, Rank};
use padir_text::vocab::Vocabulary;
use padir_train::config::Config;
use padir_train::cost::{limit, step_work};
use padir_train::data;
use padir_train::learner::Learner;
use padir_train::objective::Pairs;
use padir_train::state;
use padir_train::trainer::device;
use serde::Serialize;
use serde_json::{Value, json};

use super::peer::Peer;
use crate::commands::train::with_threads;
use crate::console::Console;
use crate::memory;
use crate::places::{Force, Places};

/// Measure training.
///
/// Trains as CONFIG says, but writes nothing except what --dump asks for. With --peer, a program that understands
/// the commands of `bench/pytorch_train.py` takes turns with padir.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir bench train config.toml --steps 20 --rounds 5
  padir bench train config.toml --peer \"python bench/pytorch_train.py\"
  padir bench train config.toml --dump same-batches")]
pub(crate) struct Train {
    /// The configuration, as for `padir train`.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// Override a key of the configuration.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Steps of a turn.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,

    /// Turns that count; one before them does not.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// A program to take turns with; it is given the directory of batches and weights.
    #[arg(long, value_name = "COMMAND")]
    peer: Option<String>,

    /// Write batches and initial weights to this directory.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

/// What was measured.
#[derive(Serialize)]
struct Report {
    parameters: u64,
    threads: usize,
    /// Batches of a step.
    accumulate: u32,
    steps: u32,
    rounds: u32,
    /// Medians over rounds.
    tokens_per_second: f64,
    seconds_per_step: f64,
    peak_memory: Option<u64>,
    first_loss: f64,
    /// Multiplications and additions of matrix products in a step.
    work_per_step: f64,
    /// What the products alone would take at the speed of a large one.
    limit_seconds: f64,
    limit_share: f64,
    peer: Option<Value>,
    peer_tokens_per_second: Option<f64>,
    peer_peak_memory: Option<f64>,
    ratio: Option<f64>,
}

impl Train {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if let Some(directory) = &self.dump {
            let places = Places::default().reads([&self.config]).makes_directory(directory);
            places.check(self.force)?;
        }
        let config = Config::read(&self.config, &self.set)?;
        with_threads(config.run.threads, || self.measure(console, &config))?
    }

    fn measure(&self, console: &Console, config: &Config) -> Result<()> {
        let vocabulary = Vocabulary::load(&config.data.vocabulary)?;
        let scratch = tempfile::tempdir()?;
        let batches = self.batches(config, &vocabulary, scratch.path())?;
        let model = config.model_config(&vocabulary);
        let network = padir_model::Network::initialise(&model, config.run.seed, &device(config)?)?;
        let mut learner = Learner::new(network, config);
        let dump = self.dump.clone().unwrap_or_else(|| scratch.path().join("peer"));
        if self.dump.is_some() || self.peer.is_some() {
            write_dump(&dump, &learner, &batches)?;
        }
        let mut peer =
            self.peer.as_ref().map(|command| Peer::start(command, &dump, config)).transpose()?;
        let description = peer.as_mut().map(Peer::describe).transpose()?;

        let progress = console.progress("turns", u64::from(self.rounds) + 1);
        let mut next = 0;
        let mut first_loss = f64::NAN;
        let (mut ours, mut theirs, mut share) = (Vec::new(), Vec::new(), Vec::new());
        let mut peer_memory = None;
        for round in 0..=self.rounds {
            let gflops = limit(&model);
            let (seconds, tokens, loss) = self.turn(&mut learner, &batches, &mut next)?;
            let answer = peer.as_mut().map(|peer| peer.run(self.steps)).transpose()?;
            if round == 0 {
                first_loss = loss;
            } else {
                ours.push(tokens as f64 / seconds);
                share.push((gflops, seconds / f64::from(self.steps)));
                if let Some((speed, memory)) = answer {
                    theirs.push(speed);
                    peer_memory = memory;
                }
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        drop(peer);
        let work =
            batches.iter().flatten().map(|pairs| step_work(config, &model, pairs)).sum::<f64>()
                / batches.len() as f64;
        let floor = median(share.iter().map(|(gflops, _)| work / gflops).collect());
        let step = median(share.iter().map(|(_, seconds)| *seconds).collect());
        let tokens_per_second = median(ours.clone());
        let peer_speed = (!theirs.is_empty()).then(|| median(theirs.clone()));
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
        let report = Report {
            parameters: model.parameter_count(),
            threads: rayon::current_num_threads(),
            accumulate: config.optimiser.accumulate,
            steps: self.steps,
            rounds: self.rounds,
            tokens_per_second,
            seconds_per_step: step,
            peak_memory: memory::peak(),
            first_loss,
            work_per_step: work,
            limit_seconds: floor,
            limit_share: floor / step,
            peer: description,
            peer_tokens_per_second: peer_speed,
            peer_peak_memory: peer_memory,
            ratio: (!ratios.is_empty()).then(|| median(ratios)),
        };
        report.show(console)
    }

    /// The batches of each step: as many steps as a turn has, or all of the first epoch.
    fn batches(
        &self,
        config: &Config,
        vocabulary: &Vocabulary,
        scratch: &Path,
    ) -> Result<Vec<Vec<Pairs>>> {
        let shards =
            data::shards(config, vocabulary, scratch, &AtomicBool::new(false), &mut |_| ())?;
        let accumulate = config.optimiser.accumulate as usize;
        let reader = BatchReader::new(shards, config.batch_config(), Rank(0))?;
        let batches: Vec<Pairs> = reader
            .batches(Position::default(), Some(1))
            .take(accumulate.saturating_mul(self.steps as usize))
            .map(|batch| batch.map(|batch| Pairs::from(&batch)))
            .collect::<Result<_, _>>()?;
        let steps: Vec<Vec<Pairs>> = batches.chunks(accumulate).map(<[Pairs]>::to_vec).collect();
        ensure!(!steps.is_empty(), "there is no batch in the training data");
        Ok(steps)
    }

    /// Seconds, tokens and the first loss of a turn.
    fn turn(
        &self,
        learner: &mut Learner,
        batches: &[Vec<Pairs>],
        next: &mut usize,
    ) -> Result<(f64, usize, f64)> {
        let start = Instant::now();
        let mut tokens = 0;
        let mut first = f64::NAN;
        for step in 0..self.steps {
            let parts = &batches[*next % batches.len()];
            let report = learner.learn(parts)?;
            if step == 0 {
                first = report.statistics.mean_loss();
            }
            tokens += parts.iter().map(Pairs::tokens).sum::<usize>();
            *next += 1;
        }
        Ok((start.elapsed().as_secs_f64(), tokens, first))
    }
}

fn write_dump(directory: &Path, learner: &Learner, batches: &[Vec<Pairs>]) -> Result<()> {
    state::export(directory, learner, &padir_checkpoint::Extras::default())?;
    let mut text = String::new();
    let rows = |side: &padir_model::Sentences| side.iter().map(<[u32]>::to_vec).collect::<Vec<_>>();
    for (step, parts) in batches.iter().enumerate() {
        // Empty batches, which fill up small pools, mean nothing to a peer.
        for pairs in parts.iter().filter(|pairs| !pairs.is_empty()) {
            let (source, target) = (rows(&pairs.sources), rows(&pairs.targets));
            text += &json!({"step": step, "source": source, "target": target}).to_string();
            text.push('\n');
        }
    }
    padir_base::file::write_atomically(directory.join("batches.jsonl"), text.as_bytes())?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { f64::midpoint(values[(n - 1) / 2], values[n / 2]) }
}

impl Report {
    fn show(&self, console: &Console) -> Result<()> {
        if console.wants_json() {
            return console.print_json(self);
        }
        let mut text = format!(
            "{} parameters, {} threads, {} rounds of {} steps, first loss {:.4}\n",
            self.parameters, self.threads, self.rounds, self.steps, self.first_loss
        );
        let megabytes = |bytes: f64| format!("{:.0} MB", bytes / 1e6);
        let memory =
            self.peak_memory.map_or(String::new(), |m| format!(", peak {}", megabytes(m as f64)));
        let _ = writeln!(
            text,
            "padir  {:>8.0} tokens/s, {:.1} ms a step, {:.0} % of the limit of matrix products{memory}",
            self.tokens_per_second,
            1e3 * self.seconds_per_step,
            100.0 * self.limit_share
        );
        if let (Some(speed), Some(ratio)) = (self.peer_tokens_per_second, self.ratio) {
            let memory =
                self.peer_peak_memory.map_or(String::new(), |m| format!(", peak {}", megabytes(m)));
            let _ = writeln!(text, "peer   {speed:>8.0} tokens/s{memory}\nratio  {ratio:>8.2}");
        }
        console.print(&text)
    }
}
