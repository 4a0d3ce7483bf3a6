//! The networks as burn modules, composed or fused.
//!
//! A [`Network`] is an encoder-decoder over [ragged](padir_base::ragged::Ragged) batches: activations are matrices of
//! tokens × width without padding. Its layers call [operations](ops) that exist twice: composed of burn's tensor
//! operations, which run on every device, and fused, which run on the CPU with gradients written by hand. Layers that no
//! kernel computes (post-norm, biases) are composed in a fused pass too. A [`Pass`] says which, whether to drop out, and where gradients go.
//!
//! Gradients of either kind end up in one [`Gradients`] store in the computer's memory: there optimisers
//! read them, and there several machines would add them up.

mod assembly;
pub mod block;
mod forward;
pub mod gradients;
pub mod length;
mod length_pool;
pub mod loss;
pub mod network;
pub mod ops;
pub mod pass;
pub mod weight;

pub use burn::tensor::{Device, DeviceKind, Tensor};
pub use gradients::{Gradient, Gradients};
pub use loss::Loss;
pub use network::{Encoded, Network, NetworkError, Sentences};
pub use pass::{DropoutKey, Pass};
pub use weight::Weight;
