//! Attention of growing rows over a cache of keys and values.
//!
//! A slot of the cache holds the keys and the values of all heads of one token. Rows that grow from a common beginning share its
//! slots: a row is the list of its slots, and giving a row another parent copies a list of numbers,
//! never keys or values.

use super::attention::Bias;
use super::grow;
use super::product::Tools;
use crate::simd::{dot, exponentiate, largest, vectorised};

/// One query for each row, over the row's slots.
#[derive(Clone, Copy, Debug)]
pub struct Cached<'a> {
    /// The number of heads.
    pub heads: usize,
    /// The width of a head.
    pub width: usize,
    /// Head h of row r begins at r·`query_stride` + h·width.
    pub queries: &'a [f32],
    /// What separates queries.
    pub query_stride: usize,
    /// The slots of each row, from its first token to the query's own.
    pub slots: &'a [u32],
    /// How many slots a row has.
    pub count: usize,
    /// Keys, then values, of all heads, slot after slot.
    pub cache: &'a [f32],
    /// Added to the scores.
    pub bias: Option<Bias<'a>>,
}

impl Cached<'_> {
    /// Writes one row of heads·width numbers for each row.
    ///
    /// # Panics
    /// If a slot does not exist.
    pub fn run(&self, tools: &Tools, out: &mut [f32]) {
        let wide = self.heads * self.width;
        tools.threads.chunks(out, wide, &|row, out, worker| {
            let slots = &self.slots[row * self.count..][..self.count];
            let query = &self.queries[row * self.query_stride..][..wide];
            let mut scratch = tools.scratch(worker);
            let scores = grow(&mut scratch, self.count);
            for head in 0..self.heads {
                let own = head * self.width..(head + 1) * self.width;
                let bias = self.bias.map_or(&[][..], |b| b.row(head, self.count - 1, self.count));
                let top = score(
                    scores,
                    &query[own.clone()],
                    self.cache,
                    slots,
                    own.start,
                    2 * wide,
                    bias,
                );
                let inverse = 1.0 / exponentiate(scores, top);
                mix(
                    &mut out[own.clone()],
                    scores,
                    self.cache,
                    slots,
                    wide + own.start,
                    2 * wide,
                    inverse,
                );
            }
        });
        tools.level();
    }
}

vectorised! {
    /// Scores of the slots, and their biases if there are any; gives the largest.
    fn score(scores: &mut [f32], query: &[f32], cache: &[f32], slots: &[u32], offset: usize, stride: usize, bias: &[f32]) -> f32 {
        for (score, &slot) in scores.iter_mut().zip(slots) {
            *score = dot(query, &cache[slot as usize * stride + offset..][..query.len()]);
        }
        for (score, bias) in scores.iter_mut().zip(bias) {
            *score += bias;
        }
        largest(scores)
    }
}

vectorised! {
    /// The weighted sum of values.
    fn mix(out: &mut [f32], weights: &[f32], cache: &[f32], slots: &[u32], offset: usize, stride: usize, inverse: f32) {
        out.fill(0.0);
        for (weight, &slot) in weights.iter().zip(slots) {
            let value = &cache[slot as usize * stride + offset..][..out.len()];
            for (out, value) in out.iter_mut().zip(value) {
                *out += weight * value;
            }
        }
        for out in out.iter_mut() {
            *out *= inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::attention::{Attention, Scores, Span};
    use super::super::{Isa, PANEL, Threads};
    use super::*;

    /// The general attention is the slow twin.
    #[test]
    fn equals_attention_over_the_same_keys() {
        let (heads, width, count) = (3, 20, 11);
        let wide = heads * width;
        let number = |i: usize| ((i * 7919 % 1013) as f32 / 500.0 - 1.0) * 0.7;
        let queries: Vec<f32> = (0..2 * wide).map(number).collect();
        let cache: Vec<f32> = (0..30 * 2 * wide).map(|i| number(i + 3)).collect();
        let bias: Vec<f32> = (0..heads * (2 * count - 1)).map(|i| number(i + 11)).collect();
        let bias = Bias { numbers: &bias, reach: count };
        for bias in [Some(bias), None] {
            let slots: Vec<u32> = (0..2 * count as u32).map(|i| i * 11 % 30).collect();
            let plan = Cached {
                heads,
                width,
                queries: &queries,
                query_stride: wide,
                slots: &slots,
                count,
                cache: &cache,
                bias,
            };
            let mut ours = vec![0.0; 2 * wide];
            plan.run(&Tools::new(Threads::new(2)), &mut ours);
            for row in 0..2 {
                let chosen = slots[row * count..][..count].iter();
                let mut keys: Vec<f32> = chosen
                    .flat_map(|&s| cache[s as usize * 2 * wide..][..2 * wide].to_vec())
                    .collect();
                keys.resize(keys.len() + PANEL, 0.0);
                let mut slow = vec![0.0; wide];
                let span = Span { queries: 0..1, first: 0, count, place: 0 };
                let plan = Attention {
                    isa: Isa::detect(),
                    heads,
                    width,
                    spans: &[span],
                    queries: &queries[row * wide..],
                    query_stride: wide,
                    positions: &[count as u32 - 1],
                    scores: Scores::Keys { keys: &keys, stride: 2 * wide },
                    values: &keys[wide..],
                    value_stride: 2 * wide,
                    bias,
                };
                plan.run(&Tools::new(Threads::new(1)), &mut slow);
                for (a, b) in ours[row * wide..].iter().zip(&slow) {
                    assert!((a - b).abs() < 1e-5, "{a} {b}");
                }
            }
        }
    }
}
