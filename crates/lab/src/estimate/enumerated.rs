//! The loss of any family under any law, on a small enumerated space.
//!
//! L(θ) = `Σ_K` `Σ_g` `W_K(g)` ln Σ_{y∈g} p(K|y) e^⟨θ,T(y)⟩ − ⟨θ, T̂⟩ + const, where g are the groups of
//! states that agree outside of K and `W_K(g)` = Σ_{x∈g} n̂(x) p(K|x). `O(Σ_K` qᴺ d) per gradient.

use rayon::prelude::*;

use super::{Loss, Samples};
use crate::asymptotics::variability;
use crate::chain::{BlockEntry, Blocks, Matrix};
use crate::distribution::log_sum_exp;
use crate::model::Family;
use crate::space::Space;

/// The loss over an enumerated space.
#[derive(Clone, Debug)]
pub struct EnumeratedLoss {
    statistics: Vec<Vec<f64>>,
    observed: Vec<f64>,
    /// Σ n̂(x) p(K|x) ln p(K|x): what the law itself contributes.
    constant: f64,
    groups: Vec<Group>,
    /// What scores are computed from, where every state has all its masks.
    scores: Option<Scores>,
}

#[derive(Clone, Debug)]
struct Scores {
    family: Family,
    blocks: Blocks,
    frequency: Vec<f64>,
}

/// States that agree outside of a block, with what was observed there.
#[derive(Clone, Debug)]
struct Group {
    weight: f64,
    /// The states with ln p(K | y).
    states: Vec<(usize, f64)>,
    /// Which of them were observed.
    seen: Vec<usize>,
}

impl EnumeratedLoss {
    /// The empirical loss of samples.
    pub fn new(family: &Family, blocks: &Blocks, samples: &Samples) -> Self {
        let space = blocks.space();
        let mut frequency = vec![0.0; space.size()];
        let total = samples.total();
        for i in 0..samples.distinct() {
            let state = space.state_of(samples.row(i).iter().map(|&s| usize::from(s)));
            frequency[state] += samples.count(i) / total;
        }
        Self::from_frequencies(family, blocks, &frequency)
    }

    /// The loss under any weights of the states: with p itself, the population loss.
    pub fn from_frequencies(family: &Family, blocks: &Blocks, frequency: &[f64]) -> Self {
        let pair = |b: usize, x: usize| frequency[x] * blocks.entries()[b].weight.of(x);
        let scores = Scores {
            family: family.clone(),
            blocks: blocks.clone(),
            frequency: frequency.to_vec(),
        };
        // Every state has its masks with certainty in sum.
        Self { scores: Some(scores), ..Self::build(family, blocks, frequency, pair) }
    }

    /// The loss under any weights of pairs of a state and a mask: `weights[b][x]` of the b-th block
    /// and state x, one in sum.
    ///
    /// # Panics
    /// If there is not one weight per block and state.
    pub fn from_pairs(family: &Family, blocks: &Blocks, weights: &[Vec<f64>]) -> Self {
        assert_eq!(weights.len(), blocks.entries().len(), "one list per block");
        let mut frequency = vec![0.0; blocks.space().size()];
        for list in weights {
            frequency.iter_mut().zip(list).for_each(|(sum, w)| *sum += w);
        }
        Self::build(family, blocks, &frequency, |b, x| weights[b][x])
    }

    fn build(
        family: &Family,
        blocks: &Blocks,
        frequency: &[f64],
        pair: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let space = blocks.space();
        let d = family.dimension();
        let statistics: Vec<Vec<f64>> = (0..space.size())
            .map(|x| (0..d).map(|i| family.statistic(&space, x, i)).collect())
            .collect();
        let mut observed = vec![0.0; d];
        for (row, &f) in statistics.iter().zip(frequency) {
            observed.iter_mut().zip(row).for_each(|(sum, t)| *sum += f * t);
        }
        let mut constant = 0.0;
        let mut groups = Vec::new();
        for (b, entry) in blocks.entries().iter().enumerate() {
            for x in (0..space.size()).filter(|&x| frequency[x] > 0.0) {
                let weight = pair(b, x);
                if weight > 0.0 {
                    constant += weight * entry.weight.of(x).ln();
                }
            }
            groups.extend(groups_of(family, space, entry, |x| pair(b, x)));
        }
        Self { statistics, observed, constant, groups, scores: None }
    }

    fn potential(&self, parameters: &[f64]) -> Vec<f64> {
        let dot = |row: &Vec<f64>| row.iter().zip(parameters).map(|(t, p)| t * p).sum();
        self.statistics.iter().map(dot).collect()
    }

