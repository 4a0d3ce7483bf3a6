//! One step of each decoder: its time within a sentence and by itself, its share of the machine's limits, and the same step by a peer.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_checkpoint::Checkpoint;
use padir_decode::autoregression::{self, Beam};
use padir_decode::padir::{self, Sentence, StopRule};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_translate::symbols_of;
use serde::Serialize;
use serde_json::json;

use super::limits::Limits;
use super::threads::choose;
use super::timed::Timed;
use super::work::Work;
use crate::commands::bench::program::Program;

/// Turns of ours and theirs.
const ROUNDS: usize = 5;
/// Sentences of a turn of ours.
const SENTENCES: usize = 2;
/// Refinement steps of a sentence.
const STEPS: usize = 4;
/// Steps of a turn of theirs.
const REPEATS: usize = 8;
/// Bytes that push everything else out of the caches.
const SWEPT: usize = 128 << 20;
/// After this threads have gone to sleep.
const PAUSE: Duration = Duration::from_millis(5);
/// Width of the beam.
const BEAM: usize = 5;

/// What a step cost.
#[derive(Serialize)]
pub(super) struct Step {
    pub(super) system: String,
    pub(super) threads: usize,
    /// Of a step as it runs within a sentence: the mean of a sentence, the median of sentences.
    pub(super) milliseconds: f64,
    /// Of a step by itself, with nothing of the model in the caches and the threads asleep: the median.
    pub(super) cold_milliseconds: Option<f64>,
    /// Multiplications and additions with weights, in 10⁹/s, and their share of the limit.
    pub(super) gigaops: Option<f64>,
    pub(super) compute_share: Option<f64>,
    /// Weights read, each once, in GB/s, and their share of the limit.
    pub(super) gigabytes: Option<f64>,
    pub(super) memory_share: Option<f64>,
}

/// One step, ready to be taken again and again.
struct Subject {
    name: String,
    precision: Precision,
    threads: usize,
    session: Session,
    kind: Kind,
    /// One for each position.
    tokens: Vec<TokenId>,
    /// Of each sentence, the mean of its steps.
    seconds: Vec<f64>,
    /// Of steps by themselves.
    cold: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Parallel,
    /// So many rows.
    Causal(usize),
}

/// Measures steps over so many positions; `peer` runs the parallel one too.
pub(super) fn measure(
    work: &Work,
    limits: Limits,
    positions: usize,
    peer: Option<&str>,
) -> Result<Vec<Step>> {
    let mut subjects = Vec::new();
    for precision in [Precision::F32, Precision::Int8] {
        for (path, kinds) in [
            (work.padir(), &[Kind::Parallel][..]),
            (work.ar(), &[Kind::Causal(1), Kind::Causal(BEAM)]),
        ] {
            let Some(path) = path else { continue };
            let engine = Engine::load(&Checkpoint::open(path)?, precision)?;
            for &kind in kinds {
                subjects.push(Subject::new(&engine, kind, positions, limits.threads)?);
            }
        }
    }
    let mut theirs = match (peer, work.padir()) {
        (Some(command), Some(model)) => Peer::start(command, model, positions)?,
        _ => None,
    };
    let mut caches = Caches::default();
    for _ in 0..ROUNDS {
        for subject in &mut subjects {
            subject.take(&mut caches)?;
        }
        if let Some(peer) = &mut theirs {
            peer.take()?;
        }
    }
    let ours = subjects.into_iter().map(|subject| subject.report(limits));
    Ok(ours.chain(theirs.into_iter().flat_map(Peer::report)).collect())
}

impl Subject {
    /// With the number of threads that suits it best.
    fn new(engine: &Engine, kind: Kind, positions: usize, most: usize) -> Result<Self> {
        let threads = choose(most, |threads| {
            let mut subject = Self::with_threads(engine, kind, positions, threads)?;
            // Once to warm up.
            subject.decode()?;
            subject.decode()
        })?;
        let mut subject = Self::with_threads(engine, kind, positions, threads)?;
        subject.decode()?;
        Ok(subject)
    }

    fn with_threads(engine: &Engine, kind: Kind, positions: usize, threads: usize) -> Result<Self> {
        let name = match kind {
            Kind::Parallel => format!("parallel step, {positions} positions"),
            Kind::Causal(1) => "token, greedy".to_owned(),
            Kind::Causal(rows) => format!("tokens, beam {rows}"),
        };
        let vocabulary = engine.config().symbols.vocab_size as u32;
        let tokens: Vec<TokenId> =
            ids(positions).into_iter().map(|id| TokenId(id % vocabulary)).collect();
        let mut session = engine.session(Threads::new(threads));
        session.encode(&[&tokens])?;
        Ok(Self {
            name,
            precision: engine.precision(),
            threads,
            session,
            kind,
            tokens,
            seconds: Vec::new(),
            cold: Vec::new(),
        })
    }

    /// A turn: whole sentences, and a step by itself.
    fn take(&mut self, caches: &mut Caches) -> Result<()> {
        // Once to warm up.
        self.decode()?;
        for _ in 0..SENTENCES {
            let seconds = self.decode()?;
            self.seconds.push(seconds);
        }
        caches.sweep();
        sleep(PAUSE);
        let seconds = self.step_alone()?;
        self.cold.push(seconds);
        Ok(())
    }

