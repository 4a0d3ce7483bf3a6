//! Mixing times: the first t at which the law from every start is within ε of p.
//!
//! `t_mix(ε)` = min { t : maxₓ TV(Pᵗ(x, ·), p) ≤ ε }. Powers of P come from squaring, sums of positive
//! numbers throughout; the diagonal is put back to 1 − Σ of the others where that is near 1, so a
//! chain that moves once in 10¹² steps keeps its digits. O(S³ log t).

use padir_base::mask::MaskLaw;
use rayon::prelude::*;

use crate::chain::{Blocks, ChainError, Matrix, block_matrix};
use crate::distribution::Distribution;

/// The largest space whose mixing times are computed.
pub const LARGEST: usize = 1 << 8;

/// `t_mix(ε)` of block dynamics; none if it is beyond 2⁹⁰⁰, or never.
///
/// # Errors
/// If the law makes no sense here.
///
/// # Panics
/// If ε does not lie in (0, 1).
pub fn mixing_time(
    p: &Distribution,
    law: &MaskLaw,
    epsilon: f64,
) -> Result<Option<f64>, ChainError> {
    assert!(epsilon > 0.0 && epsilon < 1.0, "ε lies between 0 and 1");
    let matrix = block_matrix::<f64>(p, &Blocks::of(law, p.space())?)?;
    let target = p.probs();
    // Impossible states are no starts.
    let far = |power: &Matrix<f64>| {
        (0..power.size())
            .filter(|&x| target[x] > 0.0)
            .any(|x| total_variation(power.row(x), &target) > epsilon)
    };
    if !far(&identity(matrix.size())) {
        return Ok(Some(0.0));
    }
    let mut powers = vec![restored(matrix)];
    while far(&powers[powers.len() - 1]) {
        if powers.len() == 900 {
            return Ok(None);
        }
        let last = &powers[powers.len() - 1];
        let next = product(last, last);
        // A chain that does not move, or that has settled elsewhere, will not.
        if next == *last {
            return Ok(None);
        }
        powers.push(next);
    }
    // The last power is near; walk down from the one before as long as it is far.
    let mut steps = 0.0;
    let mut here: Option<Matrix<f64>> = None;
    for (i, power) in powers.iter().enumerate().rev().skip(1) {
        let trial = here.as_ref().map_or_else(|| power.clone(), |here| product(here, power));
        if far(&trial) {
            steps += 2_f64.powi(i as i32);
            here = Some(trial);
        }
    }
    Ok(Some(steps + 1.0))
}

fn identity(size: usize) -> Matrix<f64> {
    let mut matrix = Matrix::zero(size);
    (0..size).for_each(|x| matrix.set(x, x, 1.0));
    matrix
}

fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let rows: Vec<Vec<f64>> = (0..a.size()).into_par_iter().map(|x| b.push(a.row(x))).collect();
    let mut result = Matrix::zero(a.size());
    result.rows_mut().zip(rows).for_each(|(into, row)| into.copy_from_slice(&row));
    restored(result)
}

/// Rows that sum to one: by the diagonal where it is most of the row, else by scale.
fn restored(mut matrix: Matrix<f64>) -> Matrix<f64> {
    for (x, row) in matrix.rows_mut().enumerate() {
        let others: f64 = row.iter().enumerate().filter(|(y, _)| *y != x).map(|(_, p)| p).sum();
        if others < 0.5 {
            row[x] = 1.0 - others;
        } else {
            let total: f64 = row.iter().sum();
            for p in row {
                *p /= total;
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};

    /// Two spins, h = 0: all laws are known by symmetry, TV from ++ is a sum of powers of the eigenvalues.
    #[test]
    fn squaring_finds_what_stepping_finds() {
        let shape = Shape::Chain { periodic: false };
        for (n, j, k) in [(2, 0.8, 1), (3, 1.2, 1), (3, 0.7, 2), (4, 0.4, 1)] {
            let p = Model::Ising(Ising::uniform(n, &shape, 0.1, j).unwrap()).enumerate().unwrap();
            let law = MaskLaw::Exactly { k };
            let matrix = block_matrix::<f64>(&p, &Blocks::of(&law, p.space()).unwrap()).unwrap();
            let mut power = identity(matrix.size());
            let mut steps = 0.0;
            while (0..matrix.size()).any(|x| total_variation(power.row(x), &p.probs()) > 0.05) {
                let mut next = Matrix::zero(matrix.size());
                for x in 0..matrix.size() {
                    next.row_mut(x).copy_from_slice(&matrix.push(power.row(x)));
                }
                power = next;
                steps += 1.0;
            }
            let found = mixing_time(&p, &law, 0.05).unwrap().unwrap();
            assert!((found - steps).abs() < 0.5, "N = {n}, k = {k}: {found} for {steps}");
        }
    }

    /// Two strongly coupled spins are a two-state chain of rate 1/C, C = 1 + e^{2J}:
    /// TV = (1 − 1/C)ᵗ/2 at h = 0.
    #[test]
    fn a_frozen_pair_mixes_when_its_gap_says_so() {
        let shape = Shape::Chain { periodic: false };
        let j = 14.0_f64;
        let p = Model::Ising(Ising::uniform(2, &shape, 0.0, j).unwrap()).enumerate().unwrap();
        let found = mixing_time(&p, &MaskLaw::Exactly { k: 1 }, 0.25).unwrap().unwrap();
        let constant = 1.0 + (2.0 * j).exp();
        let expected = 0.5_f64.ln() / (-1.0 / constant).ln_1p();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found:e} for {expected:e}");
    }

    #[test]
    fn one_step_suffices_if_everything_is_resampled() {
        let shape = Shape::Chain { periodic: false };
        let p = Model::Ising(Ising::uniform(3, &shape, 0.0, 1.0).unwrap()).enumerate().unwrap();
        let time = |k| mixing_time(&p, &MaskLaw::Exactly { k }, 0.25).unwrap();
        assert_eq!(time(3), Some(1.0));
    }
}
