//! The joint distribution nearest to given conditionals, and what is left between them.
//!
//! Conditionals qᵢ(xᵢ | x₋ᵢ) that were learned one by one are in general not those of any joint distribution. With contexts
//! weighted as p has them, the nearest joint minimises
//!
//! ```text
//! R(r) = 1/N Σᵢ E KL(qᵢ(· | x₋ᵢ) ‖ r(· | x₋ᵢ)),  x from p,
//! ```
//!
//! which is convex in ln r. The minimum is the *inconsistency*: 0 iff there is a joint with these conditionals. Newton's method
//! on all states, O(S³) a step.

use super::Conditionals;
use super::error::{divergence, total_variation};
use crate::chain::Matrix;
use crate::distribution::{Distribution, log_sum_exp};
use crate::linalg;

/// The joint nearest to conditionals.
#[derive(Clone, Debug)]
pub struct BestJoint {
    /// r.
    pub joint: Distribution,
    /// R(r): the mean KL of a conditional from that of r, in nats.
    pub divergence: f64,
    /// The mean total variation distance of a conditional from that of r.
    pub total_variation: f64,
}

/// One conditional: the states it is about, its weight, and q.
struct Term {
    states: Vec<usize>,
    weight: f64,
    law: Vec<f64>,
}

/// Newton's steps at most.
const ITERATIONS: usize = 200;

/// Where the gradient counts as zero.
const TOLERANCE: f64 = 1e-13;

impl Conditionals {
    /// The joint that is nearest to the conditionals of single sites.
    pub fn best_joint(&self, p: &Distribution) -> BestJoint {
        let terms = self.terms(p);
        // What no conditional tells apart, such as modes without a path between them, stays as in p.
        let mut theta: Vec<f64> = p.log_probs().iter().map(|log| log.max(-30.0)).collect();
        let mut value = objective(&terms, &theta);
        for _ in 0..ITERATIONS {
            let (gradient, hessian) = derivatives(&terms, &theta);
            if gradient.iter().all(|g| g.abs() < TOLERANCE) {
                break;
            }
            let Some(step) = linalg::solve(&hessian, &gradient) else { break };
            let Some((next, found)) = descend(&terms, &theta, &step, value) else { break };
            (theta, value) = (next, found);
        }
        let joint = Distribution::from_log_weights(self.space(), theta);
        let mean = |distance: fn(&[f64], &[f64]) -> f64| -> f64 {
            let of = |term: &Term| term.weight * distance(&term.law, &normalised(term, &joint));
            terms.iter().map(of).sum()
        };
        let (divergence, total_variation) = (mean(divergence), mean(total_variation));
        BestJoint { joint, divergence, total_variation }
    }

    fn terms(&self, p: &Distribution) -> Vec<Term> {
        let space = self.space();
        let mut terms = Vec::new();
        for site in 0..space.sites() {
            let block = 1 << site;
            for (group, log_weight) in space.groups(block).into_iter().zip(p.log_outside(block)) {
                let weight = log_weight.exp() / space.sites() as f64;
                if let (true, Some(law)) = (weight > 0.0, self.at(group, block, site)) {
                    let states = space.fillings(block).into_iter().map(|f| group + f).collect();
                    terms.push(Term { states, weight, law: law.to_vec() });
                }
            }
        }
        terms
    }
}

/// The first step along Newton's direction, halved until the objective falls.
fn descend(terms: &[Term], theta: &[f64], step: &[f64], value: f64) -> Option<(Vec<f64>, f64)> {
    let mut length = 1.0;
    while length > 1e-6 {
        let next: Vec<f64> = theta.iter().zip(step).map(|(t, s)| t - length * s).collect();
        let found = objective(terms, &next);
        if found < value {
            return Some((next, found));
        }
        length /= 2.0;
    }
    None
}

/// R up to a constant.
fn objective(terms: &[Term], theta: &[f64]) -> f64 {
    let of = |term: &Term| {
        let own: Vec<f64> = term.states.iter().map(|&x| theta[x]).collect();
        let linear: f64 = term.law.iter().zip(&own).map(|(log, t)| log.exp() * t).sum();
        term.weight * (log_sum_exp(&own) - linear)
    };
    terms.iter().map(of).sum()
}

/// The gradient, and the Hessian with a ridge that rounding cannot see.
fn derivatives(terms: &[Term], theta: &[f64]) -> (Vec<f64>, Matrix<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let mut hessian = Matrix::zero(theta.len());
    for term in terms {
        let own: Vec<f64> = term.states.iter().map(|&x| theta[x]).collect();
        let total = log_sum_exp(&own);
        let r: Vec<f64> = own.iter().map(|t| (t - total).exp()).collect();
        for (a, &x) in term.states.iter().enumerate() {
            gradient[x] += term.weight * (r[a] - term.law[a].exp());
            hessian.add(x, x, term.weight * r[a]);
            for (b, &y) in term.states.iter().enumerate() {
                hessian.add(x, y, -term.weight * r[a] * r[b]);
            }
        }
    }
    for x in 0..theta.len() {
        hessian.add(x, x, 1e-12);
    }
    (gradient, hessian)
}

/// ln r(· | x₋ᵢ).
fn normalised(term: &Term, joint: &Distribution) -> Vec<f64> {
    let own: Vec<f64> = term.states.iter().map(|&x| joint.log_prob(x)).collect();
    let total = log_sum_exp(&own);
    own.iter().map(|log| log - total).collect()
}
