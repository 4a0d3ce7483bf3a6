//! Godambe's sandwich: the asymptotic variance where the family need not contain the truth.
//!
//! With p the truth and θ° the minimiser of the population loss E −log `pθ(x_K` | x₋ₖ, K), the estimator
//! of n samples has √n (θ̂ − θ°) → N(0, H⁻¹ V H⁻¹), H the Hessian of the loss at θ° and V the covariance
//! of the score. If p is in the family and every sample has one mask, H = V and this is Γ. If the
//! loss of a sample is averaged over all its masks, the score is their mean and V is smaller.
//! `O(Σ_K` qᴺ d²), in floats.

use padir_base::mask::MaskLaw;
use thiserror::Error;

use crate::bound::PopulationLoss;
use crate::chain::{Blocks, ChainError, Matrix};
use crate::decay::distance;
use crate::distribution::{Distribution, log_sum_exp};
use crate::entropy::kullback_leibler;
use crate::estimate::{EnumeratedLoss, Loss, Settings, Verdict, minimise, verdict_of};
use crate::linalg;
use crate::model::Family;

/// A sandwich that does not exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SandwichError {
    /// The law cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The family lives on another space, or excludes what is possible.
    #[error("the family does not fit the distribution: {0}")]
    Family(&'static str),
    /// The population loss has no minimum, or not a single one.
    #[error("the population loss has no unique minimum in the family")]
    NoMinimum,
    /// The Hessian cannot be inverted in floats.
    #[error("the Hessian at the minimum is singular, or too close to it for floats")]
    Singular,
}

/// The best member of a family, and how estimates scatter around it.
#[derive(Clone, Debug)]
pub struct Sandwich {
    /// θ°.
    pub parameters: Vec<f64>,
    /// The distribution it gives.
    pub best: Distribution,
    /// KL(p ‖ pθ°).
    pub divergence: f64,
    /// TV(p, pθ°).
    pub total_variation: f64,
    /// The loss at θ° in its two parts.
    pub loss: PopulationLoss,
    /// H.
    pub hessian: Matrix<f64>,
    /// H⁻¹: what the variance would be if the family were right.
    pub naive: Matrix<f64>,
    /// H⁻¹ V H⁻¹ with one mask per sample.
    pub variance: Matrix<f64>,
    /// H⁻¹ V H⁻¹ with the loss averaged over all masks of a sample.
    pub averaged: Matrix<f64>,
    /// max |H − V| relative to max |H|, V of one mask per sample: zero if the family is right.
    pub information_gap: f64,
}

impl Sandwich {
    /// tr of a matrix.
    pub fn trace(matrix: &Matrix<f64>) -> f64 {
        linalg::trace(matrix, 0..matrix.size())
    }
}

/// Covariances of the score at some parameters under weights of the states.
#[derive(Clone, Debug)]
pub struct Variability {
    /// Of a random mask.
    pub single: Matrix<f64>,
    /// Of the mean over the masks of a state.
    pub averaged: Matrix<f64>,
}

/// E s sᵀ of the score s = T(x) − Eθ(T | x₋ₖ, K).
pub fn variability(
    family: &Family,
    blocks: &Blocks,
    frequency: &[f64],
    parameters: &[f64],
) -> Variability {
    let space = blocks.space();
    let d = family.dimension();
    let statistics: Vec<Vec<f64>> = (0..space.size())
        .map(|x| (0..d).map(|i| family.statistic(&space, x, i)).collect())
        .collect();
    let potential: Vec<f64> =
        statistics.iter().map(|row| row.iter().zip(parameters).map(|(t, p)| t * p).sum()).collect();
    let mut single = Matrix::zero(d);
    let mut means = vec![vec![0.0; d]; space.size()];
    for entry in blocks.entries() {
        let fillings = space.fillings(entry.block);
        for group in space.groups(entry.block) {
            let states: Vec<usize> = fillings.iter().map(|f| group + f).collect();
            if states.iter().all(|&x| frequency[x] * entry.weight.of(x) <= 0.0) {
                continue;
            }
            let log = |&y: &usize| {
                let weight = entry.weight.of(y);
                if family.allows(y) && weight > 0.0 {
                    potential[y] + weight.ln()
                } else {
                    f64::NEG_INFINITY
                }
            };
            let logs: Vec<f64> = states.iter().map(log).collect();
            let total = log_sum_exp(&logs);
            let mut mean = vec![0.0; d];
            for (&y, log) in states.iter().zip(&logs) {
                let p = (log - total).exp();
                mean.iter_mut().zip(&statistics[y]).for_each(|(m, t)| *m += p * t);
            }
            for &x in &states {
                let weight = entry.weight.of(x);
                if frequency[x] * weight <= 0.0 {
                    continue;
                }
                let score: Vec<f64> = statistics[x].iter().zip(&mean).map(|(t, m)| t - m).collect();
                add_square(&mut single, frequency[x] * weight, &score);
                means[x].iter_mut().zip(&score).for_each(|(sum, s)| *sum += weight * s);
            }
        }
    }
    let mut averaged = Matrix::zero(d);
    for (mean, &f) in means.iter().zip(frequency).filter(|(_, f)| **f > 0.0) {
        add_square(&mut averaged, f, mean);
    }
    Variability { single, averaged }
}

