//! The pooled length predictor: see [`layers::PooledLength`](padir_checkpoint::layers::PooledLength). Always f32.

use padir_checkpoint::layers::{self, SUM_SCALE};
use padir_kernels::packed::activation::Activation;
use padir_kernels::packed::{Finish, Packed, Tools, grow};

use crate::error::EngineError;
use crate::load::Loader;
use crate::weights::Linear;

/// Its weights.
#[derive(Debug)]
pub(crate) struct LengthPool {
    /// One row per query.
    queries: Packed,
    /// One row per source length, each as wide as the first hidden layer.
    lengths: Vec<f32>,
    hidden: Vec<Linear>,
    output: Linear,
}

/// Its buffers.
#[derive(Debug, Default)]
pub(crate) struct PoolWork {
    scores: Vec<f32>,
    x: Vec<f32>,
    y: Vec<f32>,
}

impl LengthPool {
    pub(crate) fn load(
        loader: &Loader<'_>,
        layout: &layers::PooledLength,
    ) -> Result<Self, EngineError> {
        let linear = |linear: &layers::Linear| -> Result<Linear, EngineError> {
            Ok(Linear {
                weight: loader.single(&linear.weight, linear.inputs())?,
                bias: loader.optional_vector(linear.bias.as_ref())?,
            })
        };
        Ok(Self {
            queries: loader.single(&layout.queries, layout.queries.shape[1])?,
            lengths: loader.numbers(&layout.lengths)?.into_owned(),
            hidden: layout.hidden.iter().map(linear).collect::<Result<_, _>>()?,
            output: linear(&layout.output)?,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        let linears: usize = self.hidden.iter().map(Linear::bytes).sum();
        self.queries.bytes() + 4 * self.lengths.len() + linears + self.output.bytes()
    }

    /// Classes of lengths.
    pub(crate) fn classes(&self) -> usize {
        self.output.outputs()
    }

    /// logits ← one row per source, from the encoder states of all their tokens.
    pub(crate) fn logits(
        &self,
        tools: &mut Tools,
        work: &mut PoolWork,
        states: &[f32],
        lengths: &[usize],
        logits: &mut [f32],
    ) {
        let PoolWork { scores, x, y } = work;
        self.pool(tools, scores, x, states, lengths);
        for (layer, linear) in self.hidden.iter().enumerate() {
            let width = linear.outputs();
            let inputs = lengths.len() * linear.inputs();
            let out = grow(y, lengths.len() * width);
            linear.product(tools, &x[..inputs], 0..width, out);
            if layer == 0 {
                for (row, &length) in out.chunks_exact_mut(width).zip(lengths) {
                    let last = self.lengths.len() / width;
                    let of_length = &self.lengths[(length.clamp(1, last) - 1) * width..][..width];
                    row.iter_mut().zip(of_length).for_each(|(x, t)| *x += t);
                }
            }
            Activation::Relu.apply(&tools.threads, out);
            std::mem::swap(x, y);
        }
        let inputs = lengths.len() * self.output.inputs();
        self.output.product(tools, &x[..inputs], 0..self.classes(), logits);
    }

    /// x ← the pools of each source and the scaled sum of its states.
    fn pool(
        &self,
        tools: &mut Tools,
        scores: &mut Vec<f32>,
        x: &mut Vec<f32>,
        states: &[f32],
        lengths: &[usize],
    ) {
        let (pools, d) = (self.queries.outputs(), self.queries.inputs());
        let scores = grow(scores, states.len() / d * pools);
        self.queries.product(tools, states, 0..pools, scores, pools, Finish::Store);
        let x = grow(x, lengths.len() * (pools + 1) * d);
        x.fill(0.0);
        let (mut states, mut scores) = (states, &mut *scores);
        for (x, &length) in x.chunks_exact_mut((pools + 1) * d).zip(lengths) {
            let (own, later) = states.split_at(length * d);
            let (own_scores, later_scores) =
                std::mem::take(&mut scores).split_at_mut(length * pools);
            (states, scores) = (later, later_scores);
            let (pooled, sum) = x.split_at_mut(pools * d);
            for (query, pooled) in pooled.chunks_exact_mut(d).enumerate() {
                softmax(own_scores, query, pools);
                for (state, weights) in own.chunks_exact(d).zip(own_scores.chunks_exact(pools)) {
                    add(pooled, state, weights[query]);
                }
            }
            own.chunks_exact(d).for_each(|state| add(sum, state, SUM_SCALE));
        }
    }
}

/// The softmax of one column of a matrix, in place.
fn softmax(matrix: &mut [f32], column: usize, columns: usize) {
    let numbers = || column..matrix.len();
    let top = numbers().step_by(columns).map(|i| matrix[i]).fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = numbers().step_by(columns).map(|i| (matrix[i] - top).exp()).sum();
    for i in (column..matrix.len()).step_by(columns) {
        matrix[i] = (matrix[i] - top).exp() / total;
    }
}

/// sum ← sum + factor·x.
fn add(sum: &mut [f32], x: &[f32], factor: f32) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x);
}
