//! softmax(QKᵀ + B)·V, head by head and sentence by sentence.
//!
//! There is no division by √d: the queries' weights are drawn smaller instead. Weights are dropped out for whole keys, one mask per
//! sentence and head, shared by the queries; so the mask can be applied to V. The probabilities are kept for the gradient: of
//! all that a layer keeps they are the smallest part at the lengths of sentences.

use rayon::prelude::*;

use super::position::{Buckets, collapse, expand};
use super::product::{Factor, product};
use crate::dropout::Dropout;
use crate::simd::{exponentiate, largest, vectorised};
use crate::slot::Slot;
use padir_base::ragged::Ragged;

/// A bias by relative position.
#[derive(Clone, Copy, Debug)]
pub struct Bias<'a> {
    /// One number per bucket and head, bucket after bucket.
    pub table: &'a [f32],
    /// How distances become buckets.
    pub buckets: Buckets,
}

/// Where the queries and keys of a sentence stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Behind those of the sentence before.
    Own,
    /// From 0 on: all sentences share them, as positions do.
    Shared,
}

/// Attention for one batch.
#[derive(Clone, Debug)]
pub struct Core<'a> {
    /// The number of heads.
    pub heads: usize,
    /// The queries, and the rows of the result.
    pub queries: &'a Ragged,
    /// The values, as many rows.
    pub keys: &'a Ragged,
    /// Whether a query sees no later key.
    pub causal: bool,
    /// Added to the scores.
    pub bias: Option<Bias<'a>>,
    /// Where queries and keys stand.
    pub places: Places,
    /// Dropout of the weights.
    pub dropout: Dropout,
}

/// What the gradient needs besides Q, K and V.
#[derive(Clone, Debug)]
pub struct Saved {
    /// For each sentence, head and query its weights, padded to whole registers.
    weights: Vec<f32>,
}

/// Groups of sentences: the grain of parallelism and of sums.
const GROUPS: usize = 16;
/// Weights are padded to multiples of this.
const PAD: usize = 8;

/// A sentence: its number and where its parts stand.
#[derive(Clone)]
struct Sentence {
    row: usize,
    /// First query and key in Q and K.
    query: usize,
    key: usize,
    /// First value in V.
    value: usize,
    /// First row of the result.
    out: usize,
    queries: usize,
    keys: usize,
}

impl Sentence {
    fn padded(&self) -> usize {
        self.keys.next_multiple_of(PAD)
    }

    fn weights(&self, heads: usize) -> usize {
        heads * self.queries * self.padded()
    }
}

