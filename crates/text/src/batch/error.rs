//! Why there are no batches.

use padir_base::hash::Sha256;
use thiserror::Error;

use crate::shard::{PairLengths, ShardError};

use super::plan::Position;

/// Batches could not be planned or read.
#[derive(Debug, Error)]
pub enum BatchError {
    /// A setting makes no sense.
    #[error("impossible batches: {0}")]
    Config(&'static str),
    /// A rank that does not exist.
    #[error("rank {rank} does not exist: there are {ranks}, counted from 0")]
    NoRank {
        /// The rank asked for.
        rank: u32,
        /// How many there are.
        ranks: u32,
    },
    /// A pair is too long and must not be left out.
    #[error(
        "pair {pair} has {} source and {} target tokens, which is beyond the limits or the budget",
        lengths.source,
        lengths.target
    )]
    Long {
        /// The pair, counted from 0.
        pair: u64,
        /// Its lengths.
        lengths: PairLengths,
    },
    /// There is nothing to learn from: an endless stream would never give a batch.
    #[error(
        "no pair is left of {pairs}: {dropped_long} are too long, {dropped_empty} have an empty side"
    )]
    Nothing {
        /// The pairs of the corpus.
        pairs: u64,
        /// Those that are too long.
        dropped_long: u64,
        /// Those with an empty side.
        dropped_empty: u64,
    },
    /// A batch that does not exist.
    #[error("epoch {} has {batches} batches per rank, so there is no batch {}", position.epoch, position.batch)]
    NoBatch {
        /// The position asked for.
        position: Position,
        /// How many batches each rank has.
        batches: u64,
    },
    /// A position in other batches.
    #[error(
        "the position belongs to other batches (plan {found}, not {expected}): corpus or settings have changed"
    )]
    ForeignBookmark {
        /// The plan of these batches.
        expected: Sha256,
        /// The plan of the position.
        found: Sha256,
    },
    /// The corpus could not be read.
    #[error(transparent)]
    Shard(#[from] ShardError),
}
