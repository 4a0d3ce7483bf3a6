//! Products with weights that are packed once: the arithmetic of inference.
//!
//! | module | what it does |
//! |---|---|
//! | [`isa`] | which instructions the processor has |
//! | [`threads`] | spreads the pieces of an operation over cores |
//! | [`single`] | f32 weights in panels of 16 columns |
//! | [`byte`](mod@byte) | the same in int8, with [quantised](quantise) inputs |
//! | [`screened`] | f32 weights with a coarse twin, to be searched |
//! | [`product`] | x·Wᵀ onto a matrix, split by columns |
//! | [`attention`] | softmax(QKᵀ + B)·V over ragged batches |
//! | [`cached`] | the same for one query over a cache |
//! | [`best`] | logits, their largest and their log-sum-exp, never stored whole |
//! | [`row`] | norms and biases |
//! | [`activation`] | activations of hidden layers |
//! | [`limit`] | what the processor could do at most |
//!
//! **Batch invariance.** Each number of a product is one chain of fused multiply-adds over k, from the first
//! to the last, whatever the number of rows beside it: so results do not depend, to the bit, on the size of a batch, its
//! order, or the number of threads. In f32 the instruction sets agree to the bit too, because each of them
//! runs the same chain (sixteen of them where an output layer is [searched](best::screen)); a processor without fused multiply-add computes it in software, slowly. In int8 sums are integers, and
//! what surrounds them are the same floating-point operations everywhere.
//!
//! Nothing here allocates once its buffers have grown.

pub mod activation;
mod ahead;
mod aligned;
pub mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod best;
pub mod byte;
pub mod cached;
mod grid;
pub mod isa;
pub mod limit;
pub mod product;
pub mod quantise;
pub mod row;
pub mod screened;
pub mod single;
pub mod threads;
mod tile;

pub use isa::Isa;
pub use product::{Finish, Packed, Tools};
pub use threads::Threads;

/// Columns of a panel: one AVX-512 register of f32, two of AVX2.
pub const PANEL: usize = 16;

/// Makes a buffer at least so long; never shorter, so that it stops allocating.
pub fn grow<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
    &mut buffer[..len]
}
