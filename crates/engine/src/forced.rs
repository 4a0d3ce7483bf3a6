//! Forced decoding: how probable each token of a given target is, given those before it.
//!
//! A target that is known to its end needs no cache: all positions of all targets go through the layers together, and each looks at
//! itself and what stands before it. One pass, where [continuing](padir_base::causal::CausalModel) takes one for each token.
//!
//! Of all logits only the best and their log-sum-exp are kept, as always. The target's own comes from a product with the few rows of
//! the output layer that are needed:
//!
//! ```text
//! ln p(y) = ln p(b) + z_y − z_b,   b the best
//! ```

use padir_base::TokenId;
use padir_base::denoise::Candidate;
use padir_checkpoint::DecoderKind;
use padir_kernels::packed::attention::Span;
use padir_kernels::packed::{Finish, Packed, grow};

use crate::cross_kv::CrossKv;
use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::{Caught, Rows, Work};
use crate::session::Session;

/// Tokens whose logits are compared at a time: at most twice as many columns.
const TOGETHER: usize = 128;

/// What somebody said about a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'t> {
    /// The source's number.
    pub context: usize,
    /// The target tokens. An end is a token like any other: whoever wants it scored says it.
    pub tokens: &'t [TokenId],
}

/// Targets while they are scored.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    /// What is read: the start, and all tokens but the last.
    tokens: Vec<u32>,
    positions: Vec<u32>,
    /// One of each token over itself and those before it, one of each target over its context.
    pub(crate) self_attn: Vec<Span>,
    pub(crate) cross_attn: Vec<Span>,
    longest: usize,
    best: Vec<Candidate>,
    /// The tokens whose logits are compared, in ascending order, and their rows of the output layer.
    ids: Vec<u32>,
    head: Option<Packed>,
    logits: Vec<f32>,
}

impl Trial {
    /// Reads targets, and refuses what the model does not know.
    pub(crate) fn read(
        &mut self,
        engine: &Inner,
        cross_kv: &CrossKv,
        targets: &[Target<'_>],
    ) -> Result<(), EngineError> {
        self.tokens.clear();
        self.positions.clear();
        self.self_attn.clear();
        self.cross_attn.clear();
        self.longest = 0;
        for target in targets {
            cross_kv.check(target.context)?;
            target.tokens.iter().try_for_each(|token| engine.check_token(token.0))?;
            engine.check_target_length(target.tokens.len())?;
            let Some((_, before)) = target.tokens.split_last() else { continue };
            let first = self.tokens.len();
            self.tokens.push(engine.config.symbols.start.0);
            self.tokens.extend(before.iter().map(|token| token.0));
            for (position, query) in (first..self.tokens.len()).enumerate() {
                self.positions.push(position as u32);
                let count = position + 1;
                self.self_attn.push(Span { queries: query..query + 1, first, count, place: 0 });
            }
            self.cross_attn.push(cross_kv.span(target.context, first..self.tokens.len()));
            self.longest = self.longest.max(target.tokens.len());
        }
        Ok(())
    }

    /// ln p of tokens, each by the state of the same number from `first` on.
    fn compare<'t>(
        &mut self,
        engine: &Inner,
        work: &mut Work,
        first: usize,
        said: impl Iterator<Item = &'t TokenId> + Clone,
        log_probs: &mut Vec<f64>,
    ) {
        let count = said.clone().count();
        if count == 0 {
            return;
        }
        let best = &self.best[first..first + count];
        self.ids.clear();
        self.ids.extend(said.clone().map(|token| token.0));
        self.ids.extend(best.iter().map(|one| one.token.0));
        self.ids.sort_unstable();
        self.ids.dedup();
        let layer = engine.output();
        let (d, width) = (engine.config.d_model, self.ids.len());
        let head = self.head.get_or_insert_with(|| layer.weight.empty_like());
        head.gather(layer.weight, &self.ids);
        let logits = grow(&mut self.logits, count * width);
        let Work { tools, normed, .. } = work;
        let states = &normed[first * d..(first + count) * d];
        head.product(tools, states, 0..width, logits, width, Finish::Store);
        for ((token, best), logits) in said.zip(best).zip(logits.chunks_exact(width)) {
            let logit = |token: TokenId| {
                let place = self.ids.partition_point(|&id| id < token.0);
                let bias = layer.bias.get(token.index()).map_or(0.0, |&b| f64::from(b));
                f64::from(layer.scale) * f64::from(logits[place]) + bias
            };
            log_probs.push(best.log_prob + logit(*token) - logit(best.token));
        }
    }
}

