//! From a plan and shards to batches of tokens.

use padir_base::hash::Sha256;
use padir_base::ragged::RaggedTokens;

use crate::shard::ShardSet;

use super::config::{BatchConfig, Rank};
use super::error::BatchError;
use super::plan::{BatchPlan, Bookmark, EpochPlan, Position};
use super::pool::PoolPlan;
use super::store::PoolTokens;

/// Some pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Where this batch stands.
    pub position: Position,
    /// Where the next one stands: what to keep once this batch was used.
    pub next: Position,
    /// The numbers of the pairs in the corpus, from 0.
    pub pairs: Vec<u64>,
    /// Their sources, each with its end of sentence.
    pub source: RaggedTokens,
    /// Their targets, likewise.
    pub target: RaggedTokens,
}

/// Reads any batch of a rank.
///
/// It keeps the plan of one epoch and the tokens of one pool, so batches in their order are cheap
/// and jumps cost the reading of a pool.
#[derive(Debug)]
pub struct BatchReader {
    shards: ShardSet,
    plan: BatchPlan,
    rank: Rank,
    epoch: Option<EpochPlan>,
    pool: Option<LoadedPool>,
}

/// A pool of the current epoch.
#[derive(Debug)]
struct LoadedPool {
    number: u32,
    plan: PoolPlan,
    tokens: PoolTokens,
}

impl BatchReader {
    /// A reader of the batches of one rank.
    ///
    /// # Errors
    /// If a setting makes no sense or there is no such rank.
    pub fn new(shards: ShardSet, config: BatchConfig, rank: Rank) -> Result<Self, BatchError> {
        let plan = BatchPlan::new(config)?;
        let ranks = plan.config().ranks;
        if rank.0 >= ranks {
            return Err(BatchError::NoRank { rank: rank.0, ranks });
        }
        Ok(Self { shards, plan, rank, epoch: None, pool: None })
    }

    /// The settings.
    pub fn config(&self) -> &BatchConfig {
        self.plan.config()
    }

    /// The plan of an epoch: its number of batches, its counts, its share of padding.
    ///
    /// # Errors
    /// If a pair is too long and must not be dropped, or a shard was truncated.
    pub fn epoch(&mut self, epoch: u32) -> Result<&EpochPlan, BatchError> {
        let known = self.epoch.take().filter(|plan| plan.epoch() == epoch);
        if let Some(plan) = known {
            return Ok(self.epoch.insert(plan));
        }
        self.pool = None;
        let plan = self.plan.epoch(&self.shards, epoch)?;
        self.shards.release()?;
        Ok(self.epoch.insert(plan))
    }

    /// Reads the batch at a position.
    ///
    /// # Errors
    /// If there is no such batch, or the shards are damaged.
    pub fn read(&mut self, position: Position) -> Result<Batch, BatchError> {
        let epoch = self.epoch(position.epoch)?;
        let batches = epoch.batches();
        let (pool, share) =
            epoch.locate(position.batch).ok_or(BatchError::NoBatch { position, batches })?;
        let index = share * u64::from(self.config().ranks) + u64::from(self.rank.0);
        let next = if position.batch + 1 < batches {
            Position { batch: position.batch + 1, ..position }
        } else {
            Position { epoch: position.epoch.saturating_add(1), batch: 0 }
        };
        let pool = self.pool(pool)?;
        let (mut source, mut target) = (RaggedTokens::default(), RaggedTokens::default());
        for place in pool.plan.places(index as usize) {
            pool.tokens.append_to(place, &mut source, &mut target);
        }
        let pairs = pool.plan.batch(index as usize).collect();
        Ok(Batch { position, next, pairs, source, target })
    }

    /// A pool of the current epoch, with its tokens.
    fn pool(&mut self, number: u32) -> Result<&LoadedPool, BatchError> {
        // Taken first, so that the memory of the old pool is free before the new one needs it.
        let known = self.pool.take().filter(|pool| pool.number == number);
        let pool = match (known, &self.epoch) {
            (Some(pool), _) => pool,
            (None, None) => return Err(BatchError::Config("no epoch was begun")),
            (None, Some(epoch)) => {
                epoch.stretches(number).for_each(|pairs| self.shards.expect_reading(pairs));
                let plan = self.plan.pool(&self.shards, epoch, number)?;
                let ranks = self.plan.config().ranks;
                let tokens = PoolTokens::load(&mut self.shards, &plan, self.rank.0, ranks)?;
                epoch.stretches(number + 1).for_each(|pairs| self.shards.expect_reading(pairs));
                LoadedPool { number, plan, tokens }
            }
        };
        Ok(self.pool.insert(pool))
    }

    /// What to keep in order to go on at a position later.
    pub fn bookmark(&self, position: Position) -> Bookmark {
        Bookmark { position, plan: self.fingerprint() }
    }

    /// The position of a bookmark, if it is one in these batches.
    ///
    /// # Errors
    /// If the corpus or the settings are not those the bookmark was made with.
    pub fn resume(&self, bookmark: &Bookmark) -> Result<Position, BatchError> {
        let expected = self.fingerprint();
        if bookmark.plan == expected {
            Ok(bookmark.position)
        } else {
            Err(BatchError::ForeignBookmark { expected, found: bookmark.plan })
        }
    }

    fn fingerprint(&self) -> Sha256 {
        self.plan.fingerprint(self.shards.digest())
    }

    /// All batches from a position on, to the end of an epoch (exclusive) or without end.
    pub fn batches(self, from: Position, end: Option<u32>) -> Batches {
        Batches { reader: self, next: Some(from), end }
    }
}

/// The batches of a rank, one after the other. Ends after the first error.
#[derive(Debug)]
pub struct Batches {
    reader: BatchReader,
    next: Option<Position>,
    end: Option<u32>,
}

impl Batches {
    /// The next batch; none behind the last epoch.
    fn advance(&mut self, mut position: Position) -> Result<Option<Batch>, BatchError> {
        loop {
            if self.end.is_some_and(|end| position.epoch >= end) {
                return Ok(None);
            }
            let plan = self.reader.epoch(position.epoch)?;
            if plan.batches() > 0 {
                return self.reader.read(position).map(Some);
            }
            if self.end.is_none() {
                let summary = plan.summary();
                return Err(BatchError::Nothing {
                    pairs: self.reader.shards.pairs(),
                    dropped_long: summary.dropped_long,
                    dropped_empty: summary.dropped_empty,
                });
            }
            position = Position { epoch: position.epoch.saturating_add(1), batch: 0 };
        }
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.next.take()?;
        match self.advance(position) {
            Ok(None) => None,
            Ok(Some(batch)) => {
                self.next = Some(batch.next);
                Some(Ok(batch))
            }
            Err(error) => Some(Err(error)),
        }
    }
}
