//! What can go wrong between text and text.

use std::path::PathBuf;

use padir_base::TokenId;
use padir_checkpoint::CheckpointError;
use padir_decode::DecodeError;
use padir_engine::EngineError;
use padir_text::shortlist::ShortlistError;
use padir_text::vocab::VocabError;
use thiserror::Error;

/// A setting that cannot be changed like this.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodingError {
    /// Not of the form key=value.
    #[error("`{0}` is not of the form key=value")]
    NotAnAssignment(String),
    /// There is no such setting.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// The settings make no sense with it.
    #[error("`{assignment}`: {reason}")]
    Value {
        /// What was to be set.
        assignment: String,
        /// Why not.
        reason: String,
    },
}

impl DecodingError {
    pub(crate) fn bad(assignment: &impl ToString, reason: &impl ToString) -> Self {
        Self::Value { assignment: assignment.to_string(), reason: reason.to_string() }
    }
}

/// A text that cannot be translated.
#[derive(Debug, Error)]
pub enum TranslateError {
    /// The model cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model's vocabulary cannot be read.
    #[error("the model has no usable vocabulary")]
    Vocabulary(#[from] VocabError),
    /// The model's shortlist cannot be used.
    #[error("the model has no usable shortlist")]
    Shortlist(#[from] ShortlistError),
    /// Another vocabulary than the model's.
    #[error("the vocabulary in {} is not the one this model was trained with", .0.display())]
    ForeignVocabulary(PathBuf),
    /// A model whose sentences end with another token than decoders look for.
    #[error(
        "this model ends sentences with token {}; only token {} is supported yet",
        .0.0,
        TokenId::EOS.0
    )]
    ForeignEnd(TokenId),
    /// A vocabulary with more ids than the model.
    #[error("the vocabulary in {} has {ids} ids, but the model knows {known}", directory.display())]
    TooManyIds {
        /// The model.
        directory: PathBuf,
        /// The vocabulary's size.
        ids: usize,
        /// The model's.
        known: usize,
    },
    /// A way of decoding for the other kind of model.
    #[error("{asked} needs {needed}, and this is {found}")]
    WrongMethod {
        /// The way of decoding.
        asked: &'static str,
        /// The model it needs.
        needed: &'static str,
        /// The model it is.
        found: &'static str,
    },
    /// A judge with another vocabulary: what is said in one is not said in the other.
    #[error("the judge has another vocabulary than the model")]
    ForeignJudge,
    /// A length penalty that orders nothing.
    #[error("the judge's length penalty is {0}; it must be finite")]
    JudgePenalty(f64),
    /// Decoding failed.
    #[error(transparent)]
    Decode(#[from] DecodeError<EngineError>),
    /// The model cannot foretell lengths, and none were given.
    #[error(
        "this model was trained with known lengths and cannot foretell any: it cannot translate by itself"
    )]
    NoLengths,
}
