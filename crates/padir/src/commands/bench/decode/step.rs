//! One step of each decoder, by itself: its time, its share of the machine's limits, and the same step by a peer.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use padir_base::TokenId;
use padir_base::continuation::{Advance, Continuer};
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_checkpoint::Checkpoint;
use padir_engine::{Engine, Precision, Session, Threads};
use serde::Serialize;
use serde_json::json;

use super::limits::Limits;
use super::system::threads_to_try;
use super::work::Work;
use crate::commands::bench::program::Program;

/// Turns of ours and theirs.
const ROUNDS: usize = 5;
/// Steps of a turn.
const REPEATS: usize = 8;
/// Width of the beam.
const BEAM: usize = 5;

/// What a step cost.
#[derive(Serialize)]
pub(super) struct Step {
    pub(super) system: String,
    pub(super) threads: usize,
    /// The median.
    pub(super) milliseconds: f64,
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
    seconds: Vec<f64>,
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
    for _ in 0..ROUNDS {
        for subject in &mut subjects {
            subject.take()?;
        }
        if let Some(peer) = &mut theirs {
            peer.take()?;
        }
    }
    let ours = subjects.into_iter().map(|subject| subject.report(limits));
    Ok(ours.chain(theirs.into_iter().flat_map(Peer::report)).collect())
}

impl Subject {
    /// With the number of threads that suits it best, 1 or all.
    fn new(engine: &Engine, kind: Kind, positions: usize, most: usize) -> Result<Self> {
        let name = match kind {
            Kind::Parallel => format!("parallel step, {positions} positions"),
            Kind::Causal(1) => "token, greedy".to_owned(),
            Kind::Causal(rows) => format!("tokens, beam {rows}"),
        };
        let precision = engine.precision();
        let vocabulary = engine.config().symbols.vocab_size as u32;
        let tokens: Vec<TokenId> =
            ids(positions).into_iter().map(|id| TokenId(id % vocabulary)).collect();
        let mut best: Option<Self> = None;
        for threads in threads_to_try(most) {
            let mut session = engine.session(Threads::new(threads));
            session.encode(&[&tokens])?;
            let (name, tokens, seconds) = (name.clone(), tokens.clone(), Vec::new());
            let mut subject = Self { name, precision, threads, session, kind, tokens, seconds };
            subject.take()?;
            subject.seconds.clear();
            subject.take()?;
            let faster = |best: &Self| median(&subject.seconds) < median(&best.seconds);
            if best.as_ref().is_none_or(faster) {
                best = Some(subject);
            }
        }
        let mut best = best.context("there is always one thread")?;
        best.seconds.clear();
        Ok(best)
    }

    /// A turn.
    fn take(&mut self) -> Result<()> {
        match self.kind {
            Kind::Parallel => {
                let positions = self.tokens.len();
                let (no, yes) = (vec![false; positions], vec![true; positions]);
                let ends = [positions];
                let query = Query::new(&self.tokens, &ends, &[0], &no, &yes)?;
                let mut answers = Answers::default();
                for _ in 0..REPEATS {
                    answers.prepare(&query, 1);
                    let start = Instant::now();
                    self.session.denoise(&query, &mut answers)?;
                    self.seconds.push(start.elapsed().as_secs_f64());
                }
            }
            Kind::Causal(rows) => {
                let mut answers = Vec::new();
                let depth = if rows == 1 { 1 } else { 2 * rows };
                self.session.begin(&vec![0; rows])?;
                let start = Instant::now();
                for &token in &self.tokens {
                    let next: Vec<Advance> =
                        (0..rows).map(|parent| Advance { parent, token }).collect();
                    self.session.advance(&next, depth, &mut answers)?;
                }
                // The mean over a sentence: later tokens look back at more.
                self.seconds.push(start.elapsed().as_secs_f64() / self.tokens.len() as f64);
            }
        }
        Ok(())
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
            gigaops: Some(gigaops),
            compute_share: Some(least.iter().sum::<f64>() / seconds),
            gigabytes: Some(gigabytes),
            memory_share: Some(gigabytes / limits.read_gigabytes),
        }
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
