//! Sums that are fast, accurate and the same at any number of threads.
//!
//! Sixteen lanes add in single precision over a segment of [`SEGMENT`] numbers (64 additions a
//! lane, a relative error of about 1e-6 at worst), segments add in double precision, chunks in
//! the order of their index.

use rayon::prelude::*;

use crate::simd::{LANES, vectorised};

/// Numbers summed in single precision.
pub(super) const SEGMENT: usize = 1024;

/// Numbers that one task works on: large against the cost of a task, small against a cache.
pub(super) const CHUNK: usize = 1 << 16;

/// Σ x², for the norm of gradients.
pub fn squared_norm(values: &[f32]) -> f64 {
    if values.len() <= CHUNK {
        return sum_squares(values);
    }
    let partial: Vec<f64> = values.par_chunks(CHUNK).map(sum_squares).collect();
    partial.iter().sum()
}

vectorised! {
    /// Σ x².
    pub(super) fn sum_squares(x: &[f32]) -> f64 {
        x.chunks(SEGMENT).map(|x| segment_sum(x, x, |x, _| x * x)).sum()
    }
}

vectorised! {
    /// Σ x² w.
    pub(super) fn sum_weighted_squares(x: &[f32], w: &[f32]) -> f64 {
        segments(x, w).map(|(x, w)| segment_sum(x, w, |x, w| x * x * w)).sum()
    }
}

vectorised! {
    /// Σ x² / v.
    pub(super) fn sum_divided_squares(x: &[f32], v: &[f32]) -> f64 {
        segments(x, v).map(|(x, v)| segment_sum(x, v, |x, v| x * x / v)).sum()
    }
}

fn segments<'a>(x: &'a [f32], y: &'a [f32]) -> impl Iterator<Item = (&'a [f32], &'a [f32])> {
    x.chunks(SEGMENT).zip(y.chunks(SEGMENT))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
fn segment_sum(x: &[f32], y: &[f32], term: impl Fn(f32, f32) -> f32) -> f64 {
    let (x_whole, x_rest) = x.as_chunks::<LANES>();
    let (y_whole, y_rest) = y.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in x_whole.iter().zip(y_whole) {
        for i in 0..LANES {
            lanes[i] += term(x[i], y[i]);
        }
    }
    for (lane, (&x, &y)) in lanes.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *lane += term(x, y);
    }
    lanes.iter().map(|&lane| f64::from(lane)).sum()
}
