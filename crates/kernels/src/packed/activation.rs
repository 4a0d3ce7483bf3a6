//! Activations of hidden layers without gradients: x ← f(x).
//!
//! | activation | f(x) |
//! |---|---|
//! | [`Activation::Relu`] | max(x, 0) |
//! | [`Activation::Gelu`] | x·Φ(x), Φ to 10⁻⁷ (Abramowitz, Stegun 7.1.26) |
//! | [`Activation::GeluTanh`] | x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2 |
//! | [`Activation::Swish`] | x·σ(x), σ(x) = 1/(1 + e^−x) |

use super::threads::Threads;
use crate::simd::{exp, vectorised};

/// Numbers that are worth handing to another thread.
const GROUP: usize = 1 << 13;

/// √(2/π).
const SQRT_2_OVER_PI: f32 = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2;

/// f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x·Φ(x).
    Gelu,
    /// The same by tanh.
    GeluTanh,
    /// x·σ(x).
    Swish,
}

impl Activation {
    /// x ← f(x) for each number.
    pub fn apply(self, threads: &Threads, x: &mut [f32]) {
        threads.chunks(x, GROUP, &|_, x, _| match self {
            Self::Relu => rectify(x),
            Self::Gelu => gelu(x),
            Self::GeluTanh => gelu_tanh(x),
            Self::Swish => swish(x),
        });
    }
}

/// σ(x), without overflow.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let near = 1.0 / (1.0 + e);
    if x >= 0.0 { near } else { e * near }
}

/// Φ(x) = erfc(−x/√2)/2.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
fn normal(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut p = 1.061_405_4;
    for c in [-1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6] {
        p = p * t + c;
    }
    let tail = 0.5 * p * t * exp(-z * z);
    if x >= 0.0 { 1.0 - tail } else { tail }
}

vectorised! {
    fn rectify(x: &mut [f32]) {
        for x in x {
            *x = if *x > 0.0 { *x } else { 0.0 };
        }
    }
}

vectorised! {
    fn gelu(x: &mut [f32]) {
        for x in x {
            *x *= normal(*x);
        }
    }
}

vectorised! {
    fn gelu_tanh(x: &mut [f32]) {
        for x in x {
            // (1 + tanh u)/2 = σ(2u).
            *x *= sigmoid(2.0 * SQRT_2_OVER_PI * (*x + 0.044_715 * *x * *x * *x));
        }
    }
}

vectorised! {
    fn swish(x: &mut [f32]) {
        for x in x {
            *x *= sigmoid(*x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x, relu, gelu, gelu by tanh, swish: `reference/model/activations.py` computed them with `PyTorch` in double precision.
    const CASES: [(f32, [f64; 4]); 10] = [
        (-20.0, [0.0, 0.0, 0.0, -4.122_307_236_4e-8]),
        (-6.0, [0.0, -5.919_525_869_5e-9, -8.439_648_979_7e-11, -1.483_573_894_0e-2]),
        (-2.5, [0.0, -1.552_416_331_4e-2, -1.508_426_609_0e-2, -1.896_454_500_5e-1]),
        (-1.0, [0.0, -1.586_552_539_3e-1, -1.588_080_093_9e-1, -2.689_414_213_7e-1]),
        (-0.25, [0.0, -1.003_234_185_8e-1, -1.003_246_493_0e-1, -1.094_558_747_8e-1]),
        (0.0, [0.0, 0.0, 0.0, 0.0]),
        (0.5, [0.5, 3.457_312_306_4e-1, 3.457_140_098_3e-1, 3.112_296_656_0e-1]),
        (1.0, [1.0, 8.413_447_460_7e-1, 8.411_919_906_1e-1, 7.310_585_786_3e-1]),
        (3.0, [3.0, 2.995_950_305_9, 2.996_362_607_9, 2.857_722_380_5]),
        (12.0, [12.0, 12.0, 12.0, 1.199_992_627_0e1]),
    ];

    #[test]
    fn activations_are_those_of_pytorch() {
        let all = [Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Swish];
        for (x, expected) in CASES {
            for (activation, expected) in all.into_iter().zip(expected) {
                // More than a register of them.
                let mut found = [x; 19];
                activation.apply(&Threads::new(1), &mut found);
                for found in found {
                    let error = (f64::from(found) - expected).abs();
                    assert!(
                        error < 5e-7 * f64::from(x.abs()).max(1.0),
                        "{activation:?}({x}): {found}"
                    );
                }
            }
        }
    }
}
