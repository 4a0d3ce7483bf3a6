//! Latent alignments: −ln p of the target, summed over its alignments with the slots of the decoder.
//!
//! ```text
//! X⁰ = hidden slots, some revealed ─► decoder ─► loss¹, X¹ = argmax ─► decoder ─► loss², …
//! ```
//!
//! *Glancing* (GLAT): a pass without gradient finds the likeliest alignment of the target; with d slots at which the best path differs
//! from it, ⌊ρ·d⌋ random slots are revealed in X⁰. ρ goes linearly from `glancing_start` to `glancing_end`. Evaluations reveal nothing.
//!
//! *Later stages* read the best path of the stage before, blanks included, as decoding with several steps does. No gradient passes
//! between stages. *Deep supervision* lets every decoder layer predict through the same output layer; losses are averaged over layers.

use std::sync::Arc;

use padir_base::ragged::Ragged;
use padir_base::random::Stream;
use padir_kernels::ctc::{self, Ctc as CtcLoss};
use padir_model::ops::AlignmentTargets;
use padir_model::{Encoded, Network, Pass, Sentences};

use super::{Losses, Objective, Pairs, Statistics};
use crate::config::{Ctc, Reduce};

/// The objective of latent alignments.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// Stages, glancing and supervision.
    pub settings: Ctc,
    /// The mass spread over all tokens.
    pub smoothing: f32,
    /// Pulls the normaliser towards 1.
    pub z_loss: f32,
}

/// Models are checked before anything is learnt.
const CHECKED: &str = "a CTC model has slots, BLANK and MASK";

impl Alignment {
    fn loss(&self, weight: f32, viterbi: bool) -> CtcLoss {
        let (smoothing, z_loss) = (self.smoothing, self.z_loss);
        // Scale and blank are the network's.
        CtcLoss { blank: 0, scale: 1.0, smoothing, z_loss, weight, viterbi }
    }

    /// The input of the first stage: hidden slots, some of them revealed.
    fn first_input(
        &self,
        network: &Network,
        pass: &Pass,
        encoded: &Encoded,
        targets: &AlignmentTargets,
        step: u64,
        chance: &mut Stream,
    ) -> Vec<u32> {
        let mask = network.config().symbols.mask.expect(CHECKED).0;
        let mut tokens = vec![mask; targets.slots.tokens()];
        let rate = self.settings.glancing_rate(step);
        if rate == 0.0 || pass.gradients().is_none() {
            return tokens;
        }
        let glance = Pass::evaluation(pass.is_fused());
        let inputs = Sentences { ids: Arc::new(tokens.clone()), rows: Arc::clone(&targets.slots) };
        let states = network.decode(&glance, &inputs, &encoded.detached());
        let loss = self.loss(1.0, true);
        let (_, outcome) = network.alignment_loss(&glance, &states, targets, loss).expect(CHECKED);
        reveal(&mut tokens, &outcome, &targets.slots, rate, chance);
        tokens
    }
}

/// Shows ⌊rate · number wrong⌋ random slots of each sentence their token of the likeliest alignment.
fn reveal(
    tokens: &mut [u32],
    outcome: &ctc::Outcome,
    slots: &Ragged,
    rate: f64,
    chance: &mut Stream,
) {
    for range in slots.ranges() {
        let pairs = outcome.best[range.clone()].iter().zip(&outcome.aligned[range.clone()]);
        let wrong = pairs.filter(|(best, aligned)| best != aligned).count();
        let mut order: Vec<usize> = range.collect();
        for shown in 0..(rate * wrong as f64) as usize {
            let other = shown + chance.below((order.len() - shown) as u64) as usize;
            order.swap(shown, other);
            tokens[order[shown]] = outcome.aligned[order[shown]];
        }
    }
}

/// Sentences without their ends, to be aligned with the slots of their sources.
fn targets_of(network: &Network, pairs: &Pairs) -> AlignmentTargets {
    let parallel = network.config().parallel().expect(CHECKED);
    let slots = pairs.sources.rows.lengths().map(|n| parallel.slots(n).expect(CHECKED));
    let ids: Vec<&[u32]> =
        pairs.targets.iter().map(|y| y.split_last().map_or(y, |(_, rest)| rest)).collect();
    AlignmentTargets {
        slots: Arc::new(Ragged::new(slots)),
        rows: Arc::new(Ragged::new(ids.iter().map(|ids| ids.len()))),
        ids: Arc::new(ids.concat()),
    }
}

