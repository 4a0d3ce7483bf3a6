//! What has become of a corpus, for people and for machines.

use std::fs;
use std::path::Path;

use padir_base::file::write_atomically;
use padir_base::hash::hash_file;
use padir_base::manifest::{DataFile, Manifest};
use serde::{Deserialize, Serialize};

use super::part::Cost;
use super::statistics::Findings;
use super::task::differences;
use crate::Error;

/// What is done with a pair that has no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnEmpty {
    /// It keeps its target.
    KeepReference,
    /// Its target becomes an empty line.
    Empty,
    /// It is left out.
    Drop,
}

/// The report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Whether all parts are joined; always, as a report is the last thing that is made.
    pub complete: bool,
    /// The files written.
    pub outputs: Vec<DataFile>,
    /// Pairs read.
    pub pairs: u64,
    /// Pairs that were not readable and left out.
    pub skipped: u64,
    /// Pairs written.
    pub written: u64,
    /// What was done with pairs without a translation.
    pub on_empty: OnEmpty,
    /// What was counted.
    #[serde(flatten)]
    pub findings: Findings,
    /// Seconds and tokens of all translating, by all workers.
    pub cost: Cost,
    /// Target tokens a second.
    pub tokens_per_second: f64,
    /// The names of the columns, in parquet.
    pub columns: Option<(String, String)>,
    /// The work it reports on.
    pub manifest: Manifest,
}

/// What was asked for.
pub(super) struct Request {
    pub(super) manifest: Manifest,
    pub(super) on_empty: OnEmpty,
    pub(super) columns: Option<(String, String)>,
}

impl Report {
    /// The report of work that is done: it says that the same was asked for, and the files are as it says.
    pub(super) fn of_finished(path: &Path, request: &Request, outputs: &[&Path]) -> Option<Self> {
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
    pub(super) fn save(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(write_atomically(path, &text)?)
    }
}
