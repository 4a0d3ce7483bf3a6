//! Iterative NAT (Lee et al. 2018): several unrolled passes, with denoising in between.
//!
//! ```text
//! X⁰ = masks ─► decoder ─► loss¹, X¹ = argmax, or for some sentences a poisoned y ─► decoder ─► loss², …
//! ```
//!
//! Each sentence of each later pass reads a poisoned target with probability `denoise_prob`. Poison falls on a token with
//! probability β, in equal parts: it is replaced by a random one, becomes a copy of the token before it, or changes places with the
//! token after it. All positions but the end count, and passes have equal weights that add up to 1.

use padir_base::random::Stream;
use padir_model::{Network, Pass};

use super::cmlm::{corrupt, masks, tokens};
use super::stages::{Smoothing, Stages, all, with_ends};
use super::{Losses, Objective, Pairs};
use crate::config;

use padir_base::mask::MaskLaw;
use std::ops::Range;

/// Unrolled passes from masks.
#[derive(Clone, Debug)]
pub struct Inat {
    /// Passes and poison.
    pub settings: config::Inat,
    /// Label smoothing and z-loss.
    pub smoothing: Smoothing,
}

/// A sentence that ends with its end, with some tokens replaced, repeated or swapped.
fn poison(sentence: &[u32], rate: f64, random: &Range<u32>, chance: &mut Stream) -> Vec<u32> {
    let mut poisoned = sentence.to_vec();
    let body = sentence.len().saturating_sub(1);
    let mut i = 0;
    while i < body {
        let u = chance.uniform() / rate;
        if u < 1.0 / 3.0 {
            let span = u64::from(random.end - random.start);
            poisoned[i] = random.start + chance.below(span) as u32;
        } else if u < 2.0 / 3.0 {
            poisoned[i] = sentence[i.saturating_sub(1)];
        } else if u < 1.0 && i + 1 < body {
            poisoned.swap(i, i + 1);
            i += 1;
        }
        i += 1;
    }
    poisoned
}

impl Objective for Inat {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let config::Inat { stages: count, denoise_prob, poison_prob, length } = self.settings;
        let random = &network.config().symbols.random;
        let mut read = tokens(&corrupt(&masks(MaskLaw::All), network, pairs, chance));
        let mut stages = Stages::begin(network, pass, pairs, length, self.smoothing);
        for _ in 0..count {
            let outcome = stages.learn(read, all(pairs), 1.0 / count as f32, None);
            read = with_ends(outcome.best, pairs);
            for row in pairs.targets.rows.ranges() {
                if chance.chance(denoise_prob) {
                    let poisoned =
                        poison(&pairs.targets.ids[row.clone()], poison_prob, random, chance);
                    read[row].copy_from_slice(&poisoned);
                }
            }
        }
        stages.finish()
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    #[test]
    fn poison_falls_in_equal_parts_and_spares_the_end() {
        let sentence: Vec<u32> = (10..30).chain([1]).collect();
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let (mut replaced, mut repeated, mut swapped, mut total) = (0, 0, 0, 0);
        for _ in 0..3000 {
            let poisoned = poison(&sentence, 0.33, &(50..60), &mut chance);
            assert_eq!(poisoned.last(), Some(&1));
            for i in 1..20 {
                total += 1;
                replaced += u32::from((50..60).contains(&poisoned[i]));
                repeated += u32::from(poisoned[i] == sentence[i - 1]);
                swapped += u32::from(i + 1 < 20 && poisoned[i] == sentence[i + 1]);
            }
        }
        // A token that the one before it changed places with is a copy of it, too.
        for (name, count, share) in
            [("replaced", replaced, 0.1), ("repeated", repeated, 0.2), ("swapped", swapped, 0.1)]
        {
            let found = f64::from(count) / f64::from(total);
            assert!((found - share).abs() < 0.015, "{name}: {found} instead of {share}");
        }
        assert_eq!(poison(&sentence, 1e-12, &(50..60), &mut chance), sentence);
        assert_eq!(poison(&[1], 1.0, &(50..60), &mut chance), [1]);
    }
}
