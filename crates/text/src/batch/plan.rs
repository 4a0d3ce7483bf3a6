//! Which pairs make up which batch: a pure function of lengths, settings and position.

use std::ops::Range;

use padir_base::hash::{Sha256, hash_bytes};
use padir_base::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::shard::{PairLengths, ShardSet};

use super::config::{BatchConfig, Order};
use super::error::BatchError;
use super::pool::{CHUNK, Pool, PoolPlan, stretch};
use super::summary::EpochSummary;

/// The lengths of a corpus: all that planning needs to know of it.
pub trait Lengths {
    /// The number of pairs.
    fn pairs(&self) -> u64;

    /// Appends the lengths of consecutive pairs; those behind the end are left out.
    fn read_lengths(&self, pairs: Range<u64>, into: &mut Vec<PairLengths>);
}

impl Lengths for ShardSet {
    fn pairs(&self) -> u64 {
        self.pairs()
    }

    fn read_lengths(&self, pairs: Range<u64>, into: &mut Vec<PairLengths>) {
        self.read_lengths(pairs, into);
    }
}

impl Lengths for [PairLengths] {
    fn pairs(&self) -> u64 {
        self.len() as u64
    }

    fn read_lengths(&self, pairs: Range<u64>, into: &mut Vec<PairLengths>) {
        let end = pairs.end.min(self.len() as u64);
        into.extend_from_slice(&self[pairs.start.min(end) as usize..end as usize]);
    }
}

/// Where a stream of batches stands. The same for all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The pass over the corpus, from 0.
    pub epoch: u32,
    /// The batch of a rank within the epoch, from 0.
    pub batch: u64,
}

/// A position and the batches it is a position in: what a checkpoint keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmark {
    /// The next batch.
    pub position: Position,
    /// [`BatchPlan::fingerprint`].
    pub plan: Sha256,
}

/// Settings that make sense.
#[derive(Clone, Debug)]
pub struct BatchPlan {
    config: BatchConfig,
}

impl BatchPlan {
    /// Checks the settings.
    ///
    /// # Errors
    /// If a setting makes no sense.
    pub fn new(config: BatchConfig) -> Result<Self, BatchError> {
        config.check()?;
        Ok(Self { config })
    }

    /// The settings.
    pub fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// Names the batches of a corpus under these settings: equal fingerprints, equal batches.
    ///
    /// # Panics
    /// Never: the settings are numbers and names.
    pub fn fingerprint(&self, corpus: Sha256) -> Sha256 {
        let config = serde_json::to_string(&self.config).expect("numbers and names");
        hash_bytes(format!("padir batches, algorithm 1\n{corpus}\n{config}\n").as_bytes())
    }

    /// Deals the chunks of an epoch into pools and counts their batches. O(n log m) for n pairs
    /// in pools of m.
    ///
    /// # Errors
    /// If a pair is too long and must not be dropped.
    pub fn epoch<L: Lengths + ?Sized>(
        &self,
        corpus: &L,
        epoch: u32,
    ) -> Result<EpochPlan, BatchError> {
        let mut chunks: Vec<u32> = (0..corpus.pairs().div_ceil(CHUNK) as u32).collect();
        if self.config.order != Order::Corpus {
            self.stream(epoch, 0).shuffle(&mut chunks);
        }
        let mut plan = EpochPlan {
            epoch,
            chunks,
            pools: Vec::new(),
            batches: 0,
            summary: EpochSummary::default(),
        };
        for (index, range) in (0..).zip(self.deal(plan.chunks.len())) {
            let pool = Pool::gather(corpus, plan.chunks[range.clone()].to_vec(), &self.config)?;
            let summary = pool.survey(&self.config, self.stream(epoch, index + 1));
            let first = plan.batches;
            plan.batches += summary.batches / u64::from(self.config.ranks);
            plan.summary += summary;
            plan.pools.push(Entry { chunks: range, batches: first..plan.batches });
        }
        Ok(plan)
    }

    /// Plans one pool of an epoch.
    ///
    /// # Errors
    /// If a pair is too long and must not be dropped.
    ///
    /// # Panics
    /// If the epoch has no such pool.
    pub fn pool<L: Lengths + ?Sized>(
        &self,
        corpus: &L,
        epoch: &EpochPlan,
        pool: u32,
    ) -> Result<PoolPlan, BatchError> {
        let range = epoch.pools[pool as usize].chunks.clone();
        let gathered = Pool::gather(corpus, epoch.chunks[range].to_vec(), &self.config)?;
        Ok(gathered.plan(&self.config, self.stream(epoch.epoch, pool + 1)))
    }

    /// Ranges of chunks, as equal as possible, of at most a pool each.
    fn deal(&self, chunks: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let per_pool = (u64::from(self.config.pool) / CHUNK).max(1) as usize;
        let pools = chunks.div_ceil(per_pool);
        let border = move |pool: usize| (chunks as u128 * pool as u128 / pools as u128) as usize;
        (0..pools).map(move |pool| border(pool)..border(pool + 1))
    }

    /// Index 0 permutes the chunks of an epoch, index p + 1 the pairs of its pool p.
    fn stream(&self, epoch: u32, index: u32) -> Stream {
        self.config.seed.stream(Purpose::Order, u64::from(epoch) << 32 | u64::from(index))
    }
}

/// The pools of an epoch and the numbers of their batches.
#[derive(Clone, Debug)]
pub struct EpochPlan {
    epoch: u32,
    chunks: Vec<u32>,
    pools: Vec<Entry>,
    batches: u64,
    summary: EpochSummary,
}

/// A pool: which of the epoch's chunks, and which batches of a rank.
#[derive(Clone, Debug)]
struct Entry {
    chunks: Range<usize>,
    batches: Range<u64>,
}

impl EpochPlan {
    /// Which epoch it is.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The batches each rank gets.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// The number of pools.
    pub fn pools(&self) -> u32 {
        self.pools.len() as u32
    }

    /// The counts over all ranks.
    pub fn summary(&self) -> EpochSummary {
        self.summary
    }

    /// The stretches of the corpus a pool consists of; none for a pool behind the last.
    pub fn stretches(&self, pool: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        let chunks = self.pools.get(pool as usize).map_or(0..0, |entry| entry.chunks.clone());
        self.chunks[chunks].iter().map(|&chunk| stretch(chunk))
    }

    /// The pool that has a rank's batch, and the batch's number within the rank's share of that
    /// pool; none behind the last batch.
    pub fn locate(&self, batch: u64) -> Option<(u32, u64)> {
        let pool = self.pools.partition_point(|entry| entry.batches.end <= batch);
        let entry = self.pools.get(pool)?;
        Some((pool as u32, batch - entry.batches.start))
    }
}
