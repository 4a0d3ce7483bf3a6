//! The layers, one function each: what they read, what they add to the residual stream.
//!
//! Activations are tokens × width without padding. `x` is the residual stream; all else is a buffer of [`Work`].

use std::ops::Range;

use padir_base::denoise::Candidate;
use padir_checkpoint::layers::NormPlace;
use padir_kernels::packed::activation::Activation;
use padir_kernels::packed::attention::{Attention, Bias, Scores, Span};
use padir_kernels::packed::best::Best;
use padir_kernels::packed::{Finish, PANEL, Threads, Tools, grow};

use crate::cross_kv::LayerKv;
use crate::engine::Inner;
use crate::error::EngineError;
use crate::weights::{CrossAttention, FeedForward, Heads, Linear, Norm, SelfAttention};

/// Buffers that layers use one after the other.
#[derive(Debug)]
pub(crate) struct Work {
    pub tools: Tools,
    pub best: Best,
    /// Normalised rows.
    pub normed: Vec<f32>,
    /// Some of them.
    pub picked: Vec<f32>,
    /// Queries, keys and values; the hidden layer.
    pub qkv: Vec<f32>,
    /// Queries alone.
    pub queries: Vec<f32>,
    /// What attention found.
    pub context: Vec<f32>,
    /// The attention weights of the last layer that was run, if somebody wants to see them.
    pub caught: Option<Caught>,
    /// Buffers for the next time.
    pub spare: Caught,
}

/// Attention weights, as [`Attention::weights`] writes them.
#[derive(Debug, Default)]
pub(crate) struct Caught {
    pub self_attn: Vec<f32>,
    pub cross_attn: Vec<f32>,
}

/// The queries of a batch: whose, and where they stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub spans: &'a [Span],
    pub positions: &'a [u32],
}

/// The residual stream where only some tokens go on.
pub(crate) struct Chosen<'a> {
    /// Which they are.
    pub kept: &'a [u32],
    /// The stream of all tokens.
    pub all: &'a [f32],
    /// Theirs.
    pub x: &'a mut [f32],
}

/// What activations of a usable network stay far below: their squares can be summed over any width.
const LARGEST: f32 = 1e17;

/// Refuses activations that norms would turn into zeros or NaN.
pub(crate) fn check_activations(x: &[f32]) -> Result<(), EngineError> {
    // Without branches, so that it costs next to nothing; NaN is not below anything.
    let bounded = x.iter().fold(true, |bounded, number| bounded & (number.abs() < LARGEST));
    if bounded { Ok(()) } else { Err(EngineError::Overflow) }
}

/// Refuses answers whose first candidate has no probability, which comes of logits that overflow.
pub(crate) fn check_answers(answers: &[Candidate], depth: usize) -> Result<(), EngineError> {
    let sound = answers.iter().step_by(depth.max(1)).all(|best| best.log_prob.is_finite());
    if sound { Ok(()) } else { Err(EngineError::Overflow) }
}

impl Work {
    pub(crate) fn new(threads: Threads) -> Self {
        Self {
            tools: Tools::new(threads),
            best: Best::default(),
            normed: Vec::new(),
            picked: Vec::new(),
            qkv: Vec::new(),
            queries: Vec::new(),
            context: Vec::new(),
            caught: None,
            spare: Caught::default(),
        }
    }

    /// normed ← n(x), or x if there is no norm.
    pub(crate) fn normalise(&mut self, norm: Option<&Norm>, x: &[f32]) {
        let normed = grow(&mut self.normed, x.len());
        match norm {
            Some(norm) => norm.apply(&self.tools.threads, normed, x),
            None => normed.copy_from_slice(x),
        }
    }

    /// x ← x + f(n(x)·Wᵢ + bᵢ)·Wₒ + bₒ, or the norm of x + f(x·Wᵢ + bᵢ)·Wₒ + bₒ.
    pub(crate) fn feed_forward(&mut self, layer: &FeedForward, x: &mut [f32]) {
        let Self { tools, normed, qkv, .. } = self;
        let (d, f) = (layer.inner.inputs(), layer.inner.outputs());
        let hidden = grow(qkv, x.len() / d * f);
        let input = enter(&tools.threads, normed, &layer.norm, layer.place, x);
        if layer.activation == Activation::Relu && layer.inner.bias.is_empty() {
            layer.inner.weight.product(tools, input, 0..f, hidden, f, Finish::Relu);
        } else {
            layer.inner.product(tools, input, 0..f, hidden);
            layer.activation.apply(&tools.threads, hidden);
        }
        layer.outer.add_product(tools, hidden, x);
        self.leave(&layer.norm, layer.place, x);
    }

    /// Self-attention of all tokens.
    pub(crate) fn self_attn(
        &mut self,
        engine: &Inner,
        layer: &SelfAttention,
        rows: Rows<'_>,
        bias: Option<Bias<'_>>,
        x: &mut [f32],
    ) {
        if x.is_empty() {
            return;
        }
        let inner = layer.o.inputs();
        self.project(layer, 0..3 * inner, x);
        let qkv = &self.qkv;
        let plan = Attention {
            queries: qkv,
            query_stride: 3 * inner,
            scores: Scores::Keys { keys: &qkv[inner..], stride: 3 * inner },
            values: &qkv[2 * inner..],
            value_stride: 3 * inner,
            bias: bias.filter(|_| layer.relative_bias),
            ..plan_of(engine, layer.heads, rows)
        };
        if let Some(caught) = &mut self.caught {
            plan.weights(&self.tools, exactly(&mut caught.self_attn, plan.weights_len()));
        }
        let context = grow(&mut self.context, x.len() / layer.o.outputs() * inner);
        plan.run(&self.tools, context);
        self.add_context(&layer.o, x);
        self.leave(&layer.norm, layer.place, x);
    }

