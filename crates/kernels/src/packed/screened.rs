//! f32 weights with a coarse twin in 8 bits, to be searched: see [`best::screen`](super::best::screen).
//!
//! The best outputs of a large layer are found by looking at all of them coarsely and at a few exactly. Reading and multiplying
//! bytes costs a quarter to a half of f32. With ŵ and x̂ the quantised twins of a row of W and of an input of k numbers, the error is
//!
//! ```text
//! x·w − x̂·ŵ = x·(w − ŵ) + (x − x̂)·ŵ
//! ```
//!
//! Roundings of different numbers have nothing to do with each other: taken as independent and uniform they make the first part a sum with the standard
//! deviation ‖x‖·‖w − ŵ‖/√k whose tails are below those of a normal law, and likewise the second. So it lies within
//!
//! ```text
//! δ = min(8/√k, 1)·(‖x‖·‖w − ŵ‖ + ‖x − x̂‖·‖ŵ‖)
//! ```
//!
//! always, by Cauchy and Schwarz, if k ≤ 64, and else but for one case in 10¹³. Norms of weights are known at packing, for each panel the largest.
//! 5·n·k bytes.

use std::ops::Range;

use super::PANEL;
use super::aligned::Aligned;
use super::byte::Byte;
use super::isa::{Found, Isa};
use super::product::{Packed, Tools};
use super::single::rows_of;
use crate::simd::{dot, vectorised};

/// Standard deviations that no error exceeds: P ≤ 2·e^(−8²/2).
const DEVIATIONS: f32 = 8.0;
/// Bounds are made so much wider than exact numbers need.
const SAFETY: f32 = 1.01;

/// A matrix of f32, row after row, with its coarse twin.
#[derive(Debug)]
pub struct Screened {
    found: Found,
    rows: Aligned<f32>,
    coarse: Box<Packed>,
    /// The largest ‖w − ŵ‖ and ‖ŵ‖ of each panel.
    panels: Vec<Panel>,
    inputs: usize,
    outputs: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Panel {
    lost: f32,
    size: f32,
}

/// ‖x‖ and ‖x − x̂‖ of a row, times what makes them its δ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    size: f32,
    lost: f32,
}

impl Screened {
    /// Packs matrices of `inputs` columns, row after row, one below the other.
    ///
    /// # Panics
    /// If a part is not made of whole rows, or they are longer than [`MAX_INPUTS`](super::byte::MAX_INPUTS).
    pub fn pack(isa: Isa, parts: &[&[f32]], inputs: usize) -> Self {
        let outputs = parts.iter().map(|part| rows_of(part, inputs)).sum();
        let coarse = Byte::pack(isa, parts, inputs);
        let mut rows = Aligned::new(outputs * inputs);
        let mut panels = vec![Panel::default(); usize::div_ceil(outputs, PANEL)];
        let mut twin = vec![0.0; inputs];
        let all = parts.iter().flat_map(|part| part.chunks_exact(inputs));
        for ((j, row), own) in all.enumerate().zip(rows.chunks_exact_mut(inputs)) {
            own.copy_from_slice(row);
            coarse.copy_row(j, &mut twin);
            let panel = &mut panels[j / PANEL];
            panel.size = wider(panel.size, norm(twin.iter().copied()));
            panel.lost = wider(panel.lost, norm(row.iter().zip(&twin).map(|(w, t)| w - t)));
        }
        let coarse = Box::new(Packed::Byte(coarse));
        Self { found: Found::new(isa), rows, coarse, panels, inputs, outputs }
    }

    /// k.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// n.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.coarse.bytes() + size_of_val(&self.panels[..])
    }

    /// Row j of W.
    ///
    /// # Panics
    /// If there is none.
    pub fn row(&self, j: usize) -> &[f32] {
        assert!(j < self.outputs, "a row of the matrix");
        &self.rows[j * self.inputs..][..self.inputs]
    }

    /// The instructions it was packed for.
    pub(super) fn found(&self) -> Found {
        self.found
    }

    /// The coarse twin.
    pub(super) fn coarse(&self) -> &Packed {
        &self.coarse
    }

    /// x·wⱼ in f32.
    pub(super) fn logit(&self, x: &[f32], j: usize) -> f32 {
        product(x, self.row(j))
    }

    /// Computes some panels of some rows of x·Wᵀ in f32 and passes each to `sink(row, panel, numbers)`.
    pub(super) fn sweep(
        &self,
        x: &[f32],
        rows: Range<usize>,
        panels: Range<usize>,
        mut sink: impl FnMut(usize, usize, &[f32; PANEL]),
    ) {
        let k = self.inputs;
        let mut numbers = [0.0; PANEL];
        for panel in panels {
            let columns = panel * PANEL..((panel + 1) * PANEL).min(self.outputs);
            let weights = &self.rows[columns.start * k..columns.end * k];
            for row in rows.clone() {
                products(&mut numbers, &x[row * k..][..k], weights);
                sink(row, panel, &numbers);
            }
        }
    }

    /// [Prepares](Packed::prepare) x for the coarse twin and says what is not known of the logits of each row.
    pub(super) fn doubt(&self, tools: &mut Tools, x: &[f32], scale: f32, doubts: &mut [Doubt]) {
        self.coarse.prepare(tools, x);
        let factor = scale * SAFETY * (DEVIATIONS / (self.inputs as f32).sqrt()).min(1.0);
        for ((row, x), doubt) in x.chunks_exact(self.inputs).enumerate().zip(doubts) {
            let size = product(x, x).sqrt();
            *doubt = Doubt { size: factor * size, lost: factor * tools.lost(row, x) };
        }
    }

    /// δ of the panels from one on; gives the largest.
    #[inline]
    pub(super) fn doubts(&self, first: usize, row: Doubt, doubts: &mut [f32]) -> f32 {
        let mut worst = 0.0;
        for (doubt, panel) in doubts.iter_mut().zip(&self.panels[first..]) {
            *doubt = row.size * panel.lost + row.lost * panel.size;
            worst = wider(worst, *doubt);
        }
        worst
    }
}

/// The larger; what is no number wins.
#[inline]
fn wider(a: f32, b: f32) -> f32 {
    if b < a { a } else { b }
}

fn norm(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.map(|x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt() as f32
}

vectorised! {
    /// x·w.
    fn product(x: &[f32], w: &[f32]) -> f32 {
        dot(x, w)
    }
}

vectorised! {
    /// The products of x with rows of W.
    fn products(numbers: &mut [f32; PANEL], x: &[f32], weights: &[f32]) {
        for (number, w) in numbers.iter_mut().zip(weights.chunks_exact(x.len())) {
            *number = dot(x, w);
        }
    }
}
