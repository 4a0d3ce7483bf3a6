//! `padir phrases`: the share of everyday phrases that a model translates acceptably.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use padir_score::phrases::{Phrase, PhraseList};
use padir_translate::{Text, Translator};
use serde::Serialize;

use super::arithmetic::Arithmetic;
use crate::console::Console;
use crate::hint::WithHint;

/// Sources that are translated together.
const BATCH: usize = 64;
/// Accepted translations that are shown beside a rejected one.
const SHOWN: usize = 3;

/// Count the phrases that a model translates acceptably.
///
/// A list has several accepted translations for each source. A translation is accepted if it is one of them, apart from upper and lower
/// case, white space and punctuation at its ends. Rejected translations are printed with some that are accepted. The model translates as
/// `padir translate` does by default.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir phrases --model models/tatoeba-en-de recipes/phrasebook/lists/dev-en-de.txt
  padir phrases --model models/tatoeba-en-de recipes/phrasebook/lists/guard-en-de.txt --at-least 95 --json

A line of a list is `source ;; source => answer | answer`. In an answer, {a/b} is a or b, and [a] may be left out.")]
pub(crate) struct Phrases {
    /// The model's directory.
    #[arg(long, short, value_name = "DIR")]
    model: PathBuf,

    /// Lists of phrases.
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    /// Fail if the share of a list is lower.
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,

    #[command(flatten)]
    arithmetic: Arithmetic,
}

/// What became of a list.
#[derive(Serialize)]
struct Report {
    list: PathBuf,
    sources: usize,
    accepted: usize,
    /// In per cent.
    share: f64,
    rejected: Vec<Rejected>,
}

/// A translation that is not in the list.
#[derive(Serialize)]
struct Rejected {
    source: String,
    translation: String,
    /// Some that are.
    accepted: Vec<String>,
}

impl Phrases {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if let Some(share) = self.at_least {
            ensure!((0.0..=100.0).contains(&share), "--at-least {share} is not from 0 to 100");
        }
        let lists: Vec<PhraseList> =
            self.lists.iter().map(|path| read(path)).collect::<Result<_>>()?;
        let mut translator = self.arithmetic.open(&self.model, console.threads())?;
        let mut reports = Vec::with_capacity(lists.len());
        for (path, list) in self.lists.iter().zip(&lists) {
            reports.push(report(path, list.phrases(), &mut translator)?);
        }
        if console.wants_json() {
            console.print_json(&reports)?;
        } else {
            show(console, &reports)?;
        }
        let Some(least) = self.at_least else { return Ok(()) };
        match reports.iter().find(|report| report.share < least) {
            None => Ok(()),
            Some(Report { list, share, .. }) => {
                Err(anyhow!("{}: {share:.1} % are accepted, less than {least} %", list.display()))
            }
        }
    }
}

fn read(path: &Path) -> Result<PhraseList> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let list = PhraseList::parse(&text)
        .with_context(|| format!("{} is not a list of phrases", path.display()))
        .hint("a line is `source => answer | answer`, such as `Hello => Hallo | Guten Tag`")?;
    ensure!(!list.phrases().is_empty(), "{} is empty", path.display());
    Ok(list)
}

fn report(path: &Path, phrases: &[Phrase], translator: &mut Translator) -> Result<Report> {
    let mut rejected = Vec::new();
    for batch in phrases.chunks(BATCH) {
        let texts: Vec<Text<'_>> =
            (0..).zip(batch).map(|(number, phrase)| Text::new(number, &phrase.source)).collect();
        let translations = translator.translate(&texts, 1, &mut ())?;
        for (phrase, translation) in batch.iter().zip(&translations) {
            if !phrase.accepts(translation.text()) {
                rejected.push(Rejected {
                    source: phrase.source.clone(),
                    translation: translation.text().to_owned(),
                    accepted: phrase.answers.iter().take(SHOWN).cloned().collect(),
                });
            }
        }
    }
    let (sources, accepted) = (phrases.len(), phrases.len() - rejected.len());
    let share = 100.0 * accepted as f64 / sources as f64;
    Ok(Report { list: path.to_owned(), sources, accepted, share, rejected })
}

fn show(console: &Console, reports: &[Report]) -> Result<()> {
    let mut out = console.out();
    for Report { list, sources, accepted, share, rejected } in reports {
        for Rejected { source, translation, accepted } in rejected {
            writeln!(out, "{source}\t{translation}\t(accepted: {})", accepted.join(" | "))?;
        }
        writeln!(out, "{}: {accepted} of {sources} accepted ({share:.1} %)", list.display())?;
    }
    Ok(out.flush()?)
}
