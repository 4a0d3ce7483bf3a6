//! What an optimiser remembers of one parameter, by name, so that checkpoints can hold it.

/// The shape of a parameter, in row-major order. A vector has one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

impl Shape {
    /// A matrix.
    pub const fn matrix(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// A vector.
    pub const fn vector(length: usize) -> Self {
        Self { rows: 1, columns: length }
    }

    /// The number of elements.
    pub const fn len(self) -> usize {
        self.rows * self.columns
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// What an optimiser remembers of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    shape: Shape,
    pub(super) moments: Moments,
}

/// The running moments of gradients g.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Moments {
    /// E g² by rows and by columns.
    Factored { rows: Vec<f32>, columns: Vec<f32> },
    /// E g², element by element.
    Full { squares: Vec<f32> },
    /// E g and E g².
    Both { means: Vec<f32>, squares: Vec<f32> },
}

/// One array of a [`State`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateTensor<'a> {
    /// What to append to the parameter's name: `.v_row`, `.v_col`, `.v` or `.m`.
    pub suffix: &'static str,
    /// Its numbers.
    pub values: &'a [f32],
}

impl State {
    pub(super) fn new(shape: Shape, moments: Moments) -> Self {
        Self { shape, moments }
    }

    /// The shape of the parameter.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All arrays, always in the same order.
    pub fn tensors(&self) -> Vec<StateTensor<'_>> {
        let tensor = |suffix, values| StateTensor { suffix, values };
        match &self.moments {
            Moments::Factored { rows, columns } => {
                vec![tensor(".v_row", rows), tensor(".v_col", columns)]
            }
            Moments::Full { squares } => vec![tensor(".v", squares)],
            Moments::Both { means, squares } => vec![tensor(".m", means), tensor(".v", squares)],
        }
    }

    /// The arrays to be filled from a checkpoint, with their suffixes, in the order of
    /// [`State::tensors`].
    pub fn tensors_mut(&mut self) -> Vec<(&'static str, &mut [f32])> {
        match &mut self.moments {
            Moments::Factored { rows, columns } => vec![(".v_row", rows), (".v_col", columns)],
            Moments::Full { squares } => vec![(".v", squares)],
            Moments::Both { means, squares } => vec![(".m", means), (".v", squares)],
        }
    }
}
