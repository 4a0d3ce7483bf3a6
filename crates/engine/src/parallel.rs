//! The parallel decoder: all wanted positions of all rows at once.
//!
//! Rows of which nothing is wanted are not computed at all, and in the last layer only wanted positions are, beyond the keys and values
//! that they look at. Both leave every answer as it is. Low-precision steps run through int8 layers and the int8 copy of the
//! output layer; the rest of the network is in full precision.

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_checkpoint::DecoderKind;
use padir_checkpoint::layers::upsampled;
use padir_kernels::packed::attention::{Attention, Bias, Known as Weights, Scores, Span};
use padir_kernels::packed::{Finish, PANEL, Packed, grow};

use crate::cross_kv::CrossKv;
use crate::embed::Sinusoids;
use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::{Caught, Chosen, Rows, Work, check_activations, check_answers, pick, plan_of};
use crate::positional::{Factors, Known, Positional, Sizes};
use crate::query_stream;
use crate::session::Session;

/// A query, as layers read it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Of all rows of which something is wanted.
    tokens: Vec<u32>,
    /// All of their tokens: over themselves, and over their contexts.
    pub(crate) all: Vec<Span>,
    pub(crate) all_cross: Vec<Span>,
    all_positions: Vec<u32>,
    /// Wanted tokens: which of all they are, and the same for them.
    pub(crate) kept: Vec<u32>,
    pub(crate) some: Vec<Span>,
    pub(crate) some_cross: Vec<Span>,
    pub(crate) some_positions: Vec<u32>,
    /// The context of each wanted token.
    contexts: Vec<u32>,
    /// Of each wanted token which tokens of its row it sees, in a decoder with visibility by query.
    pub(crate) visible: Vec<bool>,
    longest: usize,
    pub(crate) low_precision: bool,
    /// The residual stream of wanted tokens.
    pub(crate) chosen: Vec<f32>,
}

impl Plan {
    fn clear(&mut self) {
        self.tokens.clear();
        self.all.clear();
        self.all_cross.clear();
        self.all_positions.clear();
        self.kept.clear();
        self.some.clear();
        self.some_cross.clear();
        self.some_positions.clear();
        self.contexts.clear();
        self.visible.clear();
        self.longest = 0;
    }

    /// Reads a query, and refuses what the model does not know.
    pub(crate) fn read(
        &mut self,
        engine: &Inner,
        cross_kv: &CrossKv,
        query: &Query<'_>,
    ) -> Result<(), EngineError> {
        self.clear();
        self.low_precision = query.is_low_precision();
        let by_query = engine.has_query_stream();
        if query.has_ranks() && !by_query {
            return Err(EngineError::NoRanks);
        }
        for row in (0..query.rows()).map(|row| query.row(row)) {
            cross_kv.check(row.context)?;
            engine.check_target_length(row.tokens.len())?;
            let from = self.tokens.len();
            for (token, &hidden) in row.tokens.iter().zip(row.hidden) {
                let token = if hidden {
                    let position = self.tokens.len() - from;
                    engine.config.mask_at(position).ok_or(EngineError::NoMask)?.0
                } else {
                    token.0
                };
                engine.check_token(token)?;
                self.tokens.push(token);
            }
            if row.wanted.contains(&true) {
                self.add_row(cross_kv, row.context, from, row.wanted);
                if by_query {
                    let wanted = (0..row.tokens.len()).filter(|&i| row.wanted[i]);
                    let seen = |i| (0..row.tokens.len()).map(move |j| row.sees(i, j));
                    self.visible.extend(wanted.flat_map(seen));
                }
            } else {
                self.tokens.truncate(from);
            }
        }
        Ok(())
    }

    fn add_row(&mut self, cross_kv: &CrossKv, context: usize, first: usize, wanted: &[bool]) {
        let count = wanted.len();
        let queries = first..first + count;
        self.all_cross.push(cross_kv.span(context, queries.clone()));
        self.all.push(Span { queries, first, count, place: count });
        self.all_positions.extend(0..count as u32);
        let from = self.kept.len();
        for position in (0..count).filter(|&position| wanted[position]) {
            self.kept.push((first + position) as u32);
            self.some_positions.push(position as u32);
            self.contexts.push(context as u32);
        }
        let queries = from..self.kept.len();
        self.some_cross.push(cross_kv.span(context, queries.clone()));
        self.some.push(Span { queries, first, count, place: count });
        self.longest = self.longest.max(count);
    }
}

impl Denoiser for Session {
    type Error = EngineError;

    fn vocabulary_size(&self) -> usize {
        self.engine.inner.vocabulary()
    }

    fn has_low_precision(&self) -> bool {
        self.engine.inner.weights.int8_blocks.is_some()
    }

