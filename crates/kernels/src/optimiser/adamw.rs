//! AdamW: Adam with decoupled weight decay. One pass over parameter, gradient and moments.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g          m̂ = m / (1 − β₁ᵗ)
//! v ← β₂ v + (1 − β₂) g²         v̂ = v / (1 − β₂ᵗ)
//! p ← (1 − lr·λ) p − lr · m̂ / (√v̂ + ε)
//! ```

use rayon::prelude::*;

use super::Pace;
use super::state::{Moments, Shape, State};
use super::sum::CHUNK;
use crate::simd::vectorised;

/// The constants of AdamW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// β₁, the memory of the mean.
    pub beta1: f64,
    /// β₂, the memory of the squares.
    pub beta2: f64,
    /// ε, added to the root of the squares.
    pub epsilon: f64,
    /// λ, the weight decay, multiplied with the learning rate.
    pub decay: f64,
}

impl Default for AdamW {
    /// β 0.9 and 0.999, ε 1e-8, no decay.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.0 }
    }
}

/// The constants of one step, folded: what remains per element is little.
struct Folded {
    /// β₁, and what multiplies g: (1 − β₁) · scale.
    mean: (f32, f32),
    /// β₂, and what multiplies g²: (1 − β₂) · scale².
    square: (f32, f32),
    /// 1 − lr·λ.
    keep: f32,
    /// lr / (1 − β₁ᵗ).
    rate: f32,
    /// 1 / √(1 − β₂ᵗ).
    root: f32,
    epsilon: f32,
}

impl AdamW {
    pub(super) fn begin(shape: Shape) -> State {
        let zeros = vec![0.0; shape.len()];
        State::new(shape, Moments::Both { means: zeros.clone(), squares: zeros })
    }

    pub(super) fn step(&self, state: &mut State, p: &mut [f32], g: &[f32], pace: Pace) {
        let Moments::Both { means, squares } = &mut state.moments else {
            panic!("the state is not one of AdamW");
        };
        let folded = self.fold(pace);
        if p.len() <= CHUNK {
            return update(p, g, means, squares, &folded);
        }
        p.par_chunks_mut(CHUNK)
            .zip(g.par_chunks(CHUNK))
            .zip(means.par_chunks_mut(CHUNK).zip(squares.par_chunks_mut(CHUNK)))
            .for_each(|((p, g), (m, v))| update(p, g, m, v, &folded));
    }

    fn fold(&self, pace: Pace) -> Folded {
        let (rate, scale) = (f64::from(pace.rate), f64::from(pace.scale));
        let t = pace.step as f64;
        Folded {
            mean: (self.beta1 as f32, ((1.0 - self.beta1) * scale) as f32),
            square: (self.beta2 as f32, ((1.0 - self.beta2) * scale * scale) as f32),
            keep: (1.0 - rate * self.decay) as f32,
            rate: (rate / (1.0 - self.beta1.powf(t))) as f32,
            root: (1.0 / (1.0 - self.beta2.powf(t)).sqrt()) as f32,
            epsilon: self.epsilon as f32,
        }
    }
}

vectorised! {
    /// The three lines at the top of this file.
    fn update(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], by: &Folded) {
        let moments = m.iter_mut().zip(v);
        for ((p, &g), (m, v)) in p.iter_mut().zip(g).zip(moments) {
            *m = by.mean.0 * *m + by.mean.1 * g;
            *v = by.square.0 * *v + by.square.1 * (g * g);
            *p = by.keep * *p - by.rate * *m / (by.root * v.sqrt() + by.epsilon);
        }
    }
}
