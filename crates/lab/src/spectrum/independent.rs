//! The sites that are not independent of all others.

use std::collections::BTreeMap;

use padir_base::mask::{Block, MaskContext, MaskLaw};

use super::{DENSE_STATES, Method, Poincare, SpectrumError, dense};
use crate::chain::{Blocks, ChainError};
use crate::distribution::Distribution;
use crate::space::Space;
use crate::wide::Wide;

/// How far ln p may be from a sum and still count as one: what its rounding leaves.
const ROUNDING: f64 = 1e-11;

/// The most sets of a law that are listed.
const MOST_SETS: f64 = 1e7;

/// A distribution without its independent sites, and what is left of the law.
pub(super) struct Core {
    /// None if all sites are independent.
    rest: Option<(Distribution, Blocks)>,
    /// The smallest P(i ∈ K) of the sites left out.
    covered: f64,
}

impl Core {
    /// The core, if there is something to leave out and what remains is small.
    pub(super) fn of(p: &Distribution, law: &MaskLaw) -> Result<Option<Self>, ChainError> {
        let space = p.space();
        if law.is_adaptive() || p.log_probs().iter().any(|l| !l.is_finite()) {
            return Ok(None);
        }
        let bound: Vec<usize> = (0..space.sites()).filter(|&i| !is_independent(p, i)).collect();
        let small = (space.symbols() as f64).powi(bound.len() as i32) <= DENSE_STATES as f64;
        let sets = law.enumerate(&MaskContext::of_length(space.sites()))?;
        if bound.len() == space.sites() || !small || sets.support() > MOST_SETS {
            return Ok(None);
        }
        let mut covered = vec![0.0; space.sites()];
        let mut left: BTreeMap<u64, f64> = BTreeMap::new();
        for (set, weight) in sets {
            let bits = set.bits();
            covered
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| bits >> i & 1 == 1)
                .for_each(|(_, sum)| *sum += weight);
            let inside = bound.iter().enumerate().filter(|(_, site)| bits >> **site & 1 == 1);
            *left.entry(inside.map(|(place, _)| 1 << place).sum()).or_default() += weight;
        }
        let free = (0..space.sites()).filter(|i| !bound.contains(i)).map(|i| covered[i]);
        let covered = free.fold(f64::INFINITY, f64::min);
        let rest = if bound.is_empty() { None } else { Some(restrict(p, &bound, left)?) };
        Ok(Some(Self { rest, covered }))
    }

    /// C of the whole.
    pub(super) fn poincare(&self) -> Result<Poincare, SpectrumError> {
        if self.covered <= 0.0 {
            return Err(SpectrumError::NotErgodic);
        }
        let free = Poincare {
            constant: Wide::new(1.0 / self.covered),
            method: Method::Dense,
            error: 1e-14,
        };
        let Some((p, blocks)) = &self.rest else { return Ok(free) };
        let found = dense(p, blocks)?;
        Ok(if found.constant > free.constant { found } else { free })
    }
}

/// Whether ln p(x) is a sum of something of site i and something of the others.
fn is_independent(p: &Distribution, site: usize) -> bool {
    let space = p.space();
    let odds =
        |x: usize, symbol: usize| p.log_prob(x + symbol * space.stride(site)) - p.log_prob(x);
    let groups = space.groups(1 << site);
    (1..space.symbols()).all(|symbol| {
        let first = odds(0, symbol);
        let rounding = |x: usize| ROUNDING * (1.0 + p.log_prob(x).abs().max(first.abs()) / 100.0);
        groups.iter().all(|&x| (odds(x, symbol) - first).abs() <= rounding(x))
    })
}

/// The marginal of some sites, and the law seen from them.
fn restrict(
    p: &Distribution,
    sites: &[usize],
    sets: BTreeMap<u64, f64>,
) -> Result<(Distribution, Blocks), ChainError> {
    let mask = sites.iter().map(|i| 1_u64 << i).sum();
    let space = Space::new(sites.len(), p.space().symbols())
        .map_err(|_| ChainError::Unfit("the dependent sites are too many to be enumerated"))?;
    let marginal = Distribution::from_log_weights(space, p.log_marginal(mask));
    let blocks = sets
        .into_iter()
        .map(|(bits, weight)| Block {
            positions: (0..sites.len()).filter(|i| bits >> i & 1 == 1).collect(),
            weight,
        })
        .collect();
    let blocks = Blocks::of(&MaskLaw::Blocks { blocks }, space)?;
    Ok((marginal, blocks))
}
