//! What was trained.

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::manifest::{DataFile, Manifest};
use padir_base::random::Seed;
use padir_train::rundir::{self, Summary};
use serde::Serialize;

use super::ReportError;
use crate::Error;

/// A run of training.
#[derive(Serialize)]
pub(super) struct Training {
    /// Its path below the recipe's directory.
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) summary: Summary,
    pub(super) seed: Option<Seed>,
    pub(super) data: Vec<DataFile>,
    /// The resolved configuration, as TOML.
    pub(super) config: String,
}

impl Training {
    pub(super) fn read(directory: &Path, run: &Path) -> Result<Self, Error> {
        let read = |file: &str| {
            let path = run.join(file);
            fs::read_to_string(&path).map_err(Error::reading(&path))
        };
        let manifest: Manifest = serde_json::from_str(&read("manifest.json")?)
            .map_err(|source| ReportError::Manifest { run: run.to_owned(), source })?;
        Ok(Self {
            name: run.strip_prefix(directory).unwrap_or(run).display().to_string(),
            summary: Summary::read(run).map_err(ReportError::from)?,
            seed: manifest.seed,
            data: manifest.data,
            config: read("config.toml")?,
        })
    }

    /// The files it was read from, below the recipe's directory.
    pub(super) fn sources(&self) -> impl Iterator<Item = PathBuf> {
        rundir::RECORDS.into_iter().map(|file| Path::new(&self.name).join(file))
    }

    /// The best of what the run watched: its name and value.
    pub(super) fn best(&self) -> Option<(String, f64)> {
        let metric = self.summary.metric.as_ref()?.to_string();
        let best = self.summary.best.get(&metric)?;
        Some((metric, best.value))
    }
}