/// The target tokens that the best path says in a slot of theirs in the likeliest alignment.
fn right(outcome: &ctc::Outcome, slots: &Ragged, blank: u32) -> u64 {
    let mut right = 0;
    for range in slots.ranges() {
        let (mut counted, mut before) = (false, blank);
        for (&best, &aligned) in outcome.best[range.clone()].iter().zip(&outcome.aligned[range]) {
            counted &= aligned == before;
            if aligned != blank && best == aligned && !counted {
                right += 1;
                counted = true;
            }
            before = aligned;
        }
    }
    right
}

impl Objective for Alignment {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        self.losses_at(u64::MAX, network, pass, pairs, chance)
    }

    fn losses_at(
        &self,
        step: u64,
        network: &Network,
        pass: &Pass,
        pairs: &Pairs,
        chance: &mut Stream,
    ) -> Losses {
        let settings = &self.settings;
        let targets = targets_of(network, pairs);
        let encoded = network.encode(pass, &pairs.sources);
        let mut statistics = Statistics::of(pairs);
        let mut tokens = self.first_input(network, pass, &encoded, &targets, step, chance);
        let blank = network.config().symbols.blank.expect(CHECKED).0;
        let layers =
            if settings.deep_supervision { network.config().num_decoder_layers } else { 1 };
        let stage_weight = match settings.reduce {
            Reduce::Sum => 1.0,
            Reduce::Mean => 1.0 / settings.stages as f32,
        };
        let weight = stage_weight / layers as f32;
        let mut total = None;
        for _ in 0..settings.stages {
            let inputs = Sentences { ids: Arc::new(tokens), rows: Arc::clone(&targets.slots) };
            let (last, inner) =
                network.decode_layers(pass, &inputs, &encoded, settings.deep_supervision);
            let mut add = |states, viterbi| {
                let loss = self.loss(weight, viterbi);
                let (loss, outcome) =
                    network.alignment_loss(pass, states, &targets, loss).expect(CHECKED);
                total = Some(match total.take() {
                    Some(sum) => sum + loss,
                    None => loss,
                });
                outcome
            };
            statistics.loss += inner.iter().map(|states| add(states, false).loss).sum::<f64>();
            let outcome = add(&last, true);
            statistics.loss += outcome.loss;
            statistics.entropy = outcome.nll;
            statistics.counted = outcome.tokens as u64;
            statistics.right = right(&outcome, &targets.slots, blank);
            statistics.unfit = outcome.unfit as u64;
            tokens = outcome.best;
        }
        Losses { total: total.expect("there is at least one stage"), statistics }
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    fn outcome(best: &[u32], aligned: &[u32]) -> ctc::Outcome {
        ctc::Outcome { best: best.to_vec(), aligned: aligned.to_vec(), ..ctc::Outcome::default() }
    }

    #[test]
    fn glancing_shows_a_share_of_what_is_wrong() {
        let slots = Ragged::new([6, 4]);
        let found = outcome(&[9, 9, 9, 9, 5, 6, 7, 9, 7, 9], &[5, 6, 7, 8, 5, 6, 7, 9, 7, 9]);
        let mut places = vec![0; 10];
        for seed in 0..400 {
            let mut tokens = vec![0; 10];
            let mut chance = Seed(seed).stream(Purpose::Corruption, 0);
            reveal(&mut tokens, &found, &slots, 0.6, &mut chance);
            let shown: Vec<usize> = (0..10).filter(|&slot| tokens[slot] != 0).collect();
            assert_eq!(shown.len(), 2, "⌊0.6·4⌋, and nothing where all is right");
            for slot in shown {
                assert!(slot < 6);
                assert_eq!(tokens[slot], found.aligned[slot]);
                places[slot] += 1;
            }
        }
        assert!(places[..6].iter().all(|&count| count > 80), "every slot has its turn: {places:?}");
    }

    #[test]
    fn right_tokens_are_counted_once() {
        let cases = [
            (vec![9, 5, 5, 9], vec![9, 5, 5, 9], 2), // of two sentences
            (vec![5, 5, 9, 6], vec![5, 5, 9, 6], 2),
            (vec![9, 5, 9, 9], vec![5, 5, 9, 6], 1),
            (vec![5, 9, 5, 6], vec![5, 9, 5, 5], 2),
            (vec![9, 9, 9, 9], vec![5, 9, 5, 5], 0),
        ];
        for (best, aligned, expected) in cases {
            let slots = Ragged::new([2, 2]);
            let right = right(&outcome(&best, &aligned), &slots, 9);
            assert_eq!(right, expected, "{best:?} {aligned:?}");
        }
    }
}
