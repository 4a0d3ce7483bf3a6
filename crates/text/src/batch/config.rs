//! How batches are made: the settings, and which of them make no sense.

use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use super::error::BatchError;

/// The settings of batching. All have defaults; unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BatchConfig {
    /// The budget: how many tokens a batch may have, ends of sentence included.
    pub tokens: u32,
    /// Which tokens the budget counts.
    pub counted: Counted,
    /// Whether padding counts, too.
    pub layout: Layout,
    /// How many pairs a batch may have.
    pub max_pairs: u32,
    /// The longest source to take, its end included.
    pub max_source: u16,
    /// The longest target to take, its end included.
    pub max_target: u16,
    /// What to do with pairs beyond these limits, or beyond the budget on their own.
    pub long: LongPairs,
    /// What to do with pairs of which a side is nothing but its end.
    pub empty: EmptySides,
    /// The order of the pairs.
    pub order: Order,
    /// How many pairs are sorted together. More means less padding and more memory.
    pub pool: u32,
    /// How many ranks share the batches.
    pub ranks: u32,
    /// How many batches a rank takes per step: an epoch is a whole number of steps.
    pub accumulate: u32,
    /// The seed of the order.
    pub seed: Seed,
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self {
            tokens: 4096,
            counted: Counted::Larger,
            layout: Layout::Padded { multiple: 1 },
            max_pairs: u32::MAX,
            max_source: u16::MAX,
            max_target: u16::MAX,
            long: LongPairs::Drop,
            empty: EmptySides::Keep,
            order: Order::Bucketed,
            pool: 1 << 20,
            ranks: 1,
            accumulate: 1,
            seed: Seed(0),
        }
    }
}

/// Which tokens a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Those of the sources.
    Source,
    /// Those of the targets.
    Target,
    /// Those of the side that has more.
    Larger,
    /// Those of both sides together.
    Both,
}

/// What a batch is in the memory of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Layout {
    /// Sentences one behind the other: a budget counts their tokens.
    Ragged,
    /// Rectangles as wide as their longest sentence: a budget counts padding, too.
    Padded {
        /// The width is rounded up to a multiple of this, which spares a compiler of kernels
        /// many shapes.
        multiple: u16,
    },
}

/// What to do with pairs that are too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LongPairs {
    /// Leave them out and count them.
    Drop,
    /// Stop with an error that names the first.
    Refuse,
}

/// What to do with pairs of which a side is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySides {
    /// Treat them like all others.
    Keep,
    /// Leave them out and count them.
    Drop,
}

/// The order of pairs in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Pairs of like length together, batches in random order: the least padding.
    Bucketed,
    /// All in random order: lengths mix, which costs nothing in the ragged layout.
    Shuffled,
    /// As the corpus has them, in every epoch: for evaluation.
    Corpus,
}

/// Which of several equal workers this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub u32);

impl BatchConfig {
    /// Refuses settings that make no sense.
    pub(super) fn check(&self) -> Result<(), BatchError> {
        let wrong = |what| Err(BatchError::Config(what));
        if self.tokens == 0 {
            return wrong("a budget of 0 tokens holds no pair");
        }
        if self.max_pairs == 0 {
            return wrong("a batch of at most 0 pairs holds none");
        }
        if self.max_source == 0 || self.max_target == 0 {
            return wrong("a sentence has at least 1 token, its end");
        }
        if self.layout == (Layout::Padded { multiple: 0 }) {
            return wrong("widths cannot be multiples of 0");
        }
        if self.pool == 0 || self.pool > MAX_POOL {
            return wrong("a pool has between 1 and 67108864 pairs");
        }
        if self.ranks == 0 || self.accumulate == 0 {
            return wrong("there is at least 1 rank, and at least 1 batch in a step");
        }
        if self.ranks.checked_mul(self.accumulate).is_none_or(|group| group > MAX_GROUP) {
            return wrong("ranks times accumulated batches is at most 1048576");
        }
        Ok(())
    }

    /// A pool's batches come in multiples of this.
    pub(super) fn group(&self) -> usize {
        (self.ranks * self.accumulate) as usize
    }
}

const MAX_POOL: u32 = 1 << 26;
const MAX_GROUP: u32 = 1 << 20;
