//! Tiles: a few rows times a few panels, kept in registers.
//!
//! A tile is sums\[r\]\[c\] = Σₖ a\[r\]\[k\]·b\[k\]\[c\], each sum one chain over k. How many rows and panels a tile has
//! is a matter of the processor's registers and changes no number.

use std::ops::Range;

use super::PANEL;
use super::isa::{Found, Isa};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Most rows of a tile.
pub(super) const ROWS: usize = 6;
/// Most panels of a tile.
pub(super) const PANELS: usize = 4;
/// The sums of the largest tile: row r and panel p of a tile of P panels at r·P + p.
pub(super) type Sums<T> = [[T; PANEL]; ROWS * PANELS];

/// What a tile of f32 multiplies.
#[derive(Clone, Copy)]
pub(super) struct Singles<'a> {
    /// The length of the chains.
    pub k: usize,
    /// Row r begins at r·`a_row`.
    pub a: &'a [f32],
    pub a_row: usize,
    /// 16 numbers of panel p for each k at p·`b_panel` + k·`b_step`.
    pub b: &'a [f32],
    pub b_step: usize,
    pub b_panel: usize,
    /// Whether the chains go on from the sums that are there.
    pub more: bool,
    /// What will be multiplied next.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only AVX-512 has such tiles")
    )]
    pub next: Next<'a, f32>,
}

/// What a tile of bytes multiplies.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    /// The length of the chains in groups of four.
    pub groups: usize,
    /// Row r begins at r·`a_row`.
    pub a: &'a [u8],
    pub a_row: usize,
    /// 16 columns of four numbers of panel p for each group g at p·`b_panel` + g·64.
    pub b: &'a [i8],
    pub b_panel: usize,
    /// What will be multiplied next.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only AVX-512 has such tiles")
    )]
    pub next: Next<'a, i8>,
}

/// Weights that a tile of several panels asks for while it multiplies others: panels as far apart as its own, a line of each
/// for each line that it reads. Others ask for them [themselves](super::ahead).
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only AVX-512 has such tiles"))]
#[derive(Clone, Copy, Default)]
pub(super) struct Next<'a, T> {
    /// From the first of them on.
    pub weights: &'a [T],
    /// How many.
    pub panels: usize,
}

/// Rows and panels of the tiles that suit so many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rows: usize,
    pub panels: usize,
}

impl Shape {
    /// Of tiles of f32. Few rows need several panels to hide the latency of their sums.
    pub(super) fn of_singles(found: Found, rows: usize) -> Self {
        match found.isa() {
            Isa::Avx2 if rows <= 2 => Self { rows: 2, panels: 2 },
            Isa::Portable | Isa::Avx2 => Self { rows: ROWS, panels: 1 },
            Isa::Avx512Vnni => Self { rows: ROWS, panels: PANELS },
        }
    }

    /// Of tiles of bytes.
    pub(super) fn of_bytes(found: Found, rows: usize) -> Self {
        match found.isa() {
            Isa::Avx2 if rows <= 2 => Self { rows: 2, panels: 2 },
            Isa::Avx2 => Self { rows: 4, panels: 1 },
            Isa::Portable => Self { rows: ROWS, panels: 1 },
            Isa::Avx512Vnni => Self { rows: ROWS, panels: PANELS },
        }
    }

    /// The tiles' first panels and their numbers of panels.
    pub(super) fn panels(self, panels: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let mut panel = panels.start;
        std::iter::from_fn(move || {
            let count = if panel + self.panels <= panels.end { self.panels } else { 1 };
            panel += count;
            (panel <= panels.end).then_some((panel - count, count))
        })
    }

    /// The next panels that tile `share` of `tiles` asks for, where tiles have several: those of the next tile, shared out.
    #[inline]
    pub(super) fn next<T>(
        self,
        weights: &[T],
        size: usize,
        share: usize,
        tiles: usize,
    ) -> Next<'_, T> {
        let panels = weights.len().div_ceil(size).min(self.panels);
        if self.panels == 1 || panels == 0 {
            return Next { weights: &[], panels: 0 };
        }
        let cut = |share: usize| (panels * share).div_ceil(tiles);
        let (from, to) = (cut(share), cut(share + 1));
        Next { weights: &weights[(from * size).min(weights.len())..], panels: to - from }
    }

    /// Calls `tile(rows, first panel, panels)` for all tiles: all rows of a panel before the next, so that
    /// weights are read once.
    #[inline]
    pub(super) fn cover(
        self,
        rows: Range<usize>,
        panels: Range<usize>,
        mut tile: impl FnMut(Range<usize>, usize, usize),
    ) {
        for (panel, count) in self.panels(panels) {
            for part in row_tiles(rows.len(), self.rows) {
                tile(rows.start + part.start..rows.start + part.end, panel, count);
            }
        }
    }
}

