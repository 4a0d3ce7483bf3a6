//! A network as data: which layers it has, how they are wired, and which parameters they read.
//!
//! [`ModelConfig::layers`] derives a [`Network`] from a configuration. It is the only place where names, shapes, norms and wiring are
//! written down: the [inventory](crate::inventory) lists its parameters, `model` builds and runs the burn network by it, `engine` packs and
//! runs the same layers by it.
//!
//! ```text
//! Network ─┬─ embeddings                     of the source
//!          ├─ encoder: Stack ── Block ── Attention | FeedForward
//!          ├─ decoder: embeddings, input, Stack
//!          ├─ output: table, bias, scale
//!          └─ heads: length, confidence, pooler, classifier
//! ```
//!
//! The types say more than today's programs compute: segments, poolers and factorised embeddings (BERT, `RemBERT`), visibility by query
//! (`DisCo`). [`Network::check_translator`] names what a translator cannot compute yet.
//!
//! Names are those of public checkpoints: `t5` those of T5, `marian` those of Marian, `bert` those of BERT and `RemBERT`.

pub mod bert;
mod embeddings;
mod length;
mod marian;
mod stack;
mod sublayer;
mod t5;
mod translator;

use std::collections::HashSet;

pub use embeddings::{Embeddings, Positions, sinusoid};
pub use length::{LengthHead, PooledLength, SUM_SCALE};
pub use stack::{Block, RelativeTable, Stack, Sublayer};
pub use sublayer::{
    Activation, Attention, FeedForward, Input, Linear, Norm, NormKind, NormPlace, Source,
    Visibility,
};
pub use translator::{Feature, Unsupported, Wiring};

use crate::config::{Family, ModelConfig};
use crate::inventory::Parameter;

/// All layers of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Width of the residual stream.
    pub width: usize,
    /// What the encoder reads.
    pub embeddings: Embeddings,
    /// The encoder.
    pub encoder: Stack,
    /// The decoder, unless the model is an encoder alone.
    pub decoder: Option<Decoder>,
    /// From states of the decoder to logits of tokens.
    pub output: Option<Output>,
    /// Whatever else reads the last states.
    pub heads: Heads,
    /// Names and shapes of tensors that other programs write beside these. They repeat parameters, or nothing reads them.
    pub repetitions: Vec<(String, Vec<usize>)>,
}

/// A decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// Embeddings of the target.
    pub embeddings: Embeddings,
    /// What the first block reads.
    pub input: DecoderInput,
    /// Its blocks.
    pub stack: Stack,
}

/// What the first block of a decoder reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderInput {
    /// Embeddings of tokens and positions.
    Tokens,
    /// Embeddings of positions alone; tokens are read as keys and values (`DisCo`).
    Positions,
    /// Embeddings of tokens and positions, plus encoder output: slot i of S reads state [⌊i·n/S⌋](upsampled) of n (CTC).
    UpsampledSource,
}

/// The source state that slot i of `slots` reads, of `source` states.
pub fn upsampled(slot: usize, slots: usize, source: usize) -> usize {
    (slot * source).checked_div(slots).unwrap_or(0)
}

/// The output layer: logits = scale·y·Wᵀ + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// W, one row per token; tied if it is also the table of an embedding.
    pub table: Parameter,
    /// b.
    pub bias: Option<Parameter>,
    /// 1, or d^−½.
    pub scale: f32,
}

/// What else reads the last states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heads {
    /// Predicts the length of a target.
    pub length: Option<LengthHead>,
    /// Whether a predicted token is wrong or right: [2, d].
    pub confidence: Option<Parameter>,
    /// tanh(W·s + b) of the first state s.
    pub pooler: Option<Linear>,
    /// Scores of what the pooler made.
    pub classifier: Option<Linear>,
}

impl ModelConfig {
    /// The layers of a valid model.
    pub fn layers(&self) -> Network {
        match &self.family {
            Family::T5 => t5::network(self),
            Family::Marian(family) => marian::network(self, family),
        }
    }
}

impl Network {
    /// All parameters, each once, in the order of the inventory: an attention lists q, k, v, o and its norm, a feed-forward layer its two
    /// matrices and its norm, a bias follows its matrix, and the table of relative positions follows the first attention.
    pub fn parameters(&self) -> Vec<&Parameter> {
        let mut list = List::default();
        self.embeddings.list(&mut list);
        self.encoder.list(&mut list);
        if let Some(decoder) = &self.decoder {
            decoder.embeddings.list(&mut list);
            decoder.stack.list(&mut list);
        }
        if let Some(output) = &self.output {
            list.add(&output.table);
            list.add_all(&output.bias);
        }
        self.heads.list(&mut list);
        list.parameters
    }
}

impl Heads {
    fn list<'a>(&'a self, list: &mut List<'a>) {
        if let Some(length) = &self.length {
            length.list(list);
        }
        list.add_all(&self.confidence);
        for linear in self.pooler.iter().chain(&self.classifier) {
            linear.list(list);
        }
    }
}

/// Parameters being listed; one that is used twice is listed where it is used first.
#[derive(Default)]
struct List<'a> {
    parameters: Vec<&'a Parameter>,
    names: HashSet<&'a str>,
}

impl<'a> List<'a> {
    fn add(&mut self, parameter: &'a Parameter) {
        if self.names.insert(&parameter.name) {
            self.parameters.push(parameter);
        }
    }

    fn add_all(&mut self, parameters: impl IntoIterator<Item = &'a Parameter>) {
        parameters.into_iter().for_each(|parameter| self.add(parameter));
    }
}

#[cfg(test)]
mod tests;
