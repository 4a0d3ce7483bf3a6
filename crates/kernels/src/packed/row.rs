//! Norms and biases without gradients, row by row.
//!
//! | norm | computes |
//! |---|---|
//! | [`normalise`] | s ∘ x / √(mean(x²) + ε) |
//! | [`layer_normalise`] | s ∘ (x − mean(x)) / √(var(x) + ε) + b |

use super::threads::Threads;
use crate::simd::{dot, sum, vectorised};

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

/// x ← the layer norm of x, for each row.
///
/// # Panics
/// If scale and bias have different lengths.
pub fn layer_normalise(
    threads: &Threads,
    x: &mut [f32],
    scale: &[f32],
    bias: &[f32],
    epsilon: f32,
) {
    assert_eq!(scale.len(), bias.len(), "a scale and a bias for each column");
    threads.chunks(x, GROUP * scale.len(), &|_, x, _| layer_rows(x, scale, bias, epsilon));
}

/// x ← x + b, for each row.
pub fn add(threads: &Threads, x: &mut [f32], bias: &[f32]) {
    threads.chunks(x, GROUP * bias.len(), &|_, x, _| add_rows(x, bias));
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

vectorised! {
    fn layer_rows(x: &mut [f32], scale: &[f32], bias: &[f32], epsilon: f32) {
        let width = scale.len();
        for x in x.chunks_exact_mut(width) {
            let mean = sum(x) / width as f32;
            for x in x.iter_mut() {
                *x -= mean;
            }
            let inverse = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
            for ((x, s), b) in x.iter_mut().zip(scale).zip(bias) {
                *x = *x * inverse * s + b;
            }
        }
    }
}

vectorised! {
    fn add_rows(x: &mut [f32], bias: &[f32]) {
        for x in x.chunks_exact_mut(bias.len()) {
            for (x, b) in x.iter_mut().zip(bias) {
                *x += b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition, in double precision.
    #[test]
    fn layer_norms_are_by_definition_at_any_number_of_threads() {
        let width = 37;
        let number = |i: usize| (i * 7919 % 1013) as f32 / 100.0 - 3.0;
        let x: Vec<f32> = (0..150 * width).map(number).collect();
        let scale: Vec<f32> = (0..width).map(|i| 0.5 + 0.01 * i as f32).collect();
        let bias: Vec<f32> = (0..width).map(|i| 0.3 - 0.02 * i as f32).collect();
        let run = |threads: usize| {
            let mut x = x.clone();
            layer_normalise(&Threads::new(threads), &mut x, &scale, &bias, 1e-5);
            x
        };
        let found = run(1);
        assert_eq!(found, run(3));
        for (x, found) in x.chunks_exact(width).zip(found.chunks_exact(width)) {
            let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / width as f64;
            let square = |x: &f32| (f64::from(*x) - mean).powi(2);
            let variance = x.iter().map(square).sum::<f64>() / width as f64;
            for (i, found) in found.iter().enumerate() {
                let centred = (f64::from(x[i]) - mean) / (variance + 1e-5).sqrt();
                let truth = centred * f64::from(scale[i]) + f64::from(bias[i]);
                assert!((truth - f64::from(*found)).abs() < 1e-5, "{truth} {found}");
            }
        }
        let mut sums = x.clone();
        add(&Threads::new(2), &mut sums, &bias);
        let truth: Vec<f32> = x.iter().enumerate().map(|(i, x)| x + bias[i % width]).collect();
        assert_eq!(sums, truth);
    }
}
