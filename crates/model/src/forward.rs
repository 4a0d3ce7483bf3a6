//! Running the layers of a description: embeddings, stacks, norms.

use std::sync::Arc;

use burn::tensor::Tensor;
use padir_base::ragged::Ragged;
use padir_checkpoint::layers::{self, Positions, Visibility, Wiring, sinusoid};
use padir_kernels::attention::layer::Kind;
use padir_kernels::attention::position::Buckets;
use padir_kernels::dropout::Dropout;

use crate::block::{Stack, Sublayer};
use crate::network::{Encoded, Sentences};
use crate::ops::{self, AttentionPlan, FeedForwardPlan, NormPlan, Side};
use crate::pass::Pass;
use crate::weight::Weight;

/// drop(scale·E\[tokens\] + positions). `learned` is the table of learned positions.
pub(crate) fn embed(
    pass: &Pass,
    embeddings: &layers::Embeddings,
    table: &Weight,
    learned: Option<&Weight>,
    sentences: &Sentences,
) -> Tensor<2> {
    let (drop, rows) = (pass.drop(), &sentences.rows);
    let mut x = ops::embed(pass, table, &sentences.ids, rows, drop);
    #[expect(clippy::float_cmp, reason = "a constant of the description")]
    if embeddings.scale != 1.0 {
        x = x * embeddings.scale;
    }
    // With one mask for both, what is dropped is their sum.
    match (&embeddings.positions, learned) {
        (Positions::Learned(_), Some(table)) => {
            let places = rows.lengths().flat_map(|length| 0..length as u32).collect();
            // Positions repeat, so this is an embedding like any other.
            x + ops::embed(pass, table, &Arc::new(places), rows, drop)
        }
        (Positions::Sinusoidal { .. }, _) => {
            let width = table.shape()[1];
            x.clone() + ops::constant(sinusoids(rows, width), width, rows, drop, &x.device())
        }
        (Positions::None | Positions::Learned(_), _) => x,
    }
}

/// The sinusoidal embeddings of all positions.
fn sinusoids(rows: &Ragged, width: usize) -> Vec<f32> {
    let mut table = vec![0.0; rows.longest() * width];
    table.chunks_exact_mut(width).enumerate().for_each(|(position, row)| sinusoid(position, row));
    rows.lengths().flat_map(|length| &table[..length * width]).copied().collect()
}

/// What a query stream sees: embeddings of tokens, and which of them each query sees, queries × keys of each sentence.
pub(crate) struct QueryStream {
    pub embedded: Tensor<2>,
    pub visible: Arc<Vec<bool>>,
}

/// Embeddings of positions alone.
pub(crate) fn embed_positions(pass: &Pass, table: &Weight, rows: &Arc<Ragged>) -> Tensor<2> {
    let places = rows.lengths().flat_map(|length| 0..length as u32).collect();
    ops::embed(pass, table, &Arc::new(places), rows, pass.drop())
}

/// The blocks of a stack over its input, without the final norm.
pub(crate) fn run(
    pass: &Pass,
    stack: &layers::Stack,
    weights: &Stack,
    rows: &Arc<Ragged>,
    encoded: Option<&Encoded>,
    stream: Option<&QueryStream>,
    x: Tensor<2>,
) -> Tensor<2> {
    run_each(pass, stack, weights, rows, encoded, stream, x, |_| {})
}

/// The same; `visit` sees the states after each block but the last.
#[expect(clippy::too_many_arguments, reason = "what a stack is, reads and tells")]
pub(crate) fn run_each(
    pass: &Pass,
    stack: &layers::Stack,
    weights: &Stack,
    rows: &Arc<Ragged>,
    encoded: Option<&Encoded>,
    stream: Option<&QueryStream>,
    mut x: Tensor<2>,
    mut visit: impl FnMut(&Tensor<2>),
) -> Tensor<2> {
    for (index, (block, weights_of_block)) in stack.blocks.iter().zip(&weights.blocks).enumerate() {
        if index > 0 {
            visit(&x);
        }
        for pair in block.sublayers.iter().zip(&weights_of_block.sublayers) {
            x = match pair {
                (layers::Sublayer::Attention(layer), Sublayer::Attention(own)) => {
                    let (kind, mut side, keys) = wiring(layer, weights, rows, encoded);
                    let mut plan = attention_plan(pass, layer, kind, rows, keys);
                    if let (Some(Wiring::QueryStream), Some(stream)) = (layer.wiring(), stream) {
                        side = Side::Embeddings(&stream.embedded);
                        plan.visible = Some(Arc::clone(&stream.visible));
                    }
                    let mut bias = None;
                    if let (true, Some(relative)) = (layer.relative_bias, &stack.relative_bias) {
                        plan.buckets = Some(buckets(relative));
                        bias = weights.relative_bias.as_ref();
                    }
                    ops::attend(pass, own, &plan, x, side, bias)
                }
                (layers::Sublayer::FeedForward(layer), Sublayer::FeedForward(own)) => {
                    ops::feed_forward(pass, own, &feed_forward_plan(pass, layer, rows), x)
                }
                _ => unreachable!("weights are assembled from the same description"),
            };
        }
    }
    x
}

/// What an attention reads besides x. Networks are built of known wirings only.
fn wiring<'a>(
    layer: &layers::Attention,
    weights: &'a Stack,
    rows: &'a Arc<Ragged>,
    encoded: Option<&'a Encoded>,
) -> (Kind, Side<'a>, &'a Arc<Ragged>) {
    match (layer.wiring(), encoded, &weights.positions) {
        (Some(Wiring::CrossAttention), Some(encoded), _) => {
            (Kind::Memory, Side::EncoderOutput(&encoded.output), &encoded.rows)
        }
        (Some(Wiring::Positional), _, Some(table)) => {
            (Kind::Positions, Side::Positions(table), rows)
        }
        _ => (Kind::Own, Side::None, rows),
    }
}

/// A norm as operations read it.
pub(crate) fn norm_plan(norm: &layers::Norm) -> NormPlan {
    NormPlan { kind: norm.kind, epsilon: norm.epsilon as f32 }
}

fn buckets(relative: &layers::RelativeTable) -> Buckets {
    Buckets {
        count: relative.buckets.num_buckets,
        most: relative.buckets.max_distance,
        both_ways: relative.bidirectional,
    }
}

/// Each attention has two dropouts, used or not, so that the others keep their numbers.
fn attention_plan(
    pass: &Pass,
    layer: &layers::Attention,
    kind: Kind,
    queries: &Arc<Ragged>,
    keys: &Arc<Ragged>,
) -> AttentionPlan {
    let [weights, output] = [pass.drop(), pass.drop()];
    AttentionPlan {
        kind,
        heads: layer.heads,
        norm: norm_plan(&layer.norm),
        place: layer.place,
        scale: layer.score_scale,
        causal: layer.visibility == Visibility::Causal,
        visible: None,
        buckets: None,
        queries: Arc::clone(queries),
        keys: Arc::clone(keys),
        weights: if layer.weight_dropout { weights } else { Dropout::NONE },
        output: if layer.output_dropout { output } else { Dropout::NONE },
    }
}

fn feed_forward_plan(
    pass: &Pass,
    layer: &layers::FeedForward,
    rows: &Arc<Ragged>,
) -> FeedForwardPlan {
    let [hidden, output] = [pass.drop(), pass.drop()];
    FeedForwardPlan {
        norm: norm_plan(&layer.norm),
        place: layer.place,
        activation: layer.activation,
        rows: Arc::clone(rows),
        hidden: if layer.hidden_dropout { hidden } else { Dropout::NONE },
        output,
    }
}
