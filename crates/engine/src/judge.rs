//! Whole targets judged by a causal decoder: how probable each token is, given those before it.
//!
//! A target that is known to its end needs no cache: all positions of all targets go through the layers together, and each looks at
//! itself and what stands before it. One pass, where [continuing](padir_base::continuation::Continuer) takes one for each token.
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

use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::{Rows, Work};
use crate::memory::Memory;
use crate::session::{Session, embed};

/// Tokens whose logits are compared at a time: at most twice as many columns.
const TOGETHER: usize = 128;

/// What somebody said about a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'t> {
    /// The source's number.
    pub context: usize,
    /// What was said. An end is a token like any other: whoever wants it judged says it.
    pub tokens: &'t [TokenId],
}

/// Targets while they are judged.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    /// What is read: the start, and all tokens but the last.
    tokens: Vec<u32>,
    positions: Vec<u32>,
    /// One of each token over itself and those before it, one of each target over its context.
    own: Vec<Span>,
    memory: Vec<Span>,
    longest: usize,
    best: Vec<Candidate>,
    /// The tokens whose logits are compared, in ascending order, and their rows of the output layer.
    ids: Vec<u32>,
    head: Option<Packed>,
    logits: Vec<f32>,
}

impl Trial {
    /// Reads targets, and refuses what the model does not know.
    fn read(
        &mut self,
        engine: &Inner,
        memory: &Memory,
        targets: &[Target<'_>],
    ) -> Result<(), EngineError> {
        self.tokens.clear();
        self.positions.clear();
        self.own.clear();
        self.memory.clear();
        self.longest = 0;
        for target in targets {
            memory.check(target.context)?;
            target.tokens.iter().try_for_each(|token| engine.check_token(token.0))?;
            let Some((_, before)) = target.tokens.split_last() else { continue };
            let first = self.tokens.len();
            self.tokens.push(engine.config.symbols.start.0);
            self.tokens.extend(before.iter().map(|token| token.0));
            for (position, query) in (first..self.tokens.len()).enumerate() {
                self.positions.push(position as u32);
                let count = position + 1;
                self.own.push(Span { queries: query..query + 1, first, count, place: 0 });
            }
            self.memory.push(memory.span(target.context, first..self.tokens.len()));
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
        let (all, scale) = engine.head();
        let (d, width) = (engine.config.d_model, self.ids.len());
        let head = self.head.get_or_insert_with(|| all.empty_like());
        head.gather(all, &self.ids);
        let logits = grow(&mut self.logits, count * width);
        let Work { tools, normed, .. } = work;
        let states = &normed[first * d..(first + count) * d];
        head.product(tools, states, 0..width, logits, width, Finish::Store);
        for ((token, best), logits) in said.zip(best).zip(logits.chunks_exact(width)) {
            let logit = |token: TokenId| {
                let place = self.ids.partition_point(|&id| id < token.0);
                f64::from(scale) * f64::from(logits[place])
            };
            log_probs.push(best.log_prob + logit(*token) - logit(best.token));
        }
    }
}

impl Session {
    /// ln p of each token of each target, given the source and the tokens before it; target after target. All tokens compete,
    /// shortlists or not. What a target comes to does not depend on those beside it.
    ///
    /// # Errors
    /// If the decoder is not causal, or there is no such context or token.
    pub fn judge(
        &mut self,
        targets: &[Target<'_>],
        log_probs: &mut Vec<f64>,
    ) -> Result<(), EngineError> {
        let Self { engine, work, memory, trial, x, decoder_bias, .. } = self;
        let engine = &*engine.inner;
        engine.check_decoder(DecoderKind::Causal)?;
        trial.read(engine, memory, targets)?;
        log_probs.clear();
        let count = trial.tokens.len();
        if count == 0 {
            return Ok(());
        }
        let stack = &engine.weights.decoder;
        let bias = stack.bias.spread(decoder_bias, trial.longest);
        let x = grow(x, count * engine.config.d_model);
        embed(engine, &trial.tokens, x);
        for (block, kept) in stack.blocks.iter().zip(&memory.layers) {
            let own = Rows { spans: &trial.own, positions: &trial.positions };
            work.attend(engine, &block.own, own, bias, x);
            let sources = Rows { spans: &trial.memory, positions: &[] };
            work.attend_memory(engine, &block.memory, sources, &kept.panels, &kept.values, x);
            work.feed(engine, &block.feed, x);
        }
        work.normalise(x, &stack.norm, engine.epsilon());
        let (head, scale) = engine.head();
        trial.best.clear();
        trial.best.resize(count, Candidate { token: TokenId::PAD, log_prob: f64::NEG_INFINITY });
        let Work { tools, best, normed, .. } = work;
        let states = &normed[..count * engine.config.d_model];
        best.run(tools, head, scale, states, 1, None, &mut trial.best);
        // Rivals for a source stand side by side, and have most of their tokens in common.
        let said = targets.iter().flat_map(|target| target.tokens);
        for first in (0..count).step_by(TOGETHER) {
            let some = said.clone().skip(first).take(TOGETHER);
            trial.compare(engine, work, first, some, log_probs);
        }
        Ok(())
    }
}
