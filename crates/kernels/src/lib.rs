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
//! | [`ctc`] | −log p of a target, summed over its alignments with slots |
//!
//! Batches are [ragged](padir_base::ragged::Ragged): nothing is padded. Sums that run over tokens are taken in groups fixed by the
//! batch, so results are equal to the bit at any number of threads.
//!
//! Without the feature `train` (on by default) there is what inference needs: [`packed`] and the buckets of relative positions.

pub mod attention;
#[cfg(feature = "train")]
pub mod cross_entropy;
#[cfg(feature = "train")]
pub mod ctc;
#[cfg(feature = "train")]
pub mod draw;
#[cfg(feature = "train")]
pub mod dropout;
#[cfg(feature = "train")]
pub mod embedding;
#[cfg(feature = "train")]
pub mod feedforward;
#[cfg(feature = "train")]
pub mod matrix;
#[cfg(feature = "train")]
pub mod norm;
#[cfg(feature = "train")]
pub mod optimiser;
pub mod packed;
mod simd;
#[cfg(feature = "train")]
mod slot;

#[cfg(feature = "train")]
pub use slot::Slot;
