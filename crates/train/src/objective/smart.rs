//! SMART: a masked language model that learns from its own predictions (Ghazvininejad et al. 2020).
//!
//! ```text
//! X = y with some tokens masked ─► decoder ─► Y = argmax everywhere ─► mask some of Y ─► decoder ─► loss everywhere
//! ```
//!
//! Both numbers of masks are uniform, as in CMLM. The first pass has neither dropout nor gradients. The end stays where it is.

use padir_base::random::Stream;
use padir_model::{Network, Pass};

use super::cmlm::{UNIFORM, corrupt, masks, tokens};
use super::stages::{Smoothing, Stages, all, with_ends};
use super::{Losses, Objective, Pairs};
use crate::config::LengthObjective;

/// −Σ log p(yᵢ | partly masked predictions, x).
#[derive(Clone, Debug)]
pub struct Smart {
    /// How lengths are learnt.
    pub length: LengthObjective,
    /// Label smoothing and z-loss.
    pub smoothing: Smoothing,
}

impl Objective for Smart {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let masks = masks(UNIFORM);
        let mut stages = Stages::begin(network, pass, pairs, self.length, self.smoothing);
        let first = tokens(&corrupt(&masks, network, pairs, chance));
        let predicted = Pairs {
            sources: pairs.sources.clone(),
            targets: pairs.targets.with_ids(with_ends(stages.predict(first), pairs)),
        };
        let second = tokens(&corrupt(&masks, network, &predicted, chance));
        stages.learn(second, all(pairs), 1.0, None);
        stages.finish()
    }
}
