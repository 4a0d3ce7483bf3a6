//! Hessians in floats: summed group by group, or through the matrix-free operator.

use padir_base::mask::MaskLaw;
use rayon::prelude::*;

use crate::chain::{BlockOperator, Blocks, ChainError, Matrix};
use crate::distribution::Distribution;
use crate::model::Family;

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
        law.enumerate(&padir_base::mask::MaskContext::of_length(p.space().sites()))?.support()
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
