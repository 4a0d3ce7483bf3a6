//! Adafactor (Shazeer and Stern 2018) as T5X runs it: factored second moments, clipped updates,
//! steps relative to the size of the parameter, no momentum, no weight decay.
//!
//! With t counted from 1, gradient g and parameter p of n rows and m columns:
//!
//! ```text
//! β = 1 − t^−0.8                       0 at the first step: the moments need no correction
//! r_i ← β r_i + (1 − β) mean_j (g_ij² + ε₁)
//! c_j ← β c_j + (1 − β) mean_i (g_ij² + ε₁)
//! u_ij = g_ij / √(r_i c_j / mean r)    or g / √v where v ← β v + (1 − β)(g² + ε₁)
//! u ← u / max(1, RMS(u) / d)           d: the clip threshold
//! p ← p − lr · max(ε₂, RMS(p)) · u
//! ```
//!
//! T5X factors over the two largest axes when the second largest has at least 128 entries; a
//! matrix has only two, so both must, and which of them is called rows makes no difference: mean r
//! and mean c are equal. Vectors and narrow matrices keep v in full.

use rayon::prelude::*;

use super::Pace;
use super::state::{Moments, Shape, State};
use super::sum::{CHUNK, SEGMENT, sum_divided_squares, sum_squares, sum_weighted_squares};
use crate::simd::vectorised;

/// The constants of Adafactor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adafactor {
    /// The exponent of the memory: β = 1 − t^−exponent.
    pub exponent: f64,
    /// d, the largest root mean square of an update before it is multiplied with the rate.
    /// Infinite means no clipping.
    pub clip: f64,
    /// ε₁, added to squared gradients.
    pub epsilon1: f64,
    /// ε₂, the least size that a parameter counts as.
    pub epsilon2: f64,
    /// Whether steps are relative to the size of the parameter.
    pub relative: bool,
    /// Matrices with fewer rows or columns than this are not factored.
    pub min_factored: usize,
}

impl Default for Adafactor {
    /// The settings of T5X.
    fn default() -> Self {
        Self {
            exponent: 0.8,
            clip: 1.0,
            epsilon1: 1e-30,
            epsilon2: 1e-3,
            relative: true,
            min_factored: 128,
        }
    }
}

/// The memory of one step.
#[derive(Clone, Copy)]
struct Memory {
    /// β.
    keep: f32,
    /// 1 − β.
    learn: f32,
}

/// Σ u² and Σ p², from which the length of the step follows.
#[derive(Clone, Copy, Default)]
struct Sizes {
    update: f64,
    parameter: f64,
}

impl Adafactor {
    pub(super) fn begin(&self, shape: Shape) -> State {
        let moments = if shape.rows.min(shape.columns) >= self.min_factored.max(1) {
            Moments::Factored { rows: vec![0.0; shape.rows], columns: vec![0.0; shape.columns] }
        } else {
            Moments::Full { squares: vec![0.0; shape.len()] }
        };
        State::new(shape, moments)
    }

    pub(super) fn step(&self, state: &mut State, p: &mut [f32], g: &[f32], pace: Pace) {
        if p.is_empty() {
            return;
        }
        match &mut state.moments {
            Moments::Factored { rows, columns } => self.step_factored(rows, columns, p, g, pace),
            Moments::Full { squares } => self.step_full(squares, p, g, pace),
            Moments::Both { .. } => panic!("the state is not one of Adafactor"),
        }
    }

    fn step_full(&self, v: &mut [f32], p: &mut [f32], g: &[f32], pace: Pace) {
        let memory = self.memory(pace.step);
        let scale = f64::from(pace.scale);
        let remember = |v: &mut [f32], p: &[f32], g: &[f32]| {
            memory.add_squares(v, p, g, pace.scale, self.epsilon1 as f32)
        };
        let sizes = if p.len() <= CHUNK {
            remember(v, p, g)
        } else {
            let partial: Vec<Sizes> = v
                .par_chunks_mut(CHUNK)
                .zip(p.par_chunks(CHUNK).zip(g.par_chunks(CHUNK)))
                .map(|(v, (p, g))| remember(v, p, g))
                .collect();
            Sizes::sum(&partial)
        };
        let length = (self.length(sizes, p.len(), pace.rate) * scale) as f32;
        if p.len() <= CHUNK {
            return walk(p, g, v, length);
        }
        p.par_chunks_mut(CHUNK)
            .zip(v.par_chunks(CHUNK).zip(g.par_chunks(CHUNK)))
            .for_each(|(p, (v, g))| walk(p, g, v, length));
    }

    fn step_factored(&self, r: &mut [f32], c: &mut [f32], p: &mut [f32], g: &[f32], pace: Pace) {
        let (n, m) = (r.len(), c.len());
        let scale = f64::from(pace.scale);
        let block = rows_per_task(n, m);
        let (row_squares, column_squares) = sums_of_squares(g, m, block);
        let memory = self.memory(pace.step);
        let mean = |sum: f64, count: usize| sum * scale * scale / count as f64 + self.epsilon1;
        for (r, sum) in r.iter_mut().zip(row_squares) {
            *r = memory.blend(*r, mean(sum, m));
        }
        for (c, sum) in c.iter_mut().zip(column_squares) {
            *c = memory.blend(*c, mean(sum, n));
        }

        // u_ij = g_ij · scale · a_i · b_j.
        let mean_r = r.iter().map(|&r| f64::from(r)).sum::<f64>() / n as f64;
        let a2: Vec<f64> = r.iter().map(|&r| mean_r / f64::from(r) * scale * scale).collect();
        let b2: Vec<f32> = c.iter().map(|&c| 1.0 / c).collect();
        let partial: Vec<Sizes> = g
            .par_chunks(block * m)
            .zip(p.par_chunks(block * m))
            .zip(a2.par_chunks(block))
            .map(|((g, p), a2)| Sizes {
                update: g
                    .chunks_exact(m)
                    .zip(a2)
                    .map(|(g, a2)| a2 * sum_weighted_squares(g, &b2))
                    .sum(),
                parameter: sum_squares(p),
            })
            .collect();

        let length = self.length(Sizes::sum(&partial), p.len(), pace.rate);
        let a: Vec<f32> = a2.iter().map(|a2| (a2.sqrt() * length) as f32).collect();
        let b: Vec<f32> = c.iter().map(|&c| 1.0 / c.sqrt()).collect();
        p.par_chunks_mut(block * m)
            .zip(g.par_chunks(block * m))
            .zip(a.par_chunks(block))
            .for_each(|((p, g), a)| walk_rows(p, g, a, &b));
    }