/// Adds w v vᵀ.
pub(crate) fn add_square(sum: &mut Matrix<f64>, weight: f64, v: &[f64]) {
    for (i, &a) in v.iter().enumerate() {
        if a != 0.0 {
            sum.row_mut(i).iter_mut().zip(v).for_each(|(s, b)| *s += weight * a * b);
        }
    }
}

/// The best member of a family under a law, with its sandwich.
///
/// # Errors
/// If it does not exist.
pub fn sandwich(
    truth: &Distribution,
    family: &Family,
    law: &MaskLaw,
) -> Result<Sandwich, SandwichError> {
    let space = truth.space();
    if family.dimension() == 0 {
        return Err(SandwichError::Family("it has no parameters"));
    }
    if (0..space.size()).any(|x| truth.log_prob(x).is_finite() && !family.allows(x)) {
        return Err(SandwichError::Family("a possible state is impossible in the family"));
    }
    let blocks = Blocks::of(law, space)?;
    let probs = truth.probs();
    let loss = EnumeratedLoss::from_frequencies(family, &blocks, &probs);
    let minimum = minimise(&loss, vec![0.0; loss.dimension()], &Settings::default());
    if verdict_of(&loss, &minimum) != Verdict::Found {
        return Err(SandwichError::NoMinimum);
    }
    let hessian = loss.hessian(&minimum.parameters);
    let spread = variability(family, &blocks, &probs, &minimum.parameters);
    let naive = linalg::inverse(&hessian).ok_or(SandwichError::Singular)?;
    let best = family.distribution(space, &minimum.parameters);
    Ok(Sandwich {
        divergence: kullback_leibler(&probs, &best),
        total_variation: distance(0, &probs, &best).total_variation,
        loss: PopulationLoss::of(truth, &best, &blocks),
        variance: linalg::sandwich(&naive, &spread.single),
        averaged: linalg::sandwich(&naive, &spread.averaged),
        information_gap: relative_gap(&hessian, &spread.single),
        naive,
        hessian,
        best,
        parameters: minimum.parameters,
    })
}

/// max |A − B| / max |A|.
pub(super) fn relative_gap(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let rows = || (0..a.size()).flat_map(|i| a.row(i).iter().zip(b.row(i)));
    let largest = rows().map(|(a, _)| a.abs()).fold(f64::MIN_POSITIVE, f64::max);
    rows().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// The information-matrix equality of a law at given parameters: max |∇²L − Cov(score)| / max |∇²L|, the Hessian
/// from the family's conditionals, the covariance from p itself.
///
/// # Errors
/// If the law cannot be analysed.
pub fn information_gap(
    p: &Distribution,
    family: &Family,
    parameters: &[f64],
    law: &MaskLaw,
) -> Result<f64, ChainError> {
    let blocks = Blocks::of(law, p.space())?;
    let loss = EnumeratedLoss::from_frequencies(family, &blocks, &p.probs());
    let covariance = super::score_covariance(p, family, &blocks)?;
    Ok(relative_gap(&loss.hessian(parameters), &covariance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asymptotics::by_block_size;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};

    /// In a family that is right, one mask per sample gives Γ, and averaging is better in the order of matrices.
    #[test]
    fn a_right_family_gives_gamma() {
        let shape = Shape::Chain { periodic: true };
        let model = Model::Ising(Ising::uniform(4, &shape, 0.2, 0.4).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let rows = by_block_size(&p, Some(&family), &[1, 2, 3, 4], || ()).unwrap();
        for row in rows {
            let law = MaskLaw::Exactly { k: row.k };
            let found = sandwich(&p, &family, &law).unwrap();
            let gamma = row.variance.unwrap();
            assert!(relative_gap(&gamma, &found.variance) < 1e-9, "k = {}", row.k);
            assert!(found.information_gap < 1e-12 && found.divergence < 1e-20);
            for (a, b) in found.parameters.iter().zip(model.parameters()) {
                assert!((a - b).abs() < 1e-9);
            }
            let mut gain = Matrix::zero(gamma.size());
            for i in 0..gamma.size() {
                for j in 0..gamma.size() {
                    gain.set(i, j, found.variance.at(i, j) - found.averaged.at(i, j));
                }
            }
            let smallest = linalg::eigen(&gain).unwrap().0[0];
            assert!(smallest > -1e-10, "k = {}: {smallest}", row.k);
            assert!(information_gap(&p, &family, &model.parameters(), &law).unwrap() < 1e-13);
        }
    }

    /// A table is its own saturated family: the likelihood's variance is that of frequencies.
    #[test]
    fn a_table_scatters_like_frequencies() {
        use crate::model::Table;
        use crate::space::Space;
        let probabilities = vec![0.1, 0.25, 0.0, 0.65];
        let table = Table::new(Space::new(2, 2).unwrap(), probabilities).unwrap();
        let model = Model::Table(table);
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        assert_eq!(family.dimension(), 2);
        let found = sandwich(&p, &family, &MaskLaw::All).unwrap();
        // ln(p̂ₓ/p̂_ref) has variance 1/pₓ + 1/p_ref by the delta method.
        let wanted = [1.0 / 0.1 + 1.0 / 0.65, 1.0 / 0.25 + 1.0 / 0.65];
        for (i, wanted) in wanted.into_iter().enumerate() {
            assert!((found.variance.at(i, i) - wanted).abs() < 1e-9, "{:?}", found.variance);
        }
    }
}
