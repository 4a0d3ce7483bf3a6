//! The pooled length predictor: attention pooling over all encoder states and a small network.
//!
//! Always composed of burn's operations: it works on one row per sentence, except for the pooling.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use padir_base::ragged::Ragged;
use padir_checkpoint::layers::{self, SUM_SCALE};

use crate::block::{Linear, Weights, parts};
use crate::network::Encoded;
use crate::ops;
use crate::pass::Pass;
use crate::weight::Weight;

/// What hides a token that is not there.
const HIDDEN: f32 = -1e10;

/// The weights of [`layers::PooledLength`].
#[derive(Module, Debug)]
pub(crate) struct LengthPool {
    /// One row per query.
    pub queries: Weight,
    /// One row per source length.
    pub lengths: Weight,
    pub hidden: Vec<Linear>,
    pub output: Linear,
}

parts!(LengthPool: queries, lengths, hidden, output);

impl LengthPool {
    /// Logits of length classes, one row per sentence. Dropout applies to hidden layers if there is a pass.
    pub(crate) fn logits(
        &self,
        pass: Option<&Pass>,
        layout: &layers::PooledLength,
        encoded: &Encoded,
        states: &Tensor<2>,
    ) -> Tensor<2> {
        let rows = &encoded.rows;
        let each = Arc::new(Ragged::new(vec![1; rows.len()]));
        let mut x = self.pools(rows, states); // [sentences, (queries + 1)·d]
        for (layer, linear) in self.hidden.iter().enumerate() {
            x = apply(linear, x);
            if layer == 0 {
                let of_length = rows.lengths().map(|n| layout.length_row(n) as i64).collect();
                x = x.clone() + self.lengths.beside(&x).select(0, index(of_length, &x.device()));
            }
            x = relu(x);
            if let Some(pass) = pass {
                let [count, width] = x.dims();
                let ones = vec![1.0; count * width];
                x = x.clone() * ops::constant(ones, width, &each, pass.drop(), &x.device());
            }
        }
        apply(&self.output, x)
    }

    /// What each query pools, and the scaled sum of all states.
    fn pools(&self, rows: &Ragged, states: &Tensor<2>) -> Tensor<2> {
        let device = states.device();
        let (count, longest, [_, d]) = (rows.len(), rows.longest(), states.dims());
        let queries = self.queries.beside(states);
        let [pools, _] = queries.dims();
        let mut places = vec![0; count * longest];
        let (mut hidden, mut there) = (vec![HIDDEN; count * longest], vec![0.0; count * longest]);
        if longest == 0 {
            return Tensor::zeros([count, (pools + 1) * d], &device);
        }
        for (row, range) in rows.ranges().enumerate() {
            for (i, token) in range.enumerate() {
                places[row * longest + i] = token as i64;
                hidden[row * longest + i] = 0.0;
                there[row * longest + i] = 1.0;
            }
        }
        let shape = [count, longest, 1];
        let hidden = Tensor::<3>::from_data(TensorData::new(hidden, shape), &device);
        let there = Tensor::<3>::from_data(TensorData::new(there, shape), &device);
        let padded = states.clone().select(0, index(places, &device));
        let scores = padded.clone().matmul(queries.transpose());
        let scores = scores.reshape([count, longest, pools]) + hidden;
        // An empty source has nothing to attend to.
        let attended = softmax(scores, 1) * there.clone();
        let weights = Tensor::cat(vec![attended, there * SUM_SCALE], 2); // [sentences, tokens, queries + 1]
        let padded = padded.reshape([count, longest, d]);
        weights.swap_dims(1, 2).matmul(padded).reshape([count, (pools + 1) * d])
    }
}

fn apply(linear: &Linear, x: Tensor<2>) -> Tensor<2> {
    let weight = linear.weight.beside(&x);
    let bias = linear.bias.as_ref().map(|bias| bias.beside(&x));
    let product = x.matmul(weight.transpose());
    match bias {
        Some(bias) => product + bias,
        None => product,
    }
}

fn index(rows: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let count = rows.len();
    Tensor::from_data(TensorData::new(rows, [count]), device)
}