    fn add_mean(&self, group: &Group, law: &[f64], factor: f64, mean: &mut [f64]) {
        for (&(y, _), &p) in group.states.iter().zip(law) {
            let weight = factor * p;
            mean.iter_mut().zip(&self.statistics[y]).for_each(|(sum, t)| *sum += weight * t);
        }
    }
}

/// ln Σ, and the law of the group's states under θ.
fn group_law(group: &Group, potential: &[f64], law: &mut Vec<f64>) -> f64 {
    law.clear();
    law.extend(group.states.iter().map(|&(y, log)| potential[y] + log));
    let total = log_sum_exp(law);
    for log in law {
        *log = (*log - total).exp();
    }
    total
}

fn groups_of(
    family: &Family,
    space: Space,
    entry: &BlockEntry,
    pair: impl Fn(usize) -> f64,
) -> Vec<Group> {
    let fillings = space.fillings(entry.block);
    space
        .groups(entry.block)
        .into_iter()
        .filter_map(|group| {
            let all = fillings.iter().map(|f| group + f);
            let weight: f64 = all.clone().map(&pair).sum();
            (weight > 0.0).then(|| Group {
                weight,
                states: all
                    .clone()
                    .filter(|&y| family.allows(y) && entry.weight.of(y) > 0.0)
                    .map(|y| (y, entry.weight.of(y).ln()))
                    .collect(),
                seen: all.filter(|&x| pair(x) > 0.0).collect(),
            })
        })
        .collect()
}

/// Groups per piece of parallel work; fixed, for the same sums on any number of threads.
const PIECE: usize = 256;

impl Loss for EnumeratedLoss {
    fn dimension(&self) -> usize {
        self.observed.len()
    }

    fn gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let potential = self.potential(parameters);
        let parts: Vec<(f64, Vec<f64>)> = self
            .groups
            .par_chunks(PIECE)
            .map(|groups| {
                let mut value = 0.0;
                let mut mean = vec![0.0; self.dimension()];
                let mut law = Vec::new();
                for group in groups {
                    value += group.weight * group_law(group, &potential, &mut law);
                    self.add_mean(group, &law, group.weight, &mut mean);
                }
                (value, mean)
            })
            .collect();
        let mut value = -self.constant;
        gradient.fill(0.0);
        // Every block is drawn with certainty in sum, so T̂ counts once.
        for (part, mean) in parts {
            value += part;
            gradient.iter_mut().zip(mean).for_each(|(sum, m)| *sum += m);
        }
        for (g, (t, p)) in gradient.iter_mut().zip(self.observed.iter().zip(parameters)) {
            *g -= t;
            value -= t * p;
        }
        value
    }

    fn hessian(&self, parameters: &[f64]) -> Matrix<f64> {
        let potential = self.potential(parameters);
        let d = self.dimension();
        let parts: Vec<Matrix<f64>> = self
            .groups
            .par_chunks(PIECE)
            .map(|groups| {
                let mut sum = Matrix::zero(d);
                let mut law = Vec::new();
                let mut mean = vec![0.0; d];
                for group in groups {
                    group_law(group, &potential, &mut law);
                    mean.fill(0.0);
                    self.add_mean(group, &law, 1.0, &mut mean);
                    for (&(y, _), &p) in group.states.iter().zip(&law) {
                        let centred: Vec<f64> =
                            self.statistics[y].iter().zip(&mean).map(|(t, m)| t - m).collect();
                        for (i, &c) in centred.iter().enumerate() {
                            let factor = group.weight * p * c;
                            let row = sum.row_mut(i);
                            row.iter_mut().zip(&centred).for_each(|(s, c)| *s += factor * c);
                        }
                    }
                }
                sum
            })
            .collect();
        Matrix::sum(d, &parts)
    }

    fn score_covariance(&self, parameters: &[f64], _masks: usize) -> Option<Matrix<f64>> {
        let Scores { family, blocks, frequency } = self.scores.as_ref()?;
        Some(variability(family, blocks, frequency, parameters).averaged)
    }

    fn margins(&self, direction: &[f64]) -> (f64, f64) {
        let potential = self.potential(direction);
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        for group in &self.groups {
            for &x in &group.seen {
                for &(y, _) in &group.states {
                    let margin = potential[x] - potential[y];
                    extremes = (extremes.0.min(margin), extremes.1.max(margin));
                }
            }
        }
        extremes
    }
}
