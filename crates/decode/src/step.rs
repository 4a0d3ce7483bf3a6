//! What decoding yields.

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query, QueryError};
use padir_base::mask::{LawError, Mask};
use thiserror::Error;

use crate::batch::Batch;
use crate::chance::ChanceError;
use crate::settings::SettingsError;

/// One step of a sampler or refiner, over all rows of its batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The number of the step, from 1.
    pub number: usize,
    /// All tokens after the step, row after row.
    pub tokens: Vec<TokenId>,
    /// Which positions of each row were predicted in this step.
    pub hidden: Vec<Mask>,
    /// ln p of every token when it was last predicted; 0 for tokens that never were.
    pub log_probs: Vec<f64>,
    /// How many tokens changed.
    pub changed: usize,
}

/// Decoding that cannot go on.
#[derive(Debug, Error)]
pub enum DecodeError<E: std::error::Error + 'static> {
    /// The denoiser failed.
    #[error(transparent)]
    Denoiser(E),
    /// The causal model failed.
    #[error(transparent)]
    CausalModel(E),
    /// The settings contradict themselves, or do not fit what is to be decoded.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A decision could not be made.
    #[error(transparent)]
    Chance(#[from] ChanceError),
    /// A mask law makes no sense for a sequence.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The query was malformed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The denoiser left a wanted position without an answer.
    #[error("the denoiser did not answer position {0}")]
    NoAnswer(usize),
    /// The causal model answered with another number of candidates than it was asked for.
    #[error("the causal model answered {found} candidates for {rows} rows of {depth}")]
    Answers {
        /// How many it answered.
        found: usize,
        /// The number of rows.
        rows: usize,
        /// The candidates asked for in each row.
        depth: usize,
    },
}

impl<E: std::error::Error + 'static> DecodeError<E> {
    /// Whether an exact law was cut off here.
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Chance(ChanceError::Unlikely))
    }
}

/// What is asked about a batch.
pub(crate) struct Asked<'a> {
    pub(crate) batch: &'a Batch,
    pub(crate) hidden: &'a [bool],
    pub(crate) wanted: &'a [bool],
    /// Candidates at each position.
    pub(crate) depth: usize,
    /// Whether an answer at low precision will do.
    pub(crate) low_precision: bool,
}

/// Asks the denoiser about a batch.
pub(crate) fn ask<D: Denoiser>(
    denoiser: &mut D,
    asked: &Asked<'_>,
    answers: &mut Answers,
) -> Result<(), DecodeError<D::Error>> {
    let Asked { batch, hidden, wanted, depth, low_precision } = *asked;
    let query = Query::of(batch.sequences(), batch.contexts(), hidden, wanted)?
        .at_low_precision(low_precision);
    answers.prepare(&query, depth.min(denoiser.vocabulary_size()));
    denoiser.denoise(&query, answers).map_err(DecodeError::Denoiser)
}
