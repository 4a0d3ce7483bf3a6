//! Proven upper bounds of the constants, up to rounding.
//!
//! | rule | bound |
//! |---|---|
//! | [`Rule::Whole`] | `C_AT` ≤ 1 / P(K = all sites), since the energy contains Ent(w) with that weight |
//! | [`Rule::Product`] | `C_AT` ≤ e^osc / minᵢ P(i ∈ K), osc = max − min of ln q − ln q₀ for a product q₀: Shearer's inequality for q₀, and both sides change by at most the density between q and q₀ (Holley and Stroock 1987) |
//! | [`Rule::SmallestProbability`] | `C_LS` ≤ C ln(1/q* − 1)/(1 − 2q*), q* the smallest probability (Diaconis and Saloff-Coste 1996, corollary A.4) |
//! | [`Rule::Resistance`] | `C_LS` ≤ 2C + C ln(R/C), R = maxₓ sup g(x)²/E(g, g): Ent(f²) ≤ Ent(g²) + 2 Var f with g = f − E f (Rothaus 1985), and Ent(g²) ≤ E g² ln(max g²/E g²) |
//!
//! `C_AT` ≤ `C_LS` since Var(√w) ≤ Ent(w) in every group; `C_MLS` ≤ `C_AT` by Jensen's
//! inequality, and `C_MLS` ≤ `C_LS`/4 since (a − b) ln(a/b) ≥ 4 (√a − √b)².

use super::Inequality;
use crate::chain::{Blocks, Matrix, Weight, symmetric_matrix};
use crate::distribution::Distribution;
use crate::linalg;
use crate::spectrum::{DENSE_STATES, Poincare, SpectrumError};

/// Why a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Everything is resampled at once with positive probability.
    Whole,
    /// The distribution is near a product measure.
    Product,
    /// The log-Sobolev constant by the smallest probability.
    SmallestProbability,
    /// The log-Sobolev constant by the largest resistance.
    Resistance,
}

impl Rule {
    /// The rule in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "all sites resampled at once",
            Self::Product => "comparison with a product measure",
            Self::SmallestProbability => "log-Sobolev by the smallest probability",
            Self::Resistance => "log-Sobolev by the largest resistance",
        }
    }
}

/// A constant is at most this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpperBound {
    /// The bound.
    pub value: f64,
    /// Why it holds.
    pub rule: Rule,
}

/// The largest space whose resistances are computed.
const RESISTANCE_STATES: usize = 256;

/// The best of the proven bounds; none above [`DENSE_STATES`] states.
///
/// # Errors
/// If the eigenvalues of the chain cannot be found.
pub fn upper_bound(
    inequality: Inequality,
    q: &Distribution,
    blocks: &Blocks,
    poincare: &Poincare,
) -> Result<Option<UpperBound>, SpectrumError> {
    if q.space().size() > DENSE_STATES {
        return Ok(None);
    }
    let log_sobolev = [
        Some((smallest_probability(q, poincare), Rule::SmallestProbability)),
        resistance(q, blocks, poincare)?.map(|value| (value, Rule::Resistance)),
    ];
    let tensorisation = [
        whole(q, blocks).map(|value| (value, Rule::Whole)),
        product(q, blocks).map(|value| (value, Rule::Product)),
    ];
    let scaled = |factor: f64| {
        log_sobolev.into_iter().flatten().map(move |(value, rule)| (factor * value, rule))
    };
    let direct = tensorisation.into_iter().flatten();
    let all: Vec<(f64, Rule)> = match inequality {
        Inequality::LogSobolev => scaled(1.0).collect(),
        Inequality::Tensorisation => scaled(1.0).chain(direct).collect(),
        Inequality::ModifiedLogSobolev => scaled(0.25).chain(direct).collect(),
    };
    let best = all.into_iter().filter(|(value, _)| value.is_finite());
    Ok(best.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(value, rule)| UpperBound { value, rule }))
}

/// 1 / P(K = all), for laws that do not look at the state.
fn whole(q: &Distribution, blocks: &Blocks) -> Option<f64> {
    let all = u64::MAX >> (64 - q.space().sites());
    let weight: f64 =
        same_weights(blocks)?.filter(|(block, _)| *block == all).map(|(_, w)| w).sum();
    (weight > 0.0).then(|| 1.0 / weight)
}

fn same_weights(blocks: &Blocks) -> Option<impl Iterator<Item = (u64, f64)>> {
    let weight = |entry: &crate::chain::BlockEntry| match entry.weight {
        Weight::Same(weight) => Some((entry.block, weight)),
        Weight::PerState(_) => None,
    };
    let weights: Option<Vec<(u64, f64)>> = blocks.entries().iter().map(weight).collect();
    weights.map(Vec::into_iter)
}

