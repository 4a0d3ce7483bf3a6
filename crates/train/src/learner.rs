//! A network that learns: its parameters, what the optimiser remembers, and how a step is made.

use std::sync::Arc;

use padir_base::random::{Purpose, Seed};
use padir_kernels::dropout::Sharing;
use padir_kernels::optimiser::{Optimiser, Pace, Shape, State, move_average, squared_norm};
use padir_model::{DropoutKey, Gradients, Network, Pass};

use crate::config::Config;
use crate::objective::{self, Objective, Pairs, Statistics};
use crate::schedule::Schedule;

/// A network in training.
pub struct Learner {
    network: Network,
    objective: Box<dyn Objective>,
    optimiser: Optimiser,
    schedule: Schedule,
    clip: f64,
    decay: f64,
    fused: bool,
    seed: Seed,
    /// Batches of a step, empty ones included.
    accumulate: u64,
    gradients: Arc<Gradients>,
    pub(crate) states: Vec<State>,
    /// The moving average of each parameter, if one is kept.
    pub(crate) average: Vec<Vec<f32>>,
    pub(crate) step: u64,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// What the objective counted.
    pub statistics: Statistics,
    /// The norm of the gradient of the mean loss.
    pub norm: f64,
    /// The learning rate.
    pub rate: f64,
}

/// The loss or its gradient is not a number: nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("step {step}: the loss is {loss} and the norm of its gradient {norm}")]
pub struct NotFinite {
    /// The step that was not made.
    pub step: u64,
    /// The mean loss.
    pub loss: f64,
    /// The norm of its gradient.
    pub norm: f64,
}

impl std::fmt::Debug for Learner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Learner").field("step", &self.step).finish_non_exhaustive()
    }
}

impl Learner {
    /// A network before its first step.
    pub fn new(network: Network, config: &Config) -> Self {
        let optimiser = config.optimiser.optimiser();
        let shape = |weight: &&padir_model::Weight| match weight.shape() {
            [1, columns] => Shape::vector(columns),
            [rows, columns] => Shape::matrix(rows, columns),
        };
        let states =
            network.weights().iter().map(|weight| optimiser.begin(shape(weight))).collect();
        let decay = config.optimiser.ema;
        let average = if decay > 0.0 {
            network.weights().iter().map(|weight| weight.numbers()).collect()
        } else {
            Vec::new()
        };
        let gradients = Arc::new(network.gradients());
        Self {
            network,
            objective: objective::from_config(&config.objective),
            optimiser,
            schedule: config.optimiser.schedule,
            clip: config.optimiser.clip_norm,
            decay,
            fused: config.device.fused,
            seed: config.run.seed,
            accumulate: u64::from(config.optimiser.accumulate),
            gradients,
            states,
            average,
            step: 0,
        }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Steps made so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Whether layers are single operations.
    pub fn fused(&self) -> bool {
        self.fused
    }

    /// What is learnt.
    pub fn objective(&self) -> &dyn Objective {
        self.objective.as_ref()
    }

    /// The moving averages of the parameters, in the order of the inventory; empty if none are kept.
    pub fn average(&self) -> &[Vec<f32>] {
        &self.average
    }

    /// Exchanges the parameters with their moving averages, if these are kept.
    pub(crate) fn swap_average(&mut self) {
        for (weight, average) in self.network.weights_mut().into_iter().zip(&mut self.average) {
            weight.update(|numbers| numbers.swap_with_slice(average));
        }
    }

    pub(crate) fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Learns from some batches, whose gradients are added up. Empty ones add nothing; at least one must not be empty.
    ///
    /// # Errors
    /// If the loss or its gradient is not finite; the parameters are then as before.
    pub fn learn(&mut self, batches: &[Pairs]) -> Result<StepReport, NotFinite> {
        let mut statistics = Statistics::default();
        self.gradients.clear();
        for (part, pairs) in batches.iter().enumerate().filter(|(_, pairs)| !pairs.is_empty()) {
            statistics.add(&self.differentiate(pairs, part));
        }
        let gradients = &self.gradients;
        // Gradients are complete here: several machines would add theirs up before going on.
        let scale = 1.0 / statistics.tokens.max(1) as f64;
        let square: f64 =
            (0..gradients.len()).map(|index| squared_norm(&gradients.read(index))).sum();
        let norm = square.sqrt() * scale;
        if !(norm.is_finite() && statistics.loss.is_finite()) {
            return Err(NotFinite { step: self.step + 1, loss: statistics.mean_loss(), norm });
        }
        let clip = if self.clip > 0.0 && norm > self.clip { self.clip / norm } else { 1.0 };
        let rate = self.schedule.rate(self.step + 1);
        let pace = Pace { step: self.step + 1, rate: rate as f32, scale: (scale * clip) as f32 };
        // Young averages forget faster, or they would remember the random beginning.
        let age = self.step as f64;
        let decay = self.decay.min((1.0 + age) / (10.0 + age));
        for (index, weight) in self.network.weights_mut().into_iter().enumerate() {
            let gradient = gradients.read(index);
            weight.update(|numbers| {
                self.optimiser.step(&mut self.states[index], numbers, &gradient, pace);
                if let Some(average) = self.average.get_mut(index) {
                    move_average(average, numbers, decay);
                }
            });
        }
        self.step += 1;
        Ok(StepReport { statistics, norm, rate })
    }

    /// Adds the gradients of one batch to the store.
    fn differentiate(&self, pairs: &Pairs, part: usize) -> Statistics {
        // Every batch of a run has a number of its own.
        let index = self.step * self.accumulate + part as u64;
        let mut keys = self.seed.stream(Purpose::Dropout, index);
        let dropout = DropoutKey {
            rate: self.network.config().dropout_rate as f32,
            key: [keys.next_u32(), keys.next_u32()],
            sharing: Sharing::Row,
        };
        let pass = Pass::training(self.fused, Some(dropout), Arc::clone(&self.gradients));
        let mut chance = self.seed.stream(Purpose::Corruption, index);
        let losses = self.objective.losses_at(self.step, &self.network, &pass, pairs, &mut chance);
        self.network.backward(&pass, losses.total);
        losses.statistics
    }
}
