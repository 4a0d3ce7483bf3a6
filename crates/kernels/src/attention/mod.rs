//! Attention over ragged batches, with a bias by relative position.

pub mod core;
pub mod layer;
pub mod position;
mod product;

pub use core::{Bias, Core, Places};
