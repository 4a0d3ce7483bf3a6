//! `padir data filter`: leave out what harms training.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_text::filter::{Filter as PairFilter, Forbidden, Reason, Rules, Unique};
use serde_json::{Map, Value, json};

use super::table::{Table, grouped, percent};
use crate::console::Console;
use crate::corpus::{
    CorpusArgs, OutputArgs, corpora_of_names, explain_write, for_each_pair, note_empty,
};

/// Remove pairs by length, length ratio, duplication, or overlap with a test set.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data filter train.en train.de --min-words 1 --max-words 100 --max-ratio 3 \\
      --unique pair --drop-identical -o clean.en.gz -o clean.de.gz
  padir data filter train.tsv --exclude test.en --exclude test.de -o train-clean.tsv
  padir data filter zh.tsv --max-char-ratio 9 --max-chars 400 -o - | head

Words are separated by white space: for Chinese or Japanese use the options in characters. A
pair is counted for the first rule it breaks, in the order of the table.")]
pub(crate) struct Filter {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    rules: RuleArgs,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Rules")]
struct RuleArgs {
    /// Fewest words on each side.
    #[arg(long, value_name = "N")]
    min_words: Option<usize>,

    /// Most words on each side.
    #[arg(long, value_name = "N")]
    max_words: Option<usize>,

    /// Fewest characters on each side.
    #[arg(long, value_name = "N")]
    min_chars: Option<usize>,

    /// Most characters on each side.
    #[arg(long, value_name = "N")]
    max_chars: Option<usize>,

    /// Most words of the longer side for one of the shorter.
    #[arg(long, value_name = "RATIO")]
    max_ratio: Option<f64>,

    /// Most characters of the longer side for one of the shorter.
    #[arg(long, value_name = "RATIO")]
    max_char_ratio: Option<f64>,

    /// Leave out pairs whose two sides are the same text.
    #[arg(long)]
    drop_identical: bool,

    /// Leave out pairs that share a source or a target with this corpus: two aligned files, or
    /// one .tsv or .parquet; may be repeated.
    #[arg(long, value_name = "FILE")]
    exclude: Vec<PathBuf>,

    /// Leave out repetitions, keeping the first.
    #[arg(long, value_enum, value_name = "WHAT")]
    unique: Option<UniqueArg>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum UniqueArg {
    /// The same source with the same target.
    Pair,
    /// The same source.
    Source,
    /// The same target.
    Target,
    /// The same source or the same target.
    Either,
}

impl RuleArgs {
    fn rules(&self) -> Result<Rules> {
        for ratio in [self.max_ratio, self.max_char_ratio].into_iter().flatten() {
            ensure!(ratio >= 1.0, "a ratio of {ratio} would leave nothing: it must be at least 1");
        }
        Ok(Rules {
            min_words: self.min_words,
            max_words: self.max_words,
            min_chars: self.min_chars,
            max_chars: self.max_chars,
            max_ratio: self.max_ratio,
            max_char_ratio: self.max_char_ratio,
            drop_identical: self.drop_identical,
            unique: self.unique.map(|unique| match unique {
                UniqueArg::Pair => Unique::Pair,
                UniqueArg::Source => Unique::Source,
                UniqueArg::Target => Unique::Target,
                UniqueArg::Either => Unique::Either,
            }),
        })
    }
}

impl Filter {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let corpora = self.corpus.all()?;
        let excluded = corpora_of_names(&self.rules.exclude, self.corpus.langs())?;
        self.output.check(&[&corpora[..], &excluded[..]].concat())?;
        let reading = self.corpus.reading();
        let mut forbidden = Forbidden::default();
        if !excluded.is_empty() {
            for_each_pair(console, &excluded, reading, |pair| {
                forbidden.insert(pair);
                Ok(())
            })?;
        }
        let mut filter = PairFilter::new(self.rules.rules()?, forbidden);
        let mut writer = self.output.create(console, self.corpus.languages(&corpora))?;
        let mut dropped: HashMap<Reason, u64> = HashMap::new();
        let (read, skipped) = for_each_pair(console, &corpora, reading, |pair| {
            match filter.check(pair) {
                None => writer.write(pair).map_err(explain_write)?,
                Some(reason) => *dropped.entry(reason).or_default() += 1,
            }
            Ok(())
        })?;
        writer.finish().map_err(explain_write)?;
        note_empty(console, &corpora, read + skipped);
        report(console, read, skipped, &dropped)
    }
}

fn report(
    console: &Console,
    read: u64,
    skipped: u64,
    dropped: &HashMap<Reason, u64>,
) -> Result<()> {
    let count = |reason: Reason| dropped.get(&reason).copied().unwrap_or(0);
    let kept = read - Reason::ALL.into_iter().map(count).sum::<u64>();
    if console.wants_json() {
        let reasons: Map<String, Value> = Reason::ALL
            .into_iter()
            .map(|reason| (reason.name().replace(' ', "_"), count(reason).into()))
            .collect();
        return console.print_json(&json!({
            "read": read, "skipped": skipped, "kept": kept, "dropped": reasons,
        }));
    }
    let mut table = Table::default();
    table.row(["read", &grouped(read), ""]);
    for reason in Reason::ALL {
        if count(reason) > 0 {
            let share = percent(count(reason), read);
            table.row([reason.name(), &format!("-{}", grouped(count(reason))), &share]);
        }
    }
    table.row(["kept", &grouped(kept), &percent(kept, read)]);
    let mut text = Vec::new();
    table.write(&mut text)?;
    // The pairs may be on stdout, so the figures are a remark.
    console.note(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}
