//! Batches of sentence pairs within a token budget, with almost no padding.
//!
//! ```text
//! BatchConfig ─► BatchPlan ─► EpochPlan ─► PoolPlan      which pairs, pure arithmetic
//!                                │
//!                 ShardSet ─► BatchReader ─► Batches ─► Prefetch      their tokens
//! ```
//!
//! *Plan.* An epoch permutes the *chunks* of the corpus (1024 consecutive pairs) by seed and deals
//! them into *pools* of about a million pairs ([`BatchConfig::pool`]). Within a pool the pairs are
//! shuffled, sorted by length, cut greedily into batches, and the batches are shuffled. The sort
//! key is (larger side, difference of the sides), the latter running up and down in turns, so
//! that neighbours are alike in both lengths; ties stay in shuffled order, and the first cut falls
//! elsewhere in each epoch. A corpus of one pool
//! is thus bucketed exactly, a larger one within a window that is large against a batch.
//!
//! *Cost* for a pool of m pairs: O(m log m) time, and 20 bytes a pair both while it is planned and
//! while it is read, besides its tokens; the permutation of the chunks takes 4 bytes per 1024
//! pairs. Starting an epoch surveys all its pools to number their batches, O(n log m); after that
//! any batch is found by planning one pool. The reader copies the tokens of a pool (a rank: its
//! share) out of the mapped shards and gives the maps back, so what is resident is a pool and a
//! shard, not the corpus: about 100 MB for a million pairs of 50 tokens.
//!
//! *Reproducibility.* Batches are a function of the corpus, the [`BatchConfig`] and the
//! [`Position`] alone: not of threads, of the way the position was reached, or of the shards'
//! number. `Rank` r of n takes every n-th batch; all ranks get the same number, a multiple of
//! [`BatchConfig::accumulate`], because the fullest batches of a pool are halved until the count
//! divides. Only when a pool has fewer pairs than that needs are some batches empty.

mod budget;
mod config;
mod error;
mod plan;
mod pool;
mod prefetch;
mod reader;
mod rectangle;
mod store;
mod summary;

pub use config::{BatchConfig, Counted, EmptySides, Layout, LongPairs, Order, Rank};
pub use error::BatchError;
pub use plan::{BatchPlan, Bookmark, EpochPlan, Lengths, Position};
pub use pool::PoolPlan;
pub use prefetch::Prefetch;
pub use reader::{Batch, BatchReader, Batches};
pub use rectangle::Rectangle;
pub use summary::{EpochSummary, SideTotals};

#[cfg(test)]
#[cfg(target_os = "linux")]
mod memory;
#[cfg(test)]
mod tests;