    /// The same for the queries of some tokens only.
    pub(crate) fn self_attn_some(
        &mut self,
        engine: &Inner,
        layer: &SelfAttention,
        rows: Rows<'_>,
        bias: Option<Bias<'_>>,
        stream: Chosen<'_>,
    ) {
        let Chosen { kept, all, x } = stream;
        let (d, inner) = (layer.o.outputs(), layer.o.inputs());
        self.project(layer, inner..3 * inner, all);
        let input = match layer.place {
            NormPlace::Pre => &self.normed,
            NormPlace::Post => all,
        };
        pick(&mut self.picked, input, d, kept);
        let queries = grow(&mut self.queries, kept.len() * inner);
        let picked = &self.picked[..kept.len() * d];
        layer.qkv.product(&mut self.tools, picked, 0..inner, queries);
        let kv = &self.qkv;
        let plan = Attention {
            queries,
            query_stride: inner,
            scores: Scores::Keys { keys: kv, stride: 2 * inner },
            values: &kv[inner..],
            value_stride: 2 * inner,
            bias: bias.filter(|_| layer.relative_bias),
            ..plan_of(engine, layer.heads, rows)
        };
        plan.run(&self.tools, grow(&mut self.context, kept.len() * inner));
        self.add_context(&layer.o, x);
        self.leave(&layer.norm, layer.place, x);
    }

    /// qkv ← some columns of what the layer makes of x.
    pub(crate) fn project(&mut self, layer: &SelfAttention, columns: Range<usize>, x: &[f32]) {
        let Self { tools, normed, qkv, .. } = self;
        let rows = x.len() / layer.qkv.inputs();
        let out = grow(qkv, rows * columns.len() + PANEL);
        let input = enter(&tools.threads, normed, &layer.norm, layer.place, x);
        layer.qkv.product(tools, input, columns, out);
    }

    /// Cross-attention.
    pub(crate) fn cross_attn(
        &mut self,
        engine: &Inner,
        layer: &CrossAttention,
        rows: Rows<'_>,
        kv: &LayerKv,
        x: &mut [f32],
    ) {
        let Self { tools, normed, queries, context, caught, .. } = self;
        let inner = layer.o.inputs();
        let size = x.len() / layer.o.outputs() * inner;
        let queries = grow(queries, size);
        let input = enter(&tools.threads, normed, &layer.norm, layer.place, x);
        layer.q.product(tools, input, 0..inner, queries);
        let plan = Attention {
            queries,
            query_stride: inner,
            scores: Scores::Panels(&kv.keys),
            values: &kv.values,
            value_stride: inner,
            ..plan_of(engine, layer.heads, rows)
        };
        if let Some(caught) = caught {
            plan.weights(tools, exactly(&mut caught.cross_attn, plan.weights_len()));
        }
        plan.run(tools, grow(context, size));
        self.add_context(&layer.o, x);
        self.leave(&layer.norm, layer.place, x);
    }

    /// x ← x + context·Wₒ + bₒ.
    pub(crate) fn add_context(&mut self, o: &Linear, x: &mut [f32]) {
        let context = &self.context[..x.len() / o.outputs() * o.inputs()];
        o.add_product(&mut self.tools, context, x);
    }

    /// x ← n(x) where the norm comes last.
    pub(crate) fn leave(&mut self, norm: &Norm, place: NormPlace, x: &mut [f32]) {
        if place == NormPlace::Post {
            norm.apply_in_place(&self.tools.threads, &mut self.normed, x);
        }
    }
}

/// What a sublayer reads of the residual stream: n(x), or x where the norm comes last.
pub(crate) fn enter<'a>(
    threads: &Threads,
    normed: &'a mut Vec<f32>,
    norm: &Norm,
    place: NormPlace,
    x: &'a [f32],
) -> &'a [f32] {
    match place {
        NormPlace::Pre => {
            let normed = grow(normed, x.len());
            norm.apply(threads, normed, x);
            normed
        }
        NormPlace::Post => x,
    }
}

/// What all attentions of a batch have in common.
pub(crate) fn plan_of<'a>(engine: &Inner, heads: Heads, rows: Rows<'a>) -> Attention<'a> {
    Attention {
        isa: engine.isa,
        heads: heads.count,
        width: heads.width,
        spans: rows.spans,
        queries: &[],
        query_stride: 0,
        positions: rows.positions,
        scores: Scores::Panels(&[]),
        values: &[],
        value_stride: 0,
        bias: None,
    }
}

/// A buffer of exactly so many numbers.
pub(crate) fn exactly(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    buffer.resize(len, 0.0);
    buffer
}

/// out ← some rows of x.
pub(crate) fn pick(out: &mut Vec<f32>, x: &[f32], width: usize, rows: &[u32]) {
    let out = grow(out, rows.len() * width);
    for (out, &row) in out.chunks_exact_mut(width).zip(rows) {
        out.copy_from_slice(&x[row as usize * width..][..width]);
    }
}
