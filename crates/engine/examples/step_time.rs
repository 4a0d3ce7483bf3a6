//! What a step costs: milliseconds of a parallel pass and of an autoregressive token, with random weights.
//!
//! ```text
//! cargo run --release -p padir-engine --example step_time -- \
//!     [paper|small|tiny] [f32|int8] [threads] [positions] [rows] [vocabulary]
//! ```
//!
//! Beside the median of many steps stand GFLOP/s (two operations per weight and position) and GB/s (all weights
//! that a step reads, once).
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_base::random::Seed;
use padir_checkpoint::{Checkpoint, DecoderKind, Extras, ModelConfig, Preset, save};
use padir_engine::{Engine, Precision, Session, Threads};

struct Options {
    preset: Preset,
    precision: Precision,
    threads: usize,
    positions: usize,
    rows: usize,
    vocabulary: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = read_options()?;
    println!(
        "{} {:?}, {} threads, {} rows of {} positions, vocabulary {}",
        options.preset,
        options.precision,
        options.threads,
        options.rows,
        options.positions,
        options.vocabulary
    );
    for kind in [DecoderKind::Parallel, DecoderKind::Causal] {
        let begin = Instant::now();
        let engine = load(&options, kind)?;
        println!(
            "{kind}: {:?}, {} MB packed, made and loaded in {:.0?}",
            engine.isa(),
            engine.bytes() >> 20,
            begin.elapsed()
        );
        measure(&options, &engine, kind)?;
    }
    Ok(())
}

fn read_options() -> Result<Options, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = |default: &str| words.next().unwrap_or_else(|| default.to_owned());
    Ok(Options {
        preset: word("paper").parse()?,
        precision: match word("int8").as_str() {
            "f32" => Precision::F32,
            "int8" => Precision::Int8,
            other => {
                return Err(
                    format!("there is no precision {other:?}; there are f32 and int8").into()
                );
            }
        },
        threads: word("2").parse()?,
        positions: word("30").parse()?,
        rows: word("1").parse()?,
        vocabulary: word("32128").parse()?,
    })
}

fn load(options: &Options, kind: DecoderKind) -> Result<Engine, Box<dyn Error>> {
    let config = ModelConfig::preset(options.preset, options.vocabulary, kind);
    let weights: HashMap<_, _> = config.initial(Seed(7)).collect();
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("model");
    save(&path, &config, |p| weights.get(&p.name).map(Into::into), &Extras::default())?;
    Ok(Engine::load(&Checkpoint::open(&path)?, options.precision)?)
}

fn measure(options: &Options, engine: &Engine, kind: DecoderKind) -> Result<(), Box<dyn Error>> {
    let mut session = engine.session(Threads::new(options.threads));
    let source: Vec<TokenId> = (0..options.positions as u32).map(|i| TokenId(10 + i * 7)).collect();
    let encode = median(10, || Ok(session.encode(&[&source])?))?;
    println!("  encode {} tokens: {}", source.len(), milliseconds(encode));
    let weights = engine.decoder_weights();
    let bytes = weights.map(|(count, kept)| (count * kept.bytes()) as f64).iter().sum::<f64>();
    let weights: usize = weights.iter().map(|(count, _)| count).sum();
    match kind {
        DecoderKind::Parallel => {
            for (name, depth) in [("top-1", 1), ("top-5", 5)] {
                let time = parallel(options, &mut session, depth)?;
                let operations = 2.0 * weights as f64 * (options.positions * options.rows) as f64;
                report(&format!("parallel step, {name}"), time, operations, bytes);
            }
        }
        DecoderKind::Causal => {
            for (name, rows) in [("greedy", options.rows), ("beam of 5", 5 * options.rows)] {
                let time = causal(options, &mut session, rows)?;
                report(&format!("token, {name}"), time, 2.0 * (weights * rows) as f64, bytes);
            }
        }
    }
    Ok(())
}

fn parallel(
    options: &Options,
    session: &mut Session,
    depth: usize,
) -> Result<Duration, Box<dyn Error>> {
    let count = options.positions * options.rows;
    let tokens: Vec<TokenId> = (0..count as u32).map(|i| TokenId(5 + i * 11 % 1000)).collect();
    let ends: Vec<usize> = (1..=options.rows).map(|row| row * options.positions).collect();
    let (contexts, no, yes) = (vec![0; options.rows], vec![false; count], vec![true; count]);
    let query = Query::new(&tokens, &ends, &contexts, &no, &yes)?;
    let mut answers = Answers::default();
    median(30, || {
        answers.prepare(&query, depth);
        Ok(session.denoise(&query, &mut answers)?)
    })
}

/// The time of one token, over whole sentences.
fn causal(
    options: &Options,
    session: &mut Session,
    rows: usize,
) -> Result<Duration, Box<dyn Error>> {
    let mut answers = Vec::new();
    let sentence = median(10, || {
        session.begin(&vec![0; rows])?;
        for step in 0..options.positions as u32 {
            let next: Vec<DecodeStep> =
                (0..rows).map(|parent| DecodeStep { parent, token: TokenId(step * 3) }).collect();
            session.decode_step(&next, if rows == options.rows { 1 } else { 10 }, &mut answers)?;
        }
        Ok(())
    })?;
    Ok(sentence / options.positions.max(1) as u32)
}

fn median(
    times: usize,
    mut work: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    work()?;
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let begin = Instant::now();
        work()?;
        all.push(begin.elapsed());
    }
    all.sort_unstable();
    Ok(all[times / 2])
}

fn report(name: &str, time: Duration, operations: f64, bytes: f64) {
    let seconds = time.as_secs_f64();
    let (compute, memory) = (operations / seconds / 1e9, bytes / seconds / 1e9);
    println!("  {name}: {}, {compute:.0} GFLOP/s, {memory:.1} GB/s", milliseconds(time));
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", 1e3 * time.as_secs_f64())
}
