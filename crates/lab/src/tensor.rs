//! Block approximate tensorisation of entropy: the smallest C with
//!
//! ```text
//! KL(r‖q) ≤ C · E_r E_K KL(r(·|x₋ₖ,K) ‖ q(·|x₋ₖ,K))      for every r,
//! ```
//!
//! found as the supremum of the ratio over r. Each r is a certificate: C is at least its ratio.
//! The search climbs from many starts in the logits of r. Near q the ratio tends to a Rayleigh
//! quotient, so C is never below the Poincaré constant, and for product measures under uniform
//! k-subsets it is N/k, reached by every product r. A gradient costs `O(Σ_K` qᴺ).

use padir_base::random::{Purpose, Seed};
use rayon::prelude::*;

use crate::chain::{Blocks, symmetric_matrix};
use crate::distribution::{Distribution, log_sum_exp};
use crate::spectrum::SpectrumError;

/// The constant as far as it was found.
#[derive(Clone, Debug)]
pub struct Tensorisation {
    /// The largest ratio found, limits included: C is at least this.
    pub constant: f64,
    /// ln r, the best single certificate.
    pub log_certificate: Vec<f64>,
    /// Where the best start came from.
    pub origin: Origin,
    /// The best ratio of every start, in order.
    pub starts: Vec<(Origin, f64)>,
}

/// Where a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The limit r → q along the slow mode: the Poincaré constant, approached by no single r.
    Limit,
    /// q tilted by the slow eigenfunction.
    SlowMode,
    /// Nearly all mass on one state.
    Point(usize),
    /// Random logits.
    Random(usize),
    /// Independent sites with random marginals.
    Product(usize),
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct TensorSettings {
    /// Random starts.
    pub starts: usize,
    /// Ascent steps per start.
    pub iterations: usize,
    /// The seed.
    pub seed: Seed,
}

impl Default for TensorSettings {
    fn default() -> Self {
        Self { starts: 16, iterations: 400, seed: Seed(0) }
    }
}

/// The ratio and its gradient with respect to the logits of r.
struct Ratio<'a> {
    q: &'a Distribution,
    blocks: &'a Blocks,
    /// For each block, ln q(y | x₋ₖ, K) up to the law's own weight, state by state.
    conditionals: Vec<Vec<f64>>,
}

impl<'a> Ratio<'a> {
    fn new(q: &'a Distribution, blocks: &'a Blocks) -> Self {
        let conditionals = blocks
            .entries()
            .iter()
            .map(|entry| conditional(q.log_probs(), blocks, entry))
            .collect();
        Self { q, blocks, conditionals }
    }

    /// (numerator, denominator, gradient of ln(numerator / denominator) in the logits).
    fn at(&self, logits: &[f64]) -> (f64, f64, Vec<f64>) {
        let total = log_sum_exp(logits);
        let log_r: Vec<f64> = logits.iter().map(|l| l - total).collect();
        let r: Vec<f64> = log_r.iter().map(|l| l.exp()).collect();
        let q = self.q.log_probs();
        let excess: Vec<f64> = log_r.iter().zip(q).map(|(a, b)| a - b).collect();
        let numerator: f64 = r.iter().zip(&excess).map(|(r, e)| r * e).sum();
        let mut local = vec![0.0; r.len()];
        for (entry, of_q) in self.blocks.entries().iter().zip(&self.conditionals) {
            let of_r = conditional(&log_r, self.blocks, entry);
            for x in 0..r.len() {
                let weight = entry.weight.of(x);
                if weight > 0.0 && r[x] > 0.0 {
                    local[x] += weight * (of_r[x] - of_q[x]);
                }
            }
        }
        let denominator: f64 = r.iter().zip(&local).map(|(r, l)| r * l).sum();
        let gradient = (0..r.len())
            .map(|x| {
                if r[x] == 0.0 {
                    return 0.0;
                }
                r[x] * ((excess[x] - numerator) / numerator
                    - (local[x] - denominator) / denominator)
            })
            .collect();
        (numerator, denominator, gradient)
    }

    /// Climbs ln(ratio) by gradient ascent along r-scaled directions with growing steps.
    fn climb(&self, mut logits: Vec<f64>, iterations: usize) -> (f64, Vec<f64>) {
        let (mut up, mut down, mut gradient) = self.at(&logits);
        if !(up > 1e-14 && down > 1e-14) {
            return (f64::NEG_INFINITY, logits);
        }
        let mut length = 1.0;
        for _ in 0..iterations {
            let log_total = log_sum_exp(&logits);
            // Natural direction: the gradient divided by r, so that rare states move too.
            let direction: Vec<f64> = gradient
                .iter()
                .zip(&logits)
                .map(|(g, l)| {
                    let r = (l - log_total).exp();
                    if r > 1e-300 { (g / r).clamp(-20.0, 20.0) } else { 0.0 }
                })
                .collect();
            let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * g).sum();
            if slope < 1e-22 {
                break;
            }
            let mut moved = false;
            for _ in 0..30 {
                let trial: Vec<f64> =
                    logits.iter().zip(&direction).map(|(l, d)| l + length * d).collect();
                let (a, b, g) = self.at(&trial);
                // Below this both are rounding, and so is their ratio.
                if a > 1e-11 && b > 1e-11 && a / b > up / down * (1.0 + 1e-4 * length * slope) {
                    (up, down, gradient, logits) = (a, b, g, trial);
                    length *= 1.7;
                    moved = true;
                    break;
                }
                length *= 0.4;
            }
            if !moved {
                break;
            }
        }
        (up / down, logits)
    }
}

