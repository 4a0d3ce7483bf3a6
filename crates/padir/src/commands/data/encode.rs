//! `padir data encode`: text to shards of token ids.
//!
//! Reads some thousand pairs at a time, encodes them on all cores and writes them in their
//! order, so the shards do not depend on the number of threads. Memory: one such portion of
//! text, and one shard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use padir_base::TokenId;
use padir_base::hash::Sha256;
use padir_base::manifest::Manifest;
use padir_pipeline::corpora::note_skipped;
use padir_text::defect::DefectCounts;
use padir_text::origin::Origin;
use padir_text::portion::Portion;
use padir_text::shard::{
    Extent, Fault, Lexicon, MAX_LENGTH, ShardError, ShardSet, ShardWriter, Volume,
};
use padir_text::vocab::Vocabulary;
use padir_text::{Corpus, Pairs};
use serde::Serialize;
use serde_json::json;

use super::shards::{Batches, count_shards, megabytes};
use super::table::{grouped, percent};
use crate::console::Console;
use crate::corpus::{CorpusArgs, explain, open};
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Why pairs are left out here, besides what the reader of the corpus finds.
const TOO_MANY_TOKENS: &str = "too many tokens";
const EMPTY_SIDE: &str = "empty side";

/// Encode a corpus into binary shards for training.
///
/// The shards hold token ids, an end of sentence behind each side. Training maps them into
/// memory, so their size does not matter. The directory appears when all is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data encode train.en train.de --vocab vocab.model --output train.shards
  padir data encode corpus.tsv.gz --vocab vocab.model --output shards --max-length 250 --long skip
  padir data shards train.shards --verify")]
pub(crate) struct Encode {
    /// The vocabulary: a .model or tokenizer.json file, or a directory with one.
    #[arg(long, value_name = "FILE")]
    vocab: PathBuf,

    /// The directory to write.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    limits: Limits,

    /// The most pairs in a shard.
    #[arg(long, value_name = "N", default_value_t = Extent::default().pairs,
          value_parser = clap::value_parser!(u64).range(1..))]
    pairs_per_shard: u64,

    /// The token budget for which the share of padding is reported.
    #[arg(long, value_name = "N", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,

    // Last, because its heading in the help would extend to what follows.
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// Which pairs are encoded.
#[derive(clap::Args, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Limits {
    /// The most tokens of a sentence, its end included.
    #[arg(long, value_name = "N", default_value_t = MAX_LENGTH as u16,
          value_parser = clap::value_parser!(u16).range(1..))]
    max_length: u16,

    /// What to do with pairs of which a side has more tokens than that.
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    long: OnLong,

    /// What to do with pairs of which a side is empty.
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    empty: OnEmpty,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum OnLong {
    /// Stop with an error that names the first.
    Fail,
    /// Leave them out and count them.
    Skip,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum OnEmpty {
    /// Encode them like all others and count them.
    Keep,
    /// Leave them out and count them.
    Skip,
    /// Stop with an error that names the first.
    Fail,
}

impl Encode {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let vocabulary = load_vocabulary(&self.vocab)?;
        let corpora = self.corpus.all()?;
        let texts = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        Places::default()
            .reads(texts.chain([self.vocab.as_path()]))
            .makes_directory(&self.output)
            .check(self.force)?;
        let lexicon = Lexicon { hash: vocabulary.hash(), size: vocabulary.size() as u32 };
        let extent = Extent { pairs: self.pairs_per_shard, ..Extent::default() };
        let begin = if self.force.is_given() { ShardWriter::replace } else { ShardWriter::create };
        let mut writer = explain_place(begin(&self.output, lexicon, extent))?;
        let mut counts = Counts::default();
        let progress = console.progress("pairs", 0);
        for corpus in &corpora {
            let mut pairs = open(corpus, self.corpus.reading())?;
            let note = |read| progress.set_position(read);
            let encoded =
                self.encode(corpus, &mut pairs, &vocabulary, &mut writer, &mut counts, note)?;
            note_skipped(console, corpus, pairs.skipped());
            counts.add_unreadable(pairs.skipped());
            if encoded + pairs.skipped().total() == 0 {
                console.note(format!("note: {corpus} is empty"));
            }
        }
        progress.finish_and_clear();
        let volume = writer.finish(Some(&self.manifest(lexicon.hash, &corpora)?))?;
        self.report(volume, counts)?.show(console)
    }

    /// Encodes one corpus, portion after portion, and counts its pairs.
    fn encode(
        &self,
        corpus: &Corpus,
        pairs: &mut Pairs,
        vocabulary: &Vocabulary,
        writer: &mut ShardWriter,
        counts: &mut Counts,
        progress: impl Fn(u64),
    ) -> Result<u64> {
        let mut portion = Portion::default();
        let mut number = 0_u64;
        while portion.read(pairs).map_err(explain)? {
            for (source, target) in portion.encode(vocabulary) {
                number += 1;
                let admitted = self.limits.admit(source, target, counts);
                if admitted.with_context(|| format!("{corpus}, pair {number}"))? {
                    writer.push(source, target)?;
                    counts.add_unknown(source, target, vocabulary.unknown());
                }
            }
            progress(writer.pairs());
        }
        Ok(number)
    }

    fn manifest(&self, vocabulary_sha256: Sha256, corpora: &[Corpus]) -> Result<Manifest> {
        let config = json!({
            "vocabulary": self.vocab,
            "vocabulary-sha256": vocabulary_sha256,
            "limits": self.limits,
            "pairs-per-shard": self.pairs_per_shard,
        });
        let mut manifest = Manifest::new("data encode", None, &config)?;
        let files = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        // Pipes cannot be read twice.
        for file in files.chain([self.vocab.as_path()]).filter(|file| file.is_file()) {
            manifest.add_data(file)?;
        }
        Ok(manifest)
    }

    /// Opens what was written, which checks it, and counts.
    fn report(&self, volume: Volume, counts: Counts) -> Result<Report> {
        let shards = ShardSet::open(&self.output).context("the shards just written")?;
        let tokens = volume.source_tokens + volume.target_tokens;
        Ok(Report {
            output: self.output.clone(),
            vocabulary: shards.lexicon().hash,
            pairs: volume.pairs,
            source_tokens: volume.source_tokens,
            target_tokens: volume.target_tokens,
            unknown_tokens: counts.unknown,
            unknown_share: counts.unknown as f64 / tokens.max(1) as f64,
            empty_sides: counts.empty,
            skipped: counts.skipped,
            shards: volume.shards,
            bytes: volume.bytes,
            batches: Batches::survey(&shards, self.budget)?,
        })
    }
}

