//! The batches of one pool: shuffle, sort, cut, complete, shuffle. O(m log m) for m pairs.
//!
//! In a small corpus a batch spans several lengths, so sorting alone would put the same pairs
//! together in every epoch. Each epoch therefore draws where the first cut falls (the *phase*,
//! which shifts all cuts) and in which direction the sort key runs.

use std::ops::Range;

use padir_base::random::Stream;

use crate::shard::PairLengths;

use super::budget::{Load, complete, cut};
use super::config::{BatchConfig, EmptySides, LongPairs, Order};
use super::error::BatchError;
use super::plan::Lengths;
use super::summary::EpochSummary;

/// Consecutive pairs that stay in one pool: enough to be read at a stretch (some 100 kB).
pub(super) const CHUNK: u64 = 1024;

/// The bits of a sort key that hold the rank of a pair in the shuffled pool.
const RANK_BITS: u32 = 31;

/// The batches of a pool, over all ranks.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// Ascending, so only the last can be short.
    chunks: Vec<u32>,
    /// Pairs, counted within the pool, in the order of the batches' ranges.
    order: Vec<u32>,
    batches: Vec<Range<u32>>,
}

impl PoolPlan {
    /// How many batches the pool has.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// How many pairs its batches have.
    pub fn pairs(&self) -> usize {
        self.order.len()
    }

    /// The pairs of a batch by their numbers in the corpus; none for a batch behind the last.
    pub fn batch(&self, index: usize) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.places(index).map(|place| self.pair(place))
    }

    /// Where a batch stands in the order of the pool.
    pub(super) fn places(&self, batch: usize) -> Range<usize> {
        self.batches.get(batch).map_or(0..0, |range| range.start as usize..range.end as usize)
    }

    /// The pair at a place, counted within the pool.
    pub(super) fn local(&self, place: usize) -> u32 {
        self.order[place]
    }

    /// The pair at a place, counted within the corpus.
    pub(super) fn pair(&self, place: usize) -> u64 {
        let local = u64::from(self.order[place]);
        u64::from(self.chunks[(local / CHUNK) as usize]) * CHUNK + local % CHUNK
    }
}

/// The pairs of a chunk.
pub(super) fn stretch(chunk: u32) -> Range<u64> {
    u64::from(chunk) * CHUNK..(u64::from(chunk) + 1) * CHUNK
}

/// The pairs of a pool, before they are batched.
pub(super) struct Pool {
    chunks: Vec<u32>,
    lengths: Vec<PairLengths>,
    /// The pairs that are neither too long nor empty.
    kept: Vec<u32>,
    summary: EpochSummary,
}

impl Pool {
    /// Reads the lengths of some chunks and leaves out what must not be in a batch.
    pub(super) fn gather<L: Lengths + ?Sized>(
        corpus: &L,
        mut chunks: Vec<u32>,
        config: &BatchConfig,
    ) -> Result<Self, BatchError> {
        chunks.sort_unstable();
        let mut lengths = Vec::with_capacity(chunks.len() * CHUNK as usize);
        for &chunk in &chunks {
            corpus.read_lengths(stretch(chunk), &mut lengths);
        }
        let mut pool = Self { chunks, lengths, kept: Vec::new(), summary: EpochSummary::default() };
        pool.keep_fitting(config)?;
        Ok(pool)
    }

    fn keep_fitting(&mut self, config: &BatchConfig) -> Result<(), BatchError> {
        self.kept.reserve_exact(self.lengths.len());
        for (index, &pair) in self.lengths.iter().enumerate() {
            if config.empty == EmptySides::Drop && pair.has_empty_side() {
                self.summary.dropped_empty += 1;
            } else if is_long(pair, config) {
                if config.long == LongPairs::Refuse {
                    let chunk = u64::from(self.chunks[index / CHUNK as usize]);
                    let pair_number = chunk * CHUNK + index as u64 % CHUNK;
                    return Err(BatchError::Long { pair: pair_number, lengths: pair });
                }
                self.summary.dropped_long += 1;
            } else {
                self.kept.push(index as u32);
            }
        }
        Ok(())
    }

