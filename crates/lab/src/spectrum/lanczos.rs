//! Lanczos on the matrix-free operator, and what it finds summed without cancellation.
//!
//! A Ritz value 1 − θ is only known to the rounding of θ. The Ritz *vector* is known to about 10⁻¹⁴, and
//! the Dirichlet form of a vector, summed as variances inside of blocks, depends on its error
//! only through the square: C = Var/E keeps its digits for gaps far below 10⁻¹⁶. It costs two
//! sums over every block, once.

use faer::{Mat, Side};

use super::{Method, Poincare, SpectrumError, start};
use crate::chain::BlockOperator;
use crate::linalg;
use crate::wide::Wide;

const STEPS: usize = 300;

/// Gaps below this are summed as a Dirichlet form.
const SMALL_GAP: f64 = 1e-5;

/// The largest eigenvalues of a Krylov space.
struct Ritz {
    /// 1 − θ, smallest first.
    gaps: Vec<f64>,
    /// The eigenvectors of the tridiagonal matrix, largest θ first.
    vectors: Vec<Vec<f64>>,
}

/// The second eigenvalue by Lanczos, orthogonal to √p throughout.
///
/// # Errors
/// If it does not converge, or the gap cannot be told from zero.
pub fn lanczos(operator: &BlockOperator, tick: impl Fn()) -> Result<Poincare, SpectrumError> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut off) = (Vec::new(), Vec::new());
    let mut v = start(operator.size());
    orthogonalise(&mut v, operator.root(), &basis);
    normalise(&mut v);
    for step in 1..=STEPS {
        tick();
        let mut w = operator.symmetric(&v);
        let alpha = dot(&w, &v);
        basis.push(v);
        orthogonalise(&mut w, operator.root(), &basis);
        let beta = normalise(&mut w);
        diagonal.push(alpha);
        let last = beta < 1e-14 || step + 1 >= operator.size();
        if step % 5 == 0 || last {
            let ritz = ritz(&diagonal, &off)?;
            let residual = beta * ritz.vectors[0][step - 1].abs();
            if last || residual < tolerance(ritz.gaps[0]) {
                return finish(operator, &basis, &ritz, residual);
            }
        }
        off.push(beta);
        v = w;
    }
    Err(SpectrumError::NoConvergence)
}

/// The residual that leaves about twelve digits of the gap.
fn tolerance(gap: f64) -> f64 {
    if gap > SMALL_GAP { 1e-11 } else { (1e-15 * gap.abs()).sqrt().clamp(1e-14, 1e-11) }
}

fn finish(
    operator: &BlockOperator,
    basis: &[Vec<f64>],
    ritz: &Ritz,
    residual: f64,
) -> Result<Poincare, SpectrumError> {
    let gap = ritz.gaps[0];
    if gap > SMALL_GAP {
        // The error of a Ritz value is at most its residual, and mostly its square.
        let next = ritz.gaps.get(1).map_or(1.0, |next| next - gap).max(residual);
        let rounding = 4.0 * f64::EPSILON * (operator.size() as f64).sqrt();
        let error = (residual * residual / next + rounding) / gap;
        return Ok(Poincare { constant: Wide::new(1.0 / gap), method: Method::Lanczos, error });
    }
    if !operator.is_ergodic() {
        return Err(SpectrumError::NotErgodic);
    }
    resolve(operator, basis, ritz)
}

/// The smallest eigenvalue of the Dirichlet form on the slowest Ritz vectors.
fn resolve(
    operator: &BlockOperator,
    basis: &[Vec<f64>],
    ritz: &Ritz,
) -> Result<Poincare, SpectrumError> {
    let bound = (1e3 * ritz.gaps[0]).max(1e-12);
    let slow = ritz.gaps.iter().take(8).filter(|gap| **gap < bound).count().max(1);
    let vectors: Vec<Vec<f64>> =
        ritz.vectors[..slow].iter().map(|weights| combine(basis, weights)).collect();
    let form = operator.dirichlet_form(&vectors);
    let (values, mixing) = linalg::eigen(&form).ok_or(SpectrumError::NoConvergence)?;
    let weights: Vec<f64> = (0..slow).map(|i| mixing.at(i, 0)).collect();
    let vector = combine(&vectors, &weights);
    // The quotient of the one vector: no other eigenvalue rounds into it.
    let gap =
        operator.dirichlet_form(std::slice::from_ref(&vector)).at(0, 0) / dot(&vector, &vector);
    let moved = operator.laplacian(&vector);
    let rest: f64 = moved.iter().zip(&vector).map(|(m, v)| (m - gap * v).powi(2)).sum();
    let next = ritz.gaps.get(slow).copied().unwrap_or(1.0) - values[0];
    let error = rest / (next.max(f64::MIN_POSITIVE) * gap) + 1e-13;
    if !(gap > 0.0 && error < 1e-3) {
        let constant = 1.0 / gap.max(rest.sqrt()).max(1e-300);
        return Err(SpectrumError::Unresolved { states: operator.size(), constant });
    }
    Ok(Poincare { constant: Wide::new(1.0 / gap), method: Method::Lanczos, error })
}

/// Σ weightᵢ vectorᵢ.
fn combine(vectors: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors[0].len()];
    for (vector, weight) in vectors.iter().zip(weights) {
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * v);
    }
    sum
}

fn ritz(diagonal: &[f64], off: &[f64]) -> Result<Ritz, SpectrumError> {
    let n = diagonal.len();
    let matrix = Mat::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    let solved =
        matrix.self_adjoint_eigen(Side::Lower).map_err(|_| SpectrumError::NoConvergence)?;
    let (values, vectors) = (solved.S().column_vector(), solved.U());
    Ok(Ritz {
        gaps: (0..n).rev().map(|j| 1.0 - values[j]).collect(),
        vectors: (0..n).rev().map(|j| (0..n).map(|i| vectors[(i, j)]).collect()).collect(),
    })
}

/// Removes the parts along √p and the basis, twice for full accuracy.
fn orthogonalise(v: &mut [f64], root: &[f64], basis: &[Vec<f64>]) {
    for _ in 0..2 {
        for b in basis.iter().map(Vec::as_slice).chain(std::iter::once(root)) {
            let part = dot(v, b);
            v.iter_mut().zip(b).for_each(|(x, y)| *x -= part * y);
        }
    }
}

fn normalise(v: &mut [f64]) -> f64 {
    let norm = dot(v, v).sqrt();
    if norm > 0.0 {
        for x in v {
            *x /= norm;
        }
    }
    norm
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
