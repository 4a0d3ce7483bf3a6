//! How far conditionals are from the true ones.

use super::{Conditionals, sites_of};
use crate::distribution::Distribution;

/// The error of conditionals with a number of hidden sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionalError {
    /// How many sites are hidden, the predicted one included.
    pub hidden: usize,
    /// The mean total variation distance: x from p, the hidden set and the predicted site uniform.
    pub mean: f64,
    /// The largest, over all contexts that are possible under p.
    pub largest: f64,
    /// The mean of KL(p(xᵢ | visible) ‖ q(xᵢ | visible)).
    pub divergence: f64,
}

impl Conditionals {
    /// The distance of each conditional from that of p, whose conditionals are `exact`: one entry for each number
    /// of hidden sites, from 1 to N.
    pub fn errors(&self, exact: &Self, p: &Distribution) -> Vec<ConditionalError> {
        let space = self.space();
        let sites = space.sites();
        let none = |hidden| ConditionalError { hidden, mean: 0.0, largest: 0.0, divergence: 0.0 };
        let mut errors: Vec<ConditionalError> = (1..=sites).map(none).collect();
        let mut terms = vec![0_u32; sites];
        for hidden in 1..1_u64 << sites {
            let count = hidden.count_ones() as usize;
            terms[count - 1] += hidden.count_ones();
            let error = &mut errors[count - 1];
            for (group, log_weight) in space.groups(hidden).into_iter().zip(p.log_outside(hidden)) {
                let weight = log_weight.exp();
                for site in sites_of(hidden) {
                    let pair = (self.at(group, hidden, site), exact.at(group, hidden, site));
                    let (Some(q), Some(p)) = pair else { continue };
                    let distance = total_variation(q, p);
                    error.mean += weight * distance;
                    error.largest = error.largest.max(distance);
                    error.divergence += weight * divergence(p, q);
                }
            }
        }
        for (error, &count) in errors.iter_mut().zip(&terms) {
            error.mean /= f64::from(count);
            error.divergence /= f64::from(count);
        }
        errors
    }
}

/// ½ Σ |a − b| of two laws given by their logarithms.
pub(super) fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.exp() - b.exp()).abs()).sum::<f64>() / 2.0
}

/// KL(a‖b) of two laws given by their logarithms.
pub(super) fn divergence(a: &[f64], b: &[f64]) -> f64 {
    let terms = a.iter().zip(b).filter(|(a, _)| a.is_finite());
    terms.map(|(a, b)| a.exp() * (a - b)).sum::<f64>().max(0.0)
}
