//! The layers, one function each: what they read, what they add to the residual stream.
//!
//! Activations are tokens × width without padding. `x` is the residual stream; all else is a buffer of [`Work`].

use std::ops::Range;

use padir_kernels::packed::attention::{Attention, Bias, Scores, Span};
use padir_kernels::packed::best::Best;
use padir_kernels::packed::{Finish, PANEL, Packed, Threads, Tools, grow, row};

use crate::engine::Inner;
use crate::weights::{FeedForward, MemoryAttention, OwnAttention};

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
    pub wide: Vec<f32>,
    /// Queries alone.
    pub queries: Vec<f32>,
    /// What attention found.
    pub context: Vec<f32>,
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

impl Work {
    pub(crate) fn new(threads: Threads) -> Self {
        Self {
            tools: Tools::new(threads),
            best: Best::default(),
            normed: Vec::new(),
            picked: Vec::new(),
            wide: Vec::new(),
            queries: Vec::new(),
            context: Vec::new(),
        }
    }

    /// normed ← n(x).
    pub(crate) fn normalise(&mut self, x: &[f32], scale: &[f32], epsilon: f32) {
        let normed = grow(&mut self.normed, x.len());
        row::normalise(&self.tools.threads, normed, x, scale, epsilon);
    }

    /// x ← x + relu(n(x)·Wᵢ)·Wₒ.
    pub(crate) fn feed(&mut self, engine: &Inner, layer: &FeedForward, x: &mut [f32]) {
        let d = layer.inner.inputs();
        let f = layer.inner.outputs();
        self.normalise(x, &layer.norm, engine.epsilon());
        let hidden = grow(&mut self.wide, x.len() / d * f);
        let normed = &self.normed[..x.len()];
        layer.inner.product(&mut self.tools, normed, 0..f, hidden, f, Finish::Relu);
        layer.outer.product(&mut self.tools, hidden, 0..d, x, d, Finish::Add);
    }

    /// x ← x + attention over the rows themselves, for all tokens.
    pub(crate) fn attend(
        &mut self,
        engine: &Inner,
        layer: &OwnAttention,
        rows: Rows<'_>,
        bias: Bias<'_>,
        x: &mut [f32],
    ) {
        if x.is_empty() {
            return;
        }
        let inner = layer.o.inputs();
        self.project(engine, layer, 0..3 * inner, x);
        let wide = &self.wide;
        let plan = Attention {
            queries: wide,
            query_stride: 3 * inner,
            scores: Scores::Keys { keys: &wide[inner..], stride: 3 * inner },
            values: &wide[2 * inner..],
            value_stride: 3 * inner,
            bias: Some(bias),
            ..plan_of(engine, rows)
        };
        let context = grow(&mut self.context, x.len() / layer.o.outputs() * inner);
        plan.run(&self.tools, context);
        self.add_context(&layer.o, x);
    }

    /// The same for the queries of some tokens only.
    pub(crate) fn attend_some(
        &mut self,
        engine: &Inner,
        layer: &OwnAttention,
        rows: Rows<'_>,
        bias: Bias<'_>,
        stream: Chosen<'_>,
    ) {
        let Chosen { kept, all, x } = stream;
        let (d, inner) = (layer.o.outputs(), layer.o.inputs());
        self.project(engine, layer, inner..3 * inner, all);
        pick(&mut self.picked, &self.normed, d, kept);
        let queries = grow(&mut self.queries, kept.len() * inner);
        let picked = &self.picked[..kept.len() * d];
        layer.qkv.product(&mut self.tools, picked, 0..inner, queries, inner, Finish::Store);
        let wide = &self.wide;
        let plan = Attention {
            queries,
            query_stride: inner,
            scores: Scores::Keys { keys: wide, stride: 2 * inner },
            values: &wide[inner..],
            value_stride: 2 * inner,
            bias: Some(bias),
            ..plan_of(engine, rows)
        };
        plan.run(&self.tools, grow(&mut self.context, kept.len() * inner));
        self.add_context(&layer.o, x);
    }

    /// wide ← some columns of n(x)·W.
    pub(crate) fn project(
        &mut self,
        engine: &Inner,
        layer: &OwnAttention,
        columns: Range<usize>,
        x: &[f32],
    ) {
        let d = layer.qkv.inputs();
        self.normalise(x, &layer.norm, engine.epsilon());
        let stride = columns.len();
        let wide = grow(&mut self.wide, x.len() / d * stride + PANEL);
        let normed = &self.normed[..x.len()];
        layer.qkv.product(&mut self.tools, normed, columns, wide, stride, Finish::Store);
    }

    /// x ← x + attention over encoded sources.
    pub(crate) fn attend_memory(
        &mut self,
        engine: &Inner,
        layer: &MemoryAttention,
        rows: Rows<'_>,
        panels: &[f32],
        values: &[f32],
        x: &mut [f32],
    ) {
        let inner = layer.o.inputs();
        self.normalise(x, &layer.norm, engine.epsilon());
        let size = x.len() / layer.o.outputs() * inner;
        let queries = grow(&mut self.queries, size);
        let normed = &self.normed[..x.len()];
        layer.q.product(&mut self.tools, normed, 0..inner, queries, inner, Finish::Store);
        let plan = Attention {
            queries,
            query_stride: inner,
            scores: Scores::Panels(panels),
            values,
            value_stride: inner,
            ..plan_of(engine, rows)
        };
        plan.run(&self.tools, grow(&mut self.context, size));
        self.add_context(&layer.o, x);
    }

    /// x ← x + context·Wₒ.
    pub(crate) fn add_context(&mut self, o: &Packed, x: &mut [f32]) {
        let (d, inner) = (o.outputs(), o.inputs());
        let context = &self.context[..x.len() / d * inner];
        o.product(&mut self.tools, context, 0..d, x, d, Finish::Add);
    }
}

/// What all attentions of a batch have in common.
pub(crate) fn plan_of<'a>(engine: &Inner, rows: Rows<'a>) -> Attention<'a> {
    Attention {
        isa: engine.isa,
        heads: engine.config.num_heads,
        width: engine.config.d_kv,
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

/// out ← some rows of x.
pub(crate) fn pick(out: &mut Vec<f32>, x: &[f32], width: usize, rows: &[u32]) {
    let out = grow(out, rows.len() * width);
    for (out, &row) in out.chunks_exact_mut(width).zip(rows) {
        out.copy_from_slice(&x[row as usize * width..][..width]);
    }
}
