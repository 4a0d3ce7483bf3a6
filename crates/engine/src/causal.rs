//! The causal decoder: rows that grow token by token, over a KV cache.
//!
//! The cache is append-only: each token of each row takes a slot, and a row is the list of its slots. A beam that reorders its
//! rows copies lists of numbers, never keys or values. 8·inner·layers bytes per token.

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::Candidate;
use padir_checkpoint::DecoderKind;
use padir_kernels::packed::attention::{Bias, Span};
use padir_kernels::packed::cached::Cached;
use padir_kernels::packed::grow;

use crate::cross_kv::CrossKv;
use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::{Rows, Work, check_activations, check_answers};
use crate::session::Session;
use crate::weights::Heads;

/// The rows that grow, and what is cached for them.
#[derive(Debug, Default)]
pub(crate) struct KvCache {
    /// The context of each row.
    contexts: Vec<usize>,
    /// The slots of each row, row after row.
    slots: Vec<u32>,
    /// Tokens of each row.
    steps: usize,
    /// Slots taken.
    taken: usize,
    /// Keys and values of each layer, slot after slot.
    caches: Vec<Vec<f32>>,
    /// The same, of the rows to come.
    next_contexts: Vec<usize>,
    next_slots: Vec<u32>,
    tokens: Vec<u32>,
    spans: Vec<Span>,
}

const NOTHING: Candidate = Candidate { token: TokenId::PAD, log_prob: f64::NEG_INFINITY };

impl KvCache {
    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.contexts.clear();
        self.slots.clear();
        (self.steps, self.taken) = (0, 0);
    }

    /// Replaces the rows by their continuations, without anything in their last slots yet.
    fn extend(
        &mut self,
        engine: &Inner,
        cross_kv: &CrossKv,
        rows: &[DecodeStep],
    ) -> Result<(), EngineError> {
        let count = self.contexts.len();
        for row in rows {
            engine.check_token(row.token.0)?;
            if row.parent >= count {
                return Err(EngineError::Parent { parent: row.parent, rows: count });
            }
        }
        engine.check_target_length(self.steps + 1)?;
        let limit = u32::MAX as usize;
        if self.taken + rows.len() > limit {
            return Err(EngineError::TooLong { length: self.taken + rows.len(), limit });
        }
        self.next_contexts.clear();
        self.next_slots.clear();
        self.tokens.clear();
        for (slot, row) in (self.taken as u32..).zip(rows) {
            self.next_contexts.push(self.contexts[row.parent]);
            let parent = row.parent * self.steps..(row.parent + 1) * self.steps;
            self.next_slots.extend_from_slice(&self.slots[parent]);
            self.next_slots.push(slot);
            self.tokens.push(row.token.0);
        }
        std::mem::swap(&mut self.contexts, &mut self.next_contexts);
        std::mem::swap(&mut self.slots, &mut self.next_slots);
        self.steps += 1;
        self.taken += rows.len();
        self.caches.resize_with(engine.weights.decoder.blocks.len(), Vec::new);
        self.group(cross_kv);
        Ok(())
    }

    /// Neighbours that share a context look at it together.
    fn group(&mut self, cross_kv: &CrossKv) {
        self.spans.clear();
        let mut from = 0;
        for rows in self.contexts.chunk_by(|a, b| a == b) {
            self.spans.push(cross_kv.span(rows[0], from..from + rows.len()));
            from += rows.len();
        }
    }
}

impl CausalModel for Session {
    type Error = EngineError;

    fn vocabulary_size(&self) -> usize {
        self.engine.inner.vocabulary()
    }

    fn begin(&mut self, contexts: &[usize]) -> Result<(), EngineError> {
        self.engine.inner.check_decoder(DecoderKind::Causal)?;
        contexts.iter().try_for_each(|&context| self.cross_kv.check(context))?;
        self.kv_cache.clear();
        self.kv_cache.contexts.extend_from_slice(contexts);
        Ok(())
    }

    fn decode_step(
        &mut self,
        rows: &[DecodeStep],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), EngineError> {
        let Self {
            engine, work, cross_kv, kv_cache, x, decoder_bias, sinusoids, shortlists, ..
        } = self;
        let engine = &*engine.inner;
        engine.check_decoder(DecoderKind::Causal)?;
        engine.check_depth(depth)?;
        kv_cache.extend(engine, cross_kv, rows)?;
        answers.clear();
        answers.resize(rows.len() * depth, NOTHING);
        if rows.is_empty() {
            return Ok(());
        }
        let stack = &engine.weights.decoder;
        let bias = stack.relative_bias.as_ref();
        let bias = bias.map(|bias| bias.spread(decoder_bias, kv_cache.steps));
        let x = grow(x, rows.len() * engine.config.d_model);
        let position = kv_cache.steps as u32 - 1;
        engine.embed_target(&kv_cache.tokens, std::iter::repeat(position), sinusoids, x);
        step(engine, work, cross_kv, kv_cache, bias, x);
        check_activations(x)?;
        work.normalise(stack.final_norm.as_ref(), x);
        let context = |row: usize| kv_cache.contexts[row];
        shortlists.answer(engine, work, false, rows.len(), context, depth, answers);
        check_answers(answers, depth)
    }
}

/// Runs all layers for the last token of each row.
fn step(
    engine: &Inner,
    work: &mut Work,
    cross_kv: &CrossKv,
    kv_cache: &mut KvCache,
    bias: Option<Bias<'_>>,
    x: &mut [f32],
) {
    let count = kv_cache.contexts.len();
    let first = kv_cache.taken - count;
    let blocks = &engine.weights.decoder.blocks;
    for ((block, cache), kv) in blocks.iter().zip(&mut kv_cache.caches).zip(&cross_kv.layers) {
        let self_attn = &block.self_attn;
        let Heads { count: heads, width } = self_attn.heads;
        let inner = heads * width;
        work.project(self_attn, 0..3 * inner, x);
        let cache = grow(cache, kv_cache.taken * 2 * inner);
        let slots = cache[first * 2 * inner..].chunks_exact_mut(2 * inner);
        for (slot, qkv) in slots.zip(work.qkv.chunks_exact(3 * inner)) {
            slot.copy_from_slice(&qkv[inner..]);
        }
        let plan = Cached {
            heads,
            width,
            queries: &work.qkv,
            query_stride: 3 * inner,
            slots: &kv_cache.slots,
            count: kv_cache.steps,
            cache,
            bias: bias.filter(|_| self_attn.relative_bias),
        };
        plan.run(&work.tools, grow(&mut work.context, count * inner));
        work.add_context(&self_attn.o, x);
        work.leave(&self_attn.norm, self_attn.place, x);
        let rows = Rows { spans: &kv_cache.spans, positions: &[] };
        work.cross_attn(engine, &block.cross_attn, rows, kv, x);
        work.feed_forward(&block.ffn, x);
    }
}
