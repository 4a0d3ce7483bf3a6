//! What can be wrong with a model of another program.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::ConfigError;
use crate::tensors::TensorError;

/// A model of another program cannot be imported.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct ImportError {
    /// The file, or the directory.
    pub path: PathBuf,
    /// What is wrong with it; part of the message, hence no source that would be told again.
    pub fault: ImportFault,
}

/// Why a model of another program cannot be imported.
#[derive(Debug, Error)]
pub enum ImportFault {
    /// Nothing that is known.
    #[error("holds no model of a known format{}", .0.map_or(String::new(), |what| format!(", but {what}")))]
    Unknown(Option<&'static str>),
    /// A file that belongs to the model is not there.
    #[error("holds no {0}")]
    Missing(&'static str),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// A file that is too long for what it is.
    #[error("is {bytes} bytes long; at most {limit} are read")]
    TooLong {
        /// Its size.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// The bytes are not what they should be.
    #[error("is damaged: {0}")]
    Damaged(String),
    /// A version of the format that is not known.
    #[error("is of binary version {0}; versions 1 to 6 are read")]
    Version(u32),
    /// A network that cannot be represented.
    #[error("cannot be represented: {0}")]
    Unsupported(String),
    /// A configuration that is none.
    #[error("{0}")]
    Config(ConfigError),
    /// A list of tokens that is none.
    #[error("is not a vocabulary: {0}")]
    Vocabulary(String),
    /// A tensor that the model needs.
    #[error("lacks {0:?}")]
    NoTensor(String),
    /// A tensor that the model does not have.
    #[error("holds {0:?}, which this network does not have")]
    Unexpected(String),
    /// A tensor with another shape than the model's.
    #[error("{name:?} has the shape {found:?}; it must be {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What the rest of the model needs.
        expected: Vec<usize>,
    },
    /// Numbers of a type that is not read.
    #[error("{name:?} is of type {found}; {expected}")]
    Dtype {
        /// The tensor.
        name: String,
        /// Its type.
        found: String,
        /// What can be read.
        expected: &'static str,
    },
    /// A tensor holds something that is not a finite number.
    #[error("{name:?} holds {value} at index {index}")]
    NotFinite {
        /// The tensor.
        name: String,
        /// Of the first such number.
        index: usize,
        /// NaN or an infinity.
        value: f32,
    },
    /// A pickle that is more than tensors.
    #[error("asks for {0:?}, which is no tensor; nothing of it was run")]
    Code(String),
    /// An archive that would fill the disk or leave its directory.
    #[error("entry {name:?} {why}")]
    Entry {
        /// The entry.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl ImportFault {
    pub(crate) fn at(self, path: &Path) -> ImportError {
        ImportError { path: path.to_owned(), fault: self }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// What a user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => {
                "give a directory with CTranslate2's model.bin, an Argos package, or a Marian model of transformers"
            }
            Self::Missing(_) => "copy all files of the model; docs/importing.md lists them",
            Self::Read(_) => "give the model's directory or package",
            Self::Version(_) => "convert the model with a version of CTranslate2 that is known",
            Self::Unsupported(_) | Self::Unexpected(_) | Self::Config(_) => {
                "docs/importing.md lists the networks that can be imported"
            }
            Self::Code(_) => {
                "the file does more than hold tensors; convert it to safetensors where you trust it"
            }
            Self::Entry { .. } => "the archive is damaged or hostile; do not unpack it",
            _ => "the file is damaged; copy it again",
        }
    }
}

impl From<TensorError> for ImportError {
    fn from(error: TensorError) -> Self {
        ImportError { path: error.path, fault: ImportFault::damaged(error.fault.to_string()) }
    }
}