    /// Counts batches, pairs, tokens and padding: what [`Pool::plan`] would give, without its
    /// randomness where that changes nothing.
    pub(super) fn survey(mut self, config: &BatchConfig, mut stream: Stream) -> EpochSummary {
        let jitter = Jitter::draw(config.order, &mut stream);
        if config.order == Order::Shuffled {
            stream.shuffle(&mut self.kept);
        }
        let batches = self.batch(config, jitter);
        let mut summary = self.summary;
        for batch in batches {
            let pairs = &self.kept[batch.start as usize..batch.end as usize];
            let load = Load::of(pairs.iter().map(|&pair| self.lengths[pair as usize]));
            summary.add(load, config.layout);
        }
        summary
    }

    /// Makes the batches.
    pub(super) fn plan(mut self, config: &BatchConfig, mut stream: Stream) -> PoolPlan {
        let jitter = Jitter::draw(config.order, &mut stream);
        if config.order != Order::Corpus {
            stream.shuffle(&mut self.kept);
        }
        let mut batches = self.batch(config, jitter);
        if config.order != Order::Corpus {
            stream.shuffle(&mut batches);
        }
        PoolPlan { chunks: self.chunks, order: self.kept, batches }
    }

    /// Sorts the kept pairs if they are to be bucketed, and cuts them.
    fn batch(&mut self, config: &BatchConfig, jitter: Jitter) -> Vec<Range<u32>> {
        if config.order == Order::Bucketed {
            self.sort_by_length(jitter.turn);
        }
        let lengths = |index: usize| self.lengths[self.kept[index] as usize];
        let mut batches = cut(self.kept.len(), lengths, config, jitter.phase);
        complete(&mut batches, config.group());
        batches
    }

    fn sort_by_length(&mut self, turn: u16) {
        let mut keys: Vec<u64> = (0_u64..)
            .zip(&self.kept)
            .map(|(rank, &pair)| likeness(self.lengths[pair as usize], turn) << RANK_BITS | rank)
            .collect();
        keys.sort_unstable();
        let rank_of = |key: u64| (key & ((1 << RANK_BITS) - 1)) as usize;
        self.kept = keys.into_iter().map(|key| self.kept[rank_of(key)]).collect();
    }
}

/// What an epoch draws for a pool besides its order.
#[derive(Clone, Copy)]
struct Jitter {
    /// How full the first batch becomes, in (0, 1].
    phase: f64,
    /// Whether differences of lengths run upwards at even lengths (0) or at odd ones (1).
    turn: u16,
}

impl Jitter {
    fn draw(order: Order, stream: &mut Stream) -> Self {
        match order {
            Order::Corpus => Self { phase: 1.0, turn: 0 },
            Order::Bucketed | Order::Shuffled => {
                Self { phase: 1.0 - stream.uniform(), turn: stream.below(2) as u16 }
            }
        }
    }
}

/// Orders pairs so that neighbours are alike: by the larger side, then by the difference of the
/// sides, upwards and downwards in turns. 33 bits.
fn likeness(pair: PairLengths, turn: u16) -> u64 {
    let larger = u64::from(pair.larger());
    let difference = u64::from(pair.source) + u64::from(u16::MAX) - u64::from(pair.target);
    let upwards = larger % 2 == u64::from(turn);
    larger << 17 | if upwards { difference } else { 2 * u64::from(u16::MAX) - difference }
}

/// Whether a pair is beyond the limits, or beyond the budget on its own.
fn is_long(pair: PairLengths, config: &BatchConfig) -> bool {
    pair.source > config.max_source
        || pair.target > config.max_target
        || !Load::of([pair]).fits(config)
}
