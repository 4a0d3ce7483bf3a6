//! `padir data shards`: what an encoded corpus holds, and whether it is intact.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use padir_base::hash::Sha256;
use padir_text::batch::{BatchConfig, BatchPlan};
use padir_text::shard::ShardSet;
use serde::Serialize;

use super::encode::load_vocabulary;
use super::table::grouped;
use crate::console::Console;
use crate::hint::WithHint;

/// Check and describe encoded shards.
///
/// Opening shards checks their headers, sizes and lengths; --verify reads all tokens, too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data shards train.shards
  padir data shards train.shards --verify --vocab vocab.model
  padir data shards train.shards --budget 8192 --json")]
pub(crate) struct Shards {
    /// The directory that `padir data encode` wrote.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Compare all tokens with their checksums.
    #[arg(long)]
    verify: bool,

    /// Refuse the shards if they were not encoded with this vocabulary.
    #[arg(long, value_name = "FILE")]
    vocab: Option<PathBuf>,

    /// The token budget for which the share of padding is reported.
    #[arg(long, value_name = "N", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
}

impl Shards {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let advice = "encode the corpus again with `padir data encode`";
        let shards = ShardSet::open(&self.directory).hint(advice)?;
        if let Some(path) = &self.vocab {
            shards.require_vocabulary(&load_vocabulary(path)?).hint(advice)?;
        }
        if self.verify {
            let progress = console.progress("bytes verified", shards.bytes());
            shards.verify(|bytes| progress.inc(bytes)).hint(advice)?;
            progress.finish_and_clear();
        }
        let description = Description {
            pairs: shards.pairs(),
            source_tokens: shards.source_tokens(),
            target_tokens: shards.target_tokens(),
            vocabulary: shards.lexicon().hash,
            vocabulary_size: shards.lexicon().size,
            digest: shards.digest(),
            shards: shards.shards() as u32,
            bytes: shards.bytes(),
            verified: self.verify,
            batches: Batches::survey(&shards, self.budget)?,
        };
        description.show(console)
    }
}

#[derive(Serialize)]
struct Description {
    pairs: u64,
    source_tokens: u64,
    target_tokens: u64,
    vocabulary: Sha256,
    vocabulary_size: u32,
    digest: Sha256,
    shards: u32,
    bytes: u64,
    verified: bool,
    batches: Batches,
}

impl Description {
    fn show(&self, console: &Console) -> Result<()> {
        use std::io::Write;
        if console.wants_json() {
            return console.print_json(self);
        }
        let mut out = console.out();
        writeln!(out, "pairs          {}", grouped(self.pairs))?;
        writeln!(out, "source tokens  {}", grouped(self.source_tokens))?;
        writeln!(out, "target tokens  {}", grouped(self.target_tokens))?;
        writeln!(out, "vocabulary     {} ({} ids)", self.vocabulary, self.vocabulary_size)?;
        writeln!(out, "digest         {}", self.digest)?;
        writeln!(out, "size           {} in {}", megabytes(self.bytes), count_shards(self.shards))?;
        writeln!(out, "batches        {}", self.batches)?;
        let tokens = if self.verified { "as they were written" } else { "not verified" };
        writeln!(out, "tokens         {tokens}")?;
        Ok(out.flush()?)
    }
}

/// The batches of an epoch, for the report.
#[derive(Serialize)]
pub(super) struct Batches {
    /// The budget.
    tokens: u32,
    #[serde(rename = "batches")]
    count: u64,
    padding: f64,
    source_padding: f64,
    target_padding: f64,
    beyond_the_budget: u64,
}

impl Batches {
    /// Plans the first epoch with a budget that counts the larger side, padding included.
    pub(super) fn survey(shards: &ShardSet, tokens: u32) -> Result<Self> {
        let plan = BatchPlan::new(BatchConfig { tokens, ..BatchConfig::default() })?;
        let summary = plan.epoch(shards, 0)?.summary();
        Ok(Self {
            tokens,
            count: summary.batches,
            padding: summary.padding(),
            source_padding: summary.source.padding(),
            target_padding: summary.target.padding(),
            beyond_the_budget: summary.dropped_long,
        })
    }
}

impl fmt::Display for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batches, tokens) = (grouped(self.count), grouped(self.tokens.into()));
        write!(f, "{batches} of at most {tokens} tokens, {:.2} % padding", 100.0 * self.padding)?;
        if self.beyond_the_budget > 0 {
            write!(f, "; {} pairs are longer than that", grouped(self.beyond_the_budget))?;
        }
        Ok(())
    }
}

pub(super) fn count_shards(shards: u32) -> String {
    if shards == 1 { "1 shard".to_owned() } else { format!("{shards} shards") }
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
