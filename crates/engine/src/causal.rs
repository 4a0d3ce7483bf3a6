//! The causal decoder: rows that grow token by token, over a cache of keys and values.
//!
//! The cache is append-only: each token of each row takes a slot, and a row is the list of its slots. A beam that reorders its
//! rows copies lists of numbers, never keys or values. 8·inner·layers bytes per token.

use padir_base::TokenId;
use padir_base::continuation::{Advance, Continuer};
use padir_base::denoise::Candidate;
use padir_checkpoint::DecoderKind;
use padir_kernels::packed::attention::{Bias, Span};
use padir_kernels::packed::cached::Cached;
use padir_kernels::packed::grow;

use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::{Rows, Work};
use crate::memory::Memory;
use crate::session::{Session, embed};

/// The rows that grow, and what is cached for them.
#[derive(Debug, Default)]
pub(crate) struct Growth {
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

impl Growth {
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
        memory: &Memory,
        rows: &[Advance],
    ) -> Result<(), EngineError> {
        let count = self.contexts.len();
        for row in rows {
            engine.check_token(row.token.0)?;
            if row.parent >= count {
                return Err(EngineError::Parent { parent: row.parent, rows: count });
            }
        }
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
        self.group(memory);
        Ok(())
    }

    /// Neighbours that share a context look at it together.
    fn group(&mut self, memory: &Memory) {
        self.spans.clear();
        let mut from = 0;
        for rows in self.contexts.chunk_by(|a, b| a == b) {
            self.spans.push(memory.span(rows[0], from..from + rows.len()));
            from += rows.len();
        }
    }
}

impl Continuer for Session {
    type Error = EngineError;

    fn alphabet(&self) -> usize {
        self.engine.inner.vocabulary()
    }

    fn begin(&mut self, contexts: &[usize]) -> Result<(), EngineError> {
        self.engine.inner.check_decoder(DecoderKind::Causal)?;
        contexts.iter().try_for_each(|&context| self.memory.check(context))?;
        self.growth.clear();
        self.growth.contexts.extend_from_slice(contexts);
        Ok(())
    }

    fn advance(
        &mut self,
        rows: &[Advance],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), EngineError> {
        let Self { engine, work, memory, growth, x, decoder_bias, shortlists, .. } = self;
        let engine = &*engine.inner;
        engine.check_decoder(DecoderKind::Causal)?;
        engine.check_depth(depth)?;
        growth.extend(engine, memory, rows)?;
        answers.clear();
        answers.resize(rows.len() * depth, NOTHING);
        if rows.is_empty() {
            return Ok(());
        }
        let stack = &engine.weights.decoder;
        let bias = stack.bias.spread(decoder_bias, growth.steps);
        let x = grow(x, rows.len() * engine.config.d_model);
        step(engine, work, memory, growth, bias, x);
        work.normalise(x, &stack.norm, engine.epsilon());
        let context = |row: usize| growth.contexts[row];
        shortlists.answer(engine, work, false, rows.len(), context, depth, answers);
        Ok(())
    }
}

/// Runs all layers for the last token of each row.
fn step(
    engine: &Inner,
    work: &mut Work,
    memory: &Memory,
    growth: &mut Growth,
    bias: Bias<'_>,
    x: &mut [f32],
) {
    let (heads, width) = (engine.config.num_heads, engine.config.d_kv);
    let inner = heads * width;
    let count = growth.contexts.len();
    let first = growth.taken - count;
    embed(engine, &growth.tokens, x);
    let layers = engine.weights.decoder.blocks.iter().zip(&mut growth.caches).zip(&memory.layers);
    for ((block, cache), kept) in layers {
        work.project(engine, &block.own, 0..3 * inner, x);
        let cache = grow(cache, growth.taken * 2 * inner);
        let slots = cache[first * 2 * inner..].chunks_exact_mut(2 * inner);
        for (slot, wide) in slots.zip(work.wide.chunks_exact(3 * inner)) {
            slot.copy_from_slice(&wide[inner..]);
        }
        let plan = Cached {
            heads,
            width,
            queries: &work.wide,
            query_stride: 3 * inner,
            slots: &growth.slots,
            count: growth.steps,
            cache,
            bias,
        };
        plan.run(&work.tools, grow(&mut work.context, count * inner));
        work.add_context(&block.own.o, x);
        let rows = Rows { spans: &growth.spans, positions: &[] };
        work.attend_memory(engine, &block.memory, rows, &kept.panels, &kept.values, x);
        work.feed(engine, &block.feed, x);
    }
}
