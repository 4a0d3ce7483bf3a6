//! What is learnt from a batch.
//!
//! An objective turns sentence pairs into a loss to be walked backwards, with what a reader of its
//! curves wants to know. Each is a file; the loop knows only the trait.

mod autoregressive;
pub mod corruption;
mod padir;

use padir_base::random::Stream;
use padir_kernels::cross_entropy::Outcome;
use padir_model::length::LengthOutcome;
use padir_model::{Loss, Network, Pass, Sentences};
use padir_text::batch::{Batch, Rows};
use serde::{Deserialize, Serialize};

pub use autoregressive::Autoregressive;
pub use padir::Refinement;

use crate::config::{self, ObjectiveConfig};

/// Sentence pairs as a network takes them: token ids, each sentence with its end.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The sources.
    pub sources: Sentences,
    /// The targets.
    pub targets: Sentences,
}

impl Pairs {
    /// Whether there is nothing to learn.
    pub fn is_empty(&self) -> bool {
        self.targets.ids.is_empty()
    }

    /// The tokens of both sides.
    pub fn tokens(&self) -> usize {
        self.sources.ids.len() + self.targets.ids.len()
    }
}

impl From<&Batch> for Pairs {
    fn from(batch: &Batch) -> Self {
        Self { sources: sentences(&batch.source), targets: sentences(&batch.target) }
    }
}

fn sentences(rows: &Rows) -> Sentences {
    let ids: Vec<Vec<u32>> =
        rows.iter().map(|row| row.iter().map(|token| token.0).collect()).collect();
    Sentences::new(ids.iter().map(Vec::as_slice))
}

/// What an objective made of a batch.
#[derive(Debug)]
pub struct Losses {
    /// What is to be made small.
    pub total: Loss,
    /// What it consists of.
    pub tally: Tally,
}

/// Sums over batches: what curves are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The loss with everything in it.
    pub loss: f64,
    /// The plain cross-entropy of the last stage, in nats.
    pub entropy: f64,
    /// The target tokens of the batch, which the loss is divided by.
    pub tokens: u64,
    /// The source tokens.
    pub source_tokens: u64,
    /// The predictions of the last stage that count.
    pub counted: u64,
    /// Those that are right.
    pub right: u64,
    /// The loss of the length predictor, not weighted.
    pub length_loss: f64,
    /// Lengths foretold.
    pub lengths: u64,
    /// Those that are right.
    pub lengths_right: u64,
    /// The loss of the rejecter over all stages.
    #[serde(default)]
    pub rejecter_loss: f64,
    /// Predictions of the last stage that it judged.
    #[serde(default)]
    pub judged: u64,
    /// Those that it judged rightly.
    #[serde(default)]
    pub judged_right: u64,
}

impl Tally {
    /// Adds another batch.
    pub fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        self.entropy += other.entropy;
        self.tokens += other.tokens;
        self.source_tokens += other.source_tokens;
        self.counted += other.counted;
        self.right += other.right;
        self.length_loss += other.length_loss;
        self.lengths += other.lengths;
        self.lengths_right += other.lengths_right;
        self.rejecter_loss += other.rejecter_loss;
        self.judged += other.judged;
        self.judged_right += other.judged_right;
    }

    /// The loss per target token; not a number without tokens.
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.tokens as f64
    }

    /// The cross-entropy per prediction that counts, in nats.
    pub fn mean_entropy(&self) -> f64 {
        self.entropy / self.counted.max(1) as f64
    }

    /// The share of predictions that are right.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.counted.max(1) as f64
    }

    /// The share of lengths that are right, if any were foretold.
    pub fn length_accuracy(&self) -> Option<f64> {
        (self.lengths > 0).then(|| self.lengths_right as f64 / self.lengths as f64)
    }

    /// The share of predictions of which the rejecter knew whether they are right, if there is one.
    pub fn judgement(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.judged_right as f64 / self.judged as f64)
    }

    /// The loss of the rejecter per target token.
    pub fn mean_rejecter(&self) -> f64 {
        self.rejecter_loss / self.tokens as f64
    }

    fn of(pairs: &Pairs) -> Self {
        let (tokens, source_tokens) =
            (pairs.targets.ids.len() as u64, pairs.sources.ids.len() as u64);
        Self { tokens, source_tokens, ..Self::default() }
    }

    fn take_stage(&mut self, outcome: &Outcome) {
        self.loss += outcome.loss;
        self.entropy = outcome.entropy;
        self.counted = outcome.counted as u64;
        self.right = outcome.right as u64;
    }

    /// Not part of the loss, by which models are compared and chosen: nothing but the rejecter learns from it.
    fn take_rejecter(&mut self, outcome: &Outcome) {
        self.rejecter_loss += outcome.loss;
        self.judged = outcome.counted as u64;
        self.judged_right = outcome.right as u64;
    }

    fn take_length(&mut self, outcome: LengthOutcome, weight: f64) {
        self.loss += weight * outcome.loss;
        self.length_loss = outcome.loss;
        self.lengths = outcome.counted as u64;
        self.lengths_right = outcome.right as u64;
    }
}

/// What is learnt from a batch.
pub trait Objective: Send + Sync {
    /// The losses of some pairs. All chance comes from the stream.
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses;
}

/// The objective that a configuration asks for.
pub fn from_config(config: &ObjectiveConfig) -> Box<dyn Objective> {
    let (smoothing, z_loss) = (config.label_smoothing as f32, config.z_loss as f32);
    match &config.kind {
        config::Objective::Ar => Box::new(Autoregressive { smoothing, z_loss }),
        config::Objective::Padir(settings) => {
            Box::new(Refinement { settings: settings.clone(), smoothing, z_loss })
        }
    }
}
