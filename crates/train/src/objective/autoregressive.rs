//! Teacher forcing: every token from the true ones before it.

use std::sync::Arc;

use padir_base::random::Stream;
use padir_model::ops::Targets;
use padir_model::{Network, Pass};

use super::{Losses, Objective, Pairs, Statistics};

/// −Σ log p(yᵢ | y₁…yᵢ₋₁, x).
#[derive(Clone, Copy, Debug)]
pub struct Autoregressive {
    /// The mass spread over all tokens.
    pub smoothing: f32,
    /// Pulls the normaliser towards 1.
    pub z_loss: f32,
}

impl Objective for Autoregressive {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, _: &mut Stream) -> Losses {
        let start = network.config().symbols.start.0;
        let mut shifted = Vec::with_capacity(pairs.targets.ids.len());
        for sentence in pairs.targets.iter() {
            if let Some((_, before)) = sentence.split_last() {
                shifted.push(start);
                shifted.extend_from_slice(before);
            }
        }
        let inputs = pairs.targets.with_ids(shifted);
        let targets =
            Arc::new(Targets { classes: pairs.targets.ids.to_vec(), weights: Vec::new() });
        let encoded = network.encode(pass, &pairs.sources);
        let states = network.decode(pass, &inputs, &encoded);
        let (total, outcome) =
            network.token_loss(pass, &states, &targets, self.smoothing, self.z_loss);
        let mut statistics = Statistics::of(pairs);
        statistics.take_stage(&outcome);
        Losses { total, statistics }
    }
}