/// Adds to the refusal of a destination what can be done about it.
fn explain_place(writer: Result<ShardWriter, ShardError>) -> Result<ShardWriter> {
    let advice = match writer.as_ref().map_err(|error| error.fault.as_ref()) {
        Err(Fault::Exists | Fault::Occupied(_)) => {
            "choose another --output, or remove what stands there"
        }
        Err(Fault::Busy) => "wait for it, or choose another --output",
        _ => return Ok(writer?),
    };
    writer.hint(advice)
}

/// Loads a vocabulary whose ids the shards can hold.
pub(super) fn load_vocabulary(path: &Path) -> Result<Vocabulary> {
    let vocabulary = Vocabulary::load(path)?;
    if vocabulary.has_house_ids() {
        return Ok(vocabulary);
    }
    let fact =
        format!("{}: padding, end, unknown and beginning are not 0, 1, 2, 3", path.display());
    Err(anyhow!(fact)).hint(
        "train one with `padir vocab train`, or with \
         `spm_train --pad_id=0 --eos_id=1 --unk_id=2 --bos_id=3`",
    )
}

/// What happened to the pairs.
#[derive(Default)]
struct Counts {
    /// Left out, by reason.
    skipped: BTreeMap<&'static str, u64>,
    /// Encoded although a side is empty.
    empty: u64,
    /// Unknown tokens.
    unknown: u64,
}

impl Counts {
    fn skip(&mut self, reason: &'static str, pairs: u64) {
        *self.skipped.entry(reason).or_default() += pairs;
    }

    fn add_unreadable(&mut self, counts: DefectCounts) {
        for (reason, pairs) in counts.reasons().into_iter().filter(|(_, pairs)| *pairs > 0) {
            self.skip(reason, pairs);
        }
    }

    fn add_unknown(&mut self, source: &[TokenId], target: &[TokenId], unknown: TokenId) {
        let tokens = source.iter().chain(target);
        self.unknown += tokens.filter(|&&token| token == unknown).count() as u64;
    }
}

impl Limits {
    /// Whether a pair is to be written; the sides come without their ends.
    fn admit(self, source: &[TokenId], target: &[TokenId], counts: &mut Counts) -> Result<bool> {
        let (longest, limit) = (source.len().max(target.len()) + 1, self.max_length);
        if longest > usize::from(limit) {
            if self.long == OnLong::Fail {
                let fact = anyhow!("a side has {longest} tokens, but at most {limit} are allowed");
                return Err(fact).hint("--long skip leaves such pairs out and counts them");
            }
            counts.skip(TOO_MANY_TOKENS, 1);
            return Ok(false);
        }
        if source.is_empty() || target.is_empty() {
            match self.empty {
                OnEmpty::Keep => counts.empty += 1,
                OnEmpty::Skip => counts.skip(EMPTY_SIDE, 1),
                OnEmpty::Fail => {
                    let fact = anyhow!("a side is empty");
                    return Err(fact).hint("--empty skip leaves such pairs out and counts them");
                }
            }
            return Ok(self.empty == OnEmpty::Keep);
        }
        Ok(true)
    }
}

/// What the user is told.
#[derive(Serialize)]
struct Report {
    output: PathBuf,
    vocabulary: Sha256,
    pairs: u64,
    source_tokens: u64,
    target_tokens: u64,
    unknown_tokens: u64,
    unknown_share: f64,
    empty_sides: u64,
    skipped: BTreeMap<&'static str, u64>,
    shards: u32,
    bytes: u64,
    batches: Batches,
}

impl Report {
    fn show(&self, console: &Console) -> Result<()> {
        if console.wants_json() {
            return console.print_json(self);
        }
        console.note(format_args!(
            "{} pairs, {} source and {} target tokens, {} of them unknown",
            grouped(self.pairs),
            grouped(self.source_tokens),
            grouped(self.target_tokens),
            percent(self.unknown_tokens, self.source_tokens + self.target_tokens)
        ));
        if self.empty_sides > 0 {
            console.note(format_args!("{} pairs have an empty side", grouped(self.empty_sides)));
        }
        for reason in [TOO_MANY_TOKENS, EMPTY_SIDE] {
            if let Some(&pairs) = self.skipped.get(reason) {
                console.note(format_args!("skipped {} pairs: {reason}", grouped(pairs)));
            }
        }
        console.note(format_args!("batches: {}", self.batches));
        let (size, output) = (megabytes(self.bytes), self.output.display());
        console.note(format_args!("wrote {size} in {} to {output}", count_shards(self.shards)));
        Ok(())
    }
}
