//! What has become of a corpus, for people and for machines.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use padir_base::file::write_atomically;
use padir_base::hash::hash_file;
use padir_base::manifest::{DataFile, Manifest};
use serde::{Deserialize, Serialize};

use super::part::Cost;
use super::tally::Findings;
use super::task::differences;
use crate::commands::data::table::{Table, grouped, percent};
use crate::console::Console;

/// What is done with a pair that has no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::commands) enum OnEmpty {
    /// It keeps its target.
    KeepReference,
    /// Its target becomes an empty line.
    Empty,
    /// It is left out.
    Drop,
}

/// The report.
#[derive(Serialize, Deserialize)]
pub(in crate::commands) struct Report {
    /// Whether all parts are joined; always, as a report is the last thing that is made.
    pub(in crate::commands) complete: bool,
    /// The files written.
    pub(in crate::commands) outputs: Vec<DataFile>,
    /// Pairs read.
    pub(in crate::commands) pairs: u64,
    /// Pairs that were not readable and left out.
    pub(in crate::commands) skipped: u64,
    /// Pairs written.
    pub(in crate::commands) written: u64,
    /// What was done with pairs without a translation.
    pub(in crate::commands) on_empty: OnEmpty,
    #[serde(flatten)]
    pub(in crate::commands) findings: Findings,
    /// Seconds and tokens of all translating, by all workers.
    pub(in crate::commands) cost: Cost,
    /// Target tokens a second.
    pub(in crate::commands) tokens_per_second: f64,
    /// The names of the columns, in parquet.
    pub(in crate::commands) columns: Option<(String, String)>,
    /// The work it reports on.
    pub(in crate::commands) manifest: Manifest,
}

/// What was asked for.
pub(in crate::commands) struct Request {
    pub(in crate::commands) manifest: Manifest,
    pub(in crate::commands) on_empty: OnEmpty,
    pub(in crate::commands) columns: Option<(String, String)>,
}

impl Report {
    /// The report of work that is done: it says that the same was asked for, and the files are as it says.
    pub(in crate::commands) fn of_finished(
        path: &Path,
        request: &Request,
        outputs: &[&Path],
    ) -> Option<Self> {
        let report: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let same = report.on_empty == request.on_empty
            && report.columns == request.columns
            && differences(&report.manifest, &request.manifest).is_empty();
        let is_there = |(path, file): (&&Path, &DataFile)| {
            path.is_file() && hash_file(path).is_ok_and(|hash| hash == file.sha256)
        };
        let whole = report.outputs.len() == outputs.len()
            && outputs.iter().zip(&report.outputs).all(is_there);
        (same && whole).then_some(report)
    }

    /// Writes it to a file.
    pub(in crate::commands) fn save(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(write_atomically(path, &text)?)
    }

    /// Prints it.
    pub(in crate::commands) fn show(&self, console: &Console) -> Result<()> {
        if console.wants_json() {
            return console.print_json(self);
        }
        let mut out = console.out();
        self.table().write(&mut out)?;
        Ok(out.flush()?)
    }

    fn table(&self) -> Table {
        let Findings { reference, distilled, bleu, chrf, .. } = &self.findings;
        let mut table = Table::default();
        table.row(["", "reference", "distilled"]);
        let counts = [
            ("pairs", self.pairs, self.written),
            ("target tokens", reference.target_tokens, distilled.target_tokens),
        ];
        for (name, before, after) in counts {
            table.row([name, &grouped(before), &grouped(after)]);
        }
        let numbers = [
            ("target tokens per source token", reference.length_ratio, distilled.length_ratio),
            ("stutter per 1000 words", reference.stutter, distilled.stutter),
            ("H(token), bits", reference.entropy.unigram, distilled.entropy.unigram),
            ("H(token | token before), bits", reference.entropy.bigram, distilled.entropy.bigram),
            ("H(token | source token), bits", reference.entropy.lexical, distilled.entropy.lexical),
        ];
        for (name, before, after) in numbers {
            table.row([name, &format!("{before:.3}"), &format!("{after:.3}")]);
        }
        table.row(["BLEU", "", &format!("{:.2}", bleu.score)]);
        table.row(["chrF2", "", &format!("{:.2}", chrf.score)]);
        table.row(["changed targets", "", &percent(self.findings.changed, distilled.pairs)]);
        table.row(["empty sources", &grouped(self.findings.empty_sources), ""]);
        table.row(["without translation", "", &grouped(self.findings.empty_translations)]);
        if let Some(cut) = self.findings.cut_translations {
            table.row(["cut translations", "", &grouped(cut)]);
        }
        if self.skipped > 0 {
            table.row(["unreadable", &grouped(self.skipped), ""]);
        }
        table.row(["seconds", "", &format!("{:.1}", self.cost.seconds)]);
        table.row(["target tokens/s", "", &format!("{:.0}", self.tokens_per_second)]);
        table
    }
}
