//! What an epoch consists of, and how much of it would be padding.

use std::ops::AddAssign;

use serde::Serialize;

use super::budget::Load;
use super::config::Layout;

/// The counts of an epoch over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EpochSummary {
    /// Batches.
    pub batches: u64,
    /// Pairs in them.
    pub pairs: u64,
    /// Pairs left out because they are too long.
    pub dropped_long: u64,
    /// Pairs left out because a side is empty.
    pub dropped_empty: u64,
    /// The sources.
    pub source: SideTotals,
    /// The targets.
    pub target: SideTotals,
}

/// The tokens of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideTotals {
    /// Tokens, ends of sentence included.
    pub tokens: u64,
    /// The area of the rectangles that hold them.
    pub area: u64,
}

impl SideTotals {
    /// The share of padding in the rectangles: 1 − tokens / area.
    pub fn padding(self) -> f64 {
        if self.area == 0 { 0.0 } else { 1.0 - self.tokens as f64 / self.area as f64 }
    }
}

impl EpochSummary {
    /// The share of padding in the rectangles of both sides, were all batches padded.
    pub fn padding(self) -> f64 {
        let (source, target) = (self.source, self.target);
        SideTotals { tokens: source.tokens + target.tokens, area: source.area + target.area }
            .padding()
    }

    /// Counts a batch. In the ragged layout its rectangles are those it would have if padded.
    pub(super) fn add(&mut self, load: Load, layout: Layout) {
        let rectangle = match layout {
            Layout::Ragged => Layout::Padded { multiple: 1 },
            padded @ Layout::Padded { .. } => padded,
        };
        let (source, target) = load.tokens();
        let (source_area, target_area) = load.areas(rectangle);
        self.batches += 1;
        self.pairs += load.rows();
        self.source += SideTotals { tokens: source, area: source_area };
        self.target += SideTotals { tokens: target, area: target_area };
    }
}

impl AddAssign for SideTotals {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.area += other.area;
    }
}

impl AddAssign for EpochSummary {
    fn add_assign(&mut self, other: Self) {
        self.batches += other.batches;
        self.pairs += other.pairs;
        self.dropped_long += other.dropped_long;
        self.dropped_empty += other.dropped_empty;
        self.source += other.source;
        self.target += other.target;
    }
}