    fn set_candidates(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<bool, EngineError> {
        self.cross_kv.check(context)?;
        self.shortlists.narrow(&self.engine.inner, context, tokens)
    }

    fn has_confidence_head(&self) -> bool {
        self.engine.inner.weights.confidence.is_some()
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), EngineError> {
        let Self {
            engine,
            work,
            cross_kv,
            sources,
            plan,
            x,
            decoder_bias,
            sinusoids,
            shortlists,
            ..
        } = self;
        let engine = &*engine.inner;
        engine.check_decoder(DecoderKind::Parallel)?;
        let depth = answers.depth();
        engine.check_depth(depth)?;
        plan.read(engine, cross_kv, query)?;
        let rows = plan.kept.len();
        let (found, wanted) = (answers.candidates_mut().len(), rows * depth);
        if found != wanted {
            return Err(EngineError::Answers { found, wanted });
        }
        if wanted == 0 {
            return Ok(());
        }
        let stack = &engine.weights.decoder;
        let bias = stack.relative_bias.as_ref();
        let bias = bias.map(|bias| bias.spread(decoder_bias, plan.longest));
        let x = grow(x, plan.tokens.len() * engine.config.d_model);
        embed(engine, plan, sinusoids, x);
        if engine.config.is_ctc() {
            add_source(engine.config.d_model, plan, &sources.states, x);
        }
        if engine.has_query_stream() {
            query_stream::decode(engine, work, cross_kv, plan, bias, x);
        } else {
            decode(engine, work, cross_kv, plan, bias, x);
        }
        let chosen = &plan.chosen[..rows * engine.config.d_model];
        check_activations(chosen)?;
        work.normalise(stack.final_norm.as_ref(), chosen);
        let context = |row: usize| plan.contexts[row] as usize;
        let low_precision = plan.low_precision;
        shortlists.answer(
            engine,
            work,
            low_precision,
            rows,
            context,
            depth,
            answers.candidates_mut(),
        );
        check_answers(answers.candidates_mut(), depth)?;
        if let Some(table) = &engine.weights.confidence {
            confidences(work, table, rows, answers.confidences_mut());
        }
        Ok(())
    }
}

/// Runs the layers up to the last that is wanted for all positions of a plan that wants them all, and shows the attention weights of wanted layers.
pub(crate) fn show_layers(
    session: &mut Session,
    wanted: &[bool],
    show: &mut dyn FnMut(usize, &Caught, &Plan),
) {
    let Session { engine, work, cross_kv, sources, plan, x, decoder_bias, sinusoids, .. } = session;
    let engine = &*engine.inner;
    let stack = &engine.weights.decoder;
    let bias = stack.relative_bias.as_ref();
    let bias = bias.map(|bias| bias.spread(decoder_bias, plan.longest));
    let x = grow(x, plan.tokens.len() * engine.config.d_model);
    embed(engine, plan, sinusoids, x);
    if engine.config.is_ctc() {
        add_source(engine.config.d_model, plan, &sources.states, x);
    }
    let by_query = engine.has_query_stream();
    if by_query && !query_stream::begin(engine, plan) {
        return;
    }
    for (index, block) in stack.blocks.iter().enumerate() {
        let Some(later) = wanted.get(index..).filter(|later| later.contains(&true)) else { break };
        work.caught = later[0].then(|| std::mem::take(&mut work.spare));
        let kv = &cross_kv.layers[index];
        if by_query {
            query_stream::run_layer(engine, work, block, kv, plan, bias, x);
        } else {
            let all = Rows { spans: &plan.all, positions: &plan.all_positions };
            work.self_attn(engine, &block.self_attn, all, bias, x);
            if let Some(layer) = &block.positional {
                values(work, layer, x);
                by_position(engine, work, layer, all, None, bias, x);
            }
            let rows = Rows { spans: &plan.all_cross, ..all };
            work.cross_attn(engine, &block.cross_attn, rows, kv, x);
            work.feed_forward(&block.ffn, x);
        }
        if let Some(caught) = work.caught.take() {
            show(index, &caught, plan);
            work.spare = caught;
        }
    }
}

/// ln p(right) of each of the normed states: a softmax over wrong and right.
fn confidences(work: &mut Work, table: &Packed, rows: usize, confidences: &mut [f64]) {
    let Work { tools, normed, qkv, .. } = work;
    let states = &normed[..rows * table.inputs()];
    let logits = grow(qkv, rows * 2);
    table.product(tools, states, 0..2, logits, 2, Finish::Store);
    for (confidence, logits) in confidences.iter_mut().zip(logits.chunks_exact(2)) {
        let against = f64::from(logits[0]) - f64::from(logits[1]);
        // −ln(1 + e^z), without overflow.
        *confidence = -(against.max(0.0) + (-against.abs()).exp().ln_1p());
    }
}

/// x ← the embeddings of all tokens.
fn embed(engine: &Inner, plan: &Plan, sinusoids: &mut Sinusoids, x: &mut [f32]) {
    engine.embed_target(&plan.tokens, plan.all_positions.iter().copied(), sinusoids, x);
}

/// x ← x + the encoder's output, each row of slots with the states of its context.
fn add_source(width: usize, plan: &Plan, states: &[f32], x: &mut [f32]) {
    for (slots, source) in plan.all.iter().zip(&plan.all_cross) {
        let rows =
            x[slots.queries.start * width..slots.queries.end * width].chunks_exact_mut(width);
        for (slot, row) in rows.enumerate().take(if source.count == 0 { 0 } else { slots.count }) {
            let state = source.first + upsampled(slot, slots.count, source.count);
            let state = &states[state * width..][..width];
            row.iter_mut().zip(state).for_each(|(x, s)| *x += s);
        }
    }
}

/// Runs all layers; the states of wanted tokens end up in `plan.chosen`.
fn decode(
    engine: &Inner,
    work: &mut Work,
    cross_kv: &CrossKv,
    plan: &mut Plan,
    bias: Option<Bias<'_>>,
    x: &mut [f32],
) {
    let d = engine.config.d_model;
    let known = bias.is_some_and(|bias| learn_lengths(engine, plan, bias));
    let all = Rows { spans: &plan.all, positions: &plan.all_positions };
    let some = Rows { spans: &plan.some, positions: &plan.some_positions };
    let exact = &engine.weights.decoder.blocks;
    let int8 = engine.weights.int8_blocks.as_ref().filter(|_| plan.low_precision);
    let blocks = int8.unwrap_or(exact);
    let Some((last, before)) = blocks.split_last() else { return };
    for (index, block) in before.iter().enumerate() {
        work.self_attn(engine, &block.self_attn, all, bias, x);
        if let Some(layer) = &block.positional {
            values(work, layer, x);
            by_position(engine, work, layer, all, known.then_some(index), bias, x);
        }
        let rows = Rows { spans: &plan.all_cross, ..all };
        work.cross_attn(engine, &block.cross_attn, rows, &cross_kv.layers[index], x);
        work.feed_forward(&block.ffn, x);
    }
    let index = before.len();
    if let Some(layer) = &last.positional {
        work.self_attn(engine, &last.self_attn, all, bias, x);
        values(work, layer, x);
        pick(&mut plan.chosen, x, d, &plan.kept);
        let chosen = &mut plan.chosen[..plan.kept.len() * d];
        by_position(engine, work, layer, some, known.then_some(index), bias, chosen);
    } else {
        pick(&mut plan.chosen, x, d, &plan.kept);
        let chosen = &mut plan.chosen[..plan.kept.len() * d];
        let stream = Chosen { kept: &plan.kept, all: x, x: chosen };
        work.self_attn_some(engine, &last.self_attn, some, bias, stream);
    }
    let chosen = &mut plan.chosen[..plan.kept.len() * d];
    let rows = Rows { spans: &plan.some_cross, ..some };
    work.cross_attn(engine, &last.cross_attn, rows, &cross_kv.layers[index], chosen);
    work.feed_forward(&last.ffn, chosen);
}

/// Whether the attention weights by position are known for all lengths of a batch.
fn learn_lengths(engine: &Inner, plan: &Plan, bias: Bias<'_>) -> bool {
    let blocks = &engine.weights.decoder.blocks;
    let Some(layer) = blocks.first().and_then(|block| block.positional.as_ref()) else {
        return false;
    };
    let sizes = Sizes { isa: engine.isa, heads: layer.heads, longest: layer.longest() };
    plan.all.iter().all(|span| engine.known.learn(span.count, blocks, sizes, bias))
}

/// qkv ← x·Wᵥ.
fn values(work: &mut Work, layer: &Positional, x: &[f32]) {
    let (d, inner) = (layer.v.inputs(), layer.v.outputs());
    let out = grow(&mut work.qkv, x.len() / d * inner + PANEL);
    layer.v.product(&mut work.tools, x, 0..inner, out);
}

/// The known weights of one layer.
struct LayerWeights<'a> {
    known: &'a Known,
    layer: usize,
    layers: usize,
}

