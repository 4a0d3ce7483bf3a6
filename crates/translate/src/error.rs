//! What can go wrong between text and text.

use std::error::Error as StdError;
use std::path::PathBuf;

use padir_base::TokenId;
use padir_checkpoint::CheckpointError;
use padir_decode::{DecodeError, Method, SettingsError};
use padir_engine::EngineError;
use padir_text::shortlist::ShortlistError;
use padir_text::vocab::VocabError;
use thiserror::Error;

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
    /// A shortlist of a model that can have none.
    #[error("this model has the vocabulary of a Marian model, for which there are no shortlists")]
    NoShortlist,
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
    /// The settings that travel with the model are wrong.
    #[error("{}", path.display())]
    Generation {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SettingsError,
    },
    /// Decoding settings that make no sense, or not for this model.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Only autoregressive models can score what another one said.
    #[error("reranking needs an autoregressive model; this is a parallel model")]
    ParallelReranker,
    /// A reranker with another vocabulary: tokens of one mean something else in the other.
    #[error("the reranker has another vocabulary than the model")]
    ForeignReranker,
    /// A length penalty that orders nothing.
    #[error("the reranker's length penalty is {0}; it must be finite")]
    RerankerPenalty(f64),
    /// A translation to start from, for a method that does not refine.
    #[error("forced tokens need a method that refines; {0} does not")]
    TemplateMethod(Method),
    /// A translation to start from, for several sentences at once.
    #[error("forced tokens are for one sentence; this text has {0} parts")]
    TemplateParts(usize),
    /// A forced word that the vocabulary has no tokens for.
    #[error("the model cannot spell {0:?}: its vocabulary lacks a character")]
    Unspellable(String),
    /// A forced token that the model does not know.
    #[error("the model has no token {}", .0.0)]
    TemplateToken(TokenId),
    /// The model failed, or what it answered cannot be decoded.
    #[error(transparent)]
    Model(Box<dyn StdError + Send + Sync>),
    /// The model cannot predict lengths, and none were given.
    #[error(
        "this model was trained with known lengths and does not predict any: it cannot translate by itself"
    )]
    NoLengths,
}

impl TranslateError {
    /// The failure of a model.
    pub(crate) fn model(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Model(Box::new(error))
    }
}

impl<E: StdError + Send + Sync + 'static> From<DecodeError<E>> for TranslateError {
    fn from(error: DecodeError<E>) -> Self {
        match error {
            DecodeError::Settings(error) => Self::Settings(error),
            DecodeError::Denoiser(error) | DecodeError::CausalModel(error) => Self::model(error),
            other => Self::model(other),
        }
    }
}
