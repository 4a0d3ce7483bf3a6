//! Conditional masked language models (Ghazvininejad et al. 2019), and their case of a single step, vanilla NAT.
//!
//! ```text
//! X = y with some tokens masked ─► decoder ─► loss at the masks
//! ```
//!
//! For a target of N tokens, its end included, the number of masks is uniform on 1..N−1 (CMLM) or N−1 (NAT). The end is never
//! masked: it says how long the target is, which is known when decoding.

use padir_base::mask::MaskLaw;
use padir_base::random::Stream;
use padir_model::{Network, Pass};

use super::corruption::{Corrupted, NoiseKind};
use super::stages::{Smoothing, Stages};
use super::{Losses, Objective, Pairs};
use crate::config::{Corruption, LengthObjective, Noise, Rate};

/// −Σ log p(yᵢ | visible y, x) over masked i.
#[derive(Clone, Debug)]
pub struct MaskedLanguageModel {
    /// Which tokens are masked.
    pub corruption: Corruption,
    /// How lengths are learnt.
    pub length: LengthObjective,
    /// Label smoothing and z-loss.
    pub smoothing: Smoothing,
}

/// Masks the tokens that a law says.
pub(super) fn masks(law: MaskLaw) -> Corruption {
    let none = Rate::Fixed(0.0);
    Corruption { noise: Noise::Law(law), correct_prob: none, random_prob: none }
}

/// The number of masks is uniform, at least one.
pub(super) const UNIFORM: MaskLaw = MaskLaw::UniformCount { least: 1, spare: 0 };

impl MaskedLanguageModel {
    /// CMLM.
    pub fn cmlm(length: LengthObjective, smoothing: Smoothing) -> Self {
        Self { corruption: masks(UNIFORM), length, smoothing }
    }

    /// NAT.
    pub fn nat(length: LengthObjective, smoothing: Smoothing) -> Self {
        Self { corruption: masks(MaskLaw::All), length, smoothing }
    }
}

/// Corrupts each target.
pub(super) fn corrupt(
    corruption: &Corruption,
    network: &Network,
    pairs: &Pairs,
    chance: &mut Stream,
) -> Vec<Corrupted> {
    pairs.targets.iter().map(|y| corruption.apply(y, network.config(), chance)).collect()
}

/// The tokens of corrupted sentences, one after the other.
pub(super) fn tokens(corrupted: &[Corrupted]) -> Vec<u32> {
    corrupted.iter().flat_map(|sentence| sentence.tokens.iter().copied()).collect()
}

impl Objective for MaskedLanguageModel {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let corrupted = corrupt(&self.corruption, network, pairs, chance);
        let mut stages = Stages::begin(network, pass, pairs, self.length, self.smoothing);
        let kinds = corrupted.iter().flat_map(|sentence| &sentence.kinds);
        let masked = kinds.map(|&kind| kind == NoiseKind::Masked);
        stages.learn(tokens(&corrupted), masked, 1.0, None);
        stages.finish()
    }
}