/// Runs the layers up to the last that is wanted for all targets that were read, and shows the attention weights of wanted layers.
pub(crate) fn show_layers(
    session: &mut Session,
    wanted: &[bool],
    show: &mut dyn FnMut(usize, &Caught, &Trial),
) {
    let Session { engine, work, cross_kv, trial, x, decoder_bias, sinusoids, .. } = session;
    let engine = &*engine.inner;
    let stack = &engine.weights.decoder;
    let bias = stack.relative_bias.as_ref();
    let bias = bias.map(|bias| bias.spread(decoder_bias, trial.longest));
    let x = grow(x, trial.tokens.len() * engine.config.d_model);
    engine.embed_target(&trial.tokens, trial.positions.iter().copied(), sinusoids, x);
    for (index, block) in stack.blocks.iter().enumerate() {
        let Some(later) = wanted.get(index..).filter(|later| later.contains(&true)) else { break };
        work.caught = later[0].then(|| std::mem::take(&mut work.spare));
        let rows = Rows { spans: &trial.self_attn, positions: &trial.positions };
        work.self_attn(engine, &block.self_attn, rows, bias, x);
        let rows = Rows { spans: &trial.cross_attn, positions: &[] };
        work.cross_attn(engine, &block.cross_attn, rows, &cross_kv.layers[index], x);
        work.feed_forward(&block.ffn, x);
        if let Some(caught) = work.caught.take() {
            show(index, &caught, trial);
            work.spare = caught;
        }
    }
}

impl Session {
    /// ln p of each token of each target, given the source and the tokens before it; target after target. All tokens compete,
    /// shortlists or not. What a target comes to does not depend on those beside it.
    ///
    /// # Errors
    /// If the decoder is not causal, there is no such context or token, or a target is longer than the model has positions.
    pub fn score_targets(
        &mut self,
        targets: &[Target<'_>],
        log_probs: &mut Vec<f64>,
    ) -> Result<(), EngineError> {
        let Self { engine, work, cross_kv, trial, x, decoder_bias, sinusoids, .. } = self;
        let engine = &*engine.inner;
        engine.check_decoder(DecoderKind::Causal)?;
        trial.read(engine, cross_kv, targets)?;
        log_probs.clear();
        let count = trial.tokens.len();
        if count == 0 {
            return Ok(());
        }
        let stack = &engine.weights.decoder;
        let bias = stack.relative_bias.as_ref();
        let bias = bias.map(|bias| bias.spread(decoder_bias, trial.longest));
        let x = grow(x, count * engine.config.d_model);
        engine.embed_target(&trial.tokens, trial.positions.iter().copied(), sinusoids, x);
        for (block, kv) in stack.blocks.iter().zip(&cross_kv.layers) {
            let rows = Rows { spans: &trial.self_attn, positions: &trial.positions };
            work.self_attn(engine, &block.self_attn, rows, bias, x);
            let rows = Rows { spans: &trial.cross_attn, positions: &[] };
            work.cross_attn(engine, &block.cross_attn, rows, kv, x);
            work.feed_forward(&block.ffn, x);
        }
        work.normalise(stack.final_norm.as_ref(), x);
        trial.best.clear();
        trial.best.resize(count, Candidate { token: TokenId(0), log_prob: f64::NEG_INFINITY });
        let Work { tools, best, normed, .. } = work;
        let states = &normed[..count * engine.config.d_model];
        best.run(tools, engine.output(), states, 1, None, &mut trial.best);
        // Rivals for a source stand side by side, and have most of their tokens in common.
        let said = targets.iter().flat_map(|target| target.tokens);
        for first in (0..count).step_by(TOGETHER) {
            let some = said.clone().skip(first).take(TOGETHER);
            trial.compare(engine, work, first, some, log_probs);
        }
        Ok(())
    }
}
