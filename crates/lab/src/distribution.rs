//! An enumerated distribution: exact partition function, marginals, conditionals, sampling.
//!
//! Everything is kept as natural logarithms. O(qᴺ) memory; a marginal costs O(qᴺ).

use padir_base::random::Stream;

use crate::chance::Coin;
use crate::space::Space;

/// p over Ωᴺ, state by state.
#[derive(Clone, Debug)]
pub struct Distribution {
    space: Space,
    log_prob: Vec<f64>,
    log_partition: f64,
}

impl Distribution {
    /// Normalises log-weights; `NEG_INFINITY` means impossible.
    ///
    /// # Panics
    /// If there is not one weight per state, one is NaN, or all are impossible.
    pub fn from_log_weights(space: Space, mut weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), space.size(), "one weight per state");
        let log_partition = log_sum_exp(&weights);
        assert!(log_partition.is_finite(), "the weights have no finite positive sum");
        for weight in &mut weights {
            *weight -= log_partition;
        }
        Self { space, log_prob: weights, log_partition }
    }

    /// Ωᴺ.
    pub fn space(&self) -> Space {
        self.space
    }

    /// ln Z, the logarithm of the sum of all weights.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// ln p(x).
    #[inline]
    pub fn log_prob(&self, state: usize) -> f64 {
        self.log_prob[state]
    }

    /// ln p, state by state.
    pub fn log_probs(&self) -> &[f64] {
        &self.log_prob
    }

    /// p, state by state; what is below 10⁻³⁰⁸ becomes 0.
    pub fn probs(&self) -> Vec<f64> {
        self.log_prob.iter().map(|l| l.exp()).collect()
    }

    /// ln of the marginal p(x₋ₖ), one entry per group of [`Space::groups`]`(block)`.
    pub fn log_outside(&self, block: u64) -> Vec<f64> {
        let fillings = self.space.fillings(block);
        let groups = self.space.groups(block);
        let inside = |g: usize| fillings.iter().map(move |f| self.log_prob[g + f]);
        groups.iter().map(|&g| log_sum_exp_iter(|| inside(g))).collect()
    }

    /// ln of the marginal of the sites in `block`, one entry per filling.
    pub fn log_marginal(&self, block: u64) -> Vec<f64> {
        self.log_outside(!block & (u64::MAX >> (64 - self.space.sites())))
    }

    /// ln p(· | x₋ₖ) over the fillings of the block; none if x₋ₖ is impossible.
    pub fn log_conditional(&self, state: usize, block: u64) -> Option<Vec<f64>> {
        let group = self.space.outside(state, block);
        let mut logs: Vec<f64> =
            self.space.fillings(block).iter().map(|f| self.log_prob[group + f]).collect();
        let total = log_sum_exp(&logs);
        for log in &mut logs {
            *log -= total;
        }
        total.is_finite().then_some(logs)
    }

    /// ln P(all sites of the block have the symbol): the weight of a mode like
    /// R₁ = {x : xᵢ = +1 on the clique}.
    pub fn log_mode(&self, block: u64, symbol: usize) -> f64 {
        let held = self.space.fillings(block).len();
        let filling = if symbol + 1 == self.space.symbols() {
            held - 1
        } else {
            let sites = (0..self.space.sites()).filter(|&i| block >> i & 1 == 1);
            // The fillings count in base q, so equal digits are a multiple of 11…1.
            sites.fold(0, |index, _| index * self.space.symbols() + symbol)
        };
        self.log_marginal(block)[filling]
    }

    /// E f.
    pub fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        (0..self.space.size()).map(|x| self.log_prob[x].exp() * f(x)).sum()
    }

    /// Prepares exact sampling: O(qᴺ) once, then O(qN) a draw.
    pub fn sampler(&self) -> ExactSampler {
        ExactSampler::new(self)
    }
}

/// Draws independent states, symbol by symbol from exact conditionals.
#[derive(Clone, Debug)]
pub struct ExactSampler {
    space: Space,
    /// `sums[i]`: ln of the total probability of every setting of the sites from i on.
    sums: Vec<Vec<f64>>,
}

