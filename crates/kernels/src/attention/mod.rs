//! Attention over ragged batches, with a bias by relative position.

#[cfg(feature = "train")]
pub mod core;
#[cfg(feature = "train")]
pub mod layer;
pub mod position;
#[cfg(feature = "train")]
mod product;

#[cfg(feature = "train")]
pub use core::{Bias, Core, Places};
