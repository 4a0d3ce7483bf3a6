//! x·Wᵀ with packed weights, onto a matrix.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::byte::Byte;
use super::grid::Grid;
use super::quantise::Quantised;
use super::screened::Screened;
use super::single::Single;
use super::threads::Threads;
use super::{PANEL, grow};

/// A packed matrix.
#[derive(Debug)]
pub enum Packed {
    /// Of f32.
    Single(Single),
    /// Of int8 numbers.
    Byte(Byte),
    /// Of f32, to be searched for its best outputs.
    Screened(Screened),
}

/// What becomes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It replaces what was there.
    Store,
    /// It is added to what was there.
    Add,
    /// It replaces what was there, negative numbers by 0.
    Relu,
}

/// What operations work with: threads, and buffers that are used again.
#[derive(Debug)]
pub struct Tools {
    /// Who works.
    pub threads: Threads,
    quantised: Quantised,
    scratch: Vec<Mutex<Vec<f32>>>,
}

/// Products below which another thread is not worth its call.
const FEW: usize = 1 << 16;
/// Pieces for each thread: more balance better, fewer cost less.
const PIECES: usize = 4;

impl Tools {
    /// For some threads.
    pub fn new(threads: Threads) -> Self {
        let scratch = (0..threads.count()).map(|_| Mutex::default()).collect();
        Self { threads, quantised: Quantised::default(), scratch }
    }

    /// The buffer of a worker.
    pub(super) fn scratch(&self, worker: usize) -> MutexGuard<'_, Vec<f32>> {
        // What a panic left behind is overwritten like anything else.
        self.scratch[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// λ of a row that was quantised last: see [`screened`](super::screened).
    pub(super) fn lost(&self, row: usize, x: &[f32]) -> f32 {
        self.quantised.lost(row, x)
    }

    /// Makes all buffers as long as the longest. Called after an operation: whoever takes the pieces of the next finds
    /// what they need, even a worker that came too late for this one.
    pub(super) fn level(&self) {
        let workers = 0..self.scratch.len();
        let longest = workers.clone().map(|worker| self.scratch(worker).len()).max().unwrap_or(0);
        workers.for_each(|worker| {
            grow(&mut self.scratch(worker), longest);
        });
    }
}

impl Packed {
    /// k, the length of a row of W.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Single(matrix) => matrix.inputs(),
            Self::Byte(matrix) => matrix.inputs(),
            Self::Screened(matrix) => matrix.inputs(),
        }
    }

    /// n, the number of rows of W.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Single(matrix) => matrix.outputs(),
            Self::Byte(matrix) => matrix.outputs(),
            Self::Screened(matrix) => matrix.outputs(),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Single(matrix) => matrix.bytes(),
            Self::Byte(matrix) => matrix.bytes(),
            Self::Screened(matrix) => matrix.bytes(),
        }
    }

    /// The twin in int8 that it is searched by; itself, if it has none.
    pub fn coarse(&self) -> &Self {
        match self {
            Self::Screened(matrix) => matrix.coarse(),
            Self::Single(_) | Self::Byte(_) => self,
        }
    }

    /// Row j of W.
    ///
    /// # Panics
    /// If there is none, or `row` has another length.
    pub fn copy_row(&self, j: usize, row: &mut [f32]) {
        match self {
            Self::Single(matrix) => matrix.copy_row(j, row),
            Self::Byte(matrix) => matrix.copy_row(j, row),
            Self::Screened(matrix) => row.copy_from_slice(matrix.row(j)),
        }
    }

    /// A matrix of the same precision with no rows, to be gathered into.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        match self {
            // Few rows need no screen.
            Self::Single(_) | Self::Screened(_) => Self::Single(Single::empty()),
            Self::Byte(_) => Self::Byte(Byte::empty()),
        }
    }

    /// Becomes some rows of another matrix of its precision; a matrix of another precision is replaced.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gather(&mut self, other: &Self, rows: &[u32]) {
        match (&mut *self, other) {
            (Self::Single(own), Self::Single(other)) => own.gather(other, rows),
            (Self::Byte(own), Self::Byte(other)) => own.gather(other, rows),
            (Self::Single(own), Self::Screened(other)) => own.gather_rows(other, rows),
            (_, other) => {
                *self = other.empty_like();
                self.gather(other, rows);
            }
        }
    }

    /// Makes x ready: quantised for bytes.
    pub(super) fn prepare(&self, tools: &mut Tools, x: &[f32]) {
        if let Self::Byte(matrix) = self {
            let Tools { threads, quantised, .. } = tools;
            quantised.fill(threads, x, matrix.inputs());
        }
    }

    /// Computes some panels of some rows of x·Wᵀ, once x is [prepared](Self::prepare).
    #[inline]
    pub(super) fn sweep(
        &self,
        tools: &Tools,
        x: &[f32],
        rows: Range<usize>,
        panels: Range<usize>,
        sink: impl FnMut(usize, usize, &[f32; PANEL]),
    ) {
        match self {
            Self::Single(matrix) => matrix.sweep(x, rows, panels, sink),
            Self::Byte(matrix) => matrix.sweep(&tools.quantised, rows, panels, sink),
            Self::Screened(matrix) => matrix.sweep(x, rows, panels, sink),
        }
    }

    /// Some columns of x·Wᵀ: row r of the result begins at r·`stride` of `out`.
    ///
    /// # Panics
    /// If x is not made of whole rows, or there are no such columns, or `out` is too short.
    pub fn product(
        &self,
        tools: &mut Tools,
        x: &[f32],
        columns: Range<usize>,
        out: &mut [f32],
        stride: usize,
        finish: Finish,
    ) {
        let k = self.inputs();
        assert!(x.len().is_multiple_of(k), "whole rows of {k} numbers");
        assert!(columns.end <= self.outputs() && columns.len() <= stride, "columns of the matrix");
        let rows = x.len() / k;
        if rows == 0 || columns.is_empty() {
            return;
        }
        self.prepare(tools, x);
        let grid = Grid::new(out, stride);
        let panels = columns.start / PANEL..columns.end.div_ceil(PANEL);
        let per = panels_per_piece(panels.len(), rows * k, tools.threads.count());
        tools.threads.run(panels.len().div_ceil(per), &|piece, _| {
            let first = panels.start + piece * per;
            let own = first..(first + per).min(panels.end);
            self.sweep(tools, x, 0..rows, own, |row, panel, numbers| {
                let from = (panel * PANEL).max(columns.start);
                let to = ((panel + 1) * PANEL).min(columns.end);
                // SAFETY: each panel belongs to one piece, and a piece computes each row of it once.
                #[expect(unsafe_code, reason = "disjoint columns of one matrix")]
                let out = unsafe { grid.part(row, from - columns.start..to - columns.start) };
                put(out, &numbers[from - panel * PANEL..to - panel * PANEL], finish);
            });
        });
    }
}

