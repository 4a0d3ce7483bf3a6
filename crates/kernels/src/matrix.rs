//! Matrix products on slices.
//!
//! The arithmetic is the `gemm` crate's, one thread per call. A product is cut into tiles by its shape alone, and
//! the tiles are spread over the threads: so results do not depend on their number. A tile's
//! [finish](Product::finish) runs while its numbers are still in the cache.

use gemm::Parallelism;
use rayon::prelude::*;

/// A matrix in a slice, by strides.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Row after row.
    ///
    /// # Panics
    /// If the slice has another size.
    pub fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "{rows} × {columns} entries");
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// What happens to what was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// It is overwritten.
    Replace,
    /// It is added to.
    Add,
}

/// What a finished row of a tile is passed to: its row, its first column, its numbers.
pub type Finish<'a> = &'a (dyn Fn(usize, usize, &mut [f32]) + Sync);

/// out ← scale·left·right (+ out).
pub struct Product<'a> {
    /// The left factor.
    pub left: Matrix<'a>,
    /// The right factor.
    pub right: Matrix<'a>,
    /// A factor.
    pub scale: f32,
    /// The result, row after row.
    pub out: &'a mut [f32],
    /// What happens to its old entries.
    pub onto: Onto,
    /// Applied to every piece of a row once it is complete.
    pub finish: Option<Finish<'a>>,
}

impl<'a> Product<'a> {
    /// out ← left·right.
    pub fn new(left: Matrix<'a>, right: Matrix<'a>, out: &'a mut [f32]) -> Self {
        Self { left, right, scale: 1.0, out, onto: Onto::Replace, finish: None }
    }

    /// Adds to what is there.
    #[must_use]
    pub fn onto(self, onto: Onto) -> Self {
        Self { onto, ..self }
    }

    /// With a factor.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale, ..self }
    }

    /// With something to do to every complete piece of a row.
    #[must_use]
    pub fn finish(self, finish: Finish<'a>) -> Self {
        Self { finish: Some(finish), ..self }
    }

    /// Computes it.
    pub fn run(self) {
        run_all(vec![self]);
    }
}

/// Computes several products at once: their tiles share the threads.
///
/// # Panics
/// If the shapes of a product do not fit.
pub fn run_all(products: Vec<Product<'_>>) {
    let tasks: Vec<Task<'_>> = products.into_iter().flat_map(tasks).collect();
    if let [task] = tasks.as_slice() {
        task.run();
    } else {
        tasks.par_iter().for_each(Task::run);
    }
}

/// Multiplications that make a tile worth its overhead.
const TILE_WORK: usize = 8 << 20;
/// Tiles are cut at multiples of these, which whole registers and panels fill.
const ROW_STEP: usize = 48;
const COLUMN_STEP: usize = 64;
/// More tiles than this are never made.
const MOST_TILES: usize = 32;

/// A tile of a product: the only place that writes there.
struct Task<'a> {
    left: Matrix<'a>,
    right: Matrix<'a>,
    scale: f32,
    out: *mut f32,
    stride: usize,
    onto: Onto,
    finish: Option<Finish<'a>>,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

// SAFETY: tasks of one product write to disjoint tiles of a slice that the product borrowed
// mutably for as long as the tasks live; everything else they hold is shared and read only.
#[expect(unsafe_code, reason = "tiles are disjoint, which slices cannot express")]
unsafe impl Sync for Task<'_> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "tiles are disjoint, which slices cannot express")]
unsafe impl Send for Task<'_> {}

