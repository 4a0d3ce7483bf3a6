//! `[batch]`: how pairs become batches.

use padir_base::random::Seed;
use padir_text::batch::{BatchConfig, Counted, EmptySides, Layout, LongPairs, Order};
use serde::{Deserialize, Serialize};

use super::section::Section;

/// `[batch]`: the settings of [`BatchConfig`] that a run may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BatchSettings {
    /// How many tokens a batch may have, ends of sentence included.
    pub tokens: u32,
    /// Which tokens that counts: `source`, `target`, `larger` or `both`.
    pub counted: Counted,
    /// `ragged`: sentences one behind the other; `padded`: rectangles, whose padding counts.
    pub layout: BatchLayout,
    /// Widths of rectangles are rounded up to a multiple of this.
    pub pad_multiple: u16,
    /// How many pairs a batch may have; 0 means any number.
    pub max_pairs: u32,
    /// The longest source to take, its end included.
    pub max_source: u16,
    /// The longest target to take, its end included.
    pub max_target: u16,
    /// What becomes of longer pairs: `drop` or `refuse`.
    pub long: LongPairs,
    /// What becomes of pairs with an empty side: `keep` or `drop`.
    pub empty: EmptySides,
    /// `bucketed`: pairs of like length together; `shuffled`: all mixed; `corpus`: as they come.
    pub order: Order,
    /// How many pairs are sorted together.
    pub pool: u32,
}

/// What a batch is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchLayout {
    /// Sentences one behind the other.
    Ragged,
    /// Rectangles.
    Padded,
}

impl BatchSettings {
    pub(super) fn read(mut section: Section<'_>, layout: BatchLayout) -> Self {
        let s = &mut section;
        let usual = BatchConfig::default();
        let settings = Self {
            tokens: s.count("tokens", 1..=u32::MAX).unwrap_or(usual.tokens),
            counted: s
                .choice("counted", r#""source", "target", "larger" or "both""#)
                .unwrap_or(usual.counted),
            layout: s.choice("layout", r#""ragged" or "padded""#).unwrap_or(layout),
            pad_multiple: s.count("pad_multiple", 1..=1024).unwrap_or(8),
            max_pairs: s.count("max_pairs", 0..=u32::MAX).unwrap_or(0),
            max_source: s.count("max_source", 1..=u16::MAX).unwrap_or(128),
            max_target: s.count("max_target", 1..=u16::MAX).unwrap_or(128),
            long: s.choice("long", r#""drop" or "refuse""#).unwrap_or(usual.long),
            empty: s.choice("empty", r#""keep" or "drop""#).unwrap_or(EmptySides::Drop),
            order: s
                .choice("order", r#""bucketed", "shuffled" or "corpus""#)
                .unwrap_or(usual.order),
            pool: s.count("pool", 1..=1 << 26).unwrap_or(usual.pool),
        };
        section.finish();
        settings
    }

    /// What the batch planner needs.
    pub fn to_config(&self, seed: Seed, accumulate: u32) -> BatchConfig {
        BatchConfig {
            tokens: self.tokens,
            counted: self.counted,
            layout: match self.layout {
                BatchLayout::Ragged => Layout::Ragged,
                BatchLayout::Padded => Layout::Padded { multiple: self.pad_multiple },
            },
            max_pairs: if self.max_pairs == 0 { u32::MAX } else { self.max_pairs },
            max_source: self.max_source,
            max_target: self.max_target,
            long: self.long,
            empty: self.empty,
            order: self.order,
            pool: self.pool,
            ranks: 1,
            accumulate,
            seed,
        }
    }
}
