//! How full a batch is, and the cutting of a sequence of pairs into batches. O(1) a pair.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::shard::PairLengths;

use super::config::{BatchConfig, Counted, Layout};

/// The size of a batch: rows, and per side the tokens and the longest sentence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    rows: u64,
    source: Side,
    target: Side,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    tokens: u64,
    longest: u16,
}

impl Side {
    fn with(self, length: u16) -> Self {
        Self { tokens: self.tokens + u64::from(length), longest: self.longest.max(length) }
    }

    /// The tokens a side takes: its area if it is padded.
    fn area(self, rows: u64, layout: Layout) -> u64 {
        match layout {
            Layout::Ragged => self.tokens,
            Layout::Padded { multiple } => {
                rows * u64::from(self.longest).next_multiple_of(u64::from(multiple))
            }
        }
    }
}

impl Load {
    /// The load of several pairs.
    pub(super) fn of(pairs: impl IntoIterator<Item = PairLengths>) -> Self {
        pairs.into_iter().fold(Self::default(), Self::with)
    }

    fn with(self, pair: PairLengths) -> Self {
        Self {
            rows: self.rows + 1,
            source: self.source.with(pair.source),
            target: self.target.with(pair.target),
        }
    }

    /// Whether the budget allows for it.
    pub(super) fn fits(self, config: &BatchConfig) -> bool {
        let (source, target) = self.areas(config.layout);
        let used = match config.counted {
            Counted::Source => source,
            Counted::Target => target,
            Counted::Larger => source.max(target),
            Counted::Both => source + target,
        };
        used <= u64::from(config.tokens) && self.rows <= u64::from(config.max_pairs)
    }

    /// Source and target tokens, with padding if the layout has it.
    pub(super) fn areas(self, layout: Layout) -> (u64, u64) {
        (self.source.area(self.rows, layout), self.target.area(self.rows, layout))
    }

    pub(super) fn rows(self) -> u64 {
        self.rows
    }

    /// Source and target tokens without padding.
    pub(super) fn tokens(self) -> (u64, u64) {
        (self.source.tokens, self.target.tokens)
    }
}

/// Cuts a sequence of pairs into batches that are as full as its order allows. Each pair must
/// fit on its own. Unless one batch takes all, the first is only filled to the share `phase` in
/// (0, 1], so that the same sequence is cut elsewhere for another phase.
pub(super) fn cut(
    count: usize,
    lengths: impl Fn(usize) -> PairLengths,
    config: &BatchConfig,
    phase: f64,
) -> Vec<Range<u32>> {
    let mut batches = Vec::new();
    let mut start = 0;
    while start < count {
        let mut pairs = fill((start..count).map(&lengths), config);
        if start == 0 && pairs < count {
            pairs = ((phase * pairs as f64).ceil() as usize).clamp(1, pairs);
        }
        batches.push(start as u32..(start + pairs) as u32);
        start += pairs;
    }
    batches
}

/// How many of the pairs a batch can take: at least one.
fn fill(pairs: impl Iterator<Item = PairLengths>, config: &BatchConfig) -> usize {
    let mut load = Load::default();
    let fitting = pairs.take_while(|&pair| {
        load = load.with(pair);
        load.fits(config)
    });
    fitting.count().max(1)
}

/// Halves the fullest batches until their number is a multiple of `group`; where no batch can
/// be halved any more, adds empty ones. O(group · log batches).
pub(super) fn complete(batches: &mut Vec<Range<u32>>, group: usize) {
    let missing = batches.len().next_multiple_of(group) - batches.len();
    if missing == 0 {
        return;
    }
    let size = |index: usize, batch: &Range<u32>| (batch.len(), Reverse(index));
    let mut fullest: BinaryHeap<_> = batches.iter().enumerate().map(|(i, b)| size(i, b)).collect();
    for _ in 0..missing {
        match fullest.pop() {
            Some((pairs, Reverse(index))) if pairs > 1 => {
                let Range { start, end } = batches[index];
                let middle = start + (end - start) / 2;
                batches[index] = start..middle;
                batches.push(middle..end);
                fullest.push(size(index, &batches[index]));
                fullest.push(size(batches.len() - 1, &(middle..end)));
            }
            _ => batches.push(0..0),
        }
    }
}
