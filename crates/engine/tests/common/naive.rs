//! The networks by definition: one sentence, double precision, no caches. The slow twin of the engine.

use padir_base::TokenId;
use padir_checkpoint::{LengthPredictor, ModelConfig, PooledLength};
use padir_kernels::attention::position::Buckets;

use super::Model;

type Matrix = Vec<Vec<f64>>;

pub(crate) struct Naive<'a> {
    pub(crate) model: &'a Model,
}

/// What the encoder made of a source.
pub(crate) struct Source {
    pub(crate) memory: Matrix,
    length: Option<Vec<f64>>,
}

impl Naive<'_> {
    fn config(&self) -> &ModelConfig {
        &self.model.config
    }

    fn weight(&self, name: &str, columns: usize) -> Matrix {
        let numbers = &self.model.weights[name];
        numbers
            .chunks_exact(columns)
            .map(|row| row.iter().map(|&x| f64::from(x)).collect())
            .collect()
    }

    fn norm(&self, x: &Matrix, name: &str) -> Matrix {
        let scale = &self.weight(name, self.config().d_model)[0];
        let row = |row: &Vec<f64>| {
            let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
            let inverse = 1.0 / (mean + self.config().layer_norm_epsilon).sqrt();
            row.iter().zip(scale).map(|(x, s)| x * inverse * s).collect()
        };
        x.iter().map(row).collect()
    }

    fn linear(&self, x: &Matrix, name: &str) -> Matrix {
        let Some(first) = x.first() else { return Vec::new() };
        let weight = self.weight(name, first.len());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        x.iter().map(|x| weight.iter().map(|w| dot(x, w)).collect()).collect()
    }

    fn attend(
        &self,
        x: &mut Matrix,
        layer: &str,
        from: [&Matrix; 3],
        stack: Option<&str>,
        causal: bool,
    ) -> Vec<Matrix> {
        let [q, k, v] = from.map(Clone::clone);
        let (q, k, v) = (
            self.linear(&q, &format!("{layer}.q.weight")),
            self.linear(&k, &format!("{layer}.k.weight")),
            self.linear(&v, &format!("{layer}.v.weight")),
        );
        let (heads, width) = (self.config().num_heads, self.config().d_kv);
        let relative = self.config().relative_bias;
        let both_ways = stack == Some("encoder") || self.config().parallel().is_some();
        let buckets =
            Buckets { count: relative.num_buckets, most: relative.max_distance, both_ways };
        let bias = stack.map(|stack| {
            self.weight(
                &format!("{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
                heads,
            )
        });
        let mut out = vec![vec![0.0; heads * width]; q.len()];
        let mut weights = vec![vec![vec![0.0; k.len()]; q.len()]; heads];
        for (i, out) in out.iter_mut().enumerate() {
            let seen = if causal { i + 1 } else { k.len() };
            for head in 0..heads {
                let own = head * width..(head + 1) * width;
                let score = |j: usize| {
                    let dot: f64 = own.clone().map(|c| q[i][c] * k[j][c]).sum();
                    let bias =
                        bias.as_ref().map_or(0.0, |b| b[buckets.of(j as isize - i as isize)][head]);
                    (dot + bias).exp()
                };
                let total: f64 = (0..seen).map(score).sum();
                (0..seen).for_each(|j| weights[head][i][j] = score(j) / total);
                for c in own.clone() {
                    out[c] = (0..seen).map(|j| score(j) * v[j][c]).sum::<f64>() / total.max(1e-300);
                }
            }
        }
        add(x, &self.linear(&out, &format!("{layer}.o.weight")));
        weights
    }

    fn feed(&self, x: &mut Matrix, layer: &str) {
        let normed = self.norm(x, &format!("{layer}.layer_norm.weight"));
        let mut hidden = self.linear(&normed, &format!("{layer}.DenseReluDense.wi.weight"));
        hidden.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
        add(x, &self.linear(&hidden, &format!("{layer}.DenseReluDense.wo.weight")));
    }

    fn embed(&self, tokens: &[TokenId]) -> Matrix {
        let table = self.weight("shared.weight", self.config().d_model);
        tokens.iter().map(|token| table[token.index()].clone()).collect()
    }

    fn predictor(&self) -> Option<LengthPredictor> {
        self.config().parallel().map(|parallel| parallel.length)
    }

    pub(crate) fn encode(&self, source: &[TokenId]) -> Source {
        let prefixed = self.predictor().is_some_and(LengthPredictor::has_token);
        let mut tokens = source.to_vec();
        if prefixed {
            tokens.insert(0, self.config().symbols.length.unwrap());
        }
        let mut x = self.embed(&tokens);
        for i in 0..self.config().num_layers {
            let layer = format!("encoder.block.{i}.layer");
            let n = self.norm(&x, &format!("{layer}.0.layer_norm.weight"));
            self.attend(
                &mut x,
                &format!("{layer}.0.SelfAttention"),
                [&n, &n, &n],
                Some("encoder"),
                false,
            );
            self.feed(&mut x, &format!("{layer}.1"));
        }
        let mut memory = self.norm(&x, "encoder.final_layer_norm.weight");
        let length = prefixed.then(|| memory.remove(0));
        Source { memory, length }
    }

    /// Log-probabilities of all tokens at each position.
    pub(crate) fn decode(&self, source: &Source, tokens: &[TokenId]) -> Matrix {
        let tied = self.config().tie_word_embeddings;
        let scale = if tied { 1.0 / (self.config().d_model as f64).sqrt() } else { 1.0 };
        let table = if tied { "shared.weight" } else { "lm_head.weight" };
        log_softmax(self.linear(&self.states(source, tokens), table), scale)
    }

    /// ln p(right) at each position.
    pub(crate) fn confidences(&self, source: &Source, tokens: &[TokenId]) -> Vec<f64> {
        let verdicts = self.linear(&self.states(source, tokens), "rejecter.weight");
        log_softmax(verdicts, 1.0).iter().map(|wrong_and_right| wrong_and_right[1]).collect()
    }

    /// Of each decoder layer the weights of self-attention and of cross-attention: head, query, key.
    pub(crate) fn attention(&self, source: &Source, tokens: &[TokenId]) -> Vec<[Vec<Matrix>; 2]> {
        let mut weights = Vec::new();
        self.run(source, tokens, &mut weights);
        weights
    }

    /// What the decoder ends with, normed.
    fn states(&self, source: &Source, tokens: &[TokenId]) -> Matrix {
        self.run(source, tokens, &mut Vec::new())
    }

    fn run(
        &self,
        source: &Source,
        tokens: &[TokenId],
        weights: &mut Vec<[Vec<Matrix>; 2]>,
    ) -> Matrix {
        let config = self.config();
        let mut x = self.embed(tokens);
        let parallel = config.parallel();
        let table = parallel.filter(|p| p.has_positions()).map(|_| {
            self.weight("decoder.position_embedding.weight", config.d_model)[..tokens.len()]
                .to_vec()
        });
        if let (Some(table), true) = (&table, parallel.is_some_and(|p| p.learned_positions)) {
            add(&mut x, table);
        }
        if matches!(self.predictor(), Some(LengthPredictor::Upsample { .. })) {
            // Slot i of S reads state ⌊i·n/S⌋.
            let n = source.memory.len();
            for (slot, row) in x.iter_mut().enumerate().filter(|_| n > 0) {
                let state = &source.memory[slot * n / tokens.len()];
                row.iter_mut().zip(state).for_each(|(x, s)| *x += s);
            }
        }
        for i in 0..config.num_decoder_layers {
            let layer = format!("decoder.block.{i}.layer");
            let n = self.norm(&x, &format!("{layer}.0.layer_norm.weight"));
            let causal = parallel.is_none();
            let self_attn = self.attend(
                &mut x,
                &format!("{layer}.0.SelfAttention"),
                [&n, &n, &n],
                Some("decoder"),
                causal,
            );
            if let (Some(table), true) = (&table, parallel.is_some_and(|p| p.positional_attention))
            {
                let layer = format!("decoder.block.{i}.positional");
                let n = self.norm(table, &format!("{layer}.layer_norm.weight"));
                let values = x.clone();
                self.attend(
                    &mut x,
                    &format!("{layer}.PositionalAttention"),
                    [&n, &n, &values],
                    Some("decoder"),
                    false,
                );
            }
            let n = self.norm(&x, &format!("{layer}.1.layer_norm.weight"));
            let memory = &source.memory;
            let mut cross_attn = vec![vec![Vec::new(); tokens.len()]; config.num_heads];
            if !memory.is_empty() {
                cross_attn = self.attend(
                    &mut x,
                    &format!("{layer}.1.EncDecAttention"),
                    [&n, memory, memory],
                    None,
                    false,
                );
            }
            weights.push([self_attn, cross_attn]);
            self.feed(&mut x, &format!("{layer}.2"));
        }
        self.norm(&x, "decoder.final_layer_norm.weight")
    }

    /// Logits of lengths, or the one number that predictors of one number give.
    pub(crate) fn length(&self, source: &Source) -> Vec<f64> {
        let n = source.memory.len() as f64;
        match self.predictor() {
            Some(LengthPredictor::Token { .. } | LengthPredictor::Offset { .. }) => self
                .linear(&vec![source.length.clone().unwrap()], "length_predictor.weight")
                .remove(0),
            Some(LengthPredictor::Affine) => {
                let a = f64::from(self.model.weights["length_predictor.weight"][0]);
                let b = f64::from(self.model.weights["length_predictor.bias"][0]);
                vec![a * n + b]
            }
            Some(LengthPredictor::Fertility { max_fertility }) => {
                let least = -(max_fertility as f64) - 1.0;
                let logits = self.linear(&source.memory, "length_predictor.weight");
                let mean = |row: &Vec<f64>| {
                    let total: f64 = row.iter().map(|z| z.exp()).sum();
                    let each =
                        row.iter().enumerate().map(|(c, z)| z.exp() / total * (least + c as f64));
                    each.sum::<f64>()
                };
                vec![n + logits.iter().map(mean).sum::<f64>()]
            }
            Some(LengthPredictor::Pooled(sizes)) => self.pooled_length(source, sizes),
            Some(LengthPredictor::Oracle | LengthPredictor::Upsample { .. }) | None => Vec::new(),
        }
    }

    fn pooled_length(&self, source: &Source, sizes: PooledLength) -> Vec<f64> {
        let (d, n) = (self.config().d_model, source.memory.len());
        let scores = self.linear(&source.memory, "length_predictor.query.weight");
        let mut x = Vec::new();
        for query in 0..sizes.queries {
            let total: f64 = scores.iter().map(|row| row[query].exp()).sum();
            let weight = |i: usize| scores[i][query].exp() / total;
            x.extend((0..d).map(|c| (0..n).map(|i| weight(i) * source.memory[i][c]).sum::<f64>()));
        }
        x.extend((0..d).map(|c| source.memory.iter().map(|row| row[c] / 32.0).sum::<f64>()));
        let layer = |x: Vec<f64>, part: &str| {
            let mut y = self.linear(&vec![x], &format!("length_predictor.{part}.weight")).remove(0);
            let bias = &self.model.weights[&format!("length_predictor.{part}.bias")];
            y.iter_mut().zip(bias).for_each(|(y, b)| *y += f64::from(*b));
            y
        };
        for i in 0..sizes.hidden_layers {
            x = layer(x, &format!("hidden.{i}"));
            if i == 0 {
                let table = self.weight("length_predictor.source_length.weight", sizes.hidden);
                for (x, t) in x.iter_mut().zip(&table[n.max(1) - 1]) {
                    *x += t;
                }
            }
            for x in &mut x {
                *x = x.max(0.0);
            }
        }
        layer(x, "output")
    }
}

fn log_softmax(logits: Matrix, scale: f64) -> Matrix {
    let row = |row: Vec<f64>| {
        let log_z = row.iter().map(|z| (z * scale).exp()).sum::<f64>().ln();
        row.iter().map(|z| z * scale - log_z).collect()
    };
    logits.into_iter().map(row).collect()
}

fn add(x: &mut Matrix, y: &Matrix) {
    x.iter_mut().flatten().zip(y.iter().flatten()).for_each(|(x, y)| *x += y);
}
