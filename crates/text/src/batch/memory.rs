//! The memory of twenty million pairs. Opt-in, for it writes some 2 GB to the temporary directory:
//!
//! ```text
//! cargo test --release -p padir-text -- --ignored --nocapture twenty_million_pairs
//! ```
//!
//! Linux only: it reads the peak of resident memory, mapped pages included, from `/proc`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use padir_base::TokenId;
use padir_base::hash::Sha256;
use padir_base::random::{Purpose, Seed};

use crate::shard::{Extent, Lexicon, ShardSet, ShardWriter};

use super::*;

const PAIRS: u64 = 20_000_000;

/// The most resident memory so far (`VmHWM`), in MB.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0 / 1e6
}

/// Starts a new measurement of the peak.
fn reset_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

fn write_corpus(path: &Path) {
    let lexicon = Lexicon { hash: Sha256([1; 32]), size: 32_100 };
    let mut writer = ShardWriter::create(path, lexicon, Extent::default()).unwrap();
    let mut stream = Seed(1).stream(Purpose::Test, 0);
    let words: Vec<TokenId> = (0..1000).map(|i| TokenId(4 + i * 31 % 32_000)).collect();
    for _ in 0..PAIRS {
        let source = (2.9 + 0.6 * stream.normal()).exp().clamp(1.0, 250.0);
        let target = (source * (1.1 + 0.15 * stream.normal())).clamp(1.0, 250.0);
        writer.push(&words[..source as usize], &words[..target as usize]).unwrap();
    }
    writer.finish(None).unwrap();
}

#[test]
#[ignore = "writes 2 GB"]
fn twenty_million_pairs_stay_below_a_gigabyte() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    let start = Instant::now();
    write_corpus(&path);
    println!("written in {:.0?}, peak {:.0} MB", start.elapsed(), peak());
    let writing = peak();

    reset_peak();
    let start = Instant::now();
    let shards = ShardSet::open(&path).unwrap();
    let (tokens, bytes) = (shards.source_tokens() + shards.target_tokens(), shards.bytes());
    println!(
        "{tokens} tokens, {bytes} bytes, opened in {:.1?}, peak {:.0} MB",
        start.elapsed(),
        peak()
    );

    let start = Instant::now();
    let mut reader = BatchReader::new(shards, BatchConfig::default(), Rank(0)).unwrap();
    let plan = reader.epoch(0).unwrap();
    println!(
        "{} batches, padding {:.3} %, surveyed in {:.1?}, peak {:.0} MB",
        plan.batches(),
        100.0 * plan.summary().padding(),
        start.elapsed(),
        peak()
    );

    let start = Instant::now();
    let batches = Prefetch::start(reader.batches(Position::default(), Some(1)), 8).unwrap();
    let (mut pairs, mut seen) = (0, 0);
    for batch in batches.map(Result::unwrap) {
        pairs += batch.pairs.len() as u64;
        seen += batch.source.tokens().len() + batch.target.tokens().len();
    }
    println!("an epoch in {:.1?}, peak {:.0} MB", start.elapsed(), peak());
    assert_eq!((pairs, seen as u64), (PAIRS, tokens));
    assert!(peak().max(writing) < 1000.0, "{} MB, {writing} MB while writing", peak());
}
