//! What can go wrong with a checkpoint.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::ConfigError;
use crate::tensors::TensorError;

/// A checkpoint cannot be read or written.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// A directory without a model.
    #[error("{} holds no {file}{}", directory.display(), instead.map_or(String::new(), |i| format!(", but {i}")))]
    NotACheckpoint {
        /// The directory.
        directory: PathBuf,
        /// What is missing.
        file: &'static str,
        /// What is there.
        instead: Option<&'static str>,
    },
    /// A file that cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that is too long for what it is.
    #[error("{} is {bytes} bytes long; at most {limit} are read", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// A configuration that is none.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// The tensors.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// A checkpoint that cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl CheckpointError {
    /// What a user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotACheckpoint { .. } | Self::Read { .. } => "give the directory of a checkpoint",
            Self::TooLong { .. } => "the file is damaged; copy it again",
            Self::Config { .. } => {
                "config.json must be that of a T5.1.0, a Marian or a padir model"
            }
            Self::Tensors(error) => error.fault.hint(),
            Self::Write { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "give the directory of a checkpoint, or one that does not exist yet"
            }
            Self::Write { .. } => "the checkpoint that stood there is intact",
        }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }
}
