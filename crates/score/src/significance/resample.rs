//! Bootstrap: score the corpus again and again with segments drawn with replacement.
//!
//! `samples` draws of all `n` segments: O(samples · n · statistics), in parallel, with memory for
//! a few draws at a time. The draws are made in order, so the threads do not matter.

use rayon::prelude::*;

use super::numpy::Generator;
use crate::metric::{Metric, Sample, Statistics};
use crate::real::Real;
use crate::score::Confidence;

/// How many indices are held at once.
const CHUNK: usize = 1 << 22;

/// The scores of all bootstrap samples of one system, in the precision NumPy computes them in.
#[derive(Clone, Debug)]
pub(super) enum Samples {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Samples {
    fn collect(samples: Vec<Sample>) -> Self {
        if samples.iter().all(|s| matches!(s, Sample::Single(_))) {
            let single = |s| if let Sample::Single(value) = s { value } else { f32::NAN };
            Self::Single(samples.into_iter().map(single).collect())
        } else {
            let double = |s| match s {
                Sample::Single(value) => f64::from(value),
                Sample::Double(value) => value,
            };
            Self::Double(samples.into_iter().map(double).collect())
        }
    }

    /// The mean and the 95 % interval, the mean summed as NumPy does: what paired tests report.
    pub(super) fn confidence(&self) -> Confidence {
        match self {
            Self::Single(values) => interval(values),
            Self::Double(values) => interval(values),
        }
    }

    /// The same with the mean summed exactly and rounded once, as Python's `statistics.mean`
    /// does: what a single system reports.
    pub(super) fn exact_confidence(&self) -> Confidence {
        let mean = match self {
            Self::Single(values) => f64::from(mean(&widen(values)) as f32),
            Self::Double(values) => mean(values),
        };
        Confidence { mean, ..self.confidence() }
    }

    /// How often the difference of two systems departs from its mean by more than `difference`,
    /// and how many samples there are.
    pub(super) fn exceedances(&self, other: &Self, difference: f64) -> usize {
        match (self, other) {
            (Self::Single(a), Self::Single(b)) => exceedances(a, b, difference),
            (Self::Double(a), Self::Double(b)) => exceedances(a, b, difference),
            (Self::Single(a), Self::Double(b)) => exceedances(&widen(a), b, difference),
            (Self::Double(a), Self::Single(b)) => exceedances(a, &widen(b), difference),
        }
    }
}

fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

fn interval<T: Real>(values: &[T]) -> Confidence {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| a.wide().total_cmp(&b.wide()));
    // 2.5 % are left out on either side.
    let tail = sorted.len() / 40;
    let width = sorted[sorted.len() - 1 - tail] - sorted[tail];
    Confidence { mean: mean(&sorted).wide(), half_width: (T::of(0.5) * width).wide() }
}

fn exceedances<T: Real>(a: &[T], b: &[T], difference: f64) -> usize {
    let distance = |(&a, &b): (&T, &T)| if a > b { a - b } else { b - a };
    let distances: Vec<T> = a.iter().zip(b).map(distance).collect();
    let mean = mean(&distances);
    distances.iter().filter(|&&d| d - mean > T::of(difference)).count()
}

fn mean<T: Real>(values: &[T]) -> T {
    pairwise_sum(values) / T::of(values.len() as f64)
}

/// NumPy's sum of contiguous numbers: eight running sums in blocks of 128, halves above that.
fn pairwise_sum<T: Real>(values: &[T]) -> T {
    let zero = T::of(0.0);
    if values.len() < 8 {
        return values.iter().fold(zero, |sum, &value| sum + value);
    }
    if values.len() <= 128 {
        let (blocks, rest) = values.as_chunks::<8>();
        let mut sums = blocks[0];
        for block in &blocks[1..] {
            sums.iter_mut().zip(block).for_each(|(sum, &value)| *sum = *sum + value);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return rest.iter().fold(sum, |sum, &value| sum + value);
    }
    let half = values.len() / 2;
    let half = half - half % 8;
    pairwise_sum(&values[..half]) + pairwise_sum(&values[half..])
}

/// The rows of a system in single precision.
struct SingleRows {
    width: usize,
    rows: Vec<f32>,
}

impl SingleRows {
    fn new(statistics: &Statistics) -> Self {
        let rows: Vec<f32> = statistics.rows().flatten().map(|&value| value as f32).collect();
        Self { width: rows.len() / statistics.len().max(1), rows }
    }

    /// The sum of the drawn rows, in the order drawn.
    fn sum(&self, drawn: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.width];
        for &row in drawn {
            let row = &self.rows[row as usize * self.width..][..self.width];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        sum
    }
}

/// Scores every system on the same `samples` draws of its segments.
pub(super) fn resample(
    metric: &dyn Metric,
    systems: &[&Statistics],
    samples: u32,
    generator: &mut Generator,
) -> Vec<Samples> {
    let segments = systems.first().map_or(0, |s| s.len());
    let rows: Vec<SingleRows> = systems.iter().map(|s| SingleRows::new(s)).collect();
    let mut scores: Vec<Vec<Sample>> = vec![Vec::new(); systems.len()];
    let at_once = (CHUNK / segments.max(1)).clamp(1, samples.max(1) as usize);
    let mut drawn: Vec<u32> = Vec::new();
    let mut left = samples as usize;
    while left > 0 {
        let now = at_once.min(left);
        left -= now;
        drawn.clear();
        drawn.extend((0..now * segments).map(|_| generator.below(segments as u32)));
        let draws: Vec<&[u32]> = drawn.chunks_exact(segments.max(1)).collect();
        for (rows, scores) in rows.iter().zip(&mut scores) {
            scores.par_extend(draws.par_iter().map(|draw| metric.sample(&rows.sum(draw))));
        }
    }
    scores.into_iter().map(Samples::collect).collect()
}