/// How many panels a piece has; depends on nothing that results depend on.
fn panels_per_piece(panels: usize, products: usize, threads: usize) -> usize {
    if threads == 1 || panels * PANEL * products < FEW {
        return panels;
    }
    let per = panels.div_ceil(threads * PIECES);
    // Tiles of several panels should stay whole.
    if per > 4 { per.next_multiple_of(4) } else { per.next_multiple_of(2) }
}

#[inline]
fn put(out: &mut [f32], numbers: &[f32], finish: Finish) {
    let pairs = out.iter_mut().zip(numbers);
    match finish {
        Finish::Store => pairs.for_each(|(out, x)| *out = *x),
        Finish::Add => pairs.for_each(|(out, x)| *out += x),
        Finish::Relu => pairs.for_each(|(out, x)| *out = if *x > 0.0 { *x } else { 0.0 }),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are equal to the bit")]
mod tests {
    use super::super::Isa;
    use super::*;
    use padir_base::random::{Purpose, Seed};
    use proptest::prelude::*;

    fn random(seed: u64, len: usize) -> Vec<f32> {
        let mut stream = Seed(seed).stream(Purpose::Initialisation, 0);
        (0..len).map(|_| (stream.uniform() * 4.0 - 1.5) as f32).collect()
    }

    fn pack(bytes: bool, isa: Isa, parts: &[&[f32]], k: usize) -> Packed {
        if bytes {
            Packed::Byte(Byte::pack(isa, parts, k))
        } else {
            Packed::Single(Single::pack(isa, parts, k))
        }
    }

    fn run(
        matrix: &Packed,
        threads: usize,
        x: &[f32],
        columns: Range<usize>,
        finish: Finish,
    ) -> Vec<f32> {
        let rows = x.len() / matrix.inputs();
        let stride = columns.len() + 2;
        let mut out = vec![0.5; rows * stride];
        matrix.product(
            &mut Tools::new(Threads::new(threads)),
            x,
            columns,
            &mut out,
            stride,
            finish,
        );
        out
    }

    fn bits(x: &[f32]) -> Vec<u32> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn products_are_near_their_definition_and_equal_everywhere(
            seed: u64, rows in 0..20_usize, k in 1..90_usize, n in 1..75_usize, split in 0.0..1.0_f64, bytes: bool,
        ) {
            let (x, w) = (random(seed, rows * k), random(seed ^ 1, n * k));
            let cut = (split * n as f64) as usize;
            let (top, bottom) = w.split_at(cut * k);
            let slow = pack(bytes, Isa::Portable, &[top, bottom], k);
            let truth = run(&slow, 1, &x, 0..n, Finish::Store);
            for i in 0..rows {
                for j in 0..n {
                    let exact: f64 = (0..k).map(|p| f64::from(x[i * k + p]) * f64::from(w[j * k + p])).sum();
                    let tolerance = if bytes { 0.05 * k as f64 } else { 1e-5 * k as f64 };
                    prop_assert!((f64::from(truth[i * (n + 2) + j]) - exact).abs() < tolerance);
                }
                prop_assert_eq!(&truth[i * (n + 2) + n..][..2], &[0.5, 0.5], "what lies beyond is not touched");
            }
            for isa in Isa::ALL {
                for threads in [1, 3] {
                    let found = run(&pack(bytes, isa, &[&w], k), threads, &x, 0..n, Finish::Store);
                    prop_assert_eq!(bits(&found), bits(&truth), "{:?}", isa);
                }
            }
        }

        #[test]
        fn rows_do_not_see_each_other(
            seed: u64, rows in 1..20_usize, k in 1..60_usize, n in 1..60_usize, bytes: bool,
            from in 0..60_usize, to in 0..60_usize, finish in prop_oneof![Just(Finish::Store), Just(Finish::Add), Just(Finish::Relu)],
        ) {
            let (x, w) = (random(seed, rows * k), random(seed ^ 1, n * k));
            let matrix = pack(bytes, Isa::detect(), &[&w], k);
            let columns = from.min(n)..to.clamp(from.min(n), n);
            let all = run(&matrix, 2, &x, columns.clone(), finish);
            let whole = run(&matrix, 1, &x, 0..n, Finish::Store);
            for row in 0..rows {
                let stride = columns.len() + 2;
                let alone = run(&matrix, 1, &x[row * k..][..k], columns.clone(), finish);
                prop_assert_eq!(bits(&all[row * stride..][..stride]), bits(&alone));
                for (at, column) in columns.clone().enumerate() {
                    let x = whole[row * (n + 2) + column];
                    let expected = match finish { Finish::Store => x, Finish::Add => 0.5 + x, Finish::Relu => x.max(0.0) };
                    prop_assert_eq!(alone[at], expected);
                }
            }
        }

        #[test]
        fn rows_can_be_read_and_gathered(seed: u64, k in 1..40_usize, n in 1..60_usize, bytes: bool, picks in prop::collection::vec(0..60_usize, 0..40)) {
            let w = random(seed, n * k);
            let matrix = pack(bytes, Isa::detect(), &[&w], k);
            let picks: Vec<u32> = picks.into_iter().map(|pick| (pick % n) as u32).collect();
            let mut some = matrix.empty_like();
            for _ in 0..2 {
                some.gather(&matrix, &picks);
            }
            let x = random(seed ^ 2, 3 * k);
            let (all, few) = (run(&matrix, 1, &x, 0..n, Finish::Store), run(&some, 1, &x, 0..picks.len(), Finish::Store));
            let mut row = vec![0.0; k];
            for (at, &pick) in picks.iter().enumerate() {
                for r in 0..3 {
                    prop_assert_eq!(few[r * (picks.len() + 2) + at], all[r * (n + 2) + pick as usize]);
                }
                some.copy_row(at, &mut row);
                let most = w[pick as usize * k..][..k].iter().fold(0.0_f32, |m, w| m.max(w.abs()));
                let tolerance = if bytes { most / 120.0 } else { 0.0 };
                for (p, x) in row.iter().enumerate() {
                    prop_assert!((x - w[pick as usize * k + p]).abs() <= tolerance);
                }
            }
        }
    }
}
