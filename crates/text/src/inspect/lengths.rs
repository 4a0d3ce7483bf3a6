//! Distributions of lengths and of length ratios.

use serde::Serialize;

/// How often each length occurs: exact, one counter per length up to the longest.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: Vec<u64>,
}

/// A distribution of lengths in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LengthReport {
    /// The shortest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// Half are at most this long.
    pub median: u64,
    /// 95 % are at most this long.
    pub p95: u64,
    /// 99 % are at most this long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// Counts of lengths from 0, 1, 2, 4, 8, … on.
    pub histogram: Vec<Bin>,
}

/// Lengths from `from` to `to`, both included, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The shortest length counted here.
    pub from: u64,
    /// The longest length counted here.
    pub to: u64,
    /// How many lines.
    pub count: u64,
}

impl Lengths {
    pub(super) fn add(&mut self, length: usize) {
        if length >= self.counts.len() {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    fn lines(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all lengths.
    pub(super) fn total(&self) -> u64 {
        (0..).zip(&self.counts).map(|(length, count)| length * count).sum()
    }

    /// The smallest length that a share of the lines does not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let wanted = ((share * self.lines() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (length, count) in (0..).zip(&self.counts) {
            seen += count;
            if seen >= wanted {
                return length;
            }
        }
        0
    }

    pub(super) fn report(&self) -> LengthReport {
        let lines = self.lines();
        LengthReport {
            min: self.counts.iter().position(|&count| count > 0).unwrap_or(0) as u64,
            mean: if lines == 0 { 0.0 } else { self.total() as f64 / lines as f64 },
            median: self.quantile(0.5),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            max: self.counts.len().saturating_sub(1) as u64,
            histogram: self.histogram(),
        }
    }

    fn histogram(&self) -> Vec<Bin> {
        let mut bins = Vec::new();
        let (mut from, mut to) = (0, 0);
        while from < self.counts.len() {
            let last = to.min(self.counts.len() - 1);
            let count = self.counts[from..=last].iter().sum();
            bins.push(Bin { from: from as u64, to: to as u64, count });
            (from, to) = (to + 1, 2 * to + 1);
        }
        bins
    }
}

/// Steps of the ratio's logarithm: a factor of 2 has 128, so a step is half a per cent.
const STEPS: f64 = 128.0;

/// Ratios are held between 2⁻¹⁶ and 2¹⁶.
const OCTAVES: f64 = 16.0;

/// Target length over source length, on a logarithmic scale.
#[derive(Clone, Debug)]
pub(super) struct Ratios {
    counts: Vec<u64>,
    sum: u64,
}

/// A distribution of ratios in figures. Quantiles are exact to half a per cent. Pairs with an
/// empty side have no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioReport {
    /// Pairs with a ratio.
    pub pairs: u64,
    /// The mean.
    pub mean: f64,
    /// One in a hundred is at most this.
    pub p01: f64,
    /// Half are at most this.
    pub median: f64,
    /// 99 % are at most this.
    pub p99: f64,
}

/// The mean is summed in fixed point, so that it does not depend on the order of summation.
const FIXED: f64 = (1_u64 << 20) as f64;

impl Default for Ratios {
    fn default() -> Self {
        Self { counts: vec![0; (2.0 * OCTAVES * STEPS) as usize + 1], sum: 0 }
    }
}

impl Ratios {
    pub(super) fn add(&mut self, source: usize, target: usize) {
        if source == 0 || target == 0 {
            return;
        }
        let ratio = target as f64 / source as f64;
        let step = (ratio.log2().clamp(-OCTAVES, OCTAVES) + OCTAVES) * STEPS;
        self.counts[step.round() as usize] += 1;
        self.sum += (ratio * FIXED) as u64;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.sum += other.sum;
    }

    pub(super) fn report(&self) -> RatioReport {
        let pairs: u64 = self.counts.iter().sum();
        let quantile = |share: f64| {
            let wanted = ((share * pairs as f64).ceil() as u64).max(1);
            let mut seen = 0;
            let step = self.counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            step.map_or(0.0, |step| (step as f64 / STEPS - OCTAVES).exp2())
        };
        let mean = if pairs == 0 { 0.0 } else { self.sum as f64 / FIXED / pairs as f64 };
        RatioReport { pairs, mean, p01: quantile(0.01), median: quantile(0.5), p99: quantile(0.99) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn figures_agree_with_a_sorted_list(mut list in prop::collection::vec(0_usize..300, 1..200)) {
            let mut lengths = Lengths::default();
            for &length in &list {
                lengths.add(length);
            }
            list.sort_unstable();
            let report = lengths.report();
            let at = |share: f64| list[((share * list.len() as f64).ceil() as usize).max(1) - 1] as u64;
            prop_assert_eq!(report.min, list[0] as u64);
            prop_assert_eq!(report.median, at(0.5));
            prop_assert_eq!(report.p95, at(0.95));
            prop_assert_eq!(report.p99, at(0.99));
            prop_assert_eq!(report.max, list[list.len() - 1] as u64);
            for bin in &report.histogram {
                let inside = |length: &&usize| (bin.from..=bin.to).contains(&(**length as u64));
                prop_assert_eq!(bin.count, list.iter().filter(inside).count() as u64);
            }
            let all: u64 = report.histogram.iter().map(|bin| bin.count).sum();
            prop_assert_eq!(all, list.len() as u64);
        }
    }

    #[test]
    fn ratios_are_exact_to_half_a_per_cent() {
        let mut ratios = Ratios::default();
        for _ in 0..98 {
            ratios.add(10, 12);
        }
        ratios.add(100, 1);
        ratios.add(1, 100);
        ratios.add(0, 5);
        let report = ratios.report();
        assert_eq!(report.pairs, 100);
        assert!((report.median / 1.2 - 1.0).abs() < 0.005, "{report:?}");
        assert!((report.p01 / 0.01 - 1.0).abs() < 0.005, "{report:?}");
        assert!((report.mean - (98.0 * 1.2 + 0.01 + 100.0) / 100.0).abs() < 1e-4, "{report:?}");
    }

    #[test]
    fn nothing_has_no_length() {
        let report = Lengths::default().report();
        assert_eq!((report.min, report.max, report.median), (0, 0, 0));
        assert!(report.histogram.is_empty());
    }
}