/// ln of r(x) p(K|x) / Σ_{y~x} r(y) p(K|y), state by state, without the law's own ln p(K|x).
fn conditional(logs: &[f64], blocks: &Blocks, entry: &crate::chain::BlockEntry) -> Vec<f64> {
    let space = blocks.space();
    let mut result = vec![0.0; logs.len()];
    let fillings = space.fillings(entry.block);
    let mut terms = Vec::with_capacity(fillings.len());
    for group in space.groups(entry.block) {
        terms.clear();
        terms.extend(fillings.iter().map(|f| {
            let y = group + f;
            logs[y] + entry.weight.of(y).ln()
        }));
        let total = log_sum_exp(&terms);
        for f in &fillings {
            result[group + f] = logs[group + f] - total;
        }
    }
    result
}

/// Searches the constant of a distribution under a law.
///
/// # Errors
/// If the slow mode, one of the starts, cannot be found.
pub fn tensorisation(
    q: &Distribution,
    blocks: &Blocks,
    settings: &TensorSettings,
    tick: impl Fn() + Sync,
) -> Result<Tensorisation, SpectrumError> {
    let ratio = Ratio::new(q, blocks);
    let starts = starts(q, blocks, settings)?;
    let results: Vec<(Origin, f64, Vec<f64>)> = starts
        .into_par_iter()
        .map(|(origin, logits)| {
            let (value, logits) = ratio.climb(logits, settings.iterations);
            tick();
            (origin, value, logits)
        })
        .collect();
    let mut best = 0;
    for (i, result) in results.iter().enumerate() {
        if result.1 > results[best].1 {
            best = i;
        }
    }
    let mut starts: Vec<(Origin, f64)> =
        results.iter().map(|(origin, value, _)| (*origin, *value)).collect();
    let (mut origin, mut constant) = starts[best];
    let logits = &results[best].2;
    let total = log_sum_exp(logits);
    if q.space().size() <= crate::spectrum::DENSE_STATES
        && let Some(second) = crate::spectrum::eigenvalues(q, blocks)?.get(1)
    {
        let limit = 1.0 / (1.0 - second);
        starts.push((Origin::Limit, limit));
        if limit > constant {
            (origin, constant) = (Origin::Limit, limit);
        }
    }
    let log_certificate = logits.iter().map(|l| l - total).collect();
    Ok(Tensorisation { constant, log_certificate, origin, starts })
}

/// q tilted by its slow eigenfunction, point masses, random tilts and random products.
fn starts(
    q: &Distribution,
    blocks: &Blocks,
    settings: &TensorSettings,
) -> Result<Vec<(Origin, Vec<f64>)>, SpectrumError> {
    let space = q.space();
    let mut starts = Vec::new();
    if space.size() <= crate::spectrum::DENSE_STATES {
        let slow = slow_mode(q, blocks)?;
        for amount in [0.01, -0.01, 0.5, -0.5, 3.0, -3.0] {
            let tilt = |x: usize| q.log_prob(x) + amount * slow[x];
            starts.push((Origin::SlowMode, (0..space.size()).map(tilt).collect()));
        }
    }
    let mut by_probability: Vec<usize> =
        (0..space.size()).filter(|&x| q.log_prob(x).is_finite()).collect();
    by_probability.sort_by(|&a, &b| q.log_prob(a).total_cmp(&q.log_prob(b)));
    let points = by_probability.len().min(8);
    for &state in by_probability.iter().take(points).chain(by_probability.iter().rev().take(4)) {
        let mut logits = q.log_probs().to_vec();
        logits[state] += 12.0 - q.log_prob(state);
        starts.push((Origin::Point(state), logits));
    }
    for i in 0..settings.starts {
        let mut stream = settings.seed.stream(Purpose::Search, i as u64);
        let scale = 0.3 * (1 + i % 5) as f64;
        let noise: Vec<f64> = (0..space.size()).map(|_| scale * stream.normal()).collect();
        let logits = q.log_probs().iter().zip(noise).map(|(l, n)| l + n).collect();
        starts.push((Origin::Random(i), logits));
        let tilts: Vec<Vec<f64>> = (0..space.sites())
            .map(|_| (0..space.symbols()).map(|_| 2.0 * stream.normal()).collect())
            .collect();
        let logits = (0..space.size())
            .map(|x| {
                let tilt: f64 = space.symbols_of(x).zip(&tilts).map(|(s, t)| t[s]).sum();
                q.log_prob(x) + tilt
            })
            .collect();
        starts.push((Origin::Product(i), logits));
    }
    Ok(starts)
}

/// The eigenfunction of the second eigenvalue, of unit variance.
fn slow_mode(q: &Distribution, blocks: &Blocks) -> Result<Vec<f64>, SpectrumError> {
    let matrix = symmetric_matrix(q, blocks)?;
    let vector = crate::linalg::eigenvector(&matrix, 1).ok_or(SpectrumError::NoConvergence)?;
    Ok((0..matrix.size())
        .map(|x| {
            let root = (q.log_prob(x) / 2.0).exp();
            if root > 1e-150 { vector[x] / root } else { 0.0 }
        })
        .collect())
}

/// The ratio of one r: a lower bound on the constant that anyone can check.
pub fn ratio_of(q: &Distribution, blocks: &Blocks, log_r: &[f64]) -> f64 {
    let (up, down, _) = Ratio::new(q, blocks).at(log_r);
    up / down
}
