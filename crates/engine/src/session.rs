//! Somebody who translates: an engine with buffers of its own.

use padir_base::TokenId;
use padir_kernels::packed::Threads;
use padir_kernels::packed::attention::Span;
use padir_kernels::packed::grow;

use crate::bias::Spread;
use crate::causal::KvCache;
use crate::cross_kv::CrossKv;
use crate::embed::Sinusoids;
use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::forced::Trial;
use crate::head::Shortlists;
use crate::layers::{Rows, Work, check_activations, pick};
use crate::length::Lengths;
use crate::parallel::Plan;

/// Encodes sources and answers about their targets: see [`Denoiser`](padir_base::denoise::Denoiser) and
/// [`CausalModel`](padir_base::causal::CausalModel).
#[derive(Debug)]
pub struct Session {
    pub(crate) engine: Engine,
    pub(crate) work: Work,
    pub(crate) cross_kv: CrossKv,
    pub(crate) lengths: Lengths,
    pub(crate) shortlists: Shortlists,
    /// The residual stream.
    pub(crate) x: Vec<f32>,
    pub(crate) encoder_bias: Spread,
    pub(crate) decoder_bias: Spread,
    pub(crate) sinusoids: Sinusoids,
    pub(crate) sources: Sources,
    pub(crate) plan: Plan,
    pub(crate) kv_cache: KvCache,
    pub(crate) trial: Trial,
}

/// Sources while they are encoded.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    tokens: Vec<u32>,
    spans: Vec<Span>,
    positions: Vec<u32>,
    lengths: Vec<usize>,
    /// Rows of LENGTH tokens, and of all others.
    first: Vec<u32>,
    others: Vec<u32>,
    /// The encoder's output, one row per source token.
    pub(crate) states: Vec<f32>,
}

impl Session {
    pub(crate) fn new(engine: Engine, threads: Threads) -> Self {
        Self {
            engine,
            work: Work::new(threads),
            cross_kv: CrossKv::default(),
            lengths: Lengths::default(),
            shortlists: Shortlists::default(),
            x: Vec::new(),
            encoder_bias: Spread::default(),
            decoder_bias: Spread::default(),
            sinusoids: Sinusoids::default(),
            sources: Sources::default(),
            plan: Plan::default(),
            kv_cache: KvCache::default(),
            trial: Trial::default(),
        }
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How many contexts there are.
    pub fn contexts(&self) -> usize {
        self.cross_kv.len()
    }

    /// Replaces the contexts: source i (ids, end included) becomes context i. Runs the encoder and computes, once per
    /// source, what all decoder layers will read of it. Shortlists and growing rows are forgotten.
    ///
    /// # Errors
    /// If a token lies outside of the vocabulary, a source is longer than the model has positions, or the network overflows; then there are no
    /// contexts.
    pub fn encode(&mut self, sources: &[&[TokenId]]) -> Result<(), EngineError> {
        self.cross_kv.clear();
        self.lengths.clear();
        self.shortlists.clear();
        self.kv_cache.clear();
        let Self { engine, work, sources: batch, x, encoder_bias, sinusoids, .. } = self;
        let engine = &*engine.inner;
        let length_token = length_token(engine);
        batch.fill(engine, sources, length_token)?;
        let d = engine.config.d_model;
        let x = grow(x, batch.tokens.len() * d);
        engine.embed_source(&batch.tokens, batch.positions.iter().copied(), sinusoids, x);
        let stack = &engine.weights.encoder;
        let longest = batch.spans.iter().map(|span| span.count).max().unwrap_or(0);
        let bias = stack.relative_bias.as_ref().map(|bias| bias.spread(encoder_bias, longest));
        for block in &stack.blocks {
            let rows = Rows { spans: &batch.spans, positions: &batch.positions };
            work.self_attn(engine, &block.self_attn, rows, bias, x);
            work.feed_forward(&block.ffn, x);
        }
        check_activations(x)?;
        work.normalise(stack.final_norm.as_ref(), x);
        if length_token.is_some() {
            pick(&mut batch.states, &work.normed, d, &batch.first);
            let states = &batch.states[..batch.first.len() * d];
            self.lengths.read_tokens(engine, work, states, &batch.lengths);
        }
        pick(&mut batch.states, &work.normed, d, &batch.others);
        let states = &batch.states[..batch.others.len() * d];
        if length_token.is_none() {
            self.lengths.read_sources(engine, work, states, &batch.lengths);
        }
        self.cross_kv.fill(engine, work, states, batch.lengths.iter().copied());
        Ok(())
    }

    /// The likeliest lengths of a context's target, its end included, with their log-probabilities, the best first. Predictors of
    /// one number give the lengths around it, with the negative distance for a log-probability. Empty for the oracle, for causal
    /// decoders, and if there is no such context.
    pub fn lengths(&self, context: usize, most: usize) -> Vec<(usize, f64)> {
        self.lengths.best(context, most)
    }

    /// Only these tokens compete in a context, until it is encoded anew; all of them if `None`. Costs a copy of their rows of the
    /// output layer. When more candidates are asked for, the others follow as impossible.
    ///
    /// # Errors
    /// If there is no such context or token, or no token at all.
    pub fn set_shortlist(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), EngineError> {
        self.cross_kv.check(context)?;
        self.shortlists.set(&self.engine.inner, context, tokens)
    }
}

impl Sources {
    fn fill(
        &mut self,
        engine: &Inner,
        sources: &[&[TokenId]],
        length_token: Option<u32>,
    ) -> Result<(), EngineError> {
        self.tokens.clear();
        self.spans.clear();
        self.positions.clear();
        self.lengths.clear();
        self.first.clear();
        self.others.clear();
        for source in sources {
            source.iter().try_for_each(|token| engine.check_source_token(token.0))?;
            engine.check_source_length(source.len() + usize::from(length_token.is_some()))?;
            let start = self.tokens.len();
            self.first.push(start as u32);
            self.tokens.extend(length_token);
            self.others.extend((self.tokens.len() as u32..).take(source.len()));
            self.tokens.extend(source.iter().map(|token| token.0));
            let count = self.tokens.len() - start;
            self.positions.extend(0..count as u32);
            let queries = start..self.tokens.len();
            self.spans.push(Span { queries, first: start, count, place: 0 });
            self.lengths.push(source.len());
        }
        Ok(())
    }
}

/// What stands before a source so that a length can be read off it.
fn length_token(engine: &Inner) -> Option<u32> {
    let predictor = engine.config.parallel()?.length;
    let token = engine.config.symbols.length?;
    predictor.has_token().then_some(token.0)
}
