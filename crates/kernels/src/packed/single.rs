//! f32 weights in panels.
//!
//! A layer y = W·x with W of n × k is kept as ⌈n/16⌉ panels; a panel holds, for each k, the weights of
//! its 16 outputs, so that a product reads memory from front to back. 4·n·k bytes.

use std::ops::Range;

use super::PANEL;
use super::ahead::Ahead;
use super::aligned::Aligned;
use super::isa::{Found, Isa};
use super::screened::Screened;
use super::tile::{self, Shape, Singles, row_tiles};

/// Inputs that are gone through at a time where several tiles share weights: 8 KB of a panel, a quarter of the
/// nearest cache.
const DEPTH: usize = 128;
/// Tiles that share them.
const TILES: usize = 8;

/// A packed matrix of f32.
#[derive(Debug)]
pub struct Single {
    found: Found,
    data: Aligned<f32>,
    inputs: usize,
    outputs: usize,
}

impl Single {
    /// Packs matrices of `inputs` columns, row after row, one below the other.
    ///
    /// # Panics
    /// If a part is not made of whole rows.
    pub fn pack(isa: Isa, parts: &[&[f32]], inputs: usize) -> Self {
        let outputs = parts.iter().map(|part| rows_of(part, inputs)).sum();
        let data = Aligned::new(len_of(outputs, inputs));
        let mut matrix = Self { found: Found::new(isa), data, inputs, outputs };
        let rows = parts.iter().flat_map(|part| part.chunks_exact(inputs));
        rows.enumerate().for_each(|(j, row)| matrix.place(j, row));
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
        self.data.bytes()
    }

    /// Row j of W.
    ///
    /// # Panics
    /// If there is none, or `row` has another length.
    pub fn copy_row(&self, j: usize, row: &mut [f32]) {
        assert!(j < self.outputs && row.len() == self.inputs, "a row of the matrix");
        let panel = &self.data[j / PANEL * PANEL * self.inputs..][..PANEL * self.inputs];
        row.iter_mut().zip(panel.as_chunks::<PANEL>().0).for_each(|(x, lane)| *x = lane[j % PANEL]);
    }

    /// Becomes some rows of another matrix.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gather(&mut self, other: &Self, rows: &[u32]) {
        self.found = other.found;
        self.inputs = other.inputs;
        self.outputs = rows.len();
        self.data.reset(len_of(rows.len(), self.inputs));
        for (to, &from) in rows.iter().enumerate() {
            assert!((from as usize) < other.outputs, "a row of the matrix");
            let (to_panel, from_panel) = (to / PANEL, from as usize / PANEL);
            let size = PANEL * self.inputs;
            let from_panel = &other.data[from_panel * size..][..size];
            let to_panel = &mut self.data[to_panel * size..][..size];
            let pairs = to_panel.as_chunks_mut::<PANEL>().0.iter_mut();
            for (t, f) in pairs.zip(from_panel.as_chunks::<PANEL>().0) {
                t[to % PANEL] = f[from as usize % PANEL];
            }
        }
    }

    /// Becomes some rows of a matrix that is kept row after row.
    ///
    /// # Panics
    /// If there is no such row.
    pub(super) fn gather_rows(&mut self, other: &Screened, rows: &[u32]) {
        self.found = other.found();
        self.inputs = other.inputs();
        self.outputs = rows.len();
        self.data.reset(len_of(rows.len(), self.inputs));
        for (to, &from) in rows.iter().enumerate() {
            self.place(to, other.row(from as usize));
        }
    }

    /// Puts row j of W into its panel.
    fn place(&mut self, j: usize, row: &[f32]) {
        let size = PANEL * self.inputs;
        let panel = &mut self.data[j / PANEL * size..][..size];
        panel[j % PANEL..].iter_mut().step_by(PANEL).zip(row).for_each(|(to, x)| *to = *x);
    }

    /// Nothing, to be [gathered](Self::gather) into.
    pub(super) fn empty() -> Self {
        Self::pack(Isa::Portable, &[], 1)
    }

    /// Computes some panels of some rows of x·Wᵀ and passes each to `sink(row, panel, numbers)`.
    #[inline]
    pub(super) fn sweep(
        &self,
        x: &[f32],
        rows: Range<usize>,
        panels: Range<usize>,
        mut sink: impl FnMut(usize, usize, &[f32; PANEL]),
    ) {
        let k = self.inputs;
        let shape = Shape::of_singles(self.found, rows.len());
        // A part of a panel that several tiles read should stay near them.
        let depth = if rows.len() > shape.rows { DEPTH } else { k };
        let mut sums = [[[0.0; PANEL]; tile::ROWS * tile::PANELS]; TILES];
        let group = TILES * shape.rows;
        // More rows read a panel again and again, and compute long enough to hide the first time.
        // Tiles of several panels read from as many places.
        let hurry = shape.panels == 1 && (shape.rows + 1..=group).contains(&rows.len());
        let end = panels.end * PANEL * k;
        for (panel, count) in shape.panels(panels) {
            let weights = &self.data[panel * PANEL * k..(panel + count) * PANEL * k];
            for first in rows.clone().step_by(group) {
                let some = group.min(rows.end - first);
                for from in (0..k).step_by(depth) {
                    let next =
                        if from + depth < k { panel * k + from + depth } else { (panel + 1) * k };
                    let next = (next * PANEL).min(end);
                    let ahead = &self.data[next..(next + depth * PANEL).min(end)];
                    let ahead = Ahead::new(ahead, some.div_ceil(shape.rows));
                    let after = if from + depth < k {
                        &weights[(from + depth) * PANEL..]
                    } else {
                        &self.data[((panel + count) * PANEL * k).min(end)..end]
                    };
                    let tiles = row_tiles(some, shape.rows).zip(&mut sums);
                    for (share, (tile, sums)) in tiles.enumerate() {
                        if hurry {
                            ahead.fetch(share);
                        }
                        let factors = Singles {
                            k: depth.min(k - from),
                            a: &x[(first + tile.start) * k + from..(first + tile.end) * k],
                            a_row: k,
                            b: &weights[from * PANEL..],
                            b_step: PANEL,
                            b_panel: PANEL * k,
                            more: from > 0,
                            next: shape.next(after, PANEL * k, share, some.div_ceil(shape.rows)),
                        };
                        tile::singles(self.found, tile.len(), count, factors, sums);
                    }
                }
                for (tile, sums) in row_tiles(some, shape.rows).zip(&sums) {
                    for (r, row) in tile.enumerate() {
                        for p in 0..count {
                            sink(first + row, panel + p, &sums[r * count + p]);
                        }
                    }
                }
            }
        }
    }
}

/// How many rows a part of a matrix has.
pub(super) fn rows_of(part: &[f32], columns: usize) -> usize {
    assert!(columns > 0 && part.len().is_multiple_of(columns), "whole rows of {columns} numbers");
    part.len() / columns
}

fn len_of(outputs: usize, inputs: usize) -> usize {
    outputs.next_multiple_of(PANEL) * inputs
}