impl Weights for LayerWeights<'_> {
    fn at(&self, length: usize) -> &[f32] {
        self.known.get(length, self.layer, self.layers)
    }
}

/// x ← x + A·values·Wₒ, with A known for this layer or computed.
fn by_position(
    engine: &Inner,
    work: &mut Work,
    layer: &Positional,
    rows: Rows<'_>,
    known: Option<usize>,
    bias: Option<Bias<'_>>,
    x: &mut [f32],
) {
    let inner = layer.o.inputs();
    let size = rows.positions.len() * inner;
    let layers = engine.weights.decoder.blocks.len();
    let weights = LayerWeights { known: &engine.known, layer: known.unwrap_or(0), layers };
    let Factors { queries, panels } = &*layer.factors;
    let longest = layer.longest();
    let scores = if known.is_some() {
        Scores::Known(&weights)
    } else {
        pick(&mut work.queries, queries, inner, rows.positions);
        Scores::Common { panels, longest }
    };
    let plan = Attention {
        queries: &work.queries,
        query_stride: inner,
        scores,
        values: &work.qkv,
        value_stride: inner,
        bias,
        ..plan_of(engine, layer.heads, rows)
    };
    plan.run(&work.tools, grow(&mut work.context, size));
    work.add_context(&layer.o, x);
}
