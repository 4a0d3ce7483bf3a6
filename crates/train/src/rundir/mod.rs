//! The directory of a run: what it is, who works in it, and how it stands.
//!
//! ```text
//! config.toml      the configuration, every default spelled out
//! manifest.json    versions, seed, and the hash of every file that was read
//! status.json      running, or how the run ended
//! run.lock         held while a trainer works here; its process id
//! metrics.jsonl    the record, and events.out.tfevents.* for TensorBoard
//! ```
//!
//! The lock is the operating system's, so that a killed trainer leaves none behind. A resumed run
//! must have the configuration, the vocabulary and the training data it was begun with; some of the configuration is negotiable.

mod lock;
mod manifest;
mod status;
mod summary;

use std::path::{Path, PathBuf};
use std::{fs, io};

use padir_base::file::{FileError, write_atomically};
use padir_base::manifest::{Manifest, ManifestError};
use padir_text::shard::ShardError;
use thiserror::Error;

use crate::config::{Config, ConfigError, Difference};
use crate::record::RecordError;

pub use lock::{Lock, holder};
pub use manifest::manifest_of;
pub use status::{RunState, Status};
pub use summary::{Best, RunKind, Summary, find};

/// The file name of a run's configuration.
pub const CONFIG: &str = "config.toml";

/// The files that a [`Summary`] and a page of results are made of.
pub const RECORDS: [&str; 4] =
    [CONFIG, padir_base::manifest::FILE_NAME, status::FILE_NAME, crate::record::FILE_NAME];

/// A directory cannot be that of a run.
#[derive(Debug, Error)]
pub enum RunDirError {
    /// There is a run in it.
    #[error("there is a run in {}", .0.display())]
    Taken(PathBuf),
    /// There is none in it.
    #[error("there is no run in {}", .0.display())]
    Absent(PathBuf),
    /// Another trainer works in it.
    #[error("another trainer works in {}{}", path.display(), pid_text(*pid))]
    Locked {
        /// The directory.
        path: PathBuf,
        /// Its process, if it is known.
        pid: Option<u32>,
    },
    /// What is resumed is not what was begun.
    #[error("the run in {} was begun differently:{}", path.display(), list(differences))]
    Different {
        /// The directory.
        path: PathBuf,
        /// All of them.
        differences: Vec<Difference>,
    },
    /// A file of the run cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the run cannot be made.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The status is not one.
    #[error("{} is not the status of a run", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The configuration of the run cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The manifest of the run, or a file it names, cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The record of the run cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The shards cannot be read.
    #[error(transparent)]
    Shards(#[from] ShardError),
}

fn pid_text(pid: Option<u32>) -> String {
    pid.map_or(String::new(), |pid| format!(" (process {pid})"))
}

fn list(differences: &[Difference]) -> String {
    differences.iter().flat_map(|difference| ["\n  ", &difference.sentence]).collect()
}

/// What a run that is resumed may have changed, besides budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Nothing.
    Refused,
    /// What is negotiable: how parameters move from here on.
    Accepted,
}

/// The directory of a run that this process works in.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Released when the process ends, however it ends.
    _lock: Lock,
}

impl RunDir {
    /// Makes the directory of a new run and writes down what it is.
    ///
    /// # Errors
    /// If there is a run in it, another trainer works in it, or it cannot be written to.
    pub fn begin(config: &Config, manifest: &Manifest) -> Result<Self, RunDirError> {
        let path = config.run.dir.clone();
        fs::create_dir_all(&path)
            .map_err(|source| RunDirError::Write { path: path.clone(), source })?;
        let lock = Lock::take(&path)?;
        // A run that ended before its first line can be begun again.
        if path.join(CONFIG).exists() && path.join(crate::record::FILE_NAME).exists() {
            return Err(RunDirError::Taken(path));
        }
        let encoded = path.join("data");
        if encoded.is_dir() {
            // It may be another corpus.
            fs::remove_dir_all(&encoded)
                .map_err(|source| RunDirError::Write { path: encoded, source })?;
        }
        let run = Self { path, _lock: lock };
        run.describe(config, manifest)?;
        Ok(run)
    }

    /// Opens the directory of a run to go on with it, and tells which changes were accepted. Nothing is written yet: what the run
    /// is now is for [`RunDir::describe`], once it is sure to go on.
    ///
    /// # Errors
    /// If there is no run in it, another trainer works in it, or it was begun differently.
    pub fn resume(
        config: &Config,
        manifest: &Manifest,
        changes: Changes,
    ) -> Result<(Self, Vec<Difference>), RunDirError> {
        let path = config.run.dir.clone();
        if !path.join(CONFIG).exists() {
            return Err(RunDirError::Absent(path));
        }
        let lock = Lock::take(&path)?;
        let mut differences = Config::recall(path.join(CONFIG))?.differences(config);
        differences.extend(manifest::differences(&Manifest::load(&path)?, manifest));
        let accepted = |difference: &Difference| match changes {
            Changes::Refused => false,
            Changes::Accepted => difference.negotiable,
        };
        if differences.iter().all(accepted) {
            Ok((Self { path, _lock: lock }, differences))
        } else {
            Err(RunDirError::Different { path, differences })
        }
    }

    /// Writes down what the run is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn describe(&self, config: &Config, manifest: &Manifest) -> Result<(), RunDirError> {
        manifest.save(&self.path)?;
        // Last: with it there is a run in the directory.
        Ok(write_atomically(self.path.join(CONFIG), config.to_toml().as_bytes())?)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down how the run stands.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn set_status(&self, status: &Status) -> Result<(), RunDirError> {
        status.save(&self.path)
    }
}

#[cfg(test)]
mod tests;
