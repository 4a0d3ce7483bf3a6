//! What is to be made small: a sum of losses, each counted once.
//!
//! A fused loss has put the gradient of its table into the store of its pass before the graph is walked, because the logits are gone by
//! then. That gradient cannot be multiplied afterwards, so a factor must be known beforehand: it is the weight of each row, see
//! [`Targets`](crate::ops::Targets). A [`Loss`] can be added to others and walked backwards, and nothing else:
//!
//! ```
//! # use padir_model::{Device, Loss, Tensor};
//! let one = || Loss::composed(Tensor::<1>::from_floats([1.5], &Device::flex()));
//! let both: Loss = one() + one();
//! ```
//!
//! Scaling or repeating one does not compile, and [`Network::backward`](crate::Network::backward) refuses a sum that lacks one:
//!
//! ```compile_fail,E0369
//! # use padir_model::{Device, Loss, Tensor};
//! # let one = || Loss::composed(Tensor::<1>::from_floats([1.5], &Device::flex()));
//! let half: Loss = one() * 0.5;
//! ```
//!
//! ```compile_fail,E0599
//! # use padir_model::{Device, Loss, Tensor};
//! # let one = || Loss::composed(Tensor::<1>::from_floats([1.5], &Device::flex()));
//! let twice: Loss = one().clone() + one();
//! ```

use std::ops::Add;

use burn::tensor::Tensor;

/// A sum of losses that [`Network::backward`](crate::Network::backward) walks once.
#[derive(Debug)]
#[must_use = "the gradient of a fused loss's table is in the store already"]
pub struct Loss {
    tensor: Tensor<1>,
    /// How many fused losses are in it.
    fused: u32,
}

impl Loss {
    /// Of a tensor whose whole gradient is in its graph. It may have been scaled.
    pub fn composed(tensor: Tensor<1>) -> Self {
        Self { tensor, fused: 0 }
    }

    /// Of an operation that has delivered a gradient already.
    pub(crate) fn fused(tensor: Tensor<1>) -> Self {
        Self { tensor, fused: 1 }
    }

    pub(crate) fn into_parts(self) -> (Tensor<1>, u32) {
        (self.tensor, self.fused)
    }
}

impl Add for Loss {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tensor: self.tensor + other.tensor, fused: self.fused + other.fused }
    }
}
