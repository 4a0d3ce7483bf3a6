//! Edit distance in a beam around the diagonal, with the operations that achieve it.
//!
//! `h` words of the hypothesis against `r` of the reference: O(50·h + r) time and memory. The beam is part
//! of the definition of the score: outside it, cells are not looked at, even if a path through
//! them were shorter.

use std::ops::Range;

/// Half the width of the beam.
const BEAM: usize = 25;

/// More than any distance, and safe to add to.
const FAR: u32 = u32::MAX / 2;

/// What turns the hypothesis into the reference at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// The words agree.
    Keep,
    /// A word is replaced.
    Replace,
    /// A word of the hypothesis goes.
    Delete,
    /// A word of the reference comes.
    Insert,
    /// The cell lies outside the beam.
    Unknown,
}

#[derive(Clone, Copy)]
struct Cell {
    cost: u32,
    operation: Operation,
}

const OUTSIDE: Cell = Cell { cost: FAR, operation: Operation::Unknown };

/// The columns of a row that lie in the beam, and where their cells begin.
#[derive(Clone, Copy)]
struct Row {
    first: usize,
    end: usize,
    at: usize,
}

impl Row {
    fn cells(self) -> Range<usize> {
        self.at..self.at + (self.end - self.first)
    }

    /// A cell of the row; outside the beam there is nothing.
    fn cell(self, cells: &[Cell], column: usize) -> Cell {
        if (self.first..self.end).contains(&column) {
            cells[self.at + column - self.first]
        } else {
            OUTSIDE
        }
    }
}

/// The distances between prefixes, as far as they lie in the beam; row `i` belongs to `i` words of the hypothesis.
#[derive(Default)]
pub(super) struct Matrix {
    cells: Vec<Cell>,
    rows: Vec<Row>,
    columns: usize,
}

impl Matrix {
    /// Prepares for a hypothesis and a reference of these lengths.
    pub(super) fn resize(&mut self, hypothesis: usize, reference: usize) {
        self.columns = reference + 1;
        self.rows.clear();
        self.rows.push(Row { first: 0, end: self.columns, at: 0 });
        let mut at = self.columns;
        for beam in beams(hypothesis, reference) {
            self.rows.push(Row { first: beam.start, end: beam.end, at });
            at += beam.len();
        }
        self.cells.clear();
        self.cells.resize(at, OUTSIDE);
        for (column, cell) in self.cells[..self.columns].iter_mut().enumerate() {
            *cell = Cell { cost: column as u32, operation: Operation::Insert };
        }
    }

    /// Fills the rows after `known`, which must already hold for these words, and returns the
    /// distance. The words must be as many as the matrix was prepared for.
    pub(super) fn fill(&mut self, hypothesis: &[u32], reference: &[u32], known: usize) -> u32 {
        for row in known + 1..=hypothesis.len() {
            self.fill_row(row, hypothesis[row - 1], reference);
        }
        self.cells.last().map_or(0, |cell| cell.cost)
    }

    fn fill_row(&mut self, row: usize, word: u32, reference: &[u32]) {
        let (above, here) = (self.rows[row - 1], self.rows[row]);
        let (before, cells) = self.cells.split_at_mut(here.at);
        let above = |column: usize| above.cell(before, column).cost;
        let mut left = FAR;
        for (column, cell) in (here.first..here.end).zip(cells) {
            let mut best = Cell { cost: above(column) + 1, operation: Operation::Delete };
            if column > 0 {
                let (cost, operation) = if word == reference[column - 1] {
                    (above(column - 1), Operation::Keep)
                } else {
                    (above(column - 1) + 1, Operation::Replace)
                };
                // Of equal costs, keeping and replacing come first, then deletion.
                if cost <= best.cost {
                    best = Cell { cost, operation };
                }
                if left + 1 < best.cost {
                    best = Cell { cost: left + 1, operation: Operation::Insert };
                }
            }
            if best.cost >= FAR {
                best = OUTSIDE;
            }
            *cell = best;
            left = best.cost;
        }
    }

    /// Takes one row over from a matrix of the same size.
    pub(super) fn copy_row(&mut self, other: &Self, row: usize) {
        let cells = self.rows[row].cells();
        self.cells[cells.clone()].copy_from_slice(&other.cells[cells]);
    }

