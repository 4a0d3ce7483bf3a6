//! Approximate randomisation: swap the outputs of two systems at random, segment by segment.
//!
//! O(trials · segments · statistics), in parallel, with memory for a few trials at a time.

use rayon::prelude::*;

use super::numpy::{Bits, Generator};
use crate::metric::{Metric, Statistics};

/// How many bits are held at once.
const CHUNK: usize = 1 << 24;

/// What a trial needs of a system besides the baseline.
struct Contrast {
    /// Baseline minus system, segment by segment.
    differences: Vec<f64>,
    baseline: Vec<f64>,
    system: Vec<f64>,
    /// The score difference to beat.
    observed: f64,
}

/// For every system after the first, the number of trials whose score difference exceeds the
/// real one.
pub(super) fn exceedances(
    metric: &dyn Metric,
    systems: &[Statistics],
    trials: u32,
    generator: &mut Generator,
) -> Vec<usize> {
    let Some((baseline, others)) = systems.split_first() else { return Vec::new() };
    let contrasts: Vec<Contrast> =
        others.iter().map(|system| Contrast::new(metric, baseline, system)).collect();
    let segments = baseline.len();
    let at_once = (CHUNK / segments.max(1)).clamp(1, trials.max(1) as usize);
    let mut counts = vec![0; contrasts.len()];
    let mut bits = Bits::default();
    let mut swaps: Vec<bool> = Vec::new();
    let mut left = trials as usize;
    while left > 0 {
        let now = at_once.min(left);
        left -= now;
        swaps.clear();
        swaps.extend((0..now * segments).map(|_| bits.next(generator)));
        for (contrast, count) in contrasts.iter().zip(&mut counts) {
            let trials = swaps.par_chunks_exact(segments.max(1));
            *count += trials.filter(|swap| contrast.is_exceeded(metric, swap)).count();
        }
    }
    counts
}

impl Contrast {
    fn new(metric: &dyn Metric, baseline: &Statistics, system: &Statistics) -> Self {
        let pairs = baseline.rows().flatten().zip(system.rows().flatten());
        let differences = pairs.map(|(baseline, system)| baseline - system).collect();
        let (baseline, system) = (baseline.totals(), system.totals());
        let observed = (metric.value(&baseline) - metric.value(&system)).abs();
        Self { differences, baseline, system, observed }
    }

    /// Whether two systems shuffled this way differ more than the real ones.
    fn is_exceeded(&self, metric: &dyn Metric, takes_baseline: &[bool]) -> bool {
        let width = self.system.len();
        let mut moved = vec![0.0; width];
        for (row, _) in
            self.differences.chunks_exact(width).zip(takes_baseline).filter(|(_, takes)| **takes)
        {
            moved.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        // Exact for counts; fractions (TER with several references) have equal reference parts.
        let add = |(&total, &moved): (&f64, &f64)| total + moved;
        let subtract = |(&total, &moved): (&f64, &f64)| total - moved;
        let first: Vec<f64> = self.system.iter().zip(&moved).map(add).collect();
        let second: Vec<f64> = self.baseline.iter().zip(&moved).map(subtract).collect();
        (metric.value(&first) - metric.value(&second)).abs() > self.observed
    }
}
