//! How targets are corrupted before they are restored.
//!
//! Noise falls on a set of positions drawn by a [mask law](MaskLaw); the end of the sentence is never touched, so the length stays
//! visible. A noised token is kept with probability c, becomes a random one with probability r, and MASK otherwise.

use padir_base::TokenId;
use padir_base::mask::{LawError, Mask, MaskContext, MaskLaw};
use padir_base::random::Stream;
use padir_checkpoint::ModelConfig;

use crate::config::{Corruption, Noise, Rate};

/// A corrupted sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corrupted {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// What happened to each.
    pub kinds: Vec<NoiseKind>,
}

/// What happened to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
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
    /// If MASK is asked for and the model has none, or if the law of the noise is impossible; configurations are checked for both.
    pub fn apply(&self, sentence: &[u32], model: &ModelConfig, chance: &mut Stream) -> Corrupted {
        // Rates are drawn first, and that of the noise before the others: runs of old depend on it.
        let law = match &self.noise {
            Noise::Density(rate) => &MaskLaw::Rate { rate: rate.draw(1.0, chance) },
            Noise::Law(law) => law,
        };
        let kept = self.correct_prob.draw(0.5, chance);
        let random = self.random_prob.draw(0.5, chance);
        let body = &sentence[..sentence.len().saturating_sub(1)];
        let noise = positions(law, body, chance);
        let mut corrupted =
            Corrupted { tokens: sentence.to_vec(), kinds: vec![NoiseKind::Spared; sentence.len()] };
        let range = &model.symbols.random;
        for position in noise.positions() {
            let u = chance.uniform();
            let kind = if u < kept {
                NoiseKind::Kept
            } else if u < kept + random {
                NoiseKind::Random
            } else {
                NoiseKind::Masked
            };
            corrupted.kinds[position] = kind;
            match kind {
                NoiseKind::Spared | NoiseKind::Kept => {}
                NoiseKind::Random => {
                    let span = u64::from(range.end - range.start);
                    corrupted.tokens[position] = range.start + chance.below(span) as u32;
                }
                NoiseKind::Masked => {
                    let mask = model.mask_at(position).expect("the model has a MASK");
                    corrupted.tokens[position] = mask.0;
                }
            }
        }
        corrupted
    }
}

