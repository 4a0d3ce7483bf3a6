//! The chains that samplers run on given conditionals, and whose fault their error is.

use super::{Conditionals, sites_of};
use crate::chain::{Blocks, Matrix};
use crate::distribution::{Distribution, log_sum_exp};

/// How a hidden block is filled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// One site after the other, from the first to the last, each given those before: block Gibbs if the conditionals are
    /// those of a joint. One call of the denoiser per site. (`Gibbs` of `padir-decode`.)
    Unmasking,
    /// All sites at once, independently of each other: what a parallel decoder does. One call of the denoiser.
    /// (`Refiner` of `padir-decode` with hidden inputs.)
    Parallel,
}

/// Whose fault the error of a chain is after t steps, in total variation. The total is at most the sum of the other two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// t.
    pub step: usize,
    /// The law of the chain on learned conditionals, from p.
    pub total: f64,
    /// The law of the chain on learned conditionals, from that of the same chain on exact ones.
    pub denoiser: f64,
    /// The law of the chain on exact conditionals, from p: what it has not mixed, and what independent predictions cost.
    pub sampler: f64,
}

impl Conditionals {
    /// The transition matrix of a sampler that hides blocks drawn from a law. A context without conditionals stays as it is.
    pub fn transitions(&self, blocks: &Blocks, sampler: Sampler) -> Matrix<f64> {
        let space = self.space();
        let mut matrix = Matrix::zero(space.size());
        for entry in blocks.entries() {
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let mut logs: Vec<f64> = fillings
                    .iter()
                    .map(|f| self.log_filling(group + f, entry.block, sampler))
                    .collect();
                if sampler == Sampler::Unmasking {
                    // Fillings that an adaptive law would not have hidden so are rejected.
                    logs.iter_mut().zip(&fillings).for_each(|(log, f)| {
                        *log += entry.weight.of(group + f).ln();
                    });
                }
                let total = log_sum_exp(&logs);
                for x in fillings.iter().map(|f| group + f) {
                    let here = entry.weight.of(x);
                    if !total.is_finite() {
                        matrix.add(x, x, here);
                    } else if here > 0.0 {
                        let laid = fillings.iter().zip(&logs);
                        laid.for_each(|(f, log)| {
                            matrix.add(x, group + f, here * (log - total).exp());
                        });
                    }
                }
            }
        }
        matrix
    }

    /// ln of the probability that a block is filled as in `state`.
    fn log_filling(&self, state: usize, block: u64, sampler: Sampler) -> f64 {
        let term = |site: usize| {
            let hidden = match sampler {
                Sampler::Parallel => block,
                Sampler::Unmasking => block & (u64::MAX << site),
            };
            let logs = self.at(state, hidden, site);
            logs.map_or(f64::NEG_INFINITY, |logs| logs[self.space().symbol(state, site)])
        };
        sites_of(block).map(term).sum()
    }
}

/// The error of a chain on learned conditionals after 0, 1, …, `steps` steps from a start law, beside the chain of the
/// same sampler on exact ones.
pub fn split(
    p: &Distribution,
    learned: &Matrix<f64>,
    exact: &Matrix<f64>,
    start: &[f64],
    steps: usize,
) -> Vec<Split> {
    let target = p.probs();
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
    let (mut ours, mut ideal) = (start.to_vec(), start.to_vec());
    let mut rows = Vec::with_capacity(steps + 1);
    for step in 0..=steps {
        if step > 0 {
            (ours, ideal) = (learned.push(&ours), exact.push(&ideal));
        }
        rows.push(Split {
            step,
            total: distance(&ours, &target),
            denoiser: distance(&ours, &ideal),
            sampler: distance(&ideal, &target),
        });
    }
    rows
}
