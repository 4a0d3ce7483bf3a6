//! Poincaré constants: C = 1 / (1 − λ₂) of block dynamics.
//!
//! Up to [`DENSE_STATES`] states by a dense symmetric eigen-solve, O(S³); above by Lanczos with
//! full reorthogonalisation on the matrix-free operator. When 1 − λ₂ drowns in the rounding of 1,
//! the dense path goes on with inverse iteration on a subtraction-free factorisation, so C is
//! right to many digits even where the gap is 10⁻³⁰⁰; Lanczos goes on with the Dirichlet form of
//! its slowest vectors, summed as variances.
//!
//! Sites that are independent of all others are left out first: a function that depends on such
//! a site i decays at least as fast as 1 − P(i ∈ K), so C is the larger of 1/P(i ∈ K) and the
//! constant of the other sites.

mod independent;
mod lanczos;
mod sweep;

pub use lanczos::lanczos;
pub use sweep::{SweepSpectrum, sweep_spectrum};

use faer::{Mat, Side};
use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};

use crate::chain::{
    BlockOperator, Blocks, ChainError, Matrix, Number, block_matrix, symmetric_matrix,
};
use crate::distribution::Distribution;
use crate::gth::Resolvent;
use crate::wide::Wide;

/// The largest state space whose spectrum is computed densely.
pub const DENSE_STATES: usize = 1 << 10;

/// Below this gap the eigen-solve leaves fewer than ten digits, and inverse iteration goes on.
const SMALL_GAP: f64 = 1e-5;

/// How a constant was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Dense symmetric eigenvalues.
    Dense,
    /// Inverse iteration without subtraction.
    Inverse,
    /// Lanczos on the matrix-free operator.
    Lanczos,
}

/// The Poincaré constant of a reversible chain.
#[derive(Clone, Copy, Debug)]
pub struct Poincare {
    /// C; infinite if the chain is not ergodic.
    pub constant: Wide,
    /// How it was found.
    pub method: Method,
    /// An estimate of the relative error.
    pub error: f64,
}

impl Poincare {
    /// C as a float, ∞ if it is larger than that.
    pub fn constant(&self) -> f64 {
        self.constant.to_f64()
    }
}

/// No constant was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpectrumError {
    /// The chain cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The chain falls into parts: C is infinite.
    #[error(
        "the chain is not ergodic: its blocks do not connect all states, so the Poincaré constant is infinite"
    )]
    NotErgodic,
    /// The gap is smaller than what the iteration can tell from zero.
    #[error(
        "the spectral gap of {states} states drowns in rounding; the Poincaré constant is {constant:.0e} or more"
    )]
    Unresolved {
        /// The number of states.
        states: usize,
        /// What the constant is at least.
        constant: f64,
    },
    /// The dense solver did not converge.
    #[error("the eigenvalue iteration did not converge")]
    NoConvergence,
}

/// The Poincaré constant of the block dynamics of a law.
///
/// `tick` is called now and then during long searches.
///
/// # Errors
/// If the chain cannot be analysed or is not ergodic.
pub fn poincare(
    p: &Distribution,
    law: &MaskLaw,
    tick: impl Fn(),
) -> Result<Poincare, SpectrumError> {
    if p.space().size() <= DENSE_STATES {
        return dense(p, &Blocks::of(law, p.space())?);
    }
    if let Some(core) = independent::Core::of(p, law)? {
        return core.poincare();
    }
    lanczos(&BlockOperator::new(p, law)?, tick)
}

/// All eigenvalues of D^½ P D^−½, largest first.
///
/// # Errors
/// If the matrix does not fit into memory or the iteration fails.
pub fn eigenvalues(p: &Distribution, blocks: &Blocks) -> Result<Vec<f64>, SpectrumError> {
    let matrix = symmetric_matrix(p, blocks)?;
    let possible: Vec<usize> =
        (0..matrix.size()).filter(|&x| p.log_prob(x) > f64::NEG_INFINITY).collect();
    let square =
        Mat::from_fn(possible.len(), possible.len(), |i, j| matrix.at(possible[i], possible[j]));
    let mut values =
        square.self_adjoint_eigenvalues(Side::Lower).map_err(|_| SpectrumError::NoConvergence)?;
    values.reverse();
    Ok(values)
}

fn dense(p: &Distribution, blocks: &Blocks) -> Result<Poincare, SpectrumError> {
    let values = eigenvalues(p, blocks)?;
    let Some(&second) = values.get(1) else {
        // A single possible state: every function is constant.
        return Ok(Poincare { constant: Wide::ONE, method: Method::Dense, error: 0.0 });
    };
    let gap = 1.0 - second;
    if gap > SMALL_GAP {
        let error = f64::EPSILON * (p.space().size() as f64).sqrt() / gap;
        return Ok(Poincare { constant: Wide::new(1.0 / gap), method: Method::Dense, error });
    }
    let smallest = p.log_probs().iter().copied().filter(|l| l.is_finite());
    if smallest.fold(0.0, f64::min) > -300.0 {
        inverse_iteration(p, &block_matrix::<f64>(p, blocks)?)
    } else {
        inverse_iteration(p, &block_matrix::<Wide>(p, blocks)?)
    }
}

/// The largest eigenvalue of (I − P)⁻¹ on functions of mean zero.
fn inverse_iteration<T: Number>(
    p: &Distribution,
    matrix: &Matrix<T>,
) -> Result<Poincare, SpectrumError> {
    // The most probable state comes first: it is the one whose value is fixed at 0, so that the
    // mean, and with it the tiny weight of a metastable state, is a sum without cancellation.
    let mut possible: Vec<usize> =
        (0..matrix.size()).filter(|&x| p.log_prob(x) > f64::NEG_INFINITY).collect();
    possible.sort_by(|&a, &b| p.log_prob(b).total_cmp(&p.log_prob(a)));
    let mut part = Matrix::zero(possible.len());
    for (i, &x) in possible.iter().enumerate() {
        for (j, &y) in possible.iter().enumerate() {
            part.set(i, j, matrix.at(x, y));
        }
    }
    let weights: Vec<f64> = possible.iter().map(|&x| p.log_prob(x).exp()).collect();
    let resolvent = Resolvent::new(&part).ok_or(SpectrumError::NotErgodic)?;
    let mut v = start(weights.len());
    v[0] = 0.0;
    centre(&mut v, &weights);
    let mut previous = f64::NAN;
    for _ in 0..500 {
        let norm = inner(&v, &v, &weights);
        let (mut u, scale) = resolvent.solve(&v);
        centre(&mut u, &weights);
        let log_constant = (inner(&v, &u, &weights) / norm).ln() + scale;
        let largest = u.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        v = u.into_iter().map(|x| x / largest).collect();
        // ln C itself is only known to its last bit.
        if (log_constant - previous).abs() < 1e-13 + 1e-14 * log_constant.abs() {
            let error = 1e-12;
            let constant = Wide::exp(log_constant);
            return Ok(Poincare { constant, method: Method::Inverse, error });
        }
        previous = log_constant;
    }
    Err(SpectrumError::NoConvergence)
}

fn start(size: usize) -> Vec<f64> {
    let mut stream = Seed(0).stream(Purpose::Search, 0);
    (0..size).map(|_| stream.normal()).collect()
}

fn inner(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    a.iter().zip(b).zip(weights).map(|((x, y), w)| w * x * y).sum()
}

fn centre(v: &mut [f64], weights: &[f64]) {
    let mean: f64 = v.iter().zip(weights).map(|(x, w)| w * x).sum();
    for x in v {
        *x -= mean;
    }
}
