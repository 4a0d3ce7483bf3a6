//! Decoders whose stream starts from positions and reads tokens as keys and values alone (`DisCo`).
//!
//! Keys and values are the same for all queries of a row and know nothing of each other, so that positions that nobody wants need no
//! stream. Each query sees tokens of its own choice. O(wanted · tokens · width) a layer, one row at a time.

use padir_kernels::packed::attention::{Bias, Span};
use padir_kernels::packed::grow;

use crate::cross_kv::{CrossKv, LayerKv};
use crate::engine::Inner;
use crate::layers::{Rows, Work, enter, pick};
use crate::parallel::Plan;
use crate::weights::{DecoderBlock, SelfAttention};

/// What queries see.
struct View<'a> {
    spans: &'a [Span],
    positions: &'a [u32],
    /// Of each query, the tokens of its row.
    visible: &'a [bool],
}

/// Runs all layers; the states of wanted tokens end up in `plan.chosen`.
pub(crate) fn decode(
    engine: &Inner,
    work: &mut Work,
    cross_kv: &CrossKv,
    plan: &mut Plan,
    bias: Option<Bias<'_>>,
    embedded: &[f32],
) {
    if !begin(engine, plan) {
        return;
    }
    let int8 = engine.weights.int8_blocks.as_ref().filter(|_| plan.low_precision);
    let blocks = int8.unwrap_or(&engine.weights.decoder.blocks);
    for (index, block) in blocks.iter().enumerate() {
        run_layer(engine, work, block, &cross_kv.layers[index], plan, bias, embedded);
    }
}

/// Streams begin as positions. Says whether the model has any.
pub(crate) fn begin(engine: &Inner, plan: &mut Plan) -> bool {
    let Some(positions) = engine.weights.learned.as_deref() else { return false };
    pick(&mut plan.chosen, positions, engine.config.d_model, &plan.some_positions);
    true
}

/// Runs one layer.
pub(crate) fn run_layer(
    engine: &Inner,
    work: &mut Work,
    block: &DecoderBlock,
    kv: &LayerKv,
    plan: &mut Plan,
    bias: Option<Bias<'_>>,
    embedded: &[f32],
) {
    let chosen = &mut plan.chosen[..plan.kept.len() * engine.config.d_model];
    let view = View { spans: &plan.some, positions: &plan.some_positions, visible: &plan.visible };
    let rows = Rows { spans: &plan.some_cross, positions: &plan.some_positions };
    work.query_stream(&block.self_attn, &view, bias, embedded, chosen);
    work.cross_attn(engine, &block.cross_attn, rows, kv, chosen);
    work.feed_forward(&block.ffn, chosen);
}

impl Work {
    /// x ← x + attention over the embeddings that each query sees.
    fn query_stream(
        &mut self,
        layer: &SelfAttention,
        view: &View<'_>,
        bias: Option<Bias<'_>>,
        embedded: &[f32],
        x: &mut [f32],
    ) {
        let (d, inner) = (layer.o.outputs(), layer.o.inputs());
        let count = x.len() / d;
        self.project(layer, inner..3 * inner, embedded);
        let Self { tools, normed, queries, qkv, context, caught, .. } = self;
        let input = enter(&tools.threads, normed, &layer.norm, layer.place, x);
        let queries = grow(queries, count * inner);
        layer.qkv.product(tools, input, 0..inner, queries);
        let context = grow(context, count * inner);
        let bias = bias.filter(|_| layer.relative_bias);
        let mut visible = view.visible;
        let mut caught = caught.as_mut().map(|caught| {
            caught.self_attn.clear();
            &mut caught.self_attn
        });
        for span in view.spans {
            let size = layer.heads.count * span.queries.len() * span.count;
            let mut weights = caught.as_mut().map(|caught| {
                let first = caught.len();
                caught.resize(first + size, 0.0);
                &mut caught[first..]
            });
            for query in span.queries.clone() {
                let (seen, later) = visible.split_at(span.count);
                visible = later;
                let keys_values = &qkv[span.first * 2 * inner..][..span.count * 2 * inner];
                let one = One { layer, bias, position: view.positions[query] as usize, seen };
                let number = query - span.queries.start;
                let query = query * inner..(query + 1) * inner;
                if let Some(weights) = &mut weights {
                    let place = Place { number, queries: span.queries.len() };
                    one.look(&queries[query.clone()], keys_values, place, weights);
                }
                one.attend(&queries[query.clone()], keys_values, &mut context[query]);
            }
        }
        self.add_context(&layer.o, x);
        self.leave(&layer.norm, layer.place, x);
    }
}

/// One query.
struct One<'a> {
    layer: &'a SelfAttention,
    bias: Option<Bias<'a>>,
    position: usize,
    seen: &'a [bool],
}

/// Which query of its row it is, of how many.
#[derive(Clone, Copy)]
struct Place {
    number: usize,
    queries: usize,
}

impl One<'_> {
    /// q·k + bias of one head.
    fn score(&self, head: usize, query: &[f32], keys_values: &[f32], key: usize) -> f32 {
        let (inner, width) = (query.len(), self.layer.heads.width);
        let own = head * width..(head + 1) * width;
        let keys = &keys_values[key * 2 * inner..][own.clone()];
        let product: f32 = query[own].iter().zip(keys).map(|(q, k)| q * k).sum();
        product + self.bias.map_or(0.0, |bias| bias.at(head, self.position, key))
    }

    /// The weights of one query, head after head; 0 for what is not seen.
    fn look(&self, query: &[f32], keys_values: &[f32], place: Place, out: &mut [f32]) {
        let count = self.seen.len();
        for head in 0..self.layer.heads.count {
            let out = &mut out[(head * place.queries + place.number) * count..][..count];
            let keys = || (0..count).filter(|&key| self.seen[key]);
            let score = |key| self.score(head, query, keys_values, key);
            let top = keys().map(score).fold(f32::NEG_INFINITY, f32::max);
            keys().for_each(|key| out[key] = (score(key) - top).exp());
            let total: f32 = out.iter().sum();
            if total > 0.0 {
                for weight in out.iter_mut() {
                    *weight /= total;
                }
            }
        }
    }

    /// out ← Σ softmax(q·k + bias)·v over what is seen; 0 of nothing. Two passes: the largest score first.
    fn attend(&self, query: &[f32], keys_values: &[f32], out: &mut [f32]) {
        let (inner, width) = (query.len(), self.layer.heads.width);
        out.fill(0.0);
        for (head, out) in out.chunks_exact_mut(width).enumerate() {
            let own = head * width..(head + 1) * width;
            let score = |key: usize| self.score(head, query, keys_values, key);
            let keys = || (0..self.seen.len()).filter(|&key| self.seen[key]);
            let top = keys().map(score).fold(f32::NEG_INFINITY, f32::max);
            let mut total = 0.0;
            for key in keys() {
                let weight = (score(key) - top).exp();
                total += weight;
                let values = &keys_values[key * 2 * inner + inner..][own.clone()];
                for (out, v) in out.iter_mut().zip(values) {
                    *out += weight * v;
                }
            }
            if total > 0.0 {
                for out in out.iter_mut() {
                    *out /= total;
                }
            }
        }
    }
}
