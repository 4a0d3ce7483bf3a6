//! The operations of the networks, each composed and fused.

mod composed;
mod fused;
mod node;

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use padir_base::ragged::Ragged;
use padir_checkpoint::layers::{Activation, NormKind, NormPlace};
use padir_kernels::attention::layer::Kind;
use padir_kernels::attention::position::Buckets;
use padir_kernels::cross_entropy::{CrossEntropy, Outcome};
use padir_kernels::ctc::{self, Ctc};
use padir_kernels::dropout::Dropout;

use crate::block::{Attention, FeedForward, Norm};
use crate::loss::Loss;
use crate::pass::Pass;
use crate::weight::Weight;

/// What a norm does, besides its weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormPlan {
    /// How it is computed.
    pub kind: NormKind,
    /// ε.
    pub epsilon: f32,
}

/// What an attention layer does, besides its weights.
#[derive(Clone, Debug)]
pub struct AttentionPlan {
    /// What is attended to.
    pub kind: Kind,
    /// The number of heads.
    pub heads: usize,
    /// The norm.
    pub norm: NormPlan,
    /// Where the norm stands.
    pub place: NormPlace,
    /// What scores are multiplied by.
    pub scale: f32,
    /// Whether later keys are hidden.
    pub causal: bool,
    /// What queries see of keys, sentence after sentence; all of it if nobody says.
    pub visible: Option<Arc<Vec<bool>>>,
    /// How distances become buckets, if there is a bias.
    pub buckets: Option<Buckets>,
    /// The sentences of the queries.
    pub queries: Arc<Ragged>,
    /// The sentences of the keys.
    pub keys: Arc<Ragged>,
    /// Dropout of the attention weights.
    pub weights: Dropout,
    /// Dropout of the output.
    pub output: Dropout,
}

/// What a feed-forward layer does, besides its weights.
#[derive(Clone, Debug)]
pub struct FeedForwardPlan {
    /// The norm.
    pub norm: NormPlan,
    /// Where the norm stands.
    pub place: NormPlace,
    /// Of the hidden layer.
    pub activation: Activation,
    /// The sentences.
    pub rows: Arc<Ragged>,
    /// Dropout of the hidden layer.
    pub hidden: Dropout,
    /// Dropout of the output.
    pub output: Dropout,
}

/// What is to be predicted.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The class of each row.
    pub classes: Vec<u32>,
    /// The weight of each row; all 1 if empty.
    pub weights: Vec<f32>,
}

/// Whether the kernels compute layers with such a norm.
fn has_kernel(norm: NormPlan, place: NormPlace) -> bool {
    norm.kind == NormKind::Rms && place == NormPlace::Pre
}

/// drop(numbers), which are no parameters: rows of some width, one per token.
pub fn constant(
    numbers: Vec<f32>,
    width: usize,
    rows: &Arc<Ragged>,
    drop: Dropout,
    device: &Device,
) -> Tensor<2> {
    composed::constant(numbers, width, rows, drop, device)
}

/// drop(table\[ids\]).
pub fn embed(
    pass: &Pass,
    table: &Weight,
    ids: &Arc<Vec<u32>>,
    rows: &Arc<Ragged>,
    drop: Dropout,
) -> Tensor<2> {
    if pass.is_fused() {
        fused::embed(pass, table, ids, rows, drop)
    } else {
        composed::embed(table, ids, rows, drop)
    }
}

/// The attention layer. `side` is the encoder's output, or the table of positions.
pub fn attend(
    pass: &Pass,
    layer: &Attention,
    plan: &AttentionPlan,
    x: Tensor<2>,
    side: Side<'_>,
    bias: Option<&Weight>,
) -> Tensor<2> {
    #[expect(clippy::float_cmp, reason = "a constant of the description")]
    let kernel = has_kernel(plan.norm, plan.place)
        && layer.is_plain()
        && plan.scale == 1.0
        && plan.visible.is_none();
    if pass.is_fused() && kernel {
        fused::attend(pass, layer, plan, x, side, bias)
    } else {
        composed::attend(layer, plan, x, side, bias)
    }
}

/// The second input of an attention layer.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// There is none.
    None,
    /// The encoder's output.
    EncoderOutput(&'a Tensor<2>),
    /// A table of positions.
    Positions(&'a Weight),
    /// Embeddings of tokens, which keys and values are made of.
    Embeddings(&'a Tensor<2>),
}

/// The feed-forward layer.
pub fn feed_forward(
    pass: &Pass,
    layer: &FeedForward,
    plan: &FeedForwardPlan,
    x: Tensor<2>,
) -> Tensor<2> {
    let relu = plan.activation == Activation::Relu;
    let kernel = has_kernel(plan.norm, plan.place) && layer.is_plain() && relu;
    if pass.is_fused() && kernel {
        fused::feed_forward(pass, layer, plan, x)
    } else {
        composed::feed_forward(layer, plan, x)
    }
}

/// drop(n(x)).
pub fn normalise(
    pass: &Pass,
    norm: &Norm,
    plan: NormPlan,
    rows: &Arc<Ragged>,
    drop: Dropout,
    x: Tensor<2>,
) -> Tensor<2> {
    if pass.is_fused() && plan.kind == NormKind::Rms && norm.bias.is_none() {
        fused::normalise(pass, &norm.weight, plan.epsilon, rows, drop, x)
    } else {
        composed::normalise(norm, plan, rows, drop, x)
    }
}

/// Some rows of x, in any order; a row may be taken several times.
pub fn pick(pass: &Pass, x: &Tensor<2>, rows: &Arc<Vec<u32>>) -> Tensor<2> {
    if pass.is_fused() { fused::pick(pass, x, rows) } else { composed::pick(x, rows) }
}

/// The loss of predicting classes by y·tableᵀ, and what came out.
///
/// What a row counts is in the targets: a [`Loss`] cannot be scaled.
pub fn classify(
    pass: &Pass,
    loss: CrossEntropy,
    y: &Tensor<2>,
    table: &Weight,
    targets: &Arc<Targets>,
) -> (Loss, Outcome) {
    if pass.is_fused() {
        fused::classify(pass, loss, y, table, targets)
    } else {
        composed::classify(loss, y, table, None, targets)
    }
}

/// The loss of predicting classes by y·tableᵀ + bias, and what came out; always composed.
pub fn classify_biased(
    loss: CrossEntropy,
    y: &Tensor<2>,
    table: &Weight,
    bias: &Weight,
    targets: &Arc<Targets>,
) -> (Loss, Outcome) {
    composed::classify(loss, y, table, Some(bias), targets)
}

/// Targets to be aligned with slots.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignmentTargets {
    /// The slots of each sentence.
    pub slots: Arc<Ragged>,
    /// The tokens of all targets.
    pub ids: Arc<Vec<u32>>,
    /// Where targets end.
    pub rows: Arc<Ragged>,
}

impl AlignmentTargets {
    fn labels(&self) -> ctc::Labels<'_> {
        ctc::Labels { slots: &self.slots, ids: &self.ids, rows: &self.rows }
    }
}

/// The loss of targets as sums over their alignments, with logits y·tableᵀ, and what came out.
///
/// What a sentence counts is [`Ctc::weight`]: a [`Loss`] cannot be scaled.
pub fn align(
    pass: &Pass,
    loss: Ctc,
    y: &Tensor<2>,
    table: &Weight,
    targets: &AlignmentTargets,
) -> (Loss, ctc::Outcome) {
    if pass.is_fused() {
        fused::align(pass, loss, y, table, targets)
    } else {
        composed::align(loss, y, table, targets)
    }
}

#[cfg(test)]
mod tests;
