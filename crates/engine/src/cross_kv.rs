//! Cross-attention KV: for every decoder layer the keys and values of encoded sources.
//!
//! Computed once per source and shared by all rows that name it. 8·inner·layers bytes per source token.

use padir_kernels::packed::attention::{Span, pack_keys, packed_len};
use padir_kernels::packed::{PANEL, grow};

use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::Work;
use crate::weights::{CrossKeysValues, Heads};

/// Keys and values of one decoder layer.
#[derive(Debug, Default)]
pub(crate) struct LayerKv {
    /// The keys of all contexts, packed.
    pub keys: Vec<f32>,
    /// One row per source token.
    pub values: Vec<f32>,
}

/// Where a context stands.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// Its first row of values.
    first: usize,
    /// Its source tokens.
    count: usize,
    /// Its first number of packed keys.
    place: usize,
}

/// All contexts.
#[derive(Debug, Default)]
pub(crate) struct CrossKv {
    contexts: Vec<Context>,
    pub layers: Vec<LayerKv>,
}

impl CrossKv {
    pub(crate) fn len(&self) -> usize {
        self.contexts.len()
    }

    pub(crate) fn check(&self, context: usize) -> Result<(), EngineError> {
        let contexts = self.contexts.len();
        if context < contexts { Ok(()) } else { Err(EngineError::Context { context, contexts }) }
    }

    /// Some queries over a context that exists.
    pub(crate) fn span(&self, context: usize, queries: std::ops::Range<usize>) -> Span {
        let Context { first, count, place } = self.contexts[context];
        Span { queries, first, count, place }
    }

    /// Forgets all contexts.
    pub(crate) fn clear(&mut self) {
        self.contexts.clear();
    }

    /// Keeps what the decoder reads of encoded sources: `states` has one row per token, `lengths` the tokens of each.
    pub(crate) fn fill(
        &mut self,
        engine: &Inner,
        work: &mut Work,
        states: &[f32],
        lengths: impl Iterator<Item = usize>,
    ) {
        let layers = &engine.weights.cross_kv;
        let Some(Heads { count: heads, width }) = layers.first().map(|layer| layer.heads) else {
            return;
        };
        let inner = heads * width;
        let (mut first, mut place) = (0, 0);
        self.contexts.clear();
        for count in lengths {
            self.contexts.push(Context { first, count, place });
            first += count;
            place += packed_len(heads, width, count);
        }
        self.layers.resize_with(layers.len(), LayerKv::default);
        for (CrossKeysValues { kv, .. }, layer) in layers.iter().zip(&mut self.layers) {
            let keys = grow(&mut work.qkv, first * inner);
            kv.product(&mut work.tools, states, 0..inner, keys);
            let packed = grow(&mut layer.keys, place);
            for context in &self.contexts {
                let out = &mut packed[context.place..][..packed_len(heads, width, context.count)];
                let keys = &keys[context.first * inner..];
                pack_keys(out, keys, inner, context.count, heads, width);
            }
            let values = grow(&mut layer.values, first * inner + PANEL);
            kv.product(&mut work.tools, states, inner..2 * inner, values);
        }
    }
}