fn tasks(product: Product<'_>) -> Vec<Task<'_>> {
    let Product { left, right, scale, out, onto, finish } = product;
    let (rows, columns, depth) = (left.rows, right.columns, left.columns);
    assert_eq!(depth, right.rows, "the inner sizes of a product");
    assert_eq!(out.len(), rows * columns, "the size of a product");
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    let (row_step, column_step) = tile(rows, columns, depth);
    let out = out.as_mut_ptr();
    let mut tasks = Vec::new();
    for row in (0..rows).step_by(row_step) {
        for column in (0..columns).step_by(column_step) {
            let rows = row..(row + row_step).min(rows);
            let tile = column..(column + column_step).min(columns);
            tasks.push(Task {
                left,
                right,
                scale,
                out,
                stride: columns,
                onto,
                finish,
                rows,
                columns: tile,
            });
        }
    }
    tasks
}

/// The size of a tile: a function of the shape alone.
fn tile(rows: usize, columns: usize, depth: usize) -> (usize, usize) {
    let wanted = (rows * columns * depth / TILE_WORK).clamp(1, MOST_TILES);
    let across = wanted.min(columns.div_ceil(2 * COLUMN_STEP));
    let down = wanted.div_ceil(across).min(rows.div_ceil(2 * ROW_STEP));
    let column_step = columns.div_ceil(across).next_multiple_of(COLUMN_STEP);
    let row_step = rows.div_ceil(down).next_multiple_of(ROW_STEP);
    (row_step, column_step)
}

impl Task<'_> {
    fn run(&self) {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let depth = self.left.columns;
        let first = self.rows.start * self.stride + self.columns.start;
        if depth == 0 {
            if self.onto == Onto::Replace {
                self.for_rows(|_, _, row| row.fill(0.0));
            }
        } else {
            let left = &self.left.data[self.rows.start * self.left.row_stride..];
            let right = &self.right.data[self.columns.start * self.right.column_stride..];
            assert!(
                (rows - 1) * self.left.row_stride + (depth - 1) * self.left.column_stride
                    < left.len()
            );
            assert!(
                (depth - 1) * self.right.row_stride + (columns - 1) * self.right.column_stride
                    < right.len()
            );
            // SAFETY: the two lines above keep every index of the factors within their slices; the tile lies
            // within `out`, whose size was checked, and no other task writes to it.
            #[expect(unsafe_code, reason = "gemm takes pointers")]
            unsafe {
                gemm::gemm(
                    rows,
                    columns,
                    depth,
                    self.out.add(first),
                    1,
                    self.stride as isize,
                    self.onto == Onto::Add,
                    left.as_ptr(),
                    self.left.column_stride as isize,
                    self.left.row_stride as isize,
                    right.as_ptr(),
                    self.right.column_stride as isize,
                    self.right.row_stride as isize,
                    1.0,
                    self.scale,
                    false,
                    false,
                    false,
                    Parallelism::None,
                );
            }
        }
        if let Some(finish) = self.finish {
            self.for_rows(finish);
        }
    }

    /// Visits the tile row by row.
    fn for_rows(&self, mut visit: impl FnMut(usize, usize, &mut [f32])) {
        for row in self.rows.clone() {
            // SAFETY: the piece lies within this task's own tile.
            #[expect(unsafe_code, reason = "a tile's rows are not one slice")]
            let piece = unsafe {
                std::slice::from_raw_parts_mut(
                    self.out.add(row * self.stride + self.columns.start),
                    self.columns.len(),
                )
            };
            visit(row, self.columns.start, piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32)
            .map(|i| {
                ((i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 16) % 201) as f32 / 100.0
                    - 1.0
            })
            .collect()
    }

    fn slow(left: Matrix<'_>, right: Matrix<'_>) -> Vec<f64> {
        let mut out = Vec::new();
        for i in 0..left.rows {
            for j in 0..right.columns {
                let term = |k: usize| {
                    let a = left.data[i * left.row_stride + k * left.column_stride];
                    let b = right.data[k * right.row_stride + j * right.column_stride];
                    f64::from(a) * f64::from(b)
                };
                out.push((0..left.columns).map(term).sum());
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn products_agree_with_their_definition(
            rows in 0..150_usize, columns in 0..300_usize, depth in 0..70_usize, flip_left: bool, flip_right: bool, add: bool,
        ) {
            let a = numbers(rows * depth, 1);
            let b = numbers(depth * columns, 2);
            let left = if flip_left { Matrix::new(&a, depth, rows).transposed() } else { Matrix::new(&a, rows, depth) };
            let right = if flip_right { Matrix::new(&b, columns, depth).transposed() } else { Matrix::new(&b, depth, columns) };
            let before = if add { 0.5 } else { f32::NAN };
            let mut out = vec![before; rows * columns];
            let onto = if add { Onto::Add } else { Onto::Replace };
            let plus_row = |row: usize, column: usize, piece: &mut [f32]| {
                piece.iter_mut().enumerate().for_each(|(i, x)| *x += (row + column + i) as f32);
            };
            Product::new(left, right, &mut out).onto(onto).scaled(2.0).finish(&plus_row).run();
            for (at, (fast, slow)) in out.iter().zip(slow(left, right)).enumerate() {
                let place = (at / columns + at % columns) as f64;
                let truth = 2.0 * slow + place + if add { 0.5 } else { 0.0 };
                prop_assert!((f64::from(*fast) - truth).abs() < 1e-4 * (1.0 + truth.abs()), "{at}: {fast} {truth}");
            }
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let (rows, columns, depth) = (501, 1003, 129);
        let (a, b) = (numbers(rows * depth, 3), numbers(depth * columns, 4));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; rows * columns];
            let product = Product::new(
                Matrix::new(&a, rows, depth),
                Matrix::new(&b, depth, columns),
                &mut out,
            );
            pool.install(|| product.run());
            out
        };
        assert_eq!(run(1), run(3));
    }
}
