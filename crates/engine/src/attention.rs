//! Attention weights of the decoder, for whoever wants to look at them.
//!
//! A pass of its own over given targets: decoding itself neither computes nor keeps weights. The weights are those that the layers mix values with,
//! in the engine's own precision, and a row's weights do not depend on the rows beside it. A pass costs one decoder pass over all positions and the scores
//! a second time; memory is bounded, because one layer of a few rows is kept at a time: heads·n·(n + m) numbers for a row of n targets and m sources.

use padir_base::TokenId;
use padir_base::denoise::Query;
use padir_checkpoint::DecoderKind;
use padir_kernels::packed::attention::Span;

use crate::error::EngineError;
use crate::forced::{self, Target};
use crate::layers::Caught;
use crate::parallel;
use crate::session::Session;

/// Weights of one layer that are kept at a time, if it is more than one row: 16 MB.
const TOGETHER: usize = 1 << 22;

/// A target whose attention is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionRow<'t> {
    /// The source's number.
    pub context: usize,
    /// What the decoder reads at each position, its end included. A causal decoder reads it shifted by one, as in forced decoding: its query i reads
    /// the tokens before i and predicts token i.
    pub tokens: &'t [TokenId],
    /// Which tokens are hidden; empty if none are.
    pub hidden: &'t [bool],
}

/// What one layer attends to in one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerAttention<'a> {
    /// The number of the row.
    pub row: usize,
    /// The layer, from 0.
    pub layer: usize,
    /// How many heads there are.
    pub heads: usize,
    /// Positions of the target, n.
    pub targets: usize,
    /// Positions of the source, its end included, m.
    pub sources: usize,
    self_attn: &'a [f32],
    cross_attn: &'a [f32],
}

impl<'a> LayerAttention<'a> {
    /// Weights from elsewhere, head after head, position after position; none if there are not as many as heads, targets and sources say.
    pub fn new(
        [heads, targets, sources]: [usize; 3],
        self_attn: &'a [f32],
        cross_attn: &'a [f32],
    ) -> Option<Self> {
        let size = |keys: usize| heads.checked_mul(targets)?.checked_mul(keys);
        let fits = size(targets)? == self_attn.len() && size(sources)? == cross_attn.len();
        let (row, layer) = (0, 0);
        fits.then_some(Self { row, layer, heads, targets, sources, self_attn, cross_attn })
    }

    /// The self-attention of a target position: n weights, which sum to 1. Causal decoders see nothing behind the position.
    ///
    /// # Panics
    /// If there is no such head or position.
    pub fn self_attn(&self, head: usize, position: usize) -> &'a [f32] {
        row(self.self_attn, [self.heads, self.targets, self.targets], head, position)
    }

    /// The cross-attention of a target position: m weights, which sum to 1.
    ///
    /// # Panics
    /// If there is no such head or position.
    pub fn cross_attn(&self, head: usize, position: usize) -> &'a [f32] {
        row(self.cross_attn, [self.heads, self.targets, self.sources], head, position)
    }
}

fn row(weights: &[f32], [heads, queries, keys]: [usize; 3], head: usize, query: usize) -> &[f32] {
    assert!(head < heads && query < queries, "head {head} of {heads}, position {query}");
    &weights[(head * queries + query) * keys..][..keys]
}

impl Session {
    /// Decoder layers.
    pub fn decoder_layers(&self) -> usize {
        self.engine.inner.weights.decoder.blocks.len()
    }

    /// Heads of the decoder's attention.
    pub fn decoder_heads(&self) -> usize {
        let blocks = &self.engine.inner.weights.decoder.blocks;
        blocks.first().map_or(0, |block| block.self_attn.heads.count)
    }

    /// Runs the decoder over rows and shows the attention weights of the wanted layers: layer after layer of row after row, or of a few rows together.
    /// Rows without a token are not shown. Cross-attention over an empty source has no weights.
    ///
    /// # Errors
    /// If there is no such layer, context or token, or a row is longer than the model has positions. Then some may have been shown.
    pub fn attention(
        &mut self,
        rows: &[AttentionRow<'_>],
        layers: &[usize],
        show: &mut dyn FnMut(LayerAttention<'_>),
    ) -> Result<(), EngineError> {
        let count = self.decoder_layers();
        let mut wanted = vec![false; count];
        for &layer in layers {
            *wanted.get_mut(layer).ok_or(EngineError::Layer { layer, layers: count })? = true;
        }
        for row in rows {
            self.cross_kv.check(row.context)?;
            let (found, tokens) = (row.hidden.len(), row.tokens.len());
            if found > 0 && found != tokens {
                return Err(EngineError::Flags { found, tokens });
            }
        }
        let numbers: Vec<usize> = (0..rows.len()).filter(|&i| !rows[i].tokens.is_empty()).collect();
        let mut rest = numbers.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.together(rows, rest));
            match self.engine.inner.config.decoder_kind() {
                DecoderKind::Parallel => self.show_parallel(rows, now, &wanted, show)?,
                DecoderKind::Causal => self.show_causal(rows, now, &wanted, show)?,
            }
            rest = later;
        }
        Ok(())
    }

