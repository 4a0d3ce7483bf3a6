//! What settings of decoders have in common: how they can be wrong.

use padir_base::{ParallelTraining, TokenId};
use thiserror::Error;

use crate::decoding::{Method, Order};

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
    /// A remasking rule by confidences that the model does not give.
    #[error(
        "`remask.rule` is \"confidence\", but the model has no confidence head: \
         train one with `model.confidence_head = true`"
    )]
    NoConfidenceHead,
    /// Committed tokens that would be predicted again.
    #[error(
        "`remask.rule` is \"threshold\", which commits tokens of masked positions: it needs `input` \"hidden\""
    )]
    VisibleThreshold,
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
    /// Hidden input keeps what a low-precision step predicted.
    #[error(
        "with hidden input what is not hidden stays as predicted; `low_precision_steps` must be 0"
    )]
    HiddenAndLowPrecision,
    /// A method for the other kind of model.
    #[error("{method} needs {needed}; this is {found}")]
    Order {
        /// The method.
        method: Method,
        /// The kind of model it decodes.
        needed: Order,
        /// The kind of model there is.
        found: Order,
    },
    /// A method for models that were trained otherwise.
    #[error(
        "{method} does not fit a model that was trained with the objective \"{training}\"; {}",
        Method::fitting(*.training)
    )]
    Training {
        /// The method.
        method: Method,
        /// What the model was trained for.
        training: ParallelTraining,
    },
    /// Several steps of a model that was trained for one.
    #[error("`steps` is {steps}; a model that was trained with the objective \"nat\" takes one")]
    OnePass {
        /// How many were asked for.
        steps: usize,
    },
    /// A target longer than the model has positions for.
    #[error("`max_length` is {value}; the model has {longest} positions")]
    TooLong {
        /// What was asked for.
        value: usize,
        /// What there is.
        longest: usize,
    },
    /// A translation to start from that is empty or too long.
    #[error(
        "the template has {length} positions, its end included; it must have from 2 to {longest}"
    )]
    Template {
        /// Its positions, the end included.
        length: usize,
        /// The most there may be.
        longest: usize,
    },
    /// No such method.
    #[error("there is no decoding method `{name}`; there are {}", Method::list())]
    UnknownMethod {
        /// What was asked for.
        name: String,
    },
    /// No such setting.
    #[error("{method} has no setting `{key}`{}", meant(.suggestion.as_deref(), *.owner))]
    Unknown {
        /// The key.
        key: String,
        /// The method it was set for.
        method: Method,
        /// The setting of this method that is spelt most like it.
        suggestion: Option<String>,
        /// Another method that has such a setting.
        owner: Option<Method>,
    },
    /// A value of the wrong type.
    #[error("`{key}`: {reason}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with its value.
        reason: String,
    },
    /// Not of the form key=value.
    #[error("`{0}` is not of the form key=value")]
    NotAnAssignment(String),
}

impl SettingsError {
    /// The setting that is at fault, if it is one.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Bounds { key, .. } | Self::NotInPaper(key) => Some(key),
            Self::Unknown { key, .. } | Self::Value { key, .. } => key.split('=').next(),
            Self::TooMany { .. } => Some("lengths"),
            Self::SameStarts(_) => Some("parallel_decodes"),
            Self::NoMask | Self::NoNumberedMask | Self::NoRandom { .. } => Some("initial"),
            Self::NoConfidenceHead | Self::VisibleThreshold => Some("remask"),
            Self::HiddenAndWanted => Some("wanted"),
            Self::HiddenAndLowPrecision => Some("low_precision_steps"),
            Self::Order { .. } | Self::Training { .. } | Self::UnknownMethod { .. } => {
                Some("method")
            }
            Self::OnePass { .. } => Some("steps"),
            Self::TooLong { .. } => Some("max_length"),
            Self::NotAnAssignment(_) | Self::Template { .. } => None,
        }
    }
}

/// What to try instead of a setting that does not exist.
fn meant(suggestion: Option<&str>, owner: Option<Method>) -> String {
    match (suggestion, owner) {
        (_, Some(owner)) => format!("; it belongs to {owner}"),
        (Some(key), None) => format!("; is `{key}` meant?"),
        (None, None) => String::new(),
    }
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
