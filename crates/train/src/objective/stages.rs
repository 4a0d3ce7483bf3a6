//! What the objectives of parallel models share: the encoder runs once, the lengths are learnt, and each stage runs the decoder over some
//! input and adds a loss. No gradient passes between stages.

use std::sync::Arc;

use padir_kernels::cross_entropy::Outcome;
use padir_kernels::draw::Draw;
use padir_model::ops::Targets;
use padir_model::{Encoded, Loss, Network, Pass};

use super::{Losses, Pairs, Statistics};
use crate::config::LengthObjective;

/// Label smoothing and z-loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// The mass spread over all tokens.
    pub label: f32,
    /// Pulls the normaliser towards 1.
    pub z_loss: f32,
}

/// An objective under way.
pub(super) struct Stages<'a> {
    network: &'a Network,
    pass: &'a Pass,
    pairs: &'a Pairs,
    smoothing: Smoothing,
    encoded: Encoded,
    total: Option<Loss>,
    statistics: Statistics,
}

impl<'a> Stages<'a> {
    /// Runs the encoder, and adds the loss of the lengths.
    pub(super) fn begin(
        network: &'a Network,
        pass: &'a Pass,
        pairs: &'a Pairs,
        length: LengthObjective,
        smoothing: Smoothing,
    ) -> Self {
        let mut statistics = Statistics::of(pairs);
        let encoded = network.encode(pass, &pairs.sources);
        let lengths: Vec<usize> = pairs.targets.rows.lengths().collect();
        let how = length.loss(smoothing.label, smoothing.z_loss);
        let loss = network.length_loss(pass, &encoded, &lengths, how);
        let total = loss.map(|(loss, outcome)| {
            statistics.take_length(outcome, how);
            loss
        });
        Self { network, pass, pairs, smoothing, encoded, total, statistics }
    }

    /// Adds the loss of the targets given some decoder input, `weights[i]·each` at position i. A token is drawn for each position if
    /// that is asked for.
    pub(super) fn learn(
        &mut self,
        tokens: Vec<u32>,
        weights: impl IntoIterator<Item = bool>,
        each: f32,
        draw: Option<Draw>,
    ) -> Outcome {
        self.learn_seeing(tokens, weights, each, draw, None)
    }

    /// The same, where queries see only some tokens: queries × keys of each sentence.
    pub(super) fn learn_seeing(
        &mut self,
        tokens: Vec<u32>,
        weights: impl IntoIterator<Item = bool>,
        each: f32,
        draw: Option<Draw>,
        visible: Option<Arc<Vec<bool>>>,
    ) -> Outcome {
        let Self { network, pass, .. } = *self;
        let classes = self.pairs.targets.ids.to_vec();
        let weights = weights.into_iter().map(|counts| if counts { each } else { 0.0 }).collect();
        let targets = Arc::new(Targets { classes: classes.clone(), weights });
        let inputs = self.pairs.targets.with_ids(tokens);
        let states = network.decode_seeing(pass, &inputs, &self.encoded, visible);
        let Smoothing { label, z_loss } = self.smoothing;
        let (loss, outcome) = network.token_loss_with(pass, &states, &targets, label, z_loss, draw);
        self.statistics.take_stage(&outcome);
        self.statistics.entropy /= f64::from(each);
        self.add(loss);
        let confidence = network.confidence_loss(pass, &states, &outcome.best, &classes, each);
        if let Some((loss, outcome)) = confidence {
            self.statistics.take_confidence(&outcome);
            self.add(loss);
        }
        outcome
    }

    /// The most probable tokens given some decoder input, without dropout and gradients.
    pub(super) fn predict(&self, tokens: Vec<u32>) -> Vec<u32> {
        let pass = Pass::evaluation(self.pass.is_fused());
        let classes = self.pairs.targets.ids.to_vec();
        let targets = Arc::new(Targets { classes, weights: Vec::new() });
        let inputs = self.pairs.targets.with_ids(tokens);
        let states = self.network.decode(&pass, &inputs, &self.encoded);
        let (loss, outcome) = self.network.token_loss(&pass, &states, &targets, 0.0, 0.0);
        // Nobody walks it.
        drop(loss);
        outcome.best
    }

    /// What came of it.
    ///
    /// # Panics
    /// If there was no stage.
    pub(super) fn finish(self) -> Losses {
        let total = self.total.expect("there is at least one stage");
        Losses { total, statistics: self.statistics }
    }

    fn add(&mut self, loss: Loss) {
        self.total = Some(match self.total.take() {
            Some(total) => total + loss,
            None => loss,
        });
    }
}

/// Whether each position counts: all of them.
pub(super) fn all(pairs: &Pairs) -> impl Iterator<Item = bool> {
    std::iter::repeat_n(true, pairs.targets.ids.len())
}

/// Tokens with the ends of the targets where these have them.
pub(super) fn with_ends(mut tokens: Vec<u32>, pairs: &Pairs) -> Vec<u32> {
    for last in pairs.targets.rows.ranges().filter_map(std::iter::Iterator::last) {
        tokens[last] = pairs.targets.ids[last];
    }
    tokens
}
