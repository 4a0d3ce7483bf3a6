//! A run at a glance, from the files it left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use padir_base::ParallelTraining;
use serde::Serialize;

use super::lock::holder;
use super::status::{RunState, Status};
use super::{CONFIG, RunDirError};
use crate::config::{Config, ConfigError, Metric};
use crate::record::{self, Kind, RecordError, Row};

/// A run at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Its directory.
    pub path: PathBuf,
    /// The last part of it.
    pub name: String,
    /// What it learns.
    pub kind: RunKind,
    /// The number of parameters, if the run came so far as to count them.
    pub parameters: Option<u64>,
    /// Steps done.
    pub steps: u64,
    /// Target tokens learnt from.
    pub tokens: u64,
    /// Seconds of training.
    pub seconds: f64,
    /// Whether it goes on. A run that says so but has no process was stopped.
    pub state: RunState,
    /// Why it ended, in words.
    pub reason: Option<String>,
    /// What its best checkpoint is best in.
    pub metric: Option<Metric>,
    /// The best number of every measure of every dev set, and its step.
    pub best: BTreeMap<String, Best>,
    /// All its rows.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// What a run learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// An autoregressive model.
    Ar,
    /// A parallel one.
    #[serde(untagged)]
    Parallel(ParallelTraining),
}

/// The best of something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Best {
    /// The number.
    pub value: f64,
    /// The step it was measured at.
    pub step: u64,
}

impl Summary {
    /// Reads the directory of a run.
    ///
    /// # Errors
    /// If there is no run in it, or its files are not what this version writes.
    pub fn read(directory: impl AsRef<Path>) -> Result<Self, RunDirError> {
        let path = directory.as_ref().to_owned();
        let config = match Config::recall(path.join(CONFIG)) {
            Err(ConfigError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(RunDirError::Absent(path));
            }
            config => config?,
        };
        let rows = match record::read(&path) {
            // A run that was begun and has measured nothing yet.
            Err(RecordError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Vec::new()
            }
            rows => rows?,
        };
        let status = Status::load(&path)?;
        let state = match status.as_ref().map(|status| status.state) {
            None | Some(RunState::Running) if holder(&path).is_none() => RunState::Stopped,
            None => RunState::Running,
            Some(state) => state,
        };
        let last = rows.last();
        Ok(Self {
            name: name_of(&path),
            kind: config.objective.kind.training().map_or(RunKind::Ar, RunKind::Parallel),
            parameters: status.as_ref().map(|status| status.parameters),
            steps: last.map_or(0, |row| row.step),
            tokens: last.map_or(0, |row| row.tokens),
            seconds: last.map_or(0.0, |row| row.seconds),
            state,
            reason: status.and_then(|status| status.reason),
            metric: config.run.metric,
            best: best_of(&rows),
            path,
            rows,
        })
    }

    /// The steps and values of a number by its name: `loss` of training, `dev.bleu` of a dev set.
    pub fn curve(&self, name: &str) -> Vec<(u64, f64)> {
        let points = self.rows.iter().filter_map(|row| Some((row.step, *row.values.get(name)?)));
        points.filter(|(_, value)| value.is_finite()).collect()
    }
}

fn name_of(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn best_of(rows: &[Row]) -> BTreeMap<String, Best> {
    let mut best: BTreeMap<String, Best> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == Kind::Eval) {
        for (name, &value) in &row.values {
            let Some(metric) = Metric::parse(name) else { continue };
            let old = best.get(name).map_or(f64::NAN, |best| best.value);
            if metric.improves(old, value) {
                best.insert(name.clone(), Best { value, step: row.step });
            }
        }
    }
    best
}

/// All runs at or below a directory, sorted by path. Directories of runs are not searched further.
///
/// # Errors
/// If a directory cannot be read.
pub fn find(directory: &Path) -> Result<Vec<PathBuf>, RunDirError> {
    if directory.join(CONFIG).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let fail = |source| RunDirError::Read { path: directory.to_owned(), source };
    let mut below = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        // Not through links: they may lead back.
        if entry.file_type().map_err(fail)?.is_dir() {
            below.push(entry.path());
        }
    }
    below.sort();
    let mut runs = Vec::new();
    for path in below {
        runs.extend(find(&path)?);
    }
    Ok(runs)
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ar => "ar",
            Self::Parallel(training) => training.name(),
        })
    }
}
