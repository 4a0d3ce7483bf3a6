//! Edit distance in a beam around the diagonal, with the operations that achieve it.
//!
//! `h` words of the hypothesis against `r` of the reference: O(h · min(r, 50)). The beam is part
//! of the definition of the score: outside it, cells are not looked at, even if a path through
//! them were shorter.

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

/// The matrix of distances between prefixes; row `i` belongs to `i` words of the hypothesis.
#[derive(Default)]
pub(super) struct Matrix {
    cells: Vec<Cell>,
    columns: usize,
}

impl Matrix {
    /// Prepares for a hypothesis and a reference of these lengths.
    pub(super) fn resize(&mut self, hypothesis: usize, reference: usize) {
        self.columns = reference + 1;
        self.cells.clear();
        self.cells.resize(self.columns * (hypothesis + 1), OUTSIDE);
        for (column, cell) in self.cells[..self.columns].iter_mut().enumerate() {
            *cell = Cell { cost: column as u32, operation: Operation::Insert };
        }
    }

    /// Fills the rows after `known`, which must already hold for these words, and returns the
    /// distance.
    pub(super) fn fill(&mut self, hypothesis: &[u32], reference: &[u32], known: usize) -> u32 {
        let ratio = match hypothesis.len() {
            0 => 1.0,
            length => reference.len() as f64 / length as f64,
        };
        // Very unequal lengths: widen the beam so that neighbouring rows still overlap.
        let beam = if (BEAM as f64) < ratio / 2.0 {
            (ratio / 2.0 + BEAM as f64).ceil() as usize
        } else {
            BEAM
        };
        for row in known + 1..=hypothesis.len() {
            let centre = (row as f64 * ratio).floor() as usize;
            let first = centre.saturating_sub(beam);
            let end = if row == hypothesis.len() {
                self.columns
            } else {
                self.columns.min(centre + beam)
            };
            self.fill_row(row, first..end, hypothesis[row - 1], reference);
        }
        self.cells.last().map_or(0, |cell| cell.cost)
    }

    fn fill_row(&mut self, row: usize, beam: std::ops::Range<usize>, word: u32, reference: &[u32]) {
        let (above, here) = self.cells.split_at_mut(row * self.columns);
        let above = &above[(row - 1) * self.columns..];
        let here = &mut here[..self.columns];
        let mut left = FAR;
        for column in beam {
            let mut best = Cell { cost: above[column].cost + 1, operation: Operation::Delete };
            if column > 0 {
                let (cost, operation) = if word == reference[column - 1] {
                    (above[column - 1].cost, Operation::Keep)
                } else {
                    (above[column - 1].cost + 1, Operation::Replace)
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
            here[column] = best;
            left = best.cost;
        }
    }

    /// Takes one row over from a matrix of the same size.
    pub(super) fn copy_row(&mut self, other: &Self, row: usize) {
        let cells = row * self.columns..(row + 1) * self.columns;
        self.cells[cells.clone()].copy_from_slice(&other.cells[cells]);
    }

    /// The operations from the end to the beginning.
    pub(super) fn trace(&self, operations: &mut Vec<Operation>) {
        operations.clear();
        let (mut row, mut column) = (self.cells.len() / self.columns - 1, self.columns - 1);
        while row > 0 || column > 0 {
            let operation = self.cells[row * self.columns + column].operation;
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