/// Rows of the tiles that so many rows are cut into: about equal, none too large.
pub(super) fn row_tiles(rows: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let count = rows.div_ceil(most);
    (0..count).map(move |tile| rows * tile / count..rows * (tile + 1) / count)
}

/// A tile of f32 within a [`Shape`]: as many panels as it says, or 1.
///
/// # Panics
/// If the factors are too short.
#[inline]
pub(super) fn singles(
    found: Found,
    rows: usize,
    panels: usize,
    factors: Singles<'_>,
    sums: &mut Sums<f32>,
) {
    let Singles { k, a, a_row, b, b_step, b_panel, more, .. } = factors;
    assert!((1..=ROWS).contains(&rows) && (1..=PANELS).contains(&panels), "a tile");
    if k == 0 {
        if !more {
            sums.fill([0.0; PANEL]);
        }
        return;
    }
    assert!((rows - 1) * a_row + k <= a.len(), "rows of the left factor");
    assert!((panels - 1) * b_panel + (k - 1) * b_step + PANEL <= b.len(), "the right factor");
    match found.isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instructions were found, and the factors have been measured.
        #[expect(unsafe_code, reason = "calls a kernel for a detected processor")]
        Isa::Avx2 => unsafe { avx2::singles(rows, panels, &factors, sums) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a kernel for a detected processor")]
        Isa::Avx512Vnni => unsafe { avx512::singles(rows, panels, &factors, sums) },
        _ => portable_singles(rows, panels, &factors, sums),
    }
}

/// A tile of bytes within a [`Shape`]: as many panels as it says, or 1.
///
/// # Panics
/// If the factors are too short.
#[inline]
pub(super) fn bytes(
    found: Found,
    rows: usize,
    panels: usize,
    factors: Bytes<'_>,
    sums: &mut Sums<i32>,
) {
    let Bytes { groups, a, a_row, b, b_panel, .. } = factors;
    assert!((1..=ROWS).contains(&rows) && (1..=PANELS).contains(&panels), "a tile");
    assert!((rows - 1) * a_row + 4 * groups <= a.len(), "rows of the left factor");
    assert!((panels - 1) * b_panel + groups * 4 * PANEL <= b.len(), "the right factor");
    match found.isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instructions were found, and the factors have been measured.
        #[expect(unsafe_code, reason = "calls a kernel for a detected processor")]
        Isa::Avx2 => unsafe { avx2::bytes(rows, panels, &factors, sums) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a kernel for a detected processor")]
        Isa::Avx512Vnni => unsafe { avx512::bytes(rows, panels, &factors, sums) },
        _ => portable_bytes(rows, panels, &factors, sums),
    }
}

/// The definition, and what other processors run.
fn portable_singles(rows: usize, panels: usize, factors: &Singles<'_>, sums: &mut Sums<f32>) {
    let Singles { k, a, a_row, b, b_step, b_panel, more, .. } = *factors;
    for r in 0..rows {
        let a = &a[r * a_row..][..k];
        for p in 0..panels {
            let mut lane = if more { sums[r * panels + p] } else { [0.0_f32; PANEL] };
            for (step, &a) in a.iter().enumerate() {
                let b = &b[p * b_panel + step * b_step..][..PANEL];
                for (sum, &b) in lane.iter_mut().zip(b) {
                    *sum = a.mul_add(b, *sum);
                }
            }
            sums[r * panels + p] = lane;
        }
    }
}

