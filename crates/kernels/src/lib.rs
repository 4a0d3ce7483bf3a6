//! CPU arithmetic on slices, without a framework.
//!
//! Each layer of the networks is one operation with a gradient written by hand:
//!
//! | operation | computes |
//! |---|---|
//! | [`embedding`] | rows of a table, dropped out |
//! | [`attention::layer`] | x + drop(attention(norm(x))·Wₒ), over itself, a memory or positions |
//! | [`feedforward`] | x + drop(drop(relu(norm(x)·Wᵢ))·Wₒ) |
//! | [`norm`] | RMS normalisation |
//! | [`cross_entropy`] | Σ −log softmax(yEᵀ)\[target\], a few rows of logits at a time |
//!
//! Batches are [ragged](rows::Ragged): nothing is padded. Sums that run over tokens are taken in groups fixed by the
//! batch, so results are equal to the bit at any number of threads.

pub mod attention;
pub mod cross_entropy;
pub mod draw;
pub mod dropout;
pub mod embedding;
pub mod feedforward;
pub mod matrix;
pub mod norm;
pub mod optimiser;
pub mod packed;
pub mod rows;
mod simd;
mod slot;

pub use slot::Slot;
