//! The operations made of burn's tensor operations: they run on every device and are the oracle of the fused ones.
//!
//! Linear layers work on tokens without padding; only attention gathers sentences into rectangles.

use std::sync::Arc;

use burn::tensor::activation::{log_softmax, relu, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use padir_kernels::attention::layer::Kind;
use padir_kernels::attention::position::Buckets;
use padir_kernels::cross_entropy::{CrossEntropy, Outcome, ROWS};
use padir_kernels::dropout::Dropout;
use padir_kernels::rows::Ragged;

use super::{AttentionPlan, FeedForwardPlan, Side, Targets};
use crate::block::{Attention, FeedForward};
use crate::loss::Loss;
use crate::weight::{Weight, host};

/// What hides a key.
const HIDDEN: f32 = -1e10;

pub(super) fn embed(
    table: &Weight,
    ids: &Arc<Vec<u32>>,
    rows: &Arc<Ragged>,
    drop: Dropout,
) -> Tensor<2> {
    let table = table.tensor();
    let index = integers(ids.iter().copied(), &table.device());
    dropped(table.select(0, index), rows, drop)
}

/// Row indices as a tensor.
fn integers(values: impl Iterator<Item = u32>, device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = values.map(i64::from).collect();
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

fn dropped(x: Tensor<2>, rows: &Ragged, drop: Dropout) -> Tensor<2> {
    let [tokens, width] = x.dims();
    let Some(masks) = drop.masks(rows, width) else { return x };
    let mask: Vec<f32> = (0..tokens).flat_map(|token| masks.row(token).to_vec()).collect();
    let mask = Tensor::from_data(TensorData::new(mask, [tokens, width]), &x.device());
    x * mask
}

fn norm(x: Tensor<2>, scale: &Weight, epsilon: f32) -> Tensor<2> {
    let mean = x.clone().powf_scalar(2.0).mean_dim(1);
    x * (mean + epsilon).sqrt().recip() * scale.tensor()
}

fn linear(x: Tensor<2>, weight: &Weight) -> Tensor<2> {
    x.matmul(weight.tensor().transpose())
}

pub(super) fn normalise(
    scale: &Weight,
    epsilon: f32,
    rows: &Arc<Ragged>,
    drop: Dropout,
    x: Tensor<2>,
) -> Tensor<2> {
    dropped(norm(x, scale, epsilon), rows, drop)
}

pub(super) fn feed(layer: &FeedForward, plan: &FeedForwardPlan, x: Tensor<2>) -> Tensor<2> {
    let hidden = relu(linear(norm(x.clone(), &layer.norm, plan.epsilon), &layer.inner));
    let hidden = dropped(hidden, &plan.rows, plan.hidden);
    x + dropped(linear(hidden, &layer.outer), &plan.rows, plan.output)
}

pub(super) fn pick(x: &Tensor<2>, rows: &Arc<Vec<u32>>) -> Tensor<2> {
    let index = integers(rows.iter().copied(), &x.device());
    x.clone().select(0, index)
}

pub(super) fn attend(
    layer: &Attention,
    plan: &AttentionPlan,
    x: Tensor<2>,
    side: Side<'_>,
    bias: Option<&Weight>,
) -> Tensor<2> {
    let device = x.device();
    let longest = plan.queries.longest();
    if plan.queries.tokens() == 0 || plan.keys.longest() == 0 {
        // Without keys there is nothing to add but the output of nothing.
        return x;
    }
    let (from_q, from_k, from_v) = match side {
        Side::None => {
            let n = norm(x.clone(), &layer.norm, plan.epsilon);
            (n.clone(), n.clone(), n)
        }
        Side::Memory(memory) => {
            (norm(x.clone(), &layer.norm, plan.epsilon), memory.clone(), memory.clone())
        }
        Side::Positions(table) => {
            let positions = table.tensor().narrow(0, 0, longest);
            let n = norm(positions, &layer.norm, plan.epsilon);
            (n.clone(), n, x.clone())
        }
    };
    let shared = plan.kind == Kind::Positions;
    let one = Ragged::new([longest]);
    let queries = Padding::new(if shared { &one } else { &plan.queries }, &device);
    let keys = Padding::new(if shared { &one } else { &plan.keys }, &device);
    let values = Padding::new(&plan.keys, &device);
    let q = queries.split(linear(from_q, &layer.q), plan.heads);
    let k = keys.split(linear(from_k, &layer.k), plan.heads);
    let v = values.split(linear(from_v, &layer.v), plan.heads);
    let mut scores = q.matmul(k.swap_dims(2, 3));
    if let (Some(table), Some(buckets)) = (bias, plan.buckets) {
        scores = scores + bias_of(table, buckets, plan.queries.longest(), plan.keys.longest());
    }
    let scores = scores + hidden(plan, &device);
    let mut weights = softmax(scores, 3);
    if plan.weights.is_active() {
        weights = weights * weight_mask(plan, &device);
    }
    let context = weights.matmul(v);
    let out = Padding::new(&plan.queries, &device).join(context);
    x + dropped(linear(out, &layer.o), &plan.queries, plan.output)
}

/// 0 where a query sees a key: sentences × 1 × queries × keys.
fn hidden(plan: &AttentionPlan, device: &Device) -> Tensor<4> {
    let (rows, q, k) = (plan.queries.len(), plan.queries.longest(), plan.keys.longest());
    let mut mask = vec![HIDDEN; rows * q * k];
    for (row, length) in plan.keys.lengths().enumerate() {
        for i in 0..q {
            let seen = if plan.causal { length.min(i + 1) } else { length };
            mask[(row * q + i) * k..][..seen].fill(0.0);
        }
    }
    Tensor::from_data(TensorData::new(mask, [rows, 1, q, k]), device)
}

/// Dropout of attention weights: sentences × heads × 1 × keys.
fn weight_mask(plan: &AttentionPlan, device: &Device) -> Tensor<4> {
    let (rows, heads, k) = (plan.queries.len(), plan.heads, plan.keys.longest());
    let mut mask = vec![0.0; rows * heads * k];
    for (row, length) in plan.keys.lengths().enumerate() {
        for head in 0..heads {
            let group = row * heads + head;
            plan.weights.fill(group, &mut mask[group * k..][..length]);
        }
    }
    Tensor::from_data(TensorData::new(mask, [rows, heads, 1, k]), device)
}

/// 1 × heads × queries × keys.
fn bias_of(table: &Weight, buckets: Buckets, queries: usize, keys: usize) -> Tensor<4> {
    let table = table.tensor();
    let [_, heads] = table.dims();
    let at = |i: usize, j: usize| buckets.of(j as isize - i as isize) as u32;
    let index = (0..queries).flat_map(|i| (0..keys).map(move |j| at(i, j)));
    let rows = table.clone().select(0, integers(index, &table.device()));
    rows.reshape([1, queries, keys, heads]).permute([0, 3, 1, 2])
}

/// How sentences become a rectangle and back.
struct Padding {
    rows: usize,
    longest: usize,
    /// For each place of the rectangle its token, or any.
    places: Tensor<1, Int>,
    /// 1 where there is a token.
    there: Tensor<2>,
    /// For each token its place.
    tokens: Tensor<1, Int>,
}

impl Padding {
    fn new(rows: &Ragged, device: &Device) -> Self {
        let longest = rows.longest();
        let mut places = vec![0; rows.len() * longest];
        let mut there = vec![0.0; rows.len() * longest];
        let mut tokens = Vec::with_capacity(rows.tokens());
        for (row, range) in rows.ranges().enumerate() {
            for (i, token) in range.enumerate() {
                places[row * longest + i] = token as u32;
                there[row * longest + i] = 1.0;
                tokens.push((row * longest + i) as u32);
            }
        }
        let count = there.len();
        Self {
            rows: rows.len(),
            longest,
            places: integers(places.into_iter(), device),
            there: Tensor::from_data(TensorData::new(there, [count, 1]), device),
            tokens: integers(tokens.into_iter(), device),
        }
    }

    /// tokens × (heads·width) → sentences × heads × longest × width, 0 where there is no token.
    fn split(&self, x: Tensor<2>, heads: usize) -> Tensor<4> {
        let [_, wide] = x.dims();
        let x = x.select(0, self.places.clone()) * self.there.clone();
        x.reshape([self.rows, self.longest, heads, wide / heads]).swap_dims(1, 2)
    }

    /// And back.
    fn join(&self, x: Tensor<4>) -> Tensor<2> {
        let [rows, heads, longest, width] = x.dims();
        let x = x.swap_dims(1, 2).reshape([rows * longest, heads * width]);
        x.select(0, self.tokens.clone())
    }
}

pub(super) fn classify(
    loss: CrossEntropy,
    y: &Tensor<2>,
    table: &Weight,
    targets: &Arc<Targets>,
) -> (Loss, Outcome) {
    let device = y.device();
    let table = table.tensor();
    let mut total = Tensor::zeros([1], &device);
    let mut outcome = Outcome::default();
    for first in (0..targets.classes.len()).step_by(ROWS) {
        let rows = first..(first + ROWS).min(targets.classes.len());
        let count = rows.len();
        let weights: Vec<f32> =
            rows.clone().map(|row| targets.weights.get(row).copied().unwrap_or(1.0)).collect();
        let classes = &targets.classes[rows.clone()];
        let logits =
            y.clone().narrow(0, first, count).matmul(table.clone().transpose()) * loss.scale;
        let index = integers(classes.iter().copied(), &device).reshape([count, 1]);
        let log_p = log_softmax(logits.clone(), 1);
        let entropy = -log_p.clone().gather(1, index.clone());
        let log_z = logits.clone().gather(1, index) + entropy.clone();
        let mut each =
            entropy.clone() * (1.0 - loss.smoothing) + log_z.powf_scalar(2.0) * loss.z_loss;
        if loss.smoothing > 0.0 {
            each = each - log_p.mean_dim(1) * loss.smoothing;
        }
        let weight = Tensor::<2>::from_data(TensorData::new(weights.clone(), [count, 1]), &device);
        total = total + (each.clone() * weight).sum();

        if let Some(draw) = loss.draw {
            let [_, classes] = logits.dims();
            let drawn = host(logits.clone().detach());
            let drawn = drawn.chunks_exact(classes).zip(rows);
            outcome.samples.extend(drawn.map(|(logits, row)| draw.class(row, logits)));
        }
        let best: Vec<i64> =
            logits.argmax(1).into_data().convert::<i64>().try_to_vec().expect("indices");
        let each = host(each);
        let entropy = host(entropy);
        for (row, &weight) in weights.iter().enumerate() {
            outcome.loss += f64::from(each[row] * weight);
            outcome.entropy += f64::from(entropy[row] * weight);
            outcome.weight += f64::from(weight);
            if weight != 0.0 {
                outcome.counted += 1;
                outcome.right += usize::from(best[row] == i64::from(classes[row]));
            }
            outcome.best.push(best[row] as u32);
        }
    }
    (Loss::composed(total), outcome)
}
