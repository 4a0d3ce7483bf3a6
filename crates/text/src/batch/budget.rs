//! How full a batch is, and the cutting of a sequence of pairs into batches. O(1) a pair.

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

/// Cuts a sequence of pairs into as few batches as keeping its order allows. Each pair must fit
/// on its own.
pub(super) fn cut(
    pairs: impl Iterator<Item = PairLengths>,
    config: &BatchConfig,
) -> Vec<Range<u32>> {
    let mut batches = Vec::new();
    let mut load = Load::default();
    let (mut start, mut end) = (0, 0);
    for pair in pairs {
        let more = load.with(pair);
        if more.rows == 1 || more.fits(config) {
            load = more;
        } else {
            batches.push(start..end);
            start = end;
            load = Load::default().with(pair);
        }
        end += 1;
    }
    if end > start {
        batches.push(start..end);
    }
    batches
}

/// Halves the fullest batches until their number is a multiple of `group`; where no batch can
/// be halved any more, adds empty ones.
pub(super) fn complete(batches: &mut Vec<Range<u32>>, group: usize) {
    let mut missing = batches.len().next_multiple_of(group) - batches.len();
    while missing > 0 {
        // Halves every batch of at least half the largest size in one sweep: few sweeps.
        let largest = batches.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        if largest < 2 {
            batches.extend(std::iter::repeat_n(0..0, missing));
            return;
        }
        for index in 0..batches.len() {
            let Range { start, end } = batches[index];
            if missing > 0 && (end - start) as usize == largest {
                let middle = start + (end - start) / 2;
                batches[index] = start..middle;
                batches.push(middle..end);
                missing -= 1;
            }
        }
    }
}
