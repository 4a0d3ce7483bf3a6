//! Restoring corrupted targets in several stages.
//!
//! ```text
//! X⁰ = corrupt(y) ─► decoder ─► loss¹, X¹ = argmax ─► decoder ─► loss², …
//! ```
//!
//! The encoder runs once: with its dropout masks fixed for the whole step, running it again would give the same. The decoder's masks
//! differ from stage to stage. a confidence head, if the model has one, learns at every stage which guesses are right. No gradient passes between stages. Sentences keep their rows without padding, so nothing ever stands where nothing should.
//! With `remask_stutter`, a guess that says the same as the one before it is taken back: Xˢ is there what X⁰ was, as when translating.

use std::sync::Arc;

use padir_base::random::Stream;
use padir_model::ops::Targets;
use padir_model::{Network, Pass};

use super::corruption::{Corrupted, NoiseKind};
use super::{Losses, Objective, Pairs, Statistics};
use crate::config::{FirstStage, Padir, Reduce};

/// The objective of parallel decoding by iterative refinement.
#[derive(Clone, Debug)]
pub struct Refinement {
    /// Stages, corruption and weights.
    pub settings: Padir,
    /// The mass spread over all tokens.
    pub smoothing: f32,
    /// Pulls the normaliser towards 1.
    pub z_loss: f32,
}

impl Refinement {
    /// The weights of the first stage; empty if all count alike.
    fn first_weights(&self, corrupted: &[Corrupted], each: f32) -> Vec<f32> {
        let counts = |kind: NoiseKind| match self.settings.first_stage {
            FirstStage::All => true,
            FirstStage::Noise => kind != NoiseKind::Spared,
            FirstStage::Mask => kind == NoiseKind::Masked,
        };
        let kinds = corrupted.iter().flat_map(|sentence| &sentence.kinds);
        kinds.map(|&kind| if counts(kind) { each } else { 0.0 }).collect()
    }
}

/// Puts what was there first where a guess equals the one before it in its sentence.
fn take_back_stutter(guesses: &mut [u32], first: &[u32], lengths: &[usize]) {
    let mut start = 0;
    for &length in lengths {
        let end = start + length;
        let mut before = None;
        for (guess, &first) in guesses[start..end].iter_mut().zip(&first[start..end]) {
            let said = *guess;
            if before == Some(said) {
                *guess = first;
            }
            before = Some(said);
        }
        start = end;
    }
}

impl Objective for Refinement {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let settings = &self.settings;
        let model = network.config();
        let corrupted: Vec<Corrupted> =
            pairs.targets.iter().map(|y| settings.corruption.apply(y, model, chance)).collect();
        let each = match settings.reduce {
            Reduce::Sum => 1.0,
            Reduce::Mean => 1.0 / settings.stages as f32,
        };
        let classes = pairs.targets.ids.to_vec();
        let mut statistics = Statistics::of(pairs);
        let encoded = network.encode(pass, &pairs.sources);
        let lengths: Vec<usize> = pairs.targets.rows.lengths().collect();
        let how = settings.length.loss(self.smoothing, self.z_loss);
        let length = network.length_loss(pass, &encoded, &lengths, how);
        let mut total = length.map(|(loss, outcome)| {
            statistics.take_length(outcome, how);
            loss
        });
        let first: Vec<u32> =
            corrupted.iter().flat_map(|sentence| &sentence.tokens).copied().collect();
        let mut tokens = first.clone();
        for stage in 0..settings.stages {
            let weights = if stage == 0 {
                self.first_weights(&corrupted, each)
            } else {
                vec![each; classes.len()]
            };
            let targets = Arc::new(Targets { classes: classes.clone(), weights });
            let states = network.decode(pass, &pairs.targets.with_ids(tokens), &encoded);
            let (loss, outcome) =
                network.token_loss(pass, &states, &targets, self.smoothing, self.z_loss);
            statistics.take_stage(&outcome);
            if each != 0.0 {
                statistics.entropy /= f64::from(each);
            }
            total = Some(match total {
                Some(total) => total + loss,
                None => loss,
            });
            let rejecter = network.confidence_loss(pass, &states, &outcome.best, &classes, each);
            if let Some((loss, outcome)) = rejecter {
                statistics.take_confidence(&outcome);
                total = total.map(|total| total + loss);
            }
            tokens = outcome.best;
            if settings.remask_stutter && stage + 1 < settings.stages {
                take_back_stutter(&mut tokens, &first, &lengths);
            }
        }
        Losses { total: total.expect("there is at least one stage"), statistics }
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};
    use padir_checkpoint::{DecoderKind, ModelConfig, Preset};
    use padir_model::{Device, Sentences};

    use super::*;
    use crate::config::{Corruption, LengthObjective};

    /// A network that has learnt nothing, and has an output layer of its own, says anything, here and there twice: what is taken back
    /// changes the second stage, and there is nothing to take back before a first one.
    #[test]
    fn only_later_stages_read_what_was_taken_back() {
        let config = ModelConfig {
            tie_word_embeddings: false,
            ..ModelConfig::preset(Preset::Tiny, 60, DecoderKind::Parallel)
        };
        let network = Network::initialise(&config, Seed(3), &Device::flex()).unwrap();
        let sentence = |n: u32| (0..n).map(|i| 10 + i % 7).chain([1]).collect::<Vec<u32>>();
        let (source, target) = (sentence(9), sentence(100));
        let pairs = Pairs {
            sources: Sentences::new([&source[..]]),
            targets: Sentences::new([&target[..]]),
        };
        let loss = |stages, remask_stutter| {
            let settings = Padir {
                stages,
                reduce: Reduce::Sum,
                length: LengthObjective::default(),
                first_stage: FirstStage::All,
                remask_stutter,
                corruption: Corruption::PAPER,
            };
            let objective = Refinement { settings, smoothing: 0.0, z_loss: 0.0 };
            let mut chance = Seed(1).stream(Purpose::Corruption, 0);
            objective.losses(&network, &Pass::evaluation(true), &pairs, &mut chance).statistics.loss
        };
        assert_eq!(loss(1, true).to_bits(), loss(1, false).to_bits());
        assert_ne!(loss(2, true).to_bits(), loss(2, false).to_bits());
    }

    /// As the refiner does it: "the the the" loses its last two, and sentences do not look at each other.
    #[test]
    fn stutter_is_taken_back_within_sentences() {
        let first = [90, 91, 92, 93, 1, 95, 96, 1];
        let cases = [
            ([5, 5, 5, 7, 1, 1, 8, 1], [5, 91, 92, 7, 1, 1, 8, 1]),
            ([5, 6, 5, 6, 1, 6, 6, 6], [5, 6, 5, 6, 1, 6, 96, 1]),
        ];
        for (mut guesses, expected) in cases {
            take_back_stutter(&mut guesses, &first, &[5, 3]);
            assert_eq!(guesses, expected);
        }
    }
}
