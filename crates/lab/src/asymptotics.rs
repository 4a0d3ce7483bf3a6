//! Asymptotic variances: Fisher information, Γ of any mask law, and the order between them.
//!
//! For a law over masks the estimator minimises E −log `p(x_K` | x₋ₖ, K). At the truth its Hessian
//! equals the covariance of its score (the information-matrix equality),
//!
//! ```text
//! H = E Cov(T | x₋ₖ, K) = ⟨T, (1 − P) T⟩ₚ,      Γ = H⁻¹,
//! ```
//!
//! P being the block dynamics of the same law. K = everything gives the Fisher information I.
//! Summing groups costs `Σ_K` qᴺ d² operations; through the operator it is d applications of P.

use std::collections::{BTreeMap, BTreeSet};

use padir_base::mask::MaskLaw;
use rayon::prelude::*;
use thiserror::Error;

use crate::chain::{BlockOperator, Blocks, ChainError, Matrix};
use crate::distribution::Distribution;
use crate::linalg;
use crate::model::Family;
use crate::spectrum::{Poincare, SpectrumError, poincare};

/// An asymptotic variance that does not exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AsymptoticError {
    /// The law cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The spectrum cannot be found.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// The Hessian is singular.
    #[error("the Hessian of the {0} is singular: it does not identify all parameters")]
    Singular(String),
}

/// Below this many multiplications Hessians are summed group by group, which loses no digits;
/// above they come from the operator.
const DIRECT_WORK: f64 = 4e9;

/// The Hessian of the population loss of a law at the truth.
///
/// # Errors
/// If the law cannot be analysed.
pub fn hessian(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
) -> Result<Matrix<f64>, ChainError> {
    let d = family.dimension() as f64;
    let sets = if law.is_adaptive() {
        2_f64.powi(p.space().sites() as i32)
    } else {
        law.enumerate(&padir_base::mask::Scene::of_length(p.space().sites()))?.support()
    };
    if sets * p.space().size() as f64 * d * d <= DIRECT_WORK {
        score_covariance(p, family, &Blocks::of(law, p.space())?)
    } else {
        dirichlet_hessian(p, family, law)
    }
}

/// E s sᵀ of the score s = T − E(T | x₋ₖ, K), group by group.
///
/// # Errors
/// Never for blocks of the same space.
pub fn score_covariance(
    p: &Distribution,
    family: &Family,
    blocks: &Blocks,
) -> Result<Matrix<f64>, ChainError> {
    let d = family.dimension();
    let space = p.space();
    let statistics: Vec<Vec<f64>> = (0..space.size())
        .map(|x| (0..d).map(|i| family.statistic(&space, x, i)).collect())
        .collect();
    let parts: Vec<Matrix<f64>> = blocks
        .entries()
        .par_iter()
        .map(|entry| {
            let mut sum = Matrix::zero(d);
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let weights: Vec<f64> = fillings
                    .iter()
                    .map(|f| p.log_prob(group + f).exp() * entry.weight.of(group + f))
                    .collect();
                let rows: Vec<&[f64]> =
                    fillings.iter().map(|f| statistics[group + f].as_slice()).collect();
                add_covariance(&mut sum, &weights, &rows);
            }
            sum
        })
        .collect();
    let mut total = Matrix::zero(d);
    for part in parts {
        for i in 0..d {
            for j in 0..=i {
                total.add(i, j, part.at(i, j));
            }
        }
    }
    for i in 0..d {
        for j in 0..i {
            let value = total.at(i, j);
            total.set(j, i, value);
        }
    }
    Ok(total)
}

/// Adds Σ w (T − mean)(T − mean)ᵀ, the lower triangle.
fn add_covariance(sum: &mut Matrix<f64>, weights: &[f64], rows: &[&[f64]]) {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return;
    }
    let d = sum.size();
    let mut mean = vec![0.0; d];
    for (&w, row) in weights.iter().zip(rows) {
        mean.iter_mut().zip(*row).for_each(|(m, t)| *m += w / total * t);
    }
    let mut centred = vec![0.0; d];
    for (&w, row) in weights.iter().zip(rows) {
        for (c, (t, m)) in centred.iter_mut().zip(row.iter().zip(&mean)) {
            *c = t - m;
        }
        for i in 0..d {
            let factor = w * centred[i];
            if factor != 0.0 {
                for (value, c) in sum.row_mut(i)[..=i].iter_mut().zip(&centred) {
                    *value += factor * c;
                }
            }
        }
    }
}

/// ⟨T, (1 − P) T⟩ₚ through the matrix-free operator.
///
/// # Errors
/// If the operator cannot be made.
pub fn dirichlet_hessian(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
) -> Result<Matrix<f64>, ChainError> {
    let operator = BlockOperator::new(p, law)?;
    let space = p.space();
    let d = family.dimension();
    let columns: Vec<Vec<f64>> = (0..d).map(|i| family.column(&space, i)).collect();
    let mut matrix = Matrix::zero(d);
    for (j, column) in columns.iter().enumerate() {
        let after = operator.pull(column);
        let moved: Vec<f64> = operator
            .stationary()
            .iter()
            .zip(column.iter().zip(&after))
            .map(|(p, (before, after))| p * (before - after))
            .collect();
        for (i, other) in columns.iter().enumerate() {
            matrix.set(i, j, other.iter().zip(&moved).map(|(a, b)| a * b).sum());
        }
    }
    Ok(matrix)
}