    /// Decodes a sentence, and gives the mean of its steps.
    fn decode(&mut self) -> Result<f64> {
        let config = self.session.engine().config().clone();
        let length = self.tokens.len();
        self.session.encode(&[&self.tokens])?;
        let mut timed = Timed::new(&mut self.session);
        match self.kind {
            Kind::Parallel => {
                let settings = padir::Settings {
                    steps: STEPS,
                    lengths: 1,
                    stop: StopRule::Never,
                    early_exit: None,
                    ..padir::Settings::default()
                };
                let sentence = Sentence { number: 0, context: 0, lengths: vec![(length, 0.0)] };
                padir::refine(&mut timed, &settings, &symbols_of(&config), &[sentence], &mut ())?;
            }
            Kind::Causal(rows) => {
                let how = Beam { num_beams: rows, ..Beam::default() };
                let mut symbols = autoregression::Symbols::new(config.symbols.start);
                // It does not end early.
                symbols.never = vec![config.symbols.pad, config.symbols.eos];
                let source = autoregression::Source { number: 0, context: 0, max_length: length };
                autoregression::beam(&mut timed, &how, &symbols, &[source], &mut ())?;
            }
        }
        Ok(timed.mean())
    }

    /// One step outside of a sentence.
    fn step_alone(&mut self) -> Result<f64> {
        let mut timed = Timed::new(&mut self.session);
        match self.kind {
            Kind::Parallel => {
                let positions = self.tokens.len();
                let (no, yes) = (vec![false; positions], vec![true; positions]);
                let ends = [positions];
                let query = Query::new(&self.tokens, &ends, &[0], &no, &yes)?;
                let mut answers = Answers::default();
                answers.prepare(&query, 1);
                timed.denoise(&query, &mut answers)?;
            }
            Kind::Causal(rows) => {
                let depth = if rows == 1 { 1 } else { 2 * rows };
                let token = self.tokens[0];
                let next: Vec<DecodeStep> =
                    (0..rows).map(|parent| DecodeStep { parent, token }).collect();
                timed.begin(&vec![0; rows])?;
                timed.decode_step(&next, depth, &mut Vec::new())?;
            }
        }
        Ok(timed.mean())
    }

    fn report(self, limits: Limits) -> Step {
        let seconds = median(&self.seconds);
        let weights = self.session.engine().decoder_weights();
        let rows = match self.kind {
            Kind::Parallel => self.tokens.len(),
            Kind::Causal(rows) => rows,
        };
        let operations = |count: usize| 2.0 * (count * rows) as f64 / 1e9;
        let gigaops = weights.map(|(count, _)| operations(count)).iter().sum::<f64>() / seconds;
        let least = weights.map(|(count, kept)| operations(count) / limits.gigaops(kept));
        let read: usize = weights.iter().map(|(count, kept)| count * kept.bytes()).sum();
        let gigabytes = read as f64 / seconds / 1e9;
        Step {
            system: format!("{} {}", self.name, self.precision),
            threads: self.threads,
            milliseconds: 1e3 * seconds,
            cold_milliseconds: Some(1e3 * median(&self.cold)),
            gigaops: Some(gigaops),
            compute_share: Some(least.iter().sum::<f64>() / seconds),
            gigabytes: Some(gigabytes),
            memory_share: Some(gigabytes / limits.read_gigabytes),
        }
    }
}

/// What fills the caches with other things.
#[derive(Default)]
struct Caches(Vec<u8>);

impl Caches {
    fn sweep(&mut self) {
        self.0.resize(SWEPT, 0);
        self.0.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
        std::hint::black_box(&self.0);
    }
}

/// Another engine on the parallel model, in both precisions.
struct Peer {
    program: Program,
    name: String,
    positions: usize,
    /// Precision, threads, seconds.
    runs: Vec<(&'static str, u64, Vec<f64>)>,
}

impl Peer {
    fn start(command: &str, model: &Path, positions: usize) -> Result<Option<Self>> {
        let mut program = Program::start(command, &[model.as_os_str()])?;
        let described = program.ask(&json!({"describe": true}))?;
        let name = described["name"].as_str().unwrap_or("peer").to_owned();
        let mut runs = Vec::new();
        for precision in ["float32", "int8"] {
            let task = json!({"tokens": ids(positions), "precision": precision});
            let answer = program.ask(&json!({"best_threads": task}))?;
            let threads = answer["threads"].as_u64();
            let threads = threads.with_context(|| format!("the peer answered {answer}"))?;
            runs.push((precision, threads, Vec::new()));
        }
        Ok(Some(Self { program, name, positions, runs }))
    }

    fn take(&mut self) -> Result<()> {
        for (precision, threads, seconds) in &mut self.runs {
            let task = json!({
                "tokens": ids(self.positions),
                "precision": precision,
                "threads": threads,
                "repeats": REPEATS,
            });
            let answer = self.program.ask(&json!({"run": task}))?;
            let times: Option<Vec<f64>> = answer["seconds"]
                .as_array()
                .and_then(|list| list.iter().map(serde_json::Value::as_f64).collect());
            seconds.extend(times.with_context(|| format!("the peer answered {answer}"))?);
        }
        Ok(())
    }

    fn report(self) -> impl Iterator<Item = Step> {
        let Self { name, positions, runs, .. } = self;
        runs.into_iter().map(move |(precision, threads, seconds)| {
            let precision = if precision == "int8" { "int8" } else { "f32" };
            Step {
                system: format!("{name}, {positions} positions {precision}"),
                threads: threads as usize,
                milliseconds: 1e3 * median(&seconds),
                cold_milliseconds: None,
                gigaops: None,
                compute_share: None,
                gigabytes: None,
                memory_share: None,
            }
        })
    }
}

fn ids(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| 5 + i * 11 % 100).collect()
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