    /// β₂ of a step.
    fn memory(&self, step: u64) -> Memory {
        let learn = (step as f64).powf(-self.exponent);
        Memory { keep: (1.0 - learn) as f32, learn: learn as f32 }
    }

    /// What multiplies u: the rate, clipping, and the size of the parameter.
    fn length(&self, sizes: Sizes, count: usize, rate: f32) -> f64 {
        let rms = |sum: f64| (sum / count as f64).sqrt();
        let clip = (rms(sizes.update) / self.clip).max(1.0);
        let size = if self.relative { rms(sizes.parameter).max(self.epsilon2) } else { 1.0 };
        f64::from(rate) * size / clip
    }
}

impl Memory {
    fn blend(self, old: f32, new: f64) -> f32 {
        self.keep * old + self.learn * new as f32
    }

    /// Updates v in segments that stay in the nearest cache while their sums are taken.
    fn add_squares(self, v: &mut [f32], p: &[f32], g: &[f32], scale: f32, epsilon: f32) -> Sizes {
        let mut sizes = Sizes::default();
        for (v, g) in v.chunks_mut(SEGMENT).zip(g.chunks(SEGMENT)) {
            remember_squares(v, g, self.keep, self.learn, scale, epsilon);
            sizes.update += sum_divided_squares(g, v);
        }
        sizes.update *= f64::from(scale) * f64::from(scale);
        sizes.parameter = sum_squares(p);
        sizes
    }
}

impl Sizes {
    /// In the order of the parts.
    fn sum(parts: &[Self]) -> Self {
        parts.iter().fold(Self::default(), |total, part| Self {
            update: total.update + part.update,
            parameter: total.parameter + part.parameter,
        })
    }
}

/// Rows that one task works on. Few enough tasks that their sums by column are small beside the
/// matrix, few enough rows that these sums are accurate in single precision.
fn rows_per_task(rows: usize, columns: usize) -> usize {
    rows.div_ceil(64).max(CHUNK.div_ceil(columns)).clamp(1, 512)
}

/// Sums of the squares of every row and of every column, in one pass.
fn sums_of_squares(g: &[f32], columns: usize, block: usize) -> (Vec<f64>, Vec<f64>) {
    let partial: Vec<(Vec<f64>, Vec<f32>)> = g
        .par_chunks(block * columns)
        .map(|g| {
            let mut by_column = vec![0.0_f32; columns];
            let by_row = g.chunks_exact(columns).map(|g| add_squares(&mut by_column, g)).collect();
            (by_row, by_column)
        })
        .collect();
    let mut by_column = vec![0.0; columns];
    for (_, part) in &partial {
        for (sum, &x) in by_column.iter_mut().zip(part) {
            *sum += f64::from(x);
        }
    }
    (partial.into_iter().flat_map(|(by_row, _)| by_row).collect(), by_column)
}

/// Adds the squares of a row to those of its columns and returns their sum.
fn add_squares(by_column: &mut [f32], row: &[f32]) -> f64 {
    let mut sum = 0.0;
    for (columns, row) in by_column.chunks_mut(SEGMENT).zip(row.chunks(SEGMENT)) {
        add_row(columns, row);
        sum += sum_squares(row);
    }
    sum
}

vectorised! {
    /// v ← keep · v + learn · ((scale · g)² + ε).
    fn remember_squares(v: &mut [f32], g: &[f32], keep: f32, learn: f32, scale: f32, epsilon: f32) {
        for (v, &g) in v.iter_mut().zip(g) {
            let g = g * scale;
            *v = keep * *v + learn * (g * g + epsilon);
        }
    }
}

vectorised! {
    /// c ← c + g².
    fn add_row(columns: &mut [f32], row: &[f32]) {
        for (column, &g) in columns.iter_mut().zip(row) {
            *column += g * g;
        }
    }
}

vectorised! {
    /// p ← p − length · g / √v.
    fn walk(p: &mut [f32], g: &[f32], v: &[f32], length: f32) {
        for (p, (&g, &v)) in p.iter_mut().zip(g.iter().zip(v)) {
            *p -= length * g / v.sqrt();
        }
    }
}

vectorised! {
    /// p ← p − a b g, element by element, a by row and b by column.
    fn walk_rows(p: &mut [f32], g: &[f32], a: &[f32], b: &[f32]) {
        let rows = p.chunks_exact_mut(b.len()).zip(g.chunks_exact(b.len()));
        for ((p, g), &a) in rows.zip(a) {
            for (p, (&g, &b)) in p.iter_mut().zip(g.iter().zip(b)) {
                *p -= a * (b * g);
            }
        }
    }
}
