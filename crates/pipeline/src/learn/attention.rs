//! What the first self-attention of a network's decoder looks at.
//!
//! Its scores depend on embeddings alone, so they follow from the weights: no pass through the network is needed. With site i
//! hidden and the others as drawn from p,
//!
//! ```text
//! Aᵢⱼ = E mean over heads softmaxⱼ(qᵢ·kⱼ + b(j − i)).
//! ```

use std::collections::HashMap;

use padir_base::TokenId;
use padir_lab::chain::Matrix;
use padir_lab::distribution::Distribution;
use padir_model::Network;

use super::sites::{FIRST, vocabulary};

/// The mean attention of site i, hidden, to site j. Rows sum to less than 1: the rest goes to the end of the sentence.
///
/// Relative positions up to 8 have buckets of their own; longer ones are not asked for here.
pub fn attention(network: &Network, p: &Distribution) -> Matrix<f64> {
    let layer = Layer::new(network);
    let space = p.space();
    let mask = vocabulary(space).mask.unwrap_or(TokenId::UNK).0;
    let mut mean = Matrix::zero(space.sites());
    for site in 0..space.sites() {
        for (group, weight) in space.groups(1 << site).into_iter().zip(p.log_outside(1 << site)) {
            let mut ids: Vec<u32> = space.symbols_of(group).map(|s| FIRST + s as u32).collect();
            ids[site] = mask;
            ids.push(TokenId::EOS.0);
            for (other, share) in layer.attend(&ids, site).into_iter().enumerate() {
                if other < space.sites() {
                    mean.add(site, other, weight.exp() * share);
                }
            }
        }
    }
    mean
}

/// The weights that scores depend on, row after row.
struct Layer {
    width: usize,
    heads: usize,
    head_width: usize,
    epsilon: f64,
    /// Half of the buckets belong to what follows.
    buckets: usize,
    tokens: Vec<f32>,
    positions: Vec<f32>,
    norm: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(network: &Network) -> Self {
        let config = network.config();
        let names = config.parameters().into_iter().map(|parameter| parameter.name);
        let weights = network.weights().into_iter().map(padir_model::Weight::numbers);
        let mut weights: HashMap<String, Vec<f32>> = names.zip(weights).collect();
        let mut take = |name: &str| weights.remove(name).unwrap_or_default();
        let of = |part: &str| format!("decoder.block.0.layer.0.{part}.weight");
        Self {
            width: config.d_model,
            heads: config.num_heads,
            head_width: config.d_kv,
            epsilon: config.layer_norm_epsilon,
            buckets: config.relative_bias.num_buckets,
            tokens: take("shared.weight"),
            positions: take("decoder.position_embedding.weight"),
            norm: take(&of("layer_norm")),
            q: take(&of("SelfAttention.q")),
            k: take(&of("SelfAttention.k")),
            bias: take(&of("SelfAttention.relative_attention_bias")),
        }
    }

    /// The attention of one position to all, averaged over heads.
    fn attend(&self, ids: &[u32], from: usize) -> Vec<f64> {
        let inputs: Vec<Vec<f64>> =
            ids.iter().enumerate().map(|(i, &id)| self.input(id as usize, i)).collect();
        let mut mean = vec![0.0; ids.len()];
        for head in 0..self.heads {
            let query = self.project(&self.q, head, &inputs[from]);
            let score = |to: usize| {
                let key = self.project(&self.k, head, &inputs[to]);
                let product: f64 = query.iter().zip(&key).map(|(q, k)| q * k).sum();
                let after = if to > from { self.buckets / 2 } else { 0 };
                let bucket = after + to.abs_diff(from);
                product + f64::from(self.bias[bucket * self.heads + head])
            };
            let scores: Vec<f64> = (0..ids.len()).map(score).collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = scores.iter().map(|s| (s - top).exp()).sum();
            for (mean, score) in mean.iter_mut().zip(&scores) {
                *mean += (score - top).exp() / total / self.heads as f64;
            }
        }
        mean
    }

    /// Token and position, normalised.
    fn input(&self, id: usize, position: usize) -> Vec<f64> {
        let row = |table: &[f32], row: usize| table[row * self.width..][..self.width].to_vec();
        let sum: Vec<f64> = row(&self.tokens, id)
            .iter()
            .zip(row(&self.positions, position))
            .map(|(token, position)| f64::from(token + position))
            .collect();
        let squares: f64 = sum.iter().map(|x| x * x).sum();
        let root = (squares / self.width as f64 + self.epsilon).sqrt();
        sum.iter().zip(&self.norm).map(|(x, &scale)| x / root * f64::from(scale)).collect()
    }

    fn project(&self, matrix: &[f32], head: usize, x: &[f64]) -> Vec<f64> {
        let rows = matrix.chunks_exact(self.width).skip(head * self.head_width);
        let dot = |row: &[f32]| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum();
        rows.take(self.head_width).map(dot).collect()
    }
}
