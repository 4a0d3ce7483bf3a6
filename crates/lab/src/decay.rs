//! How fast a chain forgets its start: TV, KL and χ² step by step, beside their bounds.
//!
//! With the Poincaré constant C, χ²(pₜ‖p) ≤ (1 − 1/C)²ᵗ χ²(p₀‖p) ≤ e^{−2t/C} χ²(p₀‖p): block
//! dynamics are averages of projections, so no eigenvalue is negative and the continuous-time
//! bound holds step by step.
//!
//! With the constant `C_AT` of block approximate tensorisation,
//! KL(pₜ₊₁‖p) ≤ KL(pₜ‖p) − E KL(conditionals) ≤ (1 − `1/C_AT`) KL(pₜ‖p), hence `e^{−t/C_AT`}. The
//! paper prints `e^{−2t/C_AT`}, which is false already for one spin, resampled at rate one: the
//! fraction that was never resampled decays like e^{−t}, and so does KL at first.

use padir_base::mask::MaskLaw;

use crate::chain::{BlockOperator, Chain, ChainError, Matrix, parallel_matrix};
use crate::distribution::Distribution;
use crate::entropy;

/// Distances from p after t steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// t.
    pub step: usize,
    /// ½ Σ |pₜ − p|.
    pub total_variation: f64,
    /// Σ pₜ ln(pₜ / p).
    pub kullback_leibler: f64,
    /// Σ (pₜ − p)² / p.
    pub chi_squared: f64,
}

/// The distances of a law from p.
pub fn distance(step: usize, law: &[f64], p: &Distribution) -> Distance {
    let kullback_leibler = entropy::kullback_leibler(law, p);
    let mut d = Distance { step, total_variation: 0.0, kullback_leibler, chi_squared: 0.0 };
    for (x, &mass) in law.iter().enumerate() {
        let target = p.log_prob(x).exp();
        d.total_variation += (mass - target).abs() / 2.0;
        if target > 0.0 {
            d.chi_squared += (mass - target).powi(2) / target;
        } else if mass > 0.0 {
            d.chi_squared = f64::INFINITY;
        }
    }
    d
}

/// The distances after 0, 1, …, `steps` steps from a start law.
///
/// # Errors
/// If the chain cannot be analysed.
pub fn decay(
    p: &Distribution,
    chain: &Chain,
    start: &[f64],
    steps: usize,
    tick: impl Fn(),
) -> Result<Vec<Distance>, ChainError> {
    let stepper = Stepper::new(p, chain)?;
    let mut law = start.to_vec();
    let mut curve = vec![distance(0, &law, p)];
    for step in 1..=steps {
        law = stepper.step(&law, step - 1);
        curve.push(distance(step, &law, p));
        tick();
    }
    Ok(curve)
}

enum Stepper {
    Blocks(BlockOperator),
    Parallel(Matrix<f64>),
    Cycle(Vec<BlockOperator>),
}

impl Stepper {
    fn new(p: &Distribution, chain: &Chain) -> Result<Self, ChainError> {
        Ok(match chain {
            Chain::Blocks(law) => Self::Blocks(BlockOperator::new(p, law)?),
            Chain::Parallel => Self::Parallel(parallel_matrix(p)?),
            Chain::Cycle(laws) if laws.is_empty() => {
                return Err(ChainError::Unfit("a cycle of no laws does nothing"));
            }
            Chain::Cycle(laws) => {
                let operators = laws.iter().map(|law| BlockOperator::new(p, law));
                Self::Cycle(operators.collect::<Result<_, _>>()?)
            }
        })
    }

    /// Step number `step`, counted from 0.
    fn step(&self, law: &[f64], step: usize) -> Vec<f64> {
        match self {
            Self::Blocks(operator) => operator.push(law),
            Self::Parallel(matrix) => matrix.push(law),
            Self::Cycle(operators) => operators[step % operators.len()].push(law),
        }
    }
}

/// A start concentrated on one state.
pub fn point_mass(size: usize, state: usize) -> Vec<f64> {
    let mut law = vec![0.0; size];
    law[state] = 1.0;
    law
}

/// χ² after t steps is at most this: (1 − 1/C)²ᵗ χ²₀.
pub fn chi_squared_bound(constant: f64, start: f64, step: usize) -> f64 {
    // ln(1 − 1/C) without cancellation for large C.
    start * (2.0 * step as f64 * (-1.0 / constant).ln_1p()).exp()
}

/// KL after t steps is at most this: (1 − `1/C_AT)ᵗ` KL₀.
pub fn kullback_leibler_bound(constant: f64, start: f64, step: usize) -> f64 {
    start * (step as f64 * (-1.0 / constant).ln_1p()).exp()
}

/// The mask law of a block chain; none for independent parallel, whose stationary law is not p, and
/// for chains that change their law.
pub fn law_of(chain: &Chain) -> Option<&MaskLaw> {
    match chain {
        Chain::Blocks(law) => Some(law),
        Chain::Parallel | Chain::Cycle(_) => None,
    }
}

/// χ² after t updates of sweeps of `updates` each is at most this, σ² being the factor of a whole
/// sweep given as 1/(1 − σ²): no update makes it larger.
pub fn sweep_chi_squared_bound(constant: f64, start: f64, step: usize, updates: usize) -> f64 {
    start * ((step / updates.max(1)) as f64 * (-1.0 / constant).ln_1p()).exp()
}