/// The definition, and what other processors run.
fn portable_bytes(rows: usize, panels: usize, factors: &Bytes<'_>, sums: &mut Sums<i32>) {
    let Bytes { groups, a, a_row, b, b_panel, .. } = *factors;
    for r in 0..rows {
        let a = a[r * a_row..][..4 * groups].as_chunks::<4>().0;
        for p in 0..panels {
            let b = b[p * b_panel..][..groups * 4 * PANEL].as_chunks::<4>().0;
            let mut lane = [0_i32; PANEL];
            for (a, b) in a.iter().zip(b.chunks_exact(PANEL)) {
                for (sum, b) in lane.iter_mut().zip(b) {
                    for (&a, &b) in a.iter().zip(b) {
                        *sum = sum.wrapping_add(i32::from(a) * i32::from(b));
                    }
                }
            }
            sums[r * panels + p] = lane;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn others() -> impl Iterator<Item = Found> {
        Isa::ALL[1..].iter().filter(|isa| isa.is_available()).map(|&isa| Found::new(isa))
    }

    #[test]
    fn tiles_cover_all_rows() {
        for rows in 0..40 {
            let tiles: Vec<_> = row_tiles(rows, 6).collect();
            let covered: Vec<usize> = tiles.iter().cloned().flatten().collect();
            assert_eq!(covered, (0..rows).collect::<Vec<_>>(), "{rows}");
            assert!(tiles.iter().all(|tile| (1..=6).contains(&tile.len())), "{rows}");
        }
    }

    proptest! {
        #[test]
        fn every_processor_sums_singles_alike(
            many in 1..20_usize,
            k in 0..70_usize,
            wide: bool,
            more: bool,
            asked in 0..5_usize,
            gaps in (0..3_usize, 0..3_usize),
            numbers in prop::collection::vec(-8.0_f32..8.0, 64),
        ) {
            for found in others() {
                let shape = Shape::of_singles(found, many);
                let (rows, panels) = (many.min(shape.rows), if wide { shape.panels } else { 1 });
                let (a_row, b_step) = (k + gaps.0, PANEL + gaps.1);
                let b_panel = k * b_step + 3;
                let number = |i: usize| numbers[i * 7 % 64] + (i % 13) as f32;
                let a: Vec<f32> = (0..rows * a_row).map(number).collect();
                let b: Vec<f32> = (0..panels * b_panel + PANEL).map(|i| number(i + 5)).collect();
                let next = Next { weights: &b, panels: asked };
                let factors = Singles { k, a: &a, a_row, b: &b, b_step, b_panel, more, next };
                let (mut ours, mut slow) = ([[7.0; PANEL]; 24], [[7.0; PANEL]; 24]);
                singles(found, rows, panels, factors, &mut ours);
                portable_singles(rows, panels, &factors, &mut slow);
                for i in 0..rows * panels {
                    prop_assert_eq!(ours[i].map(f32::to_bits), slow[i].map(f32::to_bits), "{:?} {}", found, i);
                }
            }
        }

        #[test]
        fn every_processor_sums_bytes_alike(
            many in 1..20_usize,
            groups in 0..40_usize,
            wide: bool,
            extreme: bool,
            asked in 0..5_usize,
            left in prop::collection::vec(any::<u8>(), 64),
            right in prop::collection::vec(-63..=63_i8, 64),
        ) {
            for found in others() {
                let shape = Shape::of_bytes(found, many);
                let (rows, panels) = (many.min(shape.rows), if wide { shape.panels } else { 1 });
                let (a_row, b_panel) = (groups * 4 + 2, groups * 64);
                let a: Vec<u8> = (0..rows * a_row).map(|i| if extreme { 255 } else { left[i * 5 % 64] }).collect();
                let sign = |i: usize| if right[i % 64] < 0 { -63 } else { 63 };
                let b: Vec<i8> = (0..panels * b_panel).map(|i| if extreme { sign(i / 4) } else { right[i * 11 % 64] }).collect();
                let next = Next { weights: &b, panels: asked };
                let factors = Bytes { groups, a: &a, a_row, b: &b, b_panel, next };
                let (mut ours, mut slow) = ([[7; PANEL]; 24], [[9; PANEL]; 24]);
                bytes(found, rows, panels, factors, &mut ours);
                portable_bytes(rows, panels, &factors, &mut slow);
                for i in 0..rows * panels {
                    prop_assert_eq!(ours[i], slow[i], "{:?} {}", found, i);
                }
            }
        }
    }

    #[test]
    fn says_which_processors_were_tested() {
        for isa in Isa::ALL {
            let status = if isa.is_available() { "tested" } else { "absent, not tested" };
            println!("{isa:?}: {status}");
        }
    }
}
