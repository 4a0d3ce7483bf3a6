//! RMS normalisation: n(x) = s ∘ x / √(mean(x²) + ε), row by row.

use rayon::prelude::*;

use crate::simd::{dot, vectorised};
use crate::slot::Slot;

/// Rows that are summed together; fixed, so that sums do not depend on the number of threads.
const GROUP: usize = 64;

/// What the gradient needs besides x.
#[derive(Clone, Debug)]
pub struct Saved {
    /// 1 / √(mean(x²) + ε) of each row.
    inverses: Vec<f32>,
}

/// n(x).
pub fn forward(x: &[f32], scale: &[f32], epsilon: f32) -> (Vec<f32>, Saved) {
    let width = scale.len();
    let rows = x.len() / width;
    let mut y = vec![0.0; x.len()];
    let mut inverses = vec![0.0; rows];
    y.par_chunks_mut(GROUP * width)
        .zip(x.par_chunks(GROUP * width))
        .zip(inverses.par_chunks_mut(GROUP))
        .for_each(|((y, x), inverses)| normalise(y, x, scale, epsilon, inverses));
    (y, Saved { inverses })
}

vectorised! {
    fn normalise(y: &mut [f32], x: &[f32], scale: &[f32], epsilon: f32, inverses: &mut [f32]) {
        let width = scale.len();
        let rows = y.chunks_exact_mut(width).zip(x.chunks_exact(width));
        for ((y, x), inverse) in rows.zip(inverses) {
            *inverse = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
            for ((y, x), s) in y.iter_mut().zip(x).zip(scale) {
                *y = x * *inverse * s;
            }
        }
    }
}

/// Adds the gradient with respect to x to `dx`, and that of the scale to its slot.
///
/// With x̂ = x/rms and g = dy∘s: dx = (g − x̂·mean(g∘x̂))/rms and ds = Σ dy∘x̂.
pub fn backward(
    x: &[f32],
    scale: &[f32],
    saved: &Saved,
    dy: &[f32],
    dx: &mut [f32],
    dscale: &mut Slot<'_>,
) {
    let width = scale.len();
    let piece = GROUP * width;
    let parts: Vec<Vec<f32>> = dx
        .par_chunks_mut(piece)
        .zip(dy.par_chunks(piece))
        .zip(x.par_chunks(piece))
        .zip(saved.inverses.par_chunks(GROUP))
        .map(|(((dx, dy), x), inverses)| {
            let mut part = vec![0.0; width];
            add_gradient(dx, dy, x, scale, inverses, &mut part);
            part
        })
        .collect();
    dscale.add_all(parts.iter().map(Vec::as_slice));
}

vectorised! {
    fn add_gradient(dx: &mut [f32], dy: &[f32], x: &[f32], scale: &[f32], inverses: &[f32], dscale: &mut [f32]) {
        let width = scale.len();
        let mut scaled = vec![0.0; width];
        let rows = dx.chunks_exact_mut(width).zip(dy.chunks_exact(width)).zip(x.chunks_exact(width));
        for (((dx, dy), x), &inverse) in rows.zip(inverses) {
            for (((scaled, sum), (dy, x)), s) in
                scaled.iter_mut().zip(dscale.iter_mut()).zip(dy.iter().zip(x)).zip(scale)
            {
                *scaled = dy * s;
                *sum += dy * x * inverse;
            }
            let mean = dot(&scaled, x) * inverse / width as f32;
            for ((dx, g), x) in dx.iter_mut().zip(&scaled).zip(x) {
                *dx += (g - x * inverse * mean) * inverse;
            }
        }
    }
}