impl ExactSampler {
    fn new(p: &Distribution) -> Self {
        let q = p.space.symbols();
        let mut sums = vec![p.log_prob.clone()];
        for site in 0..p.space.sites() {
            let finer = &sums[site];
            // Site `site` is the fastest digit of what is left.
            sums.push(finer.chunks(q).map(log_sum_exp).collect());
        }
        Self { space: p.space, sums }
    }

    /// One draw.
    pub fn draw(&self, stream: &mut Stream) -> usize {
        let q = self.space.symbols();
        let mut index = 0;
        for site in (0..self.space.sites()).rev() {
            let logs = &self.sums[site][index * q..(index + 1) * q];
            index = index * q + draw_log(logs, stream);
        }
        index
    }
}

/// An index with probability proportional to e^log, by one exact coin after the other.
pub(crate) fn draw_log(logs: &[f64], stream: &mut Stream) -> usize {
    for first in 0..logs.len() - 1 {
        let rest = log_sum_exp(&logs[first + 1..]);
        if rest == f64::NEG_INFINITY || Coin::from_log_odds(logs[first] - rest).toss(stream) {
            return first;
        }
    }
    logs.len() - 1
}

/// ln Σ e^v; −∞ for nothing.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    log_sum_exp_iter(|| values.iter().copied())
}

fn log_sum_exp_iter<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> f64 {
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + values().map(|v| (v - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Clique, Ising, Model};
    use padir_base::random::{Purpose, Seed};

    /// Z = (2 cosh J)ᴺ⁻¹ · 2 for a chain, λ₊ᴺ + λ₋ᴺ for a ring (Ising 1925).
    #[test]
    fn partition_functions_of_chains_are_known() {
        for j in [0.0, 0.3, 2.0, 40.0] {
            let z = |periodic| {
                let model = Ising::uniform(10, &Shape::Chain { periodic }, 0.0, j).unwrap();
                Model::Ising(model).enumerate().unwrap().log_partition()
            };
            // ln 2cosh J, without overflow.
            let log_cosh = j + (-2.0 * j).exp().ln_1p();
            let chain = 2_f64.ln() + 9.0 * log_cosh;
            let ring = 10.0 * log_cosh + j.tanh().powi(10).ln_1p();
            assert!((z(false) - chain).abs() < 1e-12 * chain, "chain, J = {j}");
            assert!((z(true) - ring).abs() < 1e-12 * ring, "ring, J = {j}");
        }
    }

    #[test]
    fn modes_have_the_known_ratio() {
        // p(R₁)/p(R₋₁) = exp(2 h_G).
        let clique = Clique::uniform(7, 4, 0.3, 1.5).unwrap();
        let p = Model::Ising(clique.to_ising()).enumerate().unwrap();
        let ratio = p.log_mode(0b1111, 1) - p.log_mode(0b1111, 0);
        assert!((ratio - 2.0 * clique.total_field()).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn conditionals_are_ratios_of_marginals() {
        let model = Ising::uniform(5, &Shape::Random { density: 0.6, seed: 2 }, 0.2, -0.8).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        let space = p.space();
        for block in 1..32_u64 {
            let outside = p.log_outside(block);
            assert!(log_sum_exp(&outside).abs() < 1e-12);
            for (&group, &log_outside) in space.groups(block).iter().zip(&outside) {
                let conditional = p.log_conditional(group, block).unwrap();
                for (filling, log) in space.fillings(block).iter().zip(conditional) {
                    let expected = p.log_prob(group + filling) - log_outside;
                    assert!((log - expected).abs() < 1e-12, "block {block:b}");
                }
            }
        }
    }

    #[test]
    fn exact_sampling_has_the_right_frequencies() {
        let model = Ising::uniform(3, &Shape::Chain { periodic: false }, 0.3, 0.5).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        let sampler = p.sampler();
        let mut stream = Seed(1).stream(Purpose::Test, 0);
        let mut counts = [0_u32; 8];
        let draws = 40_000;
        for _ in 0..draws {
            counts[sampler.draw(&mut stream)] += 1;
        }
        // Seven degrees of freedom: χ² above 35 has probability 1e-5.
        let chi2: f64 = (0..8)
            .map(|x| {
                let expected = f64::from(draws) * p.log_prob(x).exp();
                (f64::from(counts[x]) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi2 < 35.0, "χ² = {chi2}");
    }
}
