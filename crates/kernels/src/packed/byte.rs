//! Int8 weights.
//!
//! Row j of W becomes whole numbers q within ±63 and a [`Scale`]: Wⱼ ≈ sⱼ·q. Seven bits rather than eight, so that
//! sums of two products fit into 16 bits on processors without VNNI: then all processors compute the same integers. Inputs are u8 with a
//! scale and a zero point ([`super::quantise`]), and
//!
//! ```text
//! y = s·sⱼ·(Σₖ u·q − zero·Σₖ q)
//! ```
//!
//! with the last sum computed at packing. Panels are as in [`super::single`], with k in groups of four. n·k bytes.

use std::ops::Range;

use padir_base::byte::Scale;

use super::PANEL;
use super::ahead::Ahead;
use super::aligned::Aligned;
use super::isa::{Found, Isa};
use super::quantise::Quantised;
use super::single::rows_of;
use super::tile::{self, Bytes, Shape, Sums, row_tiles};
use crate::simd::vectorised;

/// Most inputs: sums of more might not fit into 32 bits.
pub const MAX_INPUTS: usize = 1 << 16;

/// Numbers of a panel and group.
const GROUP: usize = 4 * PANEL;
/// Most tiles that ask for the weights of the next panel.
const TILES: usize = 10;

/// A packed matrix of int8 numbers.
#[derive(Debug)]
pub struct Byte {
    found: Found,
    data: Aligned<i8>,
    /// s, for whole panels.
    scales: Vec<f32>,
    /// Σ q, for whole panels.
    sums: Vec<i32>,
    inputs: usize,
    outputs: usize,
}

impl Byte {
    /// Quantises and packs matrices of `inputs` columns, row after row, one below the other.
    ///
    /// # Panics
    /// If a part is not made of whole rows, or they are longer than [`MAX_INPUTS`].
    pub fn pack(isa: Isa, parts: &[&[f32]], inputs: usize) -> Self {
        assert!(inputs <= MAX_INPUTS, "sums of {inputs} products of bytes");
        let outputs = parts.iter().map(|part| rows_of(part, inputs)).sum();
        let mut matrix = Self::empty();
        matrix.reset(Found::new(isa), outputs, inputs);
        let size = matrix.panel_size();
        let rows = parts.iter().flat_map(|part| part.chunks_exact(inputs));
        for (j, row) in rows.enumerate() {
            let scale = Scale::of(row);
            matrix.scales[j] = scale.step;
            let panel = &mut matrix.data[j / PANEL * size..][..size];
            for (k, &w) in row.iter().enumerate() {
                let q = scale.quantise(w);
                panel[place(k, j)] = q;
                matrix.sums[j] += i32::from(q);
            }
        }
        matrix
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
        self.data.bytes() + 8 * self.scales.len()
    }

    /// Row j of W, as exactly as it was kept.
    ///
    /// # Panics
    /// If there is none, or `row` has another length.
    pub fn copy_row(&self, j: usize, row: &mut [f32]) {
        assert!(j < self.outputs && row.len() == self.inputs, "a row of the matrix");
        let size = self.panel_size();
        let panel = &self.data[j / PANEL * size..][..size];
        for (k, x) in row.iter_mut().enumerate() {
            *x = f32::from(panel[place(k, j)]) * self.scales[j];
        }
    }