/// Where noise falls. A sentence that is too short for the law is hidden altogether.
fn positions(law: &MaskLaw, body: &[u32], chance: &mut Stream) -> Mask {
    let tokens: Vec<TokenId>;
    let mask_context = if law.is_adaptive() {
        tokens = body.iter().copied().map(TokenId).collect();
        MaskContext::of_tokens(&tokens)
    } else {
        MaskContext::of_length(body.len())
    };
    match law.sample(&mask_context, chance) {
        Ok(mask) => mask,
        Err(LawError::TooFew { .. } | LawError::Position { .. }) => Mask::all(body.len()),
        Err(error) => panic!("configurations are checked: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};
    use padir_checkpoint::{Decoder, DecoderKind, InitialTokens, Preset, Symbols};

    use super::*;

    fn count(corruption: &Corruption, kind: NoiseKind) -> f64 {
        let mut model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        model.symbols = Symbols::of_vocabulary(100, 90);
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let sentence: Vec<u32> = (0..21).map(|i| if i == 20 { 1 } else { 50 }).collect();
        let mut found = 0;
        for _ in 0..2000 {
            let corrupted = corruption.apply(&sentence, &model, &mut chance);
            assert_eq!((corrupted.tokens[20], corrupted.kinds[20]), (1, NoiseKind::Spared));
            for (&token, &kind) in corrupted.tokens.iter().zip(&corrupted.kinds) {
                match kind {
                    NoiseKind::Masked => assert_eq!(token, 99),
                    NoiseKind::Random => assert!((3..100).contains(&token)),
                    NoiseKind::Kept => assert_eq!(token, 50),
                    NoiseKind::Spared => assert!(token == 50 || token == 1),
                }
            }
            found += corrupted.kinds[..20].iter().filter(|&&f| f == kind).count();
        }
        f64::from(found as u32) / 40_000.0
    }

    #[test]
    fn every_law_has_its_shares() {
        let fixed = |d, c, r| Corruption {
            noise: Noise::Density(Rate::Fixed(d)),
            correct_prob: Rate::Fixed(c),
            random_prob: Rate::Fixed(r),
        };
        let uniform = Corruption {
            noise: Noise::Density(Rate::Uniform),
            correct_prob: Rate::Uniform,
            random_prob: Rate::Uniform,
        };
        let cases = [
            ("paper, kept", Corruption::PAPER, NoiseKind::Kept, 0.15),
            ("paper, random", Corruption::PAPER, NoiseKind::Random, 0.85),
            ("half the noise", fixed(0.5, 0.1, 0.1), NoiseKind::Masked, 0.4),
            ("half the noise, spared", fixed(0.5, 0.1, 0.1), NoiseKind::Spared, 0.5),
            ("uniform, spared", uniform.clone(), NoiseKind::Spared, 0.5),
            ("uniform, masked", uniform, NoiseKind::Masked, 0.25),
        ];
        for (name, corruption, kind, share) in cases {
            let found = count(&corruption, kind);
            assert!((found - share).abs() < 0.015, "{name}: {found} instead of {share}");
        }
    }

    /// By `reference/train/corruption.py`: the noise of before laws could be chosen, which old runs are resumed with.
    const OLD: [[u32; 13]; 2] = [
        [7, 99, 39, 43, 44, 99, 46, 92, 48, 99, 43, 51, 1],
        [40, 99, 99, 28, 99, 45, 99, 47, 99, 99, 99, 99, 1],
    ];

    #[test]
    fn densities_draw_what_they_always_drew() {
        let model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        let sentence: Vec<u32> = (40..52).chain([1]).collect();
        let draw = |noise: Noise| {
            let third = Rate::Fixed(0.3);
            let corruption = Corruption { noise, correct_prob: third, random_prob: Rate::Uniform };
            let mut chance = Seed(7).stream(Purpose::Corruption, 3);
            corruption.apply(&sentence, &model, &mut chance).tokens
        };
        assert_eq!(draw(Noise::Density(Rate::Fixed(0.6))), OLD[0]);
        assert_eq!(draw(Noise::Density(Rate::Uniform)), OLD[1]);
        assert_eq!(draw(Noise::Law(MaskLaw::Rate { rate: 0.6 })), OLD[0]);
    }

    #[test]
    fn noise_falls_where_its_law_says() {
        let model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        let noised = |law: MaskLaw, sentence: &[u32]| -> Vec<usize> {
            let none = Rate::Fixed(0.0);
            let corruption =
                Corruption { noise: Noise::Law(law), correct_prob: none, random_prob: none };
            let mut chance = Seed(1).stream(Purpose::Corruption, 0);
            let kinds = corruption.apply(sentence, &model, &mut chance).kinds;
            (0..kinds.len()).filter(|&i| kinds[i] == NoiseKind::Masked).collect()
        };
        let block = |positions: &[usize]| MaskLaw::Blocks {
            blocks: vec![padir_base::mask::Block { positions: positions.to_vec(), weight: 1.0 }],
        };
        let stutter = [50, 50, 51, 51, 1];
        assert_eq!(noised(MaskLaw::All, &stutter), [0, 1, 2, 3]);
        assert_eq!(noised(MaskLaw::Repeats { phrase: 1 }, &stutter), [1, 3]);
        assert_eq!(noised(block(&[0, 2]), &stutter), [0, 2]);
        assert_eq!(noised(MaskLaw::Exactly { k: 3 }, &stutter).len(), 3);
        // Those who are too short are hidden altogether, and nothing of nothing.
        assert_eq!(noised(MaskLaw::Exactly { k: 9 }, &stutter), [0, 1, 2, 3]);
        assert_eq!(noised(block(&[0, 4]), &stutter), [0, 1, 2, 3]);
        assert_eq!(noised(MaskLaw::Exactly { k: 9 }, &[1]), [0; 0]);
        assert_eq!(noised(MaskLaw::UniformCount { least: 1, spare: 0 }, &[]), [0; 0]);
    }

    #[test]
    fn masks_may_tell_where_they_stand() {
        let mut model = ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel);
        model.symbols = Symbols::of_vocabulary(100, 95);
        let Decoder::Parallel(parallel) = &mut model.decoder else { panic!() };
        parallel.initial = InitialTokens::NumberedMask;
        let none = Rate::Fixed(0.0);
        let masked = Corruption { noise: Noise::EVERYWHERE, correct_prob: none, random_prob: none };
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let corrupted = masked.apply(&[50, 51, 52, 1], &model, &mut chance);
        // Of five sentinels two are masks by position; the third position has the first again.
        assert_eq!(corrupted.tokens, [96, 95, 96, 1]);
    }
}
