//! How sure a difference between two kinds of pairs is.
//!
//! Pairs of one sentence depend on each other, so sentences are what is resampled. [`bootstrap`]: percentile intervals of the difference of means,
//! O(replicates·sentences). [`permutation`]: labels are shuffled *within* sentences, which keeps each sentence's number of failures and removes
//! what sentences differ in, O(permutations·pairs). [`auc`]: the probability that a failing pair has the larger value, ties half, O(n ln n).

use padir_base::random::{Purpose, Seed};
use serde::Serialize;

/// One pair's value of some quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Its sentence.
    pub sentence: u32,
    /// Whether the pair fails: stutters, or flips.
    pub fails: bool,
    /// The value.
    pub value: f64,
}

/// Mean and standard deviation (of the population) of numbers; none of nothing.
pub fn moments(numbers: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let count = numbers.clone().count();
    if count == 0 {
        return None;
    }
    let mean = numbers.clone().sum::<f64>() / count as f64;
    let square = numbers.map(|x| (x - mean) * (x - mean)).sum::<f64>() / count as f64;
    Some((mean, square.sqrt()))
}

/// The probability that a failing pair has a larger value than another one, ties half; none without both kinds.
pub fn auc(samples: &[Sample]) -> Option<f64> {
    let mut order: Vec<&Sample> = samples.iter().collect();
    order.sort_by(|a, b| a.value.total_cmp(&b.value));
    let (mut below, mut wins) = (0.0, 0.0);
    #[expect(clippy::float_cmp, reason = "ties are equal numbers")]
    for ties in order.chunk_by(|a, b| a.value == b.value) {
        let fails = ties.iter().filter(|sample| sample.fails).count() as f64;
        let others = ties.len() as f64 - fails;
        wins += fails * (below + others / 2.0);
        below += others;
    }
    let pairs = below * (samples.len() as f64 - below);
    (pairs > 0.0).then(|| wins / pairs)
}

/// Sums of one sentence: count and sum of failing pairs, count and sum of others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums([f64; 4]);

impl Sums {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }

    /// Mean of failing pairs minus mean of others; none without both kinds.
    pub fn difference(&self) -> Option<f64> {
        let [fails, failing, others, rest] = self.0;
        (fails > 0.0 && others > 0.0).then(|| failing / fails - rest / others)
    }
}

/// The sums of each sentence that has pairs, in order.
pub fn by_sentence(samples: &[Sample]) -> Vec<Sums> {
    let sums = |own: &[Sample]| {
        own.iter().fold(Sums::default(), |mut sums, sample| {
            let first = if sample.fails { 0 } else { 2 };
            sums.0[first] += 1.0;
            sums.0[first + 1] += sample.value;
            sums
        })
    };
    samples.chunk_by(|a, b| a.sentence == b.sentence).map(sums).collect()
}

