//! Models of other programs, turned into checkpoints of this one.
//!
//! | what | where |
//! |---|---|
//! | CTranslate2 | a directory with `model.bin`, its vocabulary, and a `SentencePiece` model in it or beside it |
//! | Argos Translate | an unpacked package, or its `.argosmodel` |
//! | Marian (OPUS-MT) of Hugging Face | a directory with `config.json`, `model.safetensors` or `pytorch_model.bin`, `source.spm`, `target.spm`, `vocab.json` |
//!
//! [`Foreign::open`] reads everything but the weights and checks it against the inventory of the resulting model; [`Foreign::tensor`]
//! then gives one parameter after the other. Whatever the resulting network could not express is refused by its name. Files are
//! believed in nothing: counts and sizes are compared with the bytes that are there before anything is allocated, and a pickle can
//! name nothing but tensors.
//!
//! Memory: the file of the weights as it is stored, and one parameter at a time.

mod binary;
mod bytes;
mod ctranslate2;
mod error;
mod marian;
mod package;
mod pickle;
mod pytorch;
mod zip;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use padir_base::hash::Sha256;

use crate::config::ModelConfig;
use crate::inventory::Parameter;

pub use binary::{Binary, Variable, VariableType};
pub use error::{ImportError, ImportFault};
pub use pickle::{Pickled, StorageType, TensorView};
pub use pytorch::PyTorchFile;
pub use zip::Archive;

/// The format that a model came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CTranslate2's `model.bin`.
    CTranslate2,
    /// An Argos Translate package around it.
    Argos,
    /// Marian of `transformers`, in safetensors.
    Marian,
    /// Marian of `transformers`, in a PyTorch archive.
    MarianPyTorch,
}

/// A model of another program.
#[derive(Debug)]
pub struct Foreign {
    /// The format it came in.
    pub format: Format,
    /// Its shape.
    pub config: ModelConfig,
    /// Its vocabulary.
    pub pieces: Pieces,
    /// What its files say about it.
    pub origin: Origin,
    weights: Weights,
}

/// The vocabulary of a model, as contents of files of a Marian model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// The `SentencePiece` model of sources.
    pub source_spm: Vec<u8>,
    /// That of targets.
    pub target_spm: Vec<u8>,
    /// The ids of pieces, as a JSON object.
    pub vocab: Vec<u8>,
    /// Those of targets, if they have their own.
    pub target_vocab: Option<Vec<u8>>,
}

/// Files that are given besides the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The `SentencePiece` model of sources; that of targets, too, if there is no other.
    pub source_spm: Option<PathBuf>,
    /// That of targets.
    pub target_spm: Option<PathBuf>,
}

/// What the files of a model say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The licence, if a file names one.
    pub licence: Option<String>,
    /// A heading.
    pub title: Option<String>,
    /// The text that came with the model.
    pub readme: Option<String>,
    /// Of the file with the weights.
    pub weights_sha256: Option<Sha256>,
    /// How its program decodes unless told otherwise.
    pub num_beams: Option<usize>,
}

#[derive(Debug)]
enum Weights {
    CTranslate2(Box<ctranslate2::Weights>),
    Marian(Box<marian::Weights>),
}

impl Foreign {
    /// Opens the model in a directory or package and finds out which format it has.
    ///
    /// # Errors
    /// If it is no model, damaged, or cannot be represented.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImportError> {
        Self::open_with(path, &Given::default())
    }

    /// The same with files that are not where they are looked for.
    ///
    /// # Errors
    /// As [`Foreign::open`].
    pub fn open_with(path: impl AsRef<Path>, given: &Given) -> Result<Self, ImportError> {
        package::open(path.as_ref(), given)
    }

    /// The numbers of a parameter of [`Foreign::config`], row by row, all finite.
    ///
    /// # Errors
    /// If it holds NaN or an infinity.
    pub fn tensor(&self, parameter: &Parameter) -> Result<Cow<'_, [f32]>, ImportError> {
        match &self.weights {
            Weights::CTranslate2(weights) => weights.tensor(parameter),
            Weights::Marian(weights) => weights.tensor(parameter),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CTranslate2 => "CTranslate2",
            Self::Argos => "Argos Translate",
            Self::Marian => "Marian (safetensors)",
            Self::MarianPyTorch => "Marian (PyTorch)",
        })
    }
}
