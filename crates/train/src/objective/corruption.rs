//! How targets are corrupted before they are restored.
//!
//! Noise falls on a set of positions drawn by a [mask law](MaskLaw); the end of the sentence is never touched, so the length stays
//! visible. A noised token is kept with probability c, becomes a random one with probability r, and MASK otherwise.

use padir_base::mask::{MaskLaw, Scene};
use padir_base::random::Stream;
use padir_checkpoint::ModelConfig;

use crate::config::{Corruption, Rate};

/// A corrupted sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corrupted {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// What happened to each.
    pub fates: Vec<Fate>,
}

/// What happened to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No noise fell on it.
    Spared,
    /// Noise fell on it, and it was kept.
    Kept,
    /// It became a random one.
    Random,
    /// It became MASK.
    Masked,
}

impl Rate {
    /// The rate of one sentence: `most` is where the uniform law ends.
    fn draw(self, most: f64, chance: &mut Stream) -> f64 {
        match self {
            Self::Fixed(rate) => rate,
            Self::Uniform => most * chance.uniform(),
        }
    }
}

impl Corruption {
    /// Corrupts a sentence that ends with its end.
    ///
    /// # Panics
    /// If MASK is asked for and the model has none; configurations are checked for that.
    pub fn apply(&self, sentence: &[u32], model: &ModelConfig, chance: &mut Stream) -> Corrupted {
        let density = self.noise_density.draw(1.0, chance);
        let kept = self.correct_prob.draw(0.5, chance);
        let random = self.random_prob.draw(0.5, chance);
        let body = sentence.len().saturating_sub(1);
        let law = MaskLaw::Rate { rate: density };
        let noise = law.sample(&Scene::of_length(body), chance).expect("rates are probabilities");
        let mut corrupted =
            Corrupted { tokens: sentence.to_vec(), fates: vec![Fate::Spared; sentence.len()] };
        let range = &model.symbols.random;
        for position in noise.positions() {
            let u = chance.uniform();
            let fate = if u < kept {
                Fate::Kept
            } else if u < kept + random {
                Fate::Random
            } else {
                Fate::Masked
            };
            corrupted.fates[position] = fate;
            match fate {
                Fate::Spared | Fate::Kept => {}
                Fate::Random => {
                    let span = u64::from(range.end - range.start);
                    corrupted.tokens[position] = range.start + chance.below(span) as u32;
                }
                Fate::Masked => {
                    let mask = model.mask_at(position).expect("the model has a MASK");
                    corrupted.tokens[position] = mask.0;
                }
            }
        }
        corrupted
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};
    use padir_checkpoint::{Decoder, DecoderKind, InitialTokens, Preset, Symbols};

    use super::*;

    fn count(corruption: Corruption, fate: Fate) -> f64 {
        let mut model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        model.symbols = Symbols::of_vocabulary(100, 90);
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let sentence: Vec<u32> = (0..21).map(|i| if i == 20 { 1 } else { 50 }).collect();
        let mut found = 0;
        for _ in 0..2000 {
            let corrupted = corruption.apply(&sentence, &model, &mut chance);
            assert_eq!((corrupted.tokens[20], corrupted.fates[20]), (1, Fate::Spared));
            for (&token, &fate) in corrupted.tokens.iter().zip(&corrupted.fates) {
                match fate {
                    Fate::Masked => assert_eq!(token, 99),
                    Fate::Random => assert!((3..100).contains(&token)),
                    Fate::Kept => assert_eq!(token, 50),
                    Fate::Spared => assert!(token == 50 || token == 1),
                }
            }
            found += corrupted.fates[..20].iter().filter(|&&f| f == fate).count();
        }
        f64::from(found as u32) / 40_000.0
    }

    #[test]
    fn every_law_has_its_shares() {
        let fixed = |d, c, r| Corruption {
            noise_density: Rate::Fixed(d),
            correct_prob: Rate::Fixed(c),
            random_prob: Rate::Fixed(r),
        };
        let uniform = Corruption {
            noise_density: Rate::Uniform,
            correct_prob: Rate::Uniform,
            random_prob: Rate::Uniform,
        };
        let cases = [
            ("paper, kept", Corruption::PAPER, Fate::Kept, 0.15),
            ("paper, random", Corruption::PAPER, Fate::Random, 0.85),
            ("half the noise", fixed(0.5, 0.1, 0.1), Fate::Masked, 0.4),
            ("half the noise, spared", fixed(0.5, 0.1, 0.1), Fate::Spared, 0.5),
            ("uniform, spared", uniform, Fate::Spared, 0.5),
            ("uniform, masked", uniform, Fate::Masked, 0.25),
        ];
        for (name, corruption, fate, share) in cases {
            let found = count(corruption, fate);
            assert!((found - share).abs() < 0.015, "{name}: {found} instead of {share}");
        }
    }

    #[test]
    fn masks_may_tell_where_they_stand() {
        let mut model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        model.symbols = Symbols::of_vocabulary(100, 95);
        let Decoder::Parallel(parallel) = &mut model.decoder else { panic!() };
        parallel.initial = InitialTokens::NumberedMask;
        let none = Rate::Fixed(0.0);
        let masked =
            Corruption { noise_density: Rate::Fixed(1.0), correct_prob: none, random_prob: none };
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let corrupted = masked.apply(&[50, 51, 52, 1], &model, &mut chance);
        // Of five sentinels two are masks by position; the third position has the first again.
        assert_eq!(corrupted.tokens, [96, 95, 96, 1]);
    }
}