/// e^osc / minᵢ P(i ∈ K), for positive q.
fn product(q: &Distribution, blocks: &Blocks) -> Option<f64> {
    if q.log_probs().iter().any(|l| !l.is_finite()) {
        return None;
    }
    let mut covered = vec![0.0; q.space().sites()];
    for (block, weight) in same_weights(blocks)? {
        for (site, sum) in covered.iter_mut().enumerate() {
            *sum += if block >> site & 1 == 1 { weight } else { 0.0 };
        }
    }
    let least = covered.into_iter().fold(f64::INFINITY, f64::min);
    let oscillation = distance_from_products(q)?;
    Some(oscillation.exp() / least)
}

/// The smallest oscillation of ln q − Σ aᵢ(xᵢ) found by Lawson's reweighted least squares.
fn distance_from_products(q: &Distribution) -> Option<f64> {
    let space = q.space();
    let columns = 1 + space.sites() * (space.symbols() - 1);
    // Which columns are 1 in a state: the constant, and one for every symbol but the first.
    let ones = |x: usize| {
        let symbols = space.symbols_of(x).enumerate().filter(|(_, s)| *s > 0);
        let width = space.symbols() - 1;
        std::iter::once(0).chain(symbols.map(move |(i, s)| i * width + s)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<usize>> = (0..space.size()).map(ones).collect();
    let mut weights = vec![1.0 / space.size() as f64; space.size()];
    let mut best: Option<f64> = None;
    for _ in 0..60 {
        let mut normal = Matrix::zero(columns);
        let mut side = vec![0.0; columns];
        for ((row, w), log) in rows.iter().zip(&weights).zip(q.log_probs()) {
            for &a in row {
                side[a] += w * log;
                for &b in row {
                    normal.add(a, b, *w);
                }
            }
        }
        (0..columns).for_each(|a| normal.add(a, a, 1e-13));
        let Some(fit) = linalg::solve(&normal, &side) else { break };
        let rest: Vec<f64> = rows
            .iter()
            .zip(q.log_probs())
            .map(|(row, log)| log - row.iter().map(|&a| fit[a]).sum::<f64>())
            .collect();
        let (low, high) =
            rest.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &r| (a.min(r), b.max(r)));
        best = Some(best.map_or(high - low, |b: f64| b.min(high - low)));
        let middle = f64::midpoint(low, high);
        weights.iter_mut().zip(&rest).for_each(|(w, r)| *w *= (r - middle).abs());
        let total: f64 = weights.iter().sum();
        if total < 1e-14 {
            break;
        }
        for w in &mut weights {
            *w = (*w / total).max(1e-12);
        }
    }
    best
}

/// C ln(1/q* − 1)/(1 − 2q*).
fn smallest_probability(q: &Distribution, poincare: &Poincare) -> f64 {
    let log = q.log_probs().iter().copied().filter(|l| l.is_finite()).fold(0.0, f64::min);
    let smallest = log.exp();
    let factor = if (1.0 - 2.0 * smallest).abs() < 1e-6 || smallest > 0.5 {
        2.0
    } else {
        ((-smallest).ln_1p() - log) / (1.0 - 2.0 * smallest)
    };
    factor * enlarged(poincare)
}

/// C with its error on the safe side.
fn enlarged(poincare: &Poincare) -> f64 {
    poincare.constant() * (1.0 + poincare.error.min(1.0) + 1e-12)
}

/// 2C + C ln(R/C); none where eigenvalues are too near 1 to be told from it.
fn resistance(
    q: &Distribution,
    blocks: &Blocks,
    poincare: &Poincare,
) -> Result<Option<f64>, SpectrumError> {
    if q.space().size() > RESISTANCE_STATES {
        return Ok(None);
    }
    let matrix = symmetric_matrix(q, blocks)?;
    let Some((values, vectors)) = linalg::eigen(&matrix) else {
        return Err(SpectrumError::NoConvergence);
    };
    let slow = values.len().saturating_sub(1);
    if slow == 0 || values[..slow].iter().any(|value| 1.0 - value < 1e-8) {
        return Ok(None);
    }
    let at = |x: usize| {
        let sum: f64 = (0..slow).map(|j| vectors.at(x, j).powi(2) / (1.0 - values[j])).sum();
        sum / q.log_prob(x).exp()
    };
    let possible = (0..q.space().size()).filter(|&x| q.log_prob(x) > -600.0);
    let largest = possible.map(at).fold(0.0, f64::max) * (1.0 + 1e-6);
    let constant = enlarged(poincare);
    let entropy = if constant < largest / std::f64::consts::E {
        constant * (largest / constant).ln()
    } else {
        largest / std::f64::consts::E
    };
    Ok(Some(2.0 * constant + entropy))
}
