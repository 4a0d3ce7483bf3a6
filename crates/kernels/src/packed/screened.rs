//! f32 weights with a coarse twin in int8, to be searched: see [`best::screen`](super::best::screen).
//!
//! The best outputs of a large layer are found by looking at all of them coarsely and at a few exactly. Reading and multiplying
//! bytes costs a quarter to a half of f32. With ŵ and x̂ the quantised twins of a row of W and of an input, the error is
//!
//! ```text
//! x·w − x̂·ŵ = x·(w − ŵ) + (x − x̂)·ŵ
//! ```
//!
//! The first part is at most ‖x‖·‖w − ŵ‖ (Cauchy, Schwarz). That is far too cautious: roundings of different numbers have nothing to do with each
//! other. If those of a row are independent and uniform within half a step s, Σ xᵢ·(wᵢ − ŵᵢ) has tails below those of a normal law with the
//! deviation ‖x‖·s/√12, and exceeds eight of them once in 10¹³ cases. What is rounded to 0 is no such thing, as all of it errs towards 0, and counts in
//! full: with o the numbers of w that become 0,
//!
//! ```text
//! λ(w) = min(8·s/√12 + ‖o‖, ‖w − ŵ‖) + 10⁻⁶·‖ŵ‖,   δ = ‖x‖·λ(w) + λ(x)·‖ŵ‖
//! ```
//!
//! and likewise for x; the last term is for sums in f32. So δ bounds the error of all numbers but those that round alike, such as inputs of two
//! values only. λ(w) and ‖ŵ‖ are known at packing, for each panel the largest. 5·n·k bytes.

use std::ops::Range;

use padir_base::byte::Scale;

use super::PANEL;
use super::aligned::Aligned;
use super::byte::Byte;
use super::isa::{Found, Isa};
use super::product::{Packed, Tools};
use super::single::rows_of;
use crate::simd::{LANES, dot, fold, vectorised};

/// Standard deviations that no error exceeds: P ≤ 2·e^(−8²/2).
const DEVIATIONS: f32 = 8.0;
/// What sums of f32 may be wrong by, as a share of the factors' norms.
const SUMS: f32 = 1e-6;

/// A matrix of f32, row after row, with its coarse twin.
#[derive(Debug)]
pub struct Screened {
    found: Found,
    rows: Aligned<f32>,
    coarse: Box<Packed>,
    panels: Vec<Panel>,
    inputs: usize,
    outputs: usize,
}

/// The largest λ(w) and ‖ŵ‖ of a panel.
#[derive(Clone, Copy, Debug, Default)]
struct Panel {
    lost: f32,
    size: f32,
}

/// ‖x‖ and λ(x), times what logits are multiplied by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorBound {
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
            let size = norm(twin.iter().copied());
            panel.size = wider(panel.size, size);
            panel.lost = wider(panel.lost, lost(row, &twin, Scale::of(row).step) + SUMS * size);
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
    pub(super) fn error_bound(
        &self,
        tools: &mut Tools,
        x: &[f32],
        scale: f32,
        error_bounds: &mut [ErrorBound],
    ) {
        self.coarse.prepare(tools, x);
        for ((row, x), error_bound) in x.chunks_exact(self.inputs).enumerate().zip(error_bounds) {
            let size = product(x, x).sqrt();
            *error_bound = ErrorBound { size: scale * size, lost: scale * tools.lost(row, x) };
        }
    }

    /// δ of the panels from one on; gives the largest.
    #[inline]
    pub(super) fn error_bounds(
        &self,
        first: usize,
        row: ErrorBound,
        error_bounds: &mut [f32],
    ) -> f32 {
        let mut worst = 0.0;
        for (error_bound, panel) in error_bounds.iter_mut().zip(&self.panels[first..]) {
            *error_bound = row.size * panel.lost + row.lost * panel.size;
            worst = wider(worst, *error_bound);
        }
        worst
    }
}

/// The larger; what is no number wins.
#[inline]
fn wider(a: f32, b: f32) -> f32 {
    if b < a || a.is_nan() { a } else { b }
}

/// λ of numbers and their twins, without the term for sums.
fn lost(numbers: &[f32], twins: &[f32], step: f32) -> f32 {
    let pairs = || numbers.iter().zip(twins);
    let zeroed = norm(pairs().filter(|(_, twin)| **twin == 0.0).map(|(x, _)| *x));
    bounded(step, zeroed, norm(pairs().map(|(x, twin)| x - twin)))
}

/// min(8·s/√12 + ‖o‖, ‖w − ŵ‖); what is no number stays one.
pub(super) fn bounded(step: f32, zeroed: f32, all: f32) -> f32 {
    let likely = DEVIATIONS * step / 12.0_f32.sqrt() + zeroed;
    if likely < all { likely } else { all }
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
    /// The products of x with up to 16 rows of W.
    fn products(numbers: &mut [f32; PANEL], x: &[f32], weights: &[f32]) {
        let mut rows = weights.chunks_exact(x.len());
        let (four, rest) = numbers.as_chunks_mut::<4>();
        debug_assert!(rest.is_empty(), "a panel is made of fours");
        for four in four {
            let mut next = || rows.next().unwrap_or(&[]);
            *four = dots(x, [next(), next(), next(), next()]);
        }
    }
}

/// Four products at once, each as [`dot`] computes it: x is read once. Rows that are not there give 0.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
fn dots(x: &[f32], rows: [&[f32]; 4]) -> [f32; 4] {
    if rows.iter().any(|row| row.len() != x.len()) {
        return rows.map(|row| if row.len() == x.len() { dot(x, row) } else { 0.0 });
    }
    let mut lanes = [[0.0; LANES]; 4];
    let (whole, rest) = x.as_chunks::<LANES>();
    let chunks = rows.map(|row| row.as_chunks::<LANES>());
    for (at, x) in whole.iter().enumerate() {
        for (lanes, (row, _)) in lanes.iter_mut().zip(&chunks) {
            for i in 0..LANES {
                lanes[i] += x[i] * row[at][i];
            }
        }
    }
    let mut sums = [0.0; 4];
    for ((sum, lanes), (_, last)) in sums.iter_mut().zip(lanes).zip(&chunks) {
        *sum = fold(lanes) + rest.iter().zip(*last).map(|(x, w)| x * w).sum::<f32>();
    }
    sums
}