/// The difference of means over sentences, given by their numbers; each counts as often as it is named.
pub fn difference(sentences: &[Sums], chosen: impl Iterator<Item = usize>) -> Option<f64> {
    let mut total = Sums::default();
    chosen.for_each(|number| total.add(&sentences[number]));
    total.difference()
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The percentile interval of the difference of means; none where fewer than half of the replicates have both kinds of pairs.
pub fn bootstrap(sentences: &[Sums], replicates: usize, seed: Seed) -> Option<Interval> {
    if sentences.len() < 2 {
        return None;
    }
    let mut stream = seed.stream(Purpose::Resampling, 0);
    let count = sentences.len();
    let mut found: Vec<f64> = (0..replicates)
        .filter_map(|_| {
            let chosen: Vec<usize> =
                (0..count).map(|_| stream.below(count as u64) as usize).collect();
            difference(sentences, chosen.into_iter())
        })
        .collect();
    if found.is_empty() || 2 * found.len() < replicates {
        return None;
    }
    found.sort_by(f64::total_cmp);
    Some(Interval { low: quantile(&found, 0.025), high: quantile(&found, 0.975) })
}

/// A quantile of sorted numbers, interpolated linearly.
///
/// # Panics
/// If there are none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let low = place as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// The two-sided p-value of the difference of means: (1 + as extreme) / (1 + permutations). Labels are shuffled within sentences; none where no sentence has
/// both kinds.
pub fn permutation(samples: &[Sample], permutations: usize, seed: Seed) -> Option<f64> {
    let mixed = |own: &&[Sample]| {
        let fails = own.iter().filter(|sample| sample.fails).count();
        0 < fails && fails < own.len()
    };
    let sentences: Vec<&[Sample]> =
        samples.chunk_by(|a, b| a.sentence == b.sentence).filter(mixed).collect();
    if sentences.is_empty() {
        return None;
    }
    // Only the sum of failing pairs changes, and it is an affine function of the difference of means.
    let fails = samples.iter().filter(|sample| sample.fails).count() as f64;
    let total: f64 = samples.iter().map(|sample| sample.value).sum();
    let others = samples.len() as f64 - fails;
    let fixed: f64 = samples
        .chunk_by(|a, b| a.sentence == b.sentence)
        .filter(|own| !mixed(own))
        .flatten()
        .filter(|sample| sample.fails)
        .map(|sample| sample.value)
        .sum();
    let difference = |failing: f64| failing / fails - (total - failing) / others;
    // Under the null a sentence's failing pairs are drawn from it: the expected sum is the centre.
    let centre: f64 = sentences
        .iter()
        .map(|own| {
            let fails = own.iter().filter(|sample| sample.fails).count() as f64;
            fails * own.iter().map(|sample| sample.value).sum::<f64>() / own.len() as f64
        })
        .sum();
    let centre = difference(fixed + centre);
    let observed: f64 = samples.iter().filter(|s| s.fails).map(|s| s.value).sum();
    let extreme = (difference(observed) - centre).abs() * (1.0 - 1e-12);
    let mut stream = seed.stream(Purpose::Resampling, 1);
    let mut values: Vec<f64> = Vec::new();
    let mut as_extreme = 0_usize;
    for _ in 0..permutations {
        let mut failing = fixed;
        for own in &sentences {
            values.clear();
            values.extend(own.iter().map(|sample| sample.value));
            let fails = own.iter().filter(|sample| sample.fails).count();
            // The first few of a shuffle are enough.
            for i in 0..fails {
                let j = i + stream.below((values.len() - i) as u64) as usize;
                values.swap(i, j);
                failing += values[i];
            }
        }
        as_extreme += usize::from((difference(failing) - centre).abs() >= extreme);
    }
    Some((1 + as_extreme) as f64 / (1 + permutations) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentence, failure and value.
    type Row = (u32, bool, f64);

    fn samples(all: &[Row]) -> Vec<Sample> {
        all.iter().map(|&(sentence, fails, value)| Sample { sentence, fails, value }).collect()
    }

    #[test]
    fn auc_counts_wins_and_half_of_ties() {
        let cases: [(&[Row], Option<f64>); 5] = [
            (&[(0, true, 2.0), (0, false, 1.0)], Some(1.0)),
            (&[(0, true, 1.0), (0, false, 1.0)], Some(0.5)),
            (&[(0, true, 1.0), (0, true, 3.0), (0, false, 2.0)], Some(0.5)),
            (&[(0, true, 1.0)], None),
            (&[], None),
        ];
        for (all, expected) in cases {
            assert_eq!(auc(&samples(all)), expected, "{all:?}");
        }
    }

    /// One sentence, one failing pair of four: the p-value is the rank.
    #[test]
    fn permutations_are_those_of_the_definition() {
        let all = samples(&[(0, true, 9.0), (0, false, 1.0), (0, false, 2.0), (0, false, 3.0)]);
        let p = permutation(&all, 20_000, Seed(1)).unwrap();
        assert!((p - 0.25).abs() < 0.015, "{p}");
        let alone = samples(&[(0, true, 9.0), (1, false, 1.0)]);
        assert_eq!(permutation(&alone, 100, Seed(1)), None, "nothing to exchange");
        let equal = samples(&[(0, true, 1.0), (0, false, 1.0)]);
        assert_eq!(permutation(&equal, 100, Seed(1)), Some(1.0));
    }

    #[test]
    fn intervals_cover_and_shrink() {
        let mut stream = Seed(3).stream(Purpose::Test, 0);
        let mut sentences = |count: u32| {
            let all: Vec<Sample> = (0..count * 6)
                .map(|i| Sample {
                    sentence: i / 6,
                    fails: i % 6 == 0,
                    value: stream.normal() + if i % 6 == 0 { 1.0 } else { 0.0 },
                })
                .collect();
            by_sentence(&all)
        };
        let wide = bootstrap(&sentences(30), 500, Seed(1)).unwrap();
        let narrow = bootstrap(&sentences(3000), 500, Seed(1)).unwrap();
        assert!(narrow.low < 1.0 && 1.0 < narrow.high, "{narrow:?}");
        assert!(narrow.high - narrow.low < (wide.high - wide.low) / 5.0);
        assert_eq!(bootstrap(&sentences(1), 500, Seed(1)), None);
        assert_eq!(bootstrap(&[], 500, Seed(1)), None);
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert!((quantile(&[0.0, 1.0, 2.0, 4.0], 0.5) - 1.5).abs() < 1e-12);
        assert!((quantile(&[3.0], 0.9) - 3.0).abs() < 1e-12);
    }
}
