//! What settings of decoders have in common: how they can be wrong.

use padir_base::TokenId;
use thiserror::Error;

/// Most hypotheses of one sentence, in whatever way they come about.
pub const MAX_HYPOTHESES: usize = 1024;
/// Most refinement steps.
pub const MAX_STEPS: usize = 10_000;
/// Longest target, its end included.
pub const MAX_LENGTH: usize = 1 << 16;

/// Settings that contradict themselves, or do not fit what is to be decoded.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SettingsError {
    /// A number outside of its bounds.
    #[error("`{key}` is {value}; it must be {bounds}")]
    Bounds {
        /// The name of the setting.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        bounds: &'static str,
    },
    /// The product of all that multiplies hypotheses.
    #[error("{count} hypotheses for one sentence; at most {MAX_HYPOTHESES} are possible")]
    TooMany {
        /// The number of hypotheses.
        count: usize,
    },
    /// Several starts that would all be the same.
    #[error(
        "{0} parallel decodes that start from masks and take the most probable tokens are all the same"
    )]
    SameStarts(usize),
    /// A start from masks for a model without one.
    #[error("the first step is to read masks, but the model has no mask symbol")]
    NoMask,
    /// A start from masks by position for a model that does not know any.
    #[error("the first step is to read a mask for each position, but the model has none")]
    NoNumberedMask,
    /// Doubt of a model that has none.
    #[error(
        "predictions are to be rejected as the model learnt to, but it has no rejecter: \
         it learns one with `model.rejecter = true`"
    )]
    NoRejecter,
    /// A random start from nothing.
    #[error("there are no ids in {start}..{end} to start from")]
    NoRandom {
        /// The first id.
        start: TokenId,
        /// The id after the last.
        end: TokenId,
    },
    /// Something the paper does not do.
    #[error("`{0}` is not part of the paper's procedure")]
    NotInPaper(&'static str),
    /// Hidden input and a rule of its own about what is predicted.
    #[error("with hidden input the hidden positions are predicted; `wanted` must be \"all\"")]
    HiddenAndWanted,
    /// Hidden input keeps what a draft predicted.
    #[error("with hidden input what is not hidden stays as predicted; `draft_steps` must be 0")]
    HiddenAndDrafts,
}

/// Checks one number.
pub(crate) fn bounded(
    key: &'static str,
    value: f64,
    good: bool,
    bounds: &'static str,
) -> Result<(), SettingsError> {
    if good { Ok(()) } else { Err(SettingsError::Bounds { key, value, bounds }) }
}

/// Checks one count, which must be from 1 to `most`.
pub(crate) fn counted(
    key: &'static str,
    value: usize,
    most: usize,
    bounds: &'static str,
) -> Result<(), SettingsError> {
    bounded(key, value as f64, (1..=most).contains(&value), bounds)
}
