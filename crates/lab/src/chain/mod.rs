//! Markov chains on Ωᴺ: block dynamics of any mask law, and independent parallel updates.
//!
//! Block dynamics draw K ~ p(K | x) and resample `x_K` from
//! `p(y_K` | x₋ₖ, K) ∝ p(y) p(K | y). For a law that does not look at x this is plain block Gibbs;
//! for an adaptive law it is the *X-marginal* chain, reversible with respect to p. (The chain on
//! pairs (x, K) that never changes K, as printed in the paper, is not ergodic and has no finite
//! Poincaré constant; its theorem needs functions of x only, and that is this chain.)
//!
//! [`block_matrix`] writes the matrix down, [`BlockOperator`] applies it without doing so.

mod blocks;
mod dense;
mod matrix;
mod operator;
mod scan;
mod schedule;
mod subsets;

pub use blocks::{BlockEntry, Blocks, ChainError, Weight};
pub use dense::{block_matrix, memory_needed, parallel_matrix, symmetric_matrix};
pub use matrix::{Matrix, Number};
pub use operator::BlockOperator;
pub(crate) use scan::BlockUpdate;
pub use scan::{Scan, sweep_matrix};
pub use schedule::{block, schedule, schedule_length};

use padir_base::mask::MaskLaw;

/// Which chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Chain {
    /// Draw a set from the law, resample it jointly.
    Blocks(MaskLaw),
    /// Every site at once, each from its conditional given the old others.
    Parallel,
    /// One law after the other, again and again: the blocks of a sweep, or a schedule.
    Cycle(Vec<MaskLaw>),
}

impl Chain {
    /// k-Gibbs: K uniform among the sets of size k.
    pub fn gibbs(k: usize) -> Self {
        Self::Blocks(MaskLaw::Exactly { k })
    }

    /// The blocks of a sweep in their order.
    pub fn sweep(blocks: &[Vec<usize>]) -> Self {
        Self::Cycle(blocks.iter().map(|positions| block(positions.clone())).collect())
    }
}