    /// Becomes some rows of another matrix.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gather(&mut self, other: &Self, rows: &[u32]) {
        self.reset(other.found, rows.len(), other.inputs);
        let size = self.panel_size();
        for (to, &from) in rows.iter().enumerate() {
            let from = from as usize;
            assert!(from < other.outputs, "a row of the matrix");
            self.scales[to] = other.scales[from];
            self.sums[to] = other.sums[from];
            let source = other.data[from / PANEL * size..][..size].as_chunks::<GROUP>().0;
            let target = self.data[to / PANEL * size..][..size].as_chunks_mut::<GROUP>().0;
            let (f, t) = (from % PANEL * 4, to % PANEL * 4);
            for (target, source) in target.iter_mut().zip(source) {
                target[t..t + 4].copy_from_slice(&source[f..f + 4]);
            }
        }
    }

    /// Nothing, to be [gathered](Self::gather) into.
    pub(super) fn empty() -> Self {
        Self {
            found: Found::new(Isa::Portable),
            data: Aligned::new(0),
            scales: Vec::new(),
            sums: Vec::new(),
            inputs: 1,
            outputs: 0,
        }
    }

    fn reset(&mut self, found: Found, outputs: usize, inputs: usize) {
        let whole = outputs.next_multiple_of(PANEL);
        (self.found, self.outputs, self.inputs) = (found, outputs, inputs);
        self.data.reset(whole * inputs.next_multiple_of(4));
        self.scales.clear();
        self.scales.resize(whole, 0.0);
        self.sums.clear();
        self.sums.resize(whole, 0);
    }

    fn panel_size(&self) -> usize {
        PANEL * self.inputs.next_multiple_of(4)
    }

    /// Computes some panels of some rows of x·Wᵀ and passes each to `sink(row, panel, numbers)`.
    #[inline]
    pub(super) fn sweep(
        &self,
        x: &Quantised,
        rows: Range<usize>,
        panels: Range<usize>,
        mut sink: impl FnMut(usize, usize, &[f32; PANEL]),
    ) {
        let size = self.panel_size();
        let stride = size / PANEL;
        let mut sums = [[0; PANEL]; tile::ROWS * tile::PANELS];
        let mut numbers = [[0.0; PANEL]; tile::ROWS * tile::PANELS];
        let shape = Shape::of_bytes(self.found, rows.len());
        let tiles = rows.len().div_ceil(shape.rows);
        // As for f32: one tile has no time to ask, many read a panel long enough.
        let hurry = shape.panels == 1 && (2..=TILES).contains(&tiles);
        let end = panels.end * size;
        for (panel, count) in shape.panels(panels) {
            let next = ((panel + 1) * size).min(end);
            let ahead = Ahead::new(&self.data[next..(next + size).min(end)], tiles);
            let columns = panel * PANEL..(panel + count) * PANEL;
            let (scales, offsets) = (&self.scales[columns.clone()], &self.sums[columns]);
            for (share, part) in row_tiles(rows.len(), shape.rows).enumerate() {
                if hurry {
                    ahead.fetch(share);
                }
                let rows = rows.start + part.start..rows.start + part.end;
                // A single tile has no time to ask.
                let after = if tiles > 1 { ((panel + count) * size).min(end) } else { end };
                let after = &self.data[after..end];
                let factors = Bytes {
                    groups: stride / 4,
                    a: &x.bytes()[rows.start * stride..rows.end * stride],
                    a_row: stride,
                    b: &self.data[panel * size..(panel + count) * size],
                    b_panel: size,
                    next: shape.next(after, size, share, tiles),
                };
                tile::bytes(self.found, rows.len(), count, factors, &mut sums);
                let (row_scales, zeros) = x.rows(rows.clone());
                restore(&mut numbers, &sums, scales, offsets, row_scales, zeros);
                for (r, row) in rows.enumerate() {
                    for p in 0..count {
                        sink(row, panel + p, &numbers[r * count + p]);
                    }
                }
            }
        }
    }
}

vectorised! {
    /// From the integers of a tile to numbers.
    fn restore(numbers: &mut Sums<f32>, sums: &Sums<i32>, scales: &[f32], offsets: &[i32], row_scales: &[f32], zeros: &[i32]) {
        let (scales, offsets) = (scales.as_chunks::<PANEL>().0, offsets.as_chunks::<PANEL>().0);
        let mut tiles = numbers.iter_mut().zip(sums);
        for (scale, zero) in row_scales.iter().zip(zeros) {
            for ((scales, offsets), (numbers, sums)) in scales.iter().zip(offsets).zip(&mut tiles) {
                for i in 0..PANEL {
                    let sum = sums[i].wrapping_sub(zero.wrapping_mul(offsets[i]));
                    numbers[i] = sum as f32 * (scale * scales[i]);
                }
            }
        }
    }
}

/// Where weight k of output j stands in its panel.
fn place(k: usize, j: usize) -> usize {
    k / 4 * GROUP + j % PANEL * 4 + k % 4
}
