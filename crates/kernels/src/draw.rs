//! Draws from softmax(l/τ), one for each row of logits.
//!
//! A draw is a function of the key, the site and the row alone, as dropout's masks are, so threads have no influence on it. It inverts
//! the distribution function: with u uniform on \[0, 1), the first class c for which Σ_{i ≤ c} `e^(l_i/τ)` exceeds u·Σ `e^(l_i/τ)`.
//! Weights are computed twice and never stored: logits are still wanted. O(V) a row.

use padir_base::random::philox;

use crate::simd::{LANES, exp, fold};

/// Classes whose weights are added up in single precision; sums of blocks are in double.
const BLOCK: usize = 512;
/// Tells these numbers from those of dropout with the same key and site.
const TAG: u32 = 0x5a3b;

/// How classes are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// τ, positive: below 1 probable classes become more so.
    pub temperature: f32,
    /// The seed of the step.
    pub key: [u32; 2],
    /// Which draw of the step this is.
    pub site: u32,
}

impl Draw {
    /// A class of a row. Rows without a finite largest logit have no law; they get class 0.
    ///
    /// # Panics
    /// If the temperature is not positive, or there is no class.
    pub fn class(&self, row: usize, logits: &[f32]) -> u32 {
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        self.class_below(row, logits, most)
    }

    /// The same, if the largest logit is known.
    pub(crate) fn class_below(&self, row: usize, logits: &[f32], most: f32) -> u32 {
        assert!(self.temperature > 0.0, "a temperature is positive, not {}", self.temperature);
        assert!(!logits.is_empty(), "there must be a class to draw");
        let sums: Vec<f64> = logits
            .chunks(BLOCK)
            .map(|block| f64::from(weigh(block, most, self.temperature)))
            .collect();
        let mut rest = self.uniform(row) * sums.iter().sum::<f64>();
        let mut block = 0;
        while block + 1 < sums.len() && rest >= sums[block] {
            rest -= sums[block];
            block += 1;
        }
        let first = block * BLOCK;
        let block = &logits[first..logits.len().min(first + BLOCK)];
        // Where rounding leads beyond the last weight, the last one that is not 0 is meant.
        let mut chosen = 0;
        for (class, &logit) in block.iter().enumerate() {
            let weight = f64::from(exp((logit - most) / self.temperature));
            if weight > 0.0 {
                chosen = class;
                if rest < weight {
                    break;
                }
                rest -= weight;
            }
        }
        (first + chosen) as u32
    }

    /// The number of a row in \[0, 1).
    fn uniform(&self, row: usize) -> f64 {
        let row = row as u64;
        let words = philox([row as u32, (row >> 32) as u32, self.site, TAG], self.key);
        let bits = u64::from(words[1]) << 32 | u64::from(words[0]);
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

crate::simd::vectorised! {
    /// Σ e^((lᵢ − m)/τ).
    fn weigh(logits: &[f32], most: f32, temperature: f32) -> f32 {
        let mut lanes = [0.0; LANES];
        let (whole, rest) = logits.as_chunks::<LANES>();
        for logits in whole {
            for i in 0..LANES {
                lanes[i] += exp((logits[i] - most) / temperature);
            }
        }
        fold(lanes) + rest.iter().map(|l| exp((l - most) / temperature)).sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { temperature: 1.0, key: [1, 2], site: 3 };

    /// softmax(l/τ) in double precision.
    fn law(logits: &[f32], temperature: f64) -> Vec<f64> {
        let weights: Vec<f64> =
            logits.iter().map(|&l| (f64::from(l) / temperature).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// Classes are put together until about `bins` of equal probability remain.
    fn chi_square(counts: &[f64], law: &[f64], bins: f64) -> (f64, usize) {
        let total: f64 = counts.iter().sum();
        let (mut found, mut expected, mut sum, mut used) = (0.0, 0.0, 0.0, 0);
        for (class, (count, p)) in counts.iter().zip(law).enumerate() {
            found += count;
            expected += p * total;
            if expected >= total / bins || class + 1 == law.len() {
                sum += (found - expected).powi(2) / expected;
                (found, expected, used) = (0.0, 0.0, used + 1);
            }
        }
        (sum, used)
    }

    /// Few classes, and several blocks of them.
    #[test]
    fn draws_follow_the_softmax() {
        for classes in [2, 7, 1300] {
            let logits: Vec<f32> = (0..classes).map(|c| 2.0 * (c as f32 * 0.9).sin()).collect();
            for temperature in [0.5, 1.0, 3.0] {
                let draw = Draw { temperature, ..DRAW };
                let mut counts = vec![0.0; classes];
                for row in 0..40_000 {
                    counts[draw.class(row, &logits) as usize] += 1.0;
                }
                let law = law(&logits, f64::from(temperature));
                let (chi2, bins) = chi_square(&counts, &law, 60.0);
                // χ² of n degrees of freedom has mean n and variance 2n: beyond five deviations it is another law.
                let n = (bins - 1) as f64;
                assert!(
                    chi2 < n + 5.0 * (2.0 * n).sqrt(),
                    "{classes} classes at {temperature}: χ² = {chi2} of {n}"
                );
            }
        }
    }

    #[test]
    fn rows_sites_and_keys_draw_by_themselves() {
        let logits = vec![0.0; 1000];
        let draws =
            |draw: Draw| -> Vec<u32> { (0..9).map(|row| draw.class(row, &logits)).collect() };
        let first = draws(DRAW);
        assert_eq!(first, draws(DRAW));
        assert_ne!(first, draws(Draw { site: 4, ..DRAW }));
        assert_ne!(first, draws(Draw { key: [1, 3], ..DRAW }));
        assert!(first.iter().any(|&class| class != first[0]));
    }

    #[test]
    fn what_is_impossible_is_never_drawn() {
        let mut logits = vec![f32::NEG_INFINITY; 1100];
        logits[700] = -3.0;
        logits[1099] = -300.0;
        for temperature in [1e-45, 1.0, f32::MAX] {
            let draw = Draw { temperature, ..DRAW };
            let drawn: Vec<u32> = (0..50).map(|row| draw.class(row, &logits)).collect();
            let possible = if temperature > 1.0 { &[700, 1099][..] } else { &[700][..] };
            assert!(drawn.iter().all(|class| possible.contains(class)), "{temperature}: {drawn:?}");
        }
        // No law at all is no panic either.
        assert_eq!(DRAW.class(0, &[f32::NAN; 3]), 0);
        assert_eq!(DRAW.class(0, &[f32::NEG_INFINITY; 3]), 0);
    }
}