/// What is known about one block size.
#[derive(Clone, Debug)]
pub struct BlockSize {
    /// k.
    pub k: usize,
    /// tr Γᵏ over all parameters; none for a table, which has none.
    pub trace: Option<f64>,
    /// tr over the J block of Γᵏ.
    pub trace_j: Option<f64>,
    /// C of k-Gibbs.
    pub poincare: Poincare,
    /// The smallest eigenvalue of Γᵏ − Γᵏ⁺¹ (theory: not negative); none for k = N.
    pub mono_min_eig: Option<f64>,
    /// The smallest eigenvalue of C·I⁻¹ − Γᵏ (theory: not negative).
    pub bound_min_eig: Option<f64>,
    /// Γᵏ.
    pub variance: Option<Matrix<f64>>,
}

/// Γᵏ, the Poincaré constants and the orders between them, for the given block sizes.
///
/// Γᵏ⁺¹ and Γᴺ are computed along with each. `tick` is called after each matrix and now and then
/// in between.
///
/// # Errors
/// If a Hessian is singular, a size is out of range or a chain cannot be analysed.
pub fn by_block_size(
    p: &Distribution,
    family: Option<&Family>,
    sizes: &[usize],
    tick: impl Fn(),
) -> Result<Vec<BlockSize>, AsymptoticError> {
    let sites = p.space().sites();
    if let Some(&k) = sizes.iter().find(|k| !(1..=sites).contains(*k)) {
        return Err(ChainError::Size { k, sites }.into());
    }
    let mut variances: BTreeMap<usize, Matrix<f64>> = BTreeMap::new();
    if let Some(family) = family {
        let needed: BTreeSet<usize> =
            sizes.iter().flat_map(|&k| [k, (k + 1).min(sites), sites]).collect();
        for k in needed {
            let h = hessian(p, family, &MaskLaw::Exactly { k })?;
            let name = || AsymptoticError::Singular(format!("{k}-pseudolikelihood"));
            variances.insert(k, linalg::inverse(&h).ok_or_else(name)?);
            tick();
        }
    }
    sizes
        .iter()
        .map(|&k| {
            let poincare = poincare(p, &MaskLaw::Exactly { k }, &tick)?;
            tick();
            Ok(row(k, sites, poincare, &variances, family))
        })
        .collect()
}

fn row(
    k: usize,
    sites: usize,
    poincare: Poincare,
    variances: &BTreeMap<usize, Matrix<f64>>,
    family: Option<&Family>,
) -> BlockSize {
    let variance = variances.get(&k);
    let next = variances.get(&(k + 1));
    let best = variances.get(&sites);
    let constant = poincare.constant();
    let smallest = |a: f64, x: &Matrix<f64>, y: &Matrix<f64>| {
        linalg::smallest_eigenvalue(&linalg::difference(a, x, 1.0, y))
    };
    BlockSize {
        k,
        trace: variance.map(|v| linalg::trace(v, 0..v.size())),
        trace_j: variance.zip(family).map(|(v, f)| linalg::trace(v, f.couplings())),
        poincare,
        mono_min_eig: variance.zip(next).and_then(|(now, next)| smallest(1.0, now, next)),
        bound_min_eig: variance
            .zip(best)
            .filter(|_| constant.is_finite())
            .and_then(|(now, best)| smallest(constant, best, now)),
        variance: variance.cloned(),
    }
}

/// Γ of one law, its Poincaré constant, and how far Γ ⪯ C·I⁻¹ holds.
#[derive(Clone, Debug)]
pub struct LawVariance {
    /// Γ.
    pub variance: Matrix<f64>,
    /// tr Γ.
    pub trace: f64,
    /// tr of the J block of Γ.
    pub trace_j: f64,
    /// C of the law's block dynamics.
    pub poincare: Poincare,
    /// The smallest eigenvalue of C·I⁻¹ − Γ.
    pub bound_min_eig: f64,
    /// max |Hessian − covariance of the score|: the information-matrix equality.
    pub information_gap: f64,
}

/// The asymptotics of any mask law, adaptive or not.
///
/// # Errors
/// If a Hessian is singular or the chain cannot be analysed.
pub fn of_law(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
) -> Result<LawVariance, AsymptoticError> {
    let named = |name: &str| AsymptoticError::Singular(name.to_owned());
    let covariance = score_covariance(p, family, &Blocks::of(law, p.space())?)?;
    let other = dirichlet_hessian(p, family, law)?;
    let variance = linalg::inverse(&covariance).ok_or_else(|| named("weighted likelihood"))?;
    let fisher = hessian(p, family, &MaskLaw::All)?;
    let best = linalg::inverse(&fisher).ok_or_else(|| named("likelihood"))?;
    let poincare = poincare(p, law, || ())?;
    let bound = linalg::difference(poincare.constant(), &best, 1.0, &variance);
    let entries = (0..covariance.size()).flat_map(|i| covariance.row(i).iter().zip(other.row(i)));
    Ok(LawVariance {
        trace: linalg::trace(&variance, 0..variance.size()),
        trace_j: linalg::trace(&variance, family.couplings()),
        poincare,
        bound_min_eig: linalg::smallest_eigenvalue(&bound).unwrap_or(f64::NAN),
        information_gap: entries.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
        variance,
    })
}
