//! What a model can do, as far as decoding depends on it.

use std::fmt;

use padir_base::ParallelTraining;

use super::method::Method;
use crate::padir::Initial;

/// In which order a model predicts the tokens of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// One after the other.
    Autoregressive,
    /// All at once.
    Parallel,
    /// All at once, in slots of an alignment that collapses to the target (CTC).
    Alignment,
}

/// What a model can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The order of its predictions.
    pub order: Order,
    /// What a parallel model was trained for.
    pub training: ParallelTraining,
    /// The longest target it was made for, its end included; none if nobody said.
    pub max_length: Option<usize>,
    /// The positions it knows; none means any number.
    pub positions: Option<usize>,
    /// What it was trained to start from.
    pub initial: Initial,
    /// Whether it has a mask symbol.
    pub mask: bool,
    /// Whether it has a mask symbol for each position.
    pub numbered_masks: bool,
    /// Whether it says how probably its predictions are right.
    pub confidence_head: bool,
}

impl Abilities {
    /// An autoregressive model.
    pub fn autoregressive() -> Self {
        Self { order: Order::Autoregressive, ..Self::parallel() }
    }

    /// A parallel model that starts from random tokens and has neither masks nor a confidence head.
    pub fn parallel() -> Self {
        Self {
            order: Order::Parallel,
            training: ParallelTraining::Padir,
            max_length: None,
            positions: None,
            initial: Initial::Random,
            mask: false,
            numbered_masks: false,
            confidence_head: false,
        }
    }

    /// A CTC model.
    pub fn alignment() -> Self {
        Self { order: Order::Alignment, mask: true, ..Self::parallel() }
    }

    /// How the model decodes unless told otherwise.
    pub fn default_method(&self) -> Method {
        match (self.order, self.training) {
            (Order::Autoregressive, _) => Method::Beam,
            (Order::Alignment, _) | (_, ParallelTraining::Ctc) => Method::Ctc,
            (_, ParallelTraining::Cmlm | ParallelTraining::Smart) => Method::MaskPredict,
            (_, ParallelTraining::Disco) => Method::EasyFirst,
            (_, ParallelTraining::Sundae) => Method::Sundae,
            (_, ParallelTraining::Padir | ParallelTraining::Nat | ParallelTraining::Inat) => {
                Method::Refine
            }
        }
    }

    /// The longest target unless another one is asked for: 256 autoregressively, 128 in parallel as in the paper.
    pub(super) fn default_length(&self) -> usize {
        let usual = match self.order {
            Order::Autoregressive => 256,
            Order::Parallel | Order::Alignment => 128,
        };
        let length = self.max_length.unwrap_or(usual);
        self.positions.map_or(length, |positions| length.min(positions))
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Autoregressive => "an autoregressive model",
            Self::Parallel => "a parallel model",
            Self::Alignment => "a CTC model",
        })
    }
}