impl Core<'_> {
    fn sentence(&self, row: usize) -> Sentence {
        let (queries, keys) = (self.queries.range(row), self.keys.range(row));
        let own = |start: usize| if self.places == Places::Own { start } else { 0 };
        Sentence {
            row,
            query: own(queries.start),
            key: own(keys.start),
            value: keys.start,
            out: queries.start,
            queries: queries.len(),
            keys: keys.len(),
        }
    }

    fn longest(&self) -> usize {
        self.queries.longest().max(self.keys.longest()).max(1)
    }

    /// The context of every query: rows of heads · width numbers.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn forward(&self, q: &[f32], k: &[f32], v: &[f32], wide: usize) -> (Vec<f32>, Saved) {
        assert_eq!(self.queries.len(), self.keys.len(), "sentences of queries and keys");
        let longest = self.longest();
        let bias = self.bias.map(|b| expand(b.table, self.heads, b.buckets, longest));
        let mut context = vec![0.0; self.queries.tokens() * wide];
        let sizes = (0..self.queries.len()).map(|row| self.sentence(row).weights(self.heads));
        let places = Ragged::new(sizes);
        let mut weights = vec![0.0; places.tokens()];
        let groups = self.queries.groups(GROUPS);
        let outs = split(&mut context, groups.iter().map(|g| tokens(self.queries, g) * wide));
        let parts = split(&mut weights, groups.iter().map(|g| tokens(&places, g)));
        groups.par_iter().zip(outs).zip(parts).for_each(|((group, mut out), mut weights)| {
            let mut scratch = Scratch::default();
            for row in group.clone() {
                let s = self.sentence(row);
                let (head, tail) = weights.split_at_mut(s.weights(self.heads));
                let (rows, rest) = out.split_at_mut(s.queries * wide);
                self.attend(
                    &s,
                    [q, k, v],
                    wide,
                    bias.as_deref(),
                    longest,
                    head,
                    rows,
                    &mut scratch,
                );
                (weights, out) = (tail, rest);
            }
        });
        (context, Saved { weights })
    }

    /// One sentence.
    #[expect(clippy::too_many_arguments, reason = "three inputs and three outputs")]
    fn attend(
        &self,
        s: &Sentence,
        [q, k, v]: [&[f32]; 3],
        wide: usize,
        bias: Option<&[Vec<f32>]>,
        longest: usize,
        weights: &mut [f32],
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        if s.queries == 0 || s.keys == 0 {
            return; // the context of nothing is 0
        }
        let width = wide / self.heads;
        let reach = longest - 1;
        for (h, weights) in weights.chunks_exact_mut(s.queries * s.padded()).enumerate() {
            let column = h * width;
            transpose(&k[s.key * wide + column..], wide, s.keys, width, &mut scratch.turned);
            let q = Factor::rows(&q[s.query * wide + column..], wide);
            let turned = Factor::rows(&scratch.turned, s.padded());
            product(weights, s.padded(), false, q, turned, [s.queries, width, s.padded()]);
            for (i, weights) in weights.chunks_exact_mut(s.padded()).enumerate() {
                let seen = if self.causal { (i + 1).min(s.keys) } else { s.keys };
                weights[seen..].fill(f32::NEG_INFINITY);
                let bias = bias.map(|bias| &bias[h][reach - i..]);
                normalise(weights, seen, bias.unwrap_or(&[]));
            }
            let values = self.values(s, h, v, wide, &mut scratch.values);
            let weights = Factor::rows(weights, s.padded());
            product(&mut out[column..], wide, false, weights, values, [s.queries, s.keys, width]);
        }
    }

    /// The values of a head, with dropout.
    fn values<'v>(
        &self,
        s: &Sentence,
        h: usize,
        v: &'v [f32],
        wide: usize,
        scratch: &'v mut Vec<f32>,
    ) -> Factor<'v> {
        let width = wide / self.heads;
        let values = &v[s.value * wide + h * width..];
        if !self.dropout.is_active() {
            return Factor::rows(values, wide);
        }
        let mask = self.mask(s, h);
        scratch.clear();
        for (row, m) in values.chunks(wide).zip(&mask) {
            scratch.extend(row[..width].iter().map(|x| x * m));
        }
        Factor::rows(scratch, width)
    }

    fn mask(&self, s: &Sentence, h: usize) -> Vec<f32> {
        let mut mask = vec![0.0; s.keys];
        self.dropout.fill(s.row * self.heads + h, &mut mask);
        mask
    }

    /// The gradients of Q, K and V; that of the bias goes to its slot.
    pub fn backward(
        &self,
        [q, k, v]: [&[f32]; 3],
        wide: usize,
        saved: &Saved,
        dcontext: &[f32],
        dbias: Option<&mut Slot<'_>>,
    ) -> [Vec<f32>; 3] {
        let longest = self.longest();
        let mut dq = vec![0.0; q.len()];
        let mut dk = vec![0.0; k.len()];
        let mut dv = vec![0.0; v.len()];
        let groups = self.queries.groups(GROUPS);
        let sizes = (0..self.queries.len()).map(|row| self.sentence(row).weights(self.heads));
        let places = Ragged::new(sizes);
        let own = self.places == Places::Own;
        let take = |buffer: &mut Vec<f32>| if own { std::mem::take(buffer) } else { Vec::new() };
        let (mut own_q, mut own_k) = (take(&mut dq), take(&mut dk));
        let at = |rows: &Ragged| groups.iter().map(|g| tokens(rows, g)).collect::<Vec<_>>();
        let (query_tokens, key_tokens) = (at(self.queries), at(self.keys));
        let when_own = |tokens: &[usize]| {
            tokens.iter().map(|t| if own { t * wide } else { 0 }).collect::<Vec<_>>()
        };
        let dqs = split(&mut own_q, when_own(&query_tokens).into_iter());
        let dks = split(&mut own_k, when_own(&key_tokens).into_iter());
        let dvs = split(&mut dv, key_tokens.iter().map(|t| t * wide));
        let spread_size = if self.bias.is_some() { self.heads * (2 * longest - 1) } else { 0 };
        let parts: Vec<Partial> = groups
            .par_iter()
            .zip(dqs)
            .zip(dks)
            .zip(dvs)
            .map(|(((group, dq), dk), dv)| {
                let mut partial = Partial {
                    spread: vec![0.0; spread_size],
                    dq: vec![0.0; if own { 0 } else { q.len() }],
                    dk: vec![0.0; if own { 0 } else { k.len() }],
                };
                let mut scratch = Scratch::default();
                let first = self.sentence(group.start);
                for row in group.clone() {
                    let s = self.sentence(row);
                    let mut to = Into {
                        dq: if own {
                            &mut dq[(s.query - first.query) * wide..]
                        } else {
                            &mut partial.dq
                        },
                        dk: if own {
                            &mut dk[(s.key - first.key) * wide..]
                        } else {
                            &mut partial.dk
                        },
                        dv: &mut dv[(s.value - first.value) * wide..],
                        spread: &mut partial.spread,
                    };
                    let weights = &saved.weights[places.range(row)];
                    self.backward_sentence(
                        &s,
                        [q, k, v],
                        wide,
                        longest,
                        weights,
                        &dcontext[s.out * wide..],
                        &mut to,
                        &mut scratch,
                    );
                }
                partial
            })
            .collect();
        if own {
            (dq, dk) = (own_q, own_k);
        } else {
            Slot { data: &mut dq, onto: crate::matrix::Onto::Add }
                .add_all(parts.iter().map(|p| p.dq.as_slice()));
            Slot { data: &mut dk, onto: crate::matrix::Onto::Add }
                .add_all(parts.iter().map(|p| p.dk.as_slice()));
        }
        if let (Some(bias), Some(slot)) = (self.bias, dbias) {
            let sum = slot.sum();
            for part in &parts {
                collapse(&part.spread, self.heads, bias.buckets, longest, sum);
            }
        }
        [dq, dk, dv]
    }

    /// The gradients of one sentence.
    #[expect(clippy::too_many_arguments, reason = "what the forward pass took and gave")]
    fn backward_sentence(
        &self,
        s: &Sentence,
        [q, k, v]: [&[f32]; 3],
        wide: usize,
        longest: usize,
        weights: &[f32],
        dcontext: &[f32],
        to: &mut Into<'_>,
        scratch: &mut Scratch,
    ) {
        if s.queries == 0 || s.keys == 0 {
            return;
        }
        let width = wide / self.heads;
        for (h, weights) in weights.chunks_exact(s.queries * s.padded()).enumerate() {
            let column = h * width;
            let dout = Factor::rows(&dcontext[column..], wide);
            let p = Factor::rows(weights, s.padded());
            // dV = mask ∘ Pᵀ·dO
            product(
                &mut to.dv[column..],
                wide,
                false,
                p.transposed(),
                dout,
                [s.keys, s.queries, width],
            );
            let values = &v[s.value * wide + column..];
            transpose(values, wide, s.keys, width, &mut scratch.turned);
            if self.dropout.is_active() {
                let mask = self.mask(s, h);
                for (row, m) in to.dv[column..].chunks_mut(wide).zip(&mask) {
                    row[..width].iter_mut().for_each(|x| *x *= m);
                }
                for row in scratch.turned.chunks_exact_mut(s.padded()) {
                    row.iter_mut().zip(&mask).for_each(|(x, m)| *x *= m);
                }
            }
            // dP = dO·(mask ∘ V)ᵀ, then dS = P ∘ (dP − Σ dP∘P)
            scratch.dscores.resize(s.queries * s.padded(), 0.0);
            let turned = Factor::rows(&scratch.turned, s.padded());
            product(
                &mut scratch.dscores,
                s.padded(),
                false,
                dout,
                turned,
                [s.queries, width, s.padded()],
            );
            differentiate(&mut scratch.dscores[..s.queries * s.padded()], weights, s.padded());
            if !to.spread.is_empty() {
                let spread = &mut to.spread[h * (2 * longest - 1)..][..2 * longest - 1];
                for (i, row) in scratch.dscores.chunks_exact(s.padded()).take(s.queries).enumerate()
                {
                    let spread = &mut spread[longest - 1 - i..];
                    spread.iter_mut().zip(&row[..s.keys]).for_each(|(sum, d)| *sum += d);
                }
            }
            let ds = Factor::rows(&scratch.dscores, s.padded());
            let keys = Factor::rows(&k[s.key * wide + column..], wide);
            let queries = Factor::rows(&q[s.query * wide + column..], wide);
            product(&mut to.dq[column..], wide, true, ds, keys, [s.queries, s.keys, width]);
            product(
                &mut to.dk[column..],
                wide,
                true,
                ds.transposed(),
                queries,
                [s.keys, s.queries, width],
            );
        }
    }
}

