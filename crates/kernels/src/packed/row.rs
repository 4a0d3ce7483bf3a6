//! RMS normalisation without gradients: n(x) = s ∘ x / √(mean(x²) + ε), row by row.

use super::threads::Threads;
use crate::simd::{dot, vectorised};

/// Rows of which one is worth handing to another thread.
const GROUP: usize = 64;

/// out ← n(x) for each row.
///
/// # Panics
/// If `out` and `x` have different lengths.
pub fn normalise(threads: &Threads, out: &mut [f32], x: &[f32], scale: &[f32], epsilon: f32) {
    assert_eq!(out.len(), x.len(), "as many numbers out as in");
    let size = GROUP * scale.len();
    threads.chunks(out, size, &|chunk, out, _| {
        rows(out, &x[chunk * size..][..out.len()], scale, epsilon);
    });
}

vectorised! {
    fn rows(out: &mut [f32], x: &[f32], scale: &[f32], epsilon: f32) {
        let width = scale.len();
        for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
            let inverse = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
            for ((out, x), s) in out.iter_mut().zip(x).zip(scale) {
                *out = x * inverse * s;
            }
        }
    }
}
