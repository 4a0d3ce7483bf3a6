//! SUNDAE: step-unrolled denoising (Savinov et al. 2022).
//!
//! ```text
//! X⁰ = y, each token uniform with probability α ~ U(0, 1) ─► decoder ─► loss¹, X¹ ~ p ─► decoder ─► loss², …
//! ```
//!
//! Unlike PaDIR's, the rate of noise is drawn for each sentence, and stages are joined by samples at some temperature, not by the argmax. All
//! positions count in all stages, which have equal weights that add up to 1. The end is never under noise.

use padir_base::random::Stream;
use padir_kernels::draw::Draw;
use padir_model::{Network, Pass};

use super::cmlm::{corrupt, tokens};
use super::stages::{Smoothing, Stages, all};
use super::{Losses, Objective, Pairs};
use crate::config::{self, Corruption, Noise, Rate};

/// Step-unrolled denoising.
#[derive(Clone, Debug)]
pub struct Sundae {
    /// Stages and temperature.
    pub settings: config::Sundae,
    /// Label smoothing and z-loss.
    pub smoothing: Smoothing,
}

/// Each token uniform with a probability drawn for each sentence.
const NOISE: Corruption = Corruption {
    noise: Noise::Density(Rate::Uniform),
    correct_prob: Rate::Fixed(0.0),
    random_prob: Rate::Fixed(1.0),
};

impl Objective for Sundae {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let config::Sundae { stages: count, temperature, length } = self.settings;
        let key = [chance.next_u32(), chance.next_u32()];
        let mut read = tokens(&corrupt(&NOISE, network, pairs, chance));
        let mut stages = Stages::begin(network, pass, pairs, length, self.smoothing);
        for site in 0..count {
            let draw = Draw { temperature: temperature as f32, key, site };
            let draw = (site + 1 < count).then_some(draw);
            let outcome = stages.learn(read, all(pairs), 1.0 / count as f32, draw);
            read = outcome.samples;
        }
        stages.finish()
    }
}