    /// How many of the first rows are run together; at least one.
    fn together(&self, rows: &[AttentionRow<'_>], numbers: &[usize]) -> usize {
        let heads = self.decoder_heads();
        let mut size = 0_usize;
        let fits = |&&i: &&usize| {
            let (n, m) = (rows[i].tokens.len(), self.cross_kv.span(rows[i].context, 0..0).count);
            size = size.saturating_add(heads.saturating_mul(n).saturating_mul(n + m));
            size <= TOGETHER
        };
        numbers.iter().take_while(fits).count().max(1)
    }

    fn show_parallel(
        &mut self,
        rows: &[AttentionRow<'_>],
        numbers: &[usize],
        wanted: &[bool],
        show: &mut dyn FnMut(LayerAttention<'_>),
    ) -> Result<(), EngineError> {
        let (mut tokens, mut hidden) = (Vec::new(), Vec::new());
        let (mut ends, mut contexts) = (Vec::new(), Vec::new());
        for row in numbers.iter().map(|&i| &rows[i]) {
            tokens.extend_from_slice(row.tokens);
            hidden.extend_from_slice(row.hidden);
            hidden.resize(tokens.len(), false);
            ends.push(tokens.len());
            contexts.push(row.context);
        }
        let all = vec![true; tokens.len()];
        let query = Query::new(&tokens, &ends, &contexts, &hidden, &all)
            .map_err(|_| EngineError::Flags { found: hidden.len(), tokens: tokens.len() })?;
        self.plan.read(&self.engine.inner, &self.cross_kv, &query)?;
        let heads = self.decoder_heads();
        parallel::show_layers(self, wanted, &mut |layer, caught, plan| {
            let mut weights = Weights { caught, at: [0; 2] };
            for ((&row, own), cross) in numbers.iter().zip(&plan.all).zip(&plan.all_cross) {
                let [self_attn, cross_attn] = weights.next(heads, own.count, cross);
                let (targets, sources) = (own.count, cross.count);
                show(LayerAttention { row, layer, heads, targets, sources, self_attn, cross_attn });
            }
        });
        Ok(())
    }

    fn show_causal(
        &mut self,
        rows: &[AttentionRow<'_>],
        numbers: &[usize],
        wanted: &[bool],
        show: &mut dyn FnMut(LayerAttention<'_>),
    ) -> Result<(), EngineError> {
        if numbers.iter().any(|&i| rows[i].hidden.contains(&true)) {
            return Err(EngineError::NoMask);
        }
        let target = |&i: &usize| Target { context: rows[i].context, tokens: rows[i].tokens };
        let targets: Vec<Target<'_>> = numbers.iter().map(target).collect();
        self.trial.read(&self.engine.inner, &self.cross_kv, &targets)?;
        let heads = self.decoder_heads();
        let mut square = Vec::new();
        forced::show_layers(self, wanted, &mut |layer, caught, trial| {
            let mut at = 0;
            let mut weights = Weights { caught, at: [0; 2] };
            for (&row, cross) in numbers.iter().zip(&trial.cross_attn) {
                // Spans are as long as what their query sees: a triangle, which becomes a square with zeros.
                let n = cross.queries.len();
                square.clear();
                square.resize(heads * n * n, 0.0);
                for query in 0..n {
                    for head in 0..heads {
                        let seen = &caught.self_attn[at..][..=query];
                        square[(head * n + query) * n..][..=query].copy_from_slice(seen);
                        at += query + 1;
                    }
                }
                let [_, cross_attn] = weights.next(heads, 0, cross);
                let (targets, sources, self_attn) = (n, cross.count, &square[..]);
                show(LayerAttention { row, layer, heads, targets, sources, self_attn, cross_attn });
            }
        });
        Ok(())
    }
}

/// What was caught of one layer, row after row.
struct Weights<'a> {
    caught: &'a Caught,
    /// Where the next row begins.
    at: [usize; 2],
}

impl<'a> Weights<'a> {
    /// The weights of the next row, of `own` queries over themselves and over its context.
    fn next(&mut self, heads: usize, own: usize, cross: &Span) -> [&'a [f32]; 2] {
        let sizes = [heads * own * own, heads * cross.queries.len() * cross.count];
        let from = self.at;
        self.at = [from[0] + sizes[0], from[1] + sizes[1]];
        [&self.caught.self_attn[from[0]..self.at[0]], &self.caught.cross_attn[from[1]..self.at[1]]]
    }
}
