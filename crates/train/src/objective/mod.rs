//! What is learnt from a batch.
//!
//! An objective turns sentence pairs into a loss to be walked backwards, with what a reader of its
//! curves wants to know. Each is a file; the loop knows only the trait.

mod autoregressive;
mod cmlm;
pub mod corruption;
mod ctc;
mod disco;
mod inat;
mod padir;
mod smart;
mod stages;
mod sundae;

use padir_base::ragged::RaggedTokens;
use std::sync::Arc;

use padir_base::random::Stream;
use padir_kernels::cross_entropy::Outcome;
use padir_model::length::{LengthLoss, LengthOutcome};
use padir_model::{Loss, Network, Pass, Sentences};
use padir_text::batch::Batch;
use serde::{Deserialize, Serialize};

pub use autoregressive::Autoregressive;
pub use cmlm::MaskedLanguageModel;
pub use ctc::Alignment;
pub use disco::Disco;
pub use inat::Inat;
pub use padir::Refinement;
pub use smart::Smart;
pub use stages::Smoothing;
pub use sundae::Sundae;

use crate::config::{self, LengthObjective, ObjectiveConfig};

impl LengthObjective {
    /// As a network takes it. Label smoothing and z-loss are those of the tokens.
    pub(crate) fn loss(&self, smoothing: f32, z_loss: f32) -> LengthLoss {
        LengthLoss {
            weight: self.weight as f32,
            smoothing,
            z_loss,
            sigma: self.sigma as f32,
            trains_encoder: self.trains_encoder,
        }
    }
}

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

fn sentences(tokens: &RaggedTokens) -> Sentences {
    let ids = tokens.tokens().iter().map(|token| token.0).collect();
    Sentences { ids: Arc::new(ids), rows: Arc::new(tokens.rows().clone()) }
}

/// What an objective made of a batch.
#[derive(Debug)]
pub struct Losses {
    /// What is to be made small.
    pub total: Loss,
    /// What it consists of.
    pub statistics: Statistics,
}

/// Sums over batches: what curves are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
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
    /// Lengths predicted.
    pub lengths: u64,
    /// Those that are right.
    pub lengths_right: u64,
    /// Those that are among the five most probable.
    #[serde(default)]
    pub lengths_near: u64,
    /// The loss of the confidence head over all stages.
    #[serde(default)]
    pub confidence_loss: f64,
    /// Predictions of the last stage that it rated.
    #[serde(default)]
    pub confidence_counted: u64,
    /// Those that it rated rightly.
    #[serde(default)]
    pub confidence_right: u64,
    /// Targets that need more slots than their sources give, from which nothing is learnt (CTC).
    #[serde(default)]
    pub unfit: u64,
}

impl Statistics {
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
        self.lengths_near += other.lengths_near;
        self.confidence_loss += other.confidence_loss;
        self.confidence_counted += other.confidence_counted;
        self.confidence_right += other.confidence_right;
        self.unfit += other.unfit;
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

    /// The share of lengths that are right, if any were predicted.
    pub fn length_accuracy(&self) -> Option<f64> {
        (self.lengths > 0).then(|| self.lengths_right as f64 / self.lengths as f64)
    }

    /// The share of lengths that are among the five most probable, if any were predicted.
    pub fn length_accuracy_at_5(&self) -> Option<f64> {
        (self.lengths > 0).then(|| self.lengths_near as f64 / self.lengths as f64)
    }

    /// The share of predictions of which the confidence head knew whether they are right, if there is one.
    pub fn confidence_accuracy(&self) -> Option<f64> {
        (self.confidence_counted > 0)
            .then(|| self.confidence_right as f64 / self.confidence_counted as f64)
    }

    /// The loss of the confidence head per target token.
    pub fn mean_confidence_loss(&self) -> f64 {
        self.confidence_loss / self.tokens as f64
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

    /// Not part of the loss, by which models are compared and chosen: nothing but the confidence head learns from it.
    fn take_confidence(&mut self, outcome: &Outcome) {
        self.confidence_loss += outcome.loss;
        self.confidence_counted = outcome.counted as u64;
        self.confidence_right = outcome.right as u64;
    }

    fn take_length(&mut self, outcome: LengthOutcome, how: LengthLoss) {
        self.loss += f64::from(how.weight) * outcome.loss;
        self.length_loss = outcome.loss;
        self.lengths = outcome.counted as u64;
        self.lengths_right = outcome.right as u64;
        self.lengths_near = outcome.near as u64;
    }
}

/// What is learnt from a batch.
pub trait Objective: Send + Sync {
    /// The losses of some pairs. All chance comes from the stream.
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses;

    /// The same after so many steps of a training, for objectives that change with time.
    fn losses_at(
        &self,
        _step: u64,
        network: &Network,
        pass: &Pass,
        pairs: &Pairs,
        chance: &mut Stream,
    ) -> Losses {
        self.losses(network, pass, pairs, chance)
    }
}

/// The objective that a configuration asks for.
pub fn from_config(config: &ObjectiveConfig) -> Box<dyn Objective> {
    let (smoothing, z_loss) = (config.label_smoothing as f32, config.z_loss as f32);
    let both = Smoothing { label: smoothing, z_loss };
    match &config.kind {
        config::Objective::Ar => Box::new(Autoregressive { smoothing, z_loss }),
        config::Objective::Padir(settings) => {
            Box::new(Refinement { settings: settings.clone(), smoothing, z_loss })
        }
        config::Objective::Cmlm(cmlm) => Box::new(MaskedLanguageModel::cmlm(cmlm.length, both)),
        config::Objective::Nat(nat) => Box::new(MaskedLanguageModel::nat(nat.length, both)),
        config::Objective::Smart(smart) => {
            Box::new(Smart { length: smart.length, smoothing: both })
        }
        config::Objective::Sundae(settings) => {
            Box::new(Sundae { settings: *settings, smoothing: both })
        }
        config::Objective::Disco(disco) => {
            Box::new(Disco { length: disco.length, smoothing: both })
        }
        config::Objective::Inat(settings) => {
            Box::new(Inat { settings: *settings, smoothing: both })
        }
        config::Objective::Ctc(settings) => {
            Box::new(Alignment { settings: *settings, smoothing, z_loss })
        }
    }
}
