//! The manifest of a run: everything needed to know where a result came from.
//!
//! Each command that produces artefacts writes `manifest.json` beside them: the resolved
//! configuration, the seed, the versions, and the hash of every file that was read.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::file::{FileError, write_atomically};
use crate::hash::{Sha256, hash_file};
use crate::random::Seed;

/// The file name of a manifest inside a run's directory.
pub const FILE_NAME: &str = "manifest.json";

/// What was run, with what, on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The command, as verbs: `vocab train`.
    pub command: String,
    /// The version of padir.
    pub version: String,
    /// The operating system and processor family the run was made on.
    pub platform: String,
    /// The seed of all randomness.
    pub seed: Option<Seed>,
    /// Every setting after defaults, file and overrides were resolved.
    pub config: serde_json::Value,
    /// Every file that was read.
    pub data: Vec<DataFile>,
}

/// A file that a run has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// The path as the user gave it.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its hash.
    pub sha256: Sha256,
}

/// A manifest or a file it names could not be read or written.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// A data file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The manifest is not what this version writes.
    #[error("{} is not a manifest", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The manifest could not be written.
    #[error(transparent)]
    Write(#[from] FileError),
}

impl Manifest {
    /// A manifest of this version of padir on this platform, without data yet.
    ///
    /// # Errors
    /// If the configuration cannot be expressed as JSON (a map with keys that are no strings).
    pub fn new(
        command: &str,
        seed: Option<Seed>,
        config: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            command: command.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            seed,
            config: serde_json::to_value(config)?,
            data: Vec::new(),
        })
    }

    /// Notes a file that the run reads.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn add_data(&mut self, path: impl AsRef<Path>) -> Result<(), ManifestError> {
        self.data.push(DataFile::examine(path.as_ref())?);
        Ok(())
    }

    /// Writes the manifest into a directory.
    ///
    /// # Errors
    /// If the directory cannot be written to.
    ///
    /// # Panics
    /// Never: a manifest holds only what JSON can express.
    pub fn save(&self, directory: impl AsRef<Path>) -> Result<(), FileError> {
        let mut text = serde_json::to_vec_pretty(self).expect("strings, numbers and JSON values");
        text.push(b'\n');
        write_atomically(directory.as_ref().join(FILE_NAME), &text)
    }

    /// Reads the manifest of a directory.
    ///
    /// # Errors
    /// If there is none or it is not a manifest.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self, ManifestError> {
        let path = directory.as_ref().join(FILE_NAME);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|source| ManifestError::Foreign { path, source }),
            Err(source) => Err(ManifestError::Read { path, source }),
        }
    }
}

impl DataFile {
    /// Measures and hashes a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn examine(path: &Path) -> Result<Self, ManifestError> {
        let read = || Ok((fs::metadata(path)?.len(), hash_file(path)?));
        match read() {
            Ok((bytes, sha256)) => {
                Ok(Self { path: path.to_string_lossy().into_owned(), bytes, sha256 })
            }
            Err(source) => Err(ManifestError::Read { path: path.to_owned(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let corpus = directory.path().join("corpus.txt");
        fs::write(&corpus, "eins\n").unwrap();
        let config = serde_json::json!({"size": 8000});
        let mut manifest = Manifest::new("vocab train", Some(Seed(7)), &config).unwrap();
        manifest.add_data(&corpus).unwrap();
        manifest.save(directory.path()).unwrap();
        assert_eq!(Manifest::load(directory.path()).unwrap(), manifest);
        assert_eq!(manifest.data[0].bytes, 5);
    }

    #[test]
    fn a_foreign_manifest_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE_NAME), "{\"colour\": 1}").unwrap();
        let error = Manifest::load(directory.path()).unwrap_err();
        assert!(error.to_string().ends_with("manifest.json is not a manifest"), "{error}");
    }
}
