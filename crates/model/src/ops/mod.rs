//! The operations of the networks, each composed and fused.

mod composed;
mod fused;
mod node;

use std::sync::Arc;

use burn::tensor::Tensor;
use padir_kernels::attention::layer::Kind;
use padir_kernels::attention::position::Buckets;
use padir_kernels::cross_entropy::{CrossEntropy, Outcome};
use padir_kernels::dropout::Dropout;
use padir_kernels::rows::Ragged;

use crate::block::{Attention, FeedForward};
use crate::loss::Loss;
use crate::pass::Pass;
use crate::weight::Weight;

/// What an attention layer does, besides its weights.
#[derive(Clone, Debug)]
pub struct AttentionPlan {
    /// What is attended to.
    pub kind: Kind,
    /// The number of heads.
    pub heads: usize,
    /// ε of the norm.
    pub epsilon: f32,
    /// Whether later keys are hidden.
    pub causal: bool,
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
    /// ε of the norm.
    pub epsilon: f32,
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

/// The attention layer. `side` is the memory, or the table of positions.
pub fn attend(
    pass: &Pass,
    layer: &Attention,
    plan: &AttentionPlan,
    x: Tensor<2>,
    side: Side<'_>,
    bias: Option<&Weight>,
) -> Tensor<2> {
    if pass.is_fused() {
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
    /// A memory to read.
    Memory(&'a Tensor<2>),
    /// A table of positions.
    Positions(&'a Weight),
}

/// The feed-forward layer.
pub fn feed(pass: &Pass, layer: &FeedForward, plan: &FeedForwardPlan, x: Tensor<2>) -> Tensor<2> {
    if pass.is_fused() { fused::feed(pass, layer, plan, x) } else { composed::feed(layer, plan, x) }
}

/// drop(n(x)).
pub fn normalise(
    pass: &Pass,
    scale: &Weight,
    epsilon: f32,
    rows: &Arc<Ragged>,
    drop: Dropout,
    x: Tensor<2>,
) -> Tensor<2> {
    if pass.is_fused() {
        fused::normalise(pass, scale, epsilon, rows, drop, x)
    } else {
        composed::normalise(scale, epsilon, rows, drop, x)
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
        composed::classify(loss, y, table, targets)
    }
}

#[cfg(test)]
mod tests;
