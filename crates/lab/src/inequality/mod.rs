//! Functional inequalities of block dynamics: the entropy of a density w = r/q bounded by an energy,
//!
//! ```text
//! Ent(w) ≤ C · E_K E Ent_K(w)           block approximate tensorisation, C_AT
//! Ent(w) ≤ C · E(√w, √w)                log-Sobolev, C_LS
//! Ent(w) ≤ C · E(w, ln w)               modified log-Sobolev, C_MLS
//! ```
//!
//! with Ent(w) = KL(r‖q) and the Dirichlet form E of the chain. A constant is the supremum of a
//! quotient. The search climbs it from many starts, so what it finds is a *lower* bound, and the
//! density it ends at is a certificate that anyone can check. [`upper_bound`] bounds the
//! constant from above by theorems. Near w = 1 the quotients tend to C, 2C and C/2 with the
//! Poincaré constant C, and always `C_MLS` ≤ `C_AT` ≤ `C_LS`.

mod climb;
mod quotient;
mod starts;
mod upper;

pub use upper::{Rule, UpperBound, upper_bound};

use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use rayon::prelude::*;

use crate::chain::Blocks;
use crate::distribution::Distribution;
use crate::spectrum::{Poincare, SpectrumError, poincare};
use climb::climb;
use quotient::Quotient;
use starts::Starts;

/// Which inequality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inequality {
    /// Block approximate tensorisation of entropy.
    Tensorisation,
    /// Log-Sobolev.
    LogSobolev,
    /// Modified log-Sobolev.
    ModifiedLogSobolev,
}

impl Inequality {
    /// The constant in the limit w → 1, in units of the Poincaré constant.
    fn limit(self) -> f64 {
        match self {
            Self::Tensorisation => 1.0,
            Self::LogSobolev => 2.0,
            Self::ModifiedLogSobolev => 0.5,
        }
    }
}

/// A constant as far as it is known.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The largest quotient found, limits included: the constant is at least this.
    pub lower: f64,
    /// A proven bound from above; none for large spaces.
    pub upper: Option<UpperBound>,
    /// ln r of the best single density.
    pub log_certificate: Vec<f64>,
    /// The quotient of that density.
    pub certified: f64,
    /// Where the best start came from.
    pub origin: Origin,
    /// The best quotient of every start, in order.
    pub starts: Vec<(Origin, f64)>,
    /// The Poincaré constant of the same chain.
    pub poincare: Poincare,
}

impl Constant {
    /// How many starts ended within a millionth of the best one.
    pub fn agreeing(&self) -> usize {
        let close = |value: f64| value >= self.certified * (1.0 - 1e-6);
        self.starts.iter().filter(|(_, value)| close(*value)).count()
    }
}

/// Where a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The limit r → q along the slow mode, approached by no single r.
    Limit,
    /// q tilted by the slow eigenfunction.
    SlowMode,
    /// q conditioned on one side of the slow eigenfunction.
    Side,
    /// Nearly all mass on one state.
    Point(usize),
    /// Random densities.
    Random(usize),
    /// Independent tilts of all sites.
    Product(usize),
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// Random starts.
    pub starts: usize,
    /// Newton steps per start.
    pub iterations: usize,
    /// The seed.
    pub seed: Seed,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { starts: 8, iterations: 200, seed: Seed(0) }
    }
}

/// The constant of an inequality for a distribution under a mask law, from both sides.
///
/// # Errors
/// If the law makes no sense or the chain is not ergodic, when no constant is finite.
pub fn constant(
    inequality: Inequality,
    q: &Distribution,
    law: &MaskLaw,
    settings: &SearchSettings,
    tick: impl Fn() + Sync,
) -> Result<Constant, SpectrumError> {
    let blocks = Blocks::of(law, q.space())?;
    let poincare = poincare(q, law, || ())?;
    let quotient = Quotient::new(inequality, q, &blocks);
    let starts = Starts::new(q, &blocks, &quotient, settings)?;
    let results: Vec<(Origin, f64, Vec<f64>)> = (0..starts.len())
        .into_par_iter()
        .filter_map(|i| {
            let (origin, log) = starts.get(i);
            let end = climb(&quotient, log, settings.iterations);
            tick();
            end.map(|point| (origin, point.ratio(), point.log))
        })
        .collect();
    let mut found = Constant {
        lower: inequality.limit() * poincare.constant(),
        upper: upper_bound(inequality, q, &blocks, &poincare)?,
        log_certificate: q.log_probs().to_vec(),
        certified: 0.0,
        origin: Origin::Limit,
        starts: results.iter().map(|(origin, value, _)| (*origin, *value)).collect(),
        poincare,
    };
    if let Some(best) = results.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        found.certified = best.1;
        found.log_certificate = quotient.law_of(q, &best.2);
        if best.1 > found.lower {
            (found.origin, found.lower) = (best.0, best.1);
        }
    }
    Ok(found)
}

/// The constant of block approximate tensorisation.
///
/// # Errors
/// As [`constant`].
pub fn tensorisation(
    q: &Distribution,
    law: &MaskLaw,
    settings: &SearchSettings,
    tick: impl Fn() + Sync,
) -> Result<Constant, SpectrumError> {
    constant(Inequality::Tensorisation, q, law, settings, tick)
}

/// The quotient of one law r ≪ q: a lower bound on the constant that anyone can check. NaN for
/// q itself, where it is 0/0.
pub fn ratio_of(inequality: Inequality, q: &Distribution, blocks: &Blocks, log_r: &[f64]) -> f64 {
    let quotient = Quotient::new(inequality, q, blocks);
    quotient.at(quotient.density_of(q, log_r)).ratio()
}
