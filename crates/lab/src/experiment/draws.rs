//! Data sets of an enumerated distribution: how often each state, and each state with each mask.

use padir_base::random::Stream;

use crate::chain::Blocks;
use crate::distribution::ExactSampler;

/// One data set.
pub(super) struct DataSet {
    /// The frequency of every state.
    pub(super) states: Vec<f64>,
    /// The frequency of every pair, `pairs[b][x]`.
    pub(super) pairs: Vec<Vec<f64>>,
}

/// The masks of every state, ready to be drawn.
pub(super) struct MaskTable {
    /// Cumulative p(K | x) over the blocks; one row for all states if they are the same.
    rows: Vec<Vec<f64>>,
    blocks: usize,
}

impl MaskTable {
    pub(super) fn new(blocks: &Blocks) -> Self {
        let states = if blocks.is_adaptive() { blocks.space().size() } else { 1 };
        let row = |x: usize| {
            let mut sum = 0.0;
            let add = |entry: &crate::chain::BlockEntry| {
                sum += entry.weight.of(x);
                sum
            };
            blocks.entries().iter().map(add).collect()
        };
        Self { rows: (0..states).map(row).collect(), blocks: blocks.entries().len() }
    }

    fn draw(&self, state: usize, stream: &mut Stream) -> usize {
        let row = &self.rows[if self.rows.len() == 1 { 0 } else { state }];
        let drawn = stream.uniform() * row[self.blocks - 1];
        row.partition_point(|sum| *sum <= drawn).min(self.blocks - 1)
    }
}

/// Draws n samples with m masks each; no masks if m is 0.
pub(super) fn draw(
    sampler: &ExactSampler,
    masks: &MaskTable,
    size: usize,
    (n, m): (usize, usize),
    stream: &mut Stream,
) -> DataSet {
    let mut states = vec![0.0; size];
    let mut pairs = if m > 0 { vec![vec![0.0; size]; masks.blocks] } else { Vec::new() };
    let unit = 1.0 / (n as f64 * m.max(1) as f64);
    for _ in 0..n {
        let x = sampler.draw(stream);
        states[x] += 1.0 / n as f64;
        for _ in 0..m {
            pairs[masks.draw(x, stream)][x] += unit;
        }
    }
    DataSet { states, pairs }
}