/// Where the gradients of a sentence go.
struct Into<'a> {
    dq: &'a mut [f32],
    dk: &'a mut [f32],
    dv: &'a mut [f32],
    spread: &'a mut [f32],
}

/// Sums over a group of sentences.
struct Partial {
    spread: Vec<f32>,
    dq: Vec<f32>,
    dk: Vec<f32>,
}

#[derive(Default)]
struct Scratch {
    turned: Vec<f32>,
    values: Vec<f32>,
    dscores: Vec<f32>,
}

/// The tokens of a group of sentences.
fn tokens(rows: &Ragged, group: &std::ops::Range<usize>) -> usize {
    if group.is_empty() { 0 } else { rows.range(group.end - 1).end - rows.range(group.start).start }
}

/// Cuts a slice into consecutive pieces.
fn split(mut data: &mut [f32], sizes: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut pieces = Vec::new();
    for size in sizes {
        let (piece, rest) = data.split_at_mut(size);
        pieces.push(piece);
        data = rest;
    }
    pieces
}

/// The first `width` numbers of `count` rows as columns, padded with 0.
fn transpose(rows: &[f32], stride: usize, count: usize, width: usize, out: &mut Vec<f32>) {
    let padded = count.next_multiple_of(PAD);
    out.clear();
    out.resize(width * padded, 0.0);
    for (j, row) in rows.chunks(stride).take(count).enumerate() {
        for (c, &x) in row[..width].iter().enumerate() {
            out[c * padded + j] = x;
        }
    }
}

vectorised! {
    /// softmax(x + bias) over the first `seen` numbers; the others are −∞ and become 0.
    fn normalise(x: &mut [f32], seen: usize, bias: &[f32]) {
        x[..seen].iter_mut().zip(bias).for_each(|(x, b)| *x += b);
        let most = largest(&x[..seen]);
        let sum = exponentiate(x, most);
        let inverse = 1.0 / sum;
        for x in x {
            *x *= inverse;
        }
    }
}

vectorised! {
    /// d ← p ∘ (d − Σ d∘p), row by row.
    fn differentiate(d: &mut [f32], p: &[f32], width: usize) {
        for (d, p) in d.chunks_exact_mut(width).zip(p.chunks_exact(width)) {
            let mean = crate::simd::dot(d, p);
            for (d, p) in d.iter_mut().zip(p) {
                *d = p * (*d - mean);
            }
        }
    }
}