    /// The operations from the end to the beginning.
    pub(super) fn trace(&self, operations: &mut Vec<Operation>) {
        operations.clear();
        let (mut row, mut column) = (self.rows.len() - 1, self.columns - 1);
        while row > 0 || column > 0 {
            let operation = self.rows[row].cell(&self.cells, column).operation;
            operations.push(operation);
            match operation {
                Operation::Keep | Operation::Replace => (row, column) = (row - 1, column - 1),
                Operation::Delete => row -= 1,
                Operation::Insert => column -= 1,
                Operation::Unknown => break,
            }
        }
    }
}

/// The columns to look at, for each word of the hypothesis.
fn beams(hypothesis: usize, reference: usize) -> impl Iterator<Item = Range<usize>> {
    let ratio = if hypothesis == 0 { 1.0 } else { reference as f64 / hypothesis as f64 };
    // Very unequal lengths: widen the beam so that neighbouring rows still overlap.
    let beam = if (BEAM as f64) < ratio / 2.0 {
        (ratio / 2.0 + BEAM as f64).ceil() as usize
    } else {
        BEAM
    };
    let columns = reference + 1;
    (1..=hypothesis).map(move |row| {
        let centre = (row as f64 * ratio).floor() as usize;
        let end = if row == hypothesis { columns } else { columns.min(centre + beam) };
        centre.saturating_sub(beam)..end
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The slow twin: every cell of the rectangle is there, and those outside the beam stay as they are.
    fn whole(hypothesis: &[u32], reference: &[u32]) -> Vec<Vec<Cell>> {
        let mut rows = vec![vec![OUTSIDE; reference.len() + 1]; hypothesis.len() + 1];
        for (column, cell) in rows[0].iter_mut().enumerate() {
            *cell = Cell { cost: column as u32, operation: Operation::Insert };
        }
        for (row, beam) in (1..).zip(beams(hypothesis.len(), reference.len())) {
            for column in beam {
                let mut ways = vec![(rows[row - 1][column].cost + 1, 1, Operation::Delete)];
                if column > 0 {
                    let is_same = hypothesis[row - 1] == reference[column - 1];
                    let operation = if is_same { Operation::Keep } else { Operation::Replace };
                    let cost = rows[row - 1][column - 1].cost + u32::from(!is_same);
                    ways.push((cost, 0, operation));
                    ways.push((rows[row][column - 1].cost + 1, 2, Operation::Insert));
                }
                let best = ways.into_iter().min_by_key(|&(cost, rank, _)| (cost, rank));
                let known = best.filter(|&(cost, _, _)| cost < FAR);
                rows[row][column] =
                    known.map_or(OUTSIDE, |(cost, _, operation)| Cell { cost, operation });
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn a_beam_agrees_with_the_whole_rectangle(
            hypothesis in prop::collection::vec(0_u32..6, 0..90),
            reference in prop::collection::vec(0_u32..6, 1..160),
        ) {
            let mut matrix = Matrix::default();
            matrix.resize(hypothesis.len(), reference.len());
            let distance = matrix.fill(&hypothesis, &reference, 0);
            let whole = whole(&hypothesis, &reference);
            prop_assert_eq!(distance, whole[hypothesis.len()][reference.len()].cost);
            for (row, cells) in whole.iter().enumerate() {
                for (column, expected) in cells.iter().enumerate() {
                    let found = matrix.rows[row].cell(&matrix.cells, column);
                    prop_assert_eq!(found.cost, expected.cost);
                    prop_assert_eq!(found.operation, expected.operation);
                }
            }
        }
    }

    #[test]
    fn memory_grows_with_the_length_and_not_with_its_square() {
        for (hypothesis, reference) in [(30_000, 30_000), (30_000, 10), (10, 30_000), (0, 30_000)] {
            let mut matrix = Matrix::default();
            matrix.resize(hypothesis, reference);
            let bound = 2 * (BEAM + 1) * (hypothesis + 1) + 3 * (reference + 1);
            assert!(
                matrix.cells.len() <= bound,
                "{hypothesis}, {reference}: {}",
                matrix.cells.len()
            );
        }
    }
}
