//! Asymptotic normality, seen: many estimates beside the normal law that the theory predicts.
//!
//! If √n (θ̂ − θ°) is normal with covariance Σ, then n (θ̂ − θ°)ᵀ Σ⁻¹ (θ̂ − θ°) is χ² with d degrees of
//! freedom. The Kolmogorov–Smirnov distance of its empirical law from that is one number for all of it.

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use rayon::prelude::*;

use super::draws::{MaskTable, draw};
use super::{ExperimentError, quantile};
use crate::asymptotics::{Sandwich, SandwichError, sandwich};
use crate::chain::Blocks;
use crate::distribution::Distribution;
use crate::estimate::{EnumeratedLoss, Settings, Verdict, minimise, verdict_of};
use crate::linalg;
use crate::model::Family;
use crate::special::chi_squared_cdf;

/// What is repeated.
#[derive(Clone, Copy, Debug)]
pub struct NormalitySettings {
    /// Samples n of a data set.
    pub samples: usize,
    /// Data sets.
    pub repeats: usize,
    /// Masks of a sample; none averages over all of them.
    pub masks: Option<usize>,
    /// The seed.
    pub seed: u64,
}

impl Default for NormalitySettings {
    fn default() -> Self {
        Self { samples: 10_000, repeats: 400, masks: Some(1), seed: 0 }
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Normality {
    /// θ° and the predicted variance.
    pub predicted: Sandwich,
    /// tr Σ of the predicted covariance.
    pub trace: f64,
    /// The mean of n ‖θ̂ − θ°‖², which tends to tr Σ.
    pub mean_square: f64,
    /// Its standard error.
    pub mean_square_error: f64,
    /// Estimates that exist.
    pub found: usize,
    /// Estimates that do not.
    pub missing: usize,
    /// The largest |mean of √n (θ̂ − θ°)ᵢ| in standard errors of that mean.
    pub largest_bias: f64,
    /// The Kolmogorov–Smirnov distance from χ² with d degrees of freedom.
    pub distance: f64,
    /// What chance alone exceeds once in a thousand times.
    pub critical: f64,
    /// The fraction inside of the ellipsoid that holds 95 % of the normal law.
    pub coverage: f64,
    /// The fraction with ‖θ̂ − θ°‖² ≤ tr Σ/n; the paper says 0.99.
    pub within_trace: f64,
    /// The empirical 99 % quantile of ‖θ̂ − θ°‖² · n/tr Σ; Markov's inequality says at most 100.
    pub quantile: f64,
}

/// Repeats a fit of a family to samples of p.
///
/// # Errors
/// If there is no asymptotic variance, or no estimate exists.
pub fn normality(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
    settings: &NormalitySettings,
    tick: impl Fn() + Sync,
) -> Result<Normality, ExperimentError> {
    let predicted = sandwich(p, family, law)?;
    // With m masks the score is their mean: V = averaged + (single − averaged)/m.
    let covariance = mixed(&predicted, settings.masks);
    let inverse = linalg::inverse(&covariance).ok_or(SandwichError::Singular)?;
    let blocks = Blocks::of(law, p.space())?;
    let (sampler, masks) = (p.sampler(), MaskTable::new(&blocks));
    let n = settings.samples.max(1);
    let estimates: Vec<Option<Vec<f64>>> = (0..settings.repeats as u64)
        .into_par_iter()
        .map(|repeat| {
            let mut stream = Seed(settings.seed).stream(Purpose::Synthesis, repeat);
            let m = settings.masks.unwrap_or(0);
            let data = draw(&sampler, &masks, p.space().size(), (n, m), &mut stream);
            let loss = if settings.masks.is_some() {
                EnumeratedLoss::from_pairs(family, &blocks, &data.pairs)
            } else {
                EnumeratedLoss::from_frequencies(family, &blocks, &data.states)
            };
            let options = Settings { tolerance: 1e-10, iterations: 60, ..Settings::default() };
            let minimum = minimise(&loss, predicted.parameters.clone(), &options);
            tick();
            (verdict_of(&loss, &minimum) == Verdict::Found).then_some(minimum.parameters)
        })
        .collect();
    let root = (n as f64).sqrt();
    let deviations: Vec<Vec<f64>> = estimates
        .into_iter()
        .flatten()
        .map(|e| e.iter().zip(&predicted.parameters).map(|(a, b)| root * (a - b)).collect())
        .collect();
    if deviations.is_empty() {
        return Err(ExperimentError::NoEstimates(settings.repeats));
    }
    Ok(summary(predicted, &covariance, &inverse, &deviations, settings.repeats))
}

fn mixed(predicted: &Sandwich, masks: Option<usize>) -> crate::chain::Matrix<f64> {
    let share = masks.map_or(0.0, |m| 1.0 / m.max(1) as f64);
    let mut covariance = predicted.averaged.clone();
    for i in 0..covariance.size() {
        for j in 0..covariance.size() {
            let (single, averaged) = (predicted.variance.at(i, j), predicted.averaged.at(i, j));
            covariance.set(i, j, share.mul_add(single - averaged, averaged));
        }
    }
    covariance
}

fn summary(
    predicted: Sandwich,
    covariance: &crate::chain::Matrix<f64>,
    inverse: &crate::chain::Matrix<f64>,
    deviations: &[Vec<f64>],
    repeats: usize,
) -> Normality {
    let d = covariance.size();
    let count = deviations.len() as f64;
    let trace = Sandwich::trace(covariance);
    let mut squares: Vec<f64> =
        deviations.iter().map(|v| v.iter().map(|x| x * x).sum::<f64>()).collect();
    let mut distances: Vec<f64> =
        deviations.iter().map(|v| (0..d).map(|i| v[i] * dot(inverse.row(i), v)).sum()).collect();
    squares.sort_by(f64::total_cmp);
    distances.sort_by(f64::total_cmp);
    let mean_square = squares.iter().sum::<f64>() / count;
    let spread = squares.iter().map(|s| (s - mean_square).powi(2)).sum::<f64>();
    let bias = (0..d).map(|i| {
        let mean = deviations.iter().map(|v| v[i]).sum::<f64>() / count;
        mean.abs() / (covariance.at(i, i) / count).sqrt()
    });
    let distribution: Vec<f64> = distances.iter().map(|&x| chi_squared_cdf(d, x)).collect();
    let distance = distribution.iter().enumerate().fold(0.0_f64, |most, (i, f)| {
        most.max(f - i as f64 / count).max((i + 1) as f64 / count - f)
    });
    Normality {
        trace,
        mean_square,
        mean_square_error: (spread / count / (count - 1.0).max(1.0)).sqrt(),
        found: deviations.len(),
        missing: repeats - deviations.len(),
        largest_bias: bias.fold(0.0, f64::max),
        distance,
        critical: 1.949_5 / count.sqrt(),
        coverage: distribution.iter().filter(|f| **f <= 0.95).count() as f64 / count,
        within_trace: squares.iter().filter(|s| **s <= trace).count() as f64 / count,
        quantile: quantile(&squares, 0.99) / trace,
        predicted,
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};

    fn ring(j: f64) -> Model {
        Model::Ising(Ising::uniform(3, &Shape::Chain { periodic: true }, 0.2, j).unwrap())
    }

    #[test]
    fn estimates_are_normal_whatever_the_masks() {
        let model = ring(0.3);
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let mut traces = Vec::new();
        for masks in [Some(1), Some(4), None] {
            let settings = NormalitySettings { samples: 5000, repeats: 300, masks, seed: 3 };
            let law = MaskLaw::Exactly { k: 1 };
            let found = normality(&p, &family, &law, &settings, || ()).unwrap();
            assert_eq!((found.found, found.missing), (300, 0));
            assert!(found.distance < found.critical, "{masks:?}: {}", found.distance);
            let off = (found.mean_square - found.trace).abs() / found.mean_square_error;
            assert!(off < 4.0, "{masks:?}: {} and {}", found.mean_square, found.trace);
            assert!((found.coverage - 0.95).abs() < 0.05 && found.quantile < 100.0);
            traces.push(found.trace);
        }
        assert!(traces[0] > traces[1] && traces[1] > traces[2], "{traces:?}");
    }

    /// A family without couplings, fitted to spins that have them: the sandwich is right, H⁻¹ is not.
    #[test]
    fn a_wrong_family_needs_the_sandwich() {
        let p = ring(0.8).enumerate().unwrap();
        let independent = Model::Ising(Ising::uniform(3, &Shape::Independent, 0.0, 0.0).unwrap());
        let family = independent.family().unwrap();
        let settings = NormalitySettings { samples: 4000, repeats: 300, masks: Some(1), seed: 5 };
        let found = normality(&p, &family, &MaskLaw::All, &settings, || ()).unwrap();
        assert!(found.predicted.divergence > 0.1 && found.predicted.information_gap > 0.1);
        assert!(found.distance < found.critical, "{}", found.distance);
        let naive = Sandwich::trace(&found.predicted.naive);
        assert!((found.trace / naive - 1.0).abs() < 1e-9, "each field is right on its own");
        assert!(found.predicted.variance.at(0, 1) > 0.1 * found.predicted.variance.at(0, 0));
    }
}
