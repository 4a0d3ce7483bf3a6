//! The operations made of burn's tensor operations: they run on every device and are the oracle of the fused ones.
//!
//! Linear layers work on tokens without padding; only attention gathers sentences into rectangles.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::activation::{gelu, gelu_approximate, log_softmax, relu, silu, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use padir_base::ragged::Ragged;
use padir_checkpoint::layers::{Activation, NormKind, NormPlace};
use padir_kernels::attention::layer::Kind;
use padir_kernels::attention::position::Buckets;
use padir_kernels::cross_entropy::{CrossEntropy, Outcome, ROWS};
use padir_kernels::ctc::{self, Ctc, Lattice};
use padir_kernels::dropout::Dropout;

use super::{AlignmentTargets, AttentionPlan, FeedForwardPlan, NormPlan, Side, Targets};
use crate::block::{Attention, FeedForward, Linear, Norm};
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

pub(super) fn constant(
    numbers: Vec<f32>,
    width: usize,
    rows: &Ragged,
    drop: Dropout,
    device: &Device,
) -> Tensor<2> {
    let count = numbers.len() / width.max(1);
    dropped(Tensor::from_data(TensorData::new(numbers, [count, width]), device), rows, drop)
}

fn normed(x: Tensor<2>, norm: &Norm, plan: NormPlan) -> Tensor<2> {
    let scale = norm.weight.beside(&x);
    let bias = norm.bias.as_ref().map(|bias| bias.beside(&x));
    let x = match plan.kind {
        NormKind::Rms => x,
        NormKind::Layer => {
            let mean = x.clone().mean_dim(1);
            x - mean
        }
    };
    let mean = x.clone().powf_scalar(2.0).mean_dim(1);
    let x = x * (mean + plan.epsilon).sqrt().recip() * scale;
    match bias {
        Some(bias) => x + bias,
        None => x,
    }
}

/// What a sublayer reads of the residual stream.
fn enter(x: &Tensor<2>, norm: &Norm, plan: NormPlan, place: NormPlace) -> Tensor<2> {
    match place {
        NormPlace::Pre => normed(x.clone(), norm, plan),
        NormPlace::Post => x.clone(),
    }
}

/// What it leaves of the sum of x and its output.
fn leave(sum: Tensor<2>, norm: &Norm, plan: NormPlan, place: NormPlace) -> Tensor<2> {
    match place {
        NormPlace::Pre => sum,
        NormPlace::Post => normed(sum, norm, plan),
    }
}

fn linear(x: Tensor<2>, layer: &Linear) -> Tensor<2> {
    let weight = layer.weight.beside(&x);
    let bias = layer.bias.as_ref().map(|bias| bias.beside(&x));
    let product = x.matmul(weight.transpose());
    match bias {
        Some(bias) => product + bias,
        None => product,
    }
}

pub(super) fn normalise(
    norm: &Norm,
    plan: NormPlan,
    rows: &Arc<Ragged>,
    drop: Dropout,
    x: Tensor<2>,
) -> Tensor<2> {
    dropped(normed(x, norm, plan), rows, drop)
}

pub(super) fn feed_forward(layer: &FeedForward, plan: &FeedForwardPlan, x: Tensor<2>) -> Tensor<2> {
    let hidden = linear(enter(&x, &layer.norm, plan.norm, plan.place), &layer.inner);
    let hidden = match plan.activation {
        Activation::Relu => relu(hidden),
        Activation::Gelu => gelu(hidden),
        Activation::GeluTanh => gelu_approximate(hidden),
        Activation::Swish => silu(hidden),
    };
    let hidden = dropped(hidden, &plan.rows, plan.hidden);
    let sum = x + dropped(linear(hidden, &layer.outer), &plan.rows, plan.output);
    leave(sum, &layer.norm, plan.norm, plan.place)
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
    if plan.queries.tokens() == 0 {
        return x;
    }
    let context = context(layer, plan, &x, side, bias);
    let sum = x + dropped(linear(context, &layer.o), &plan.queries, plan.output);
    leave(sum, &layer.norm, plan.norm, plan.place)
}

/// softmax(scale·QKᵀ + B)·V, one row per query.
fn context(
    layer: &Attention,
    plan: &AttentionPlan,
    x: &Tensor<2>,
    side: Side<'_>,
    bias: Option<&Weight>,
) -> Tensor<2> {
    let device = x.device();
    let longest = plan.queries.longest();
    if plan.keys.longest() == 0 {
        // Whoever looks at nothing sees nothing.
        return Tensor::zeros([plan.queries.tokens(), layer.v.weight.shape()[0]], &device);
    }
    let read = || enter(x, &layer.norm, plan.norm, plan.place);
    let (from_q, from_k, from_v) = match side {
        Side::None => {
            let n = read();
            (n.clone(), n.clone(), n)
        }
        Side::EncoderOutput(output) => (read(), output.clone(), output.clone()),
        Side::Embeddings(embedded) => {
            let n = enter(embedded, &layer.norm, plan.norm, plan.place);
            (read(), n.clone(), n)
        }
        Side::Positions(table) => {
            let positions = table.beside(x).narrow(0, 0, longest);
            let n = normed(positions, &layer.norm, plan.norm);
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
    #[expect(clippy::float_cmp, reason = "a constant of the description")]
    if plan.scale != 1.0 {
        scores = scores * plan.scale;
    }
    if let (Some(table), Some(buckets)) = (bias, plan.buckets) {
        let table = table.beside(x);
        scores = scores + bias_of(table, buckets, plan.queries.longest(), plan.keys.longest());
    }
    let hidden = hidden(plan, &device);
    let mut weights = softmax(scores + hidden.clone(), 3);
    if plan.visible.is_some() {
        // Whoever looks at nothing sees nothing.
        weights = weights * hidden.equal_elem(0.0).float();
    }
    if plan.weights.is_active() {
        weights = weights * weight_mask(plan, &device);
    }
    Padding::new(&plan.queries, &device).join(weights.matmul(v))
}

/// 0 where a query sees a key: sentences × 1 × queries × keys.
fn hidden(plan: &AttentionPlan, device: &Device) -> Tensor<4> {
    let (rows, q, k) = (plan.queries.len(), plan.queries.longest(), plan.keys.longest());
    let mut mask = vec![HIDDEN; rows * q * k];
    if let Some(visible) = &plan.visible {
        let mut visible = visible.iter();
        for (row, length) in plan.keys.lengths().enumerate() {
            for i in 0..length {
                let own = &mut mask[(row * q + i) * k..][..length];
                for (hidden, _) in own.iter_mut().zip(visible.by_ref()).filter(|(_, seen)| **seen) {
                    *hidden = 0.0;
                }
            }
        }
        return Tensor::from_data(TensorData::new(mask, [rows, 1, q, k]), device);
    }
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
fn bias_of(table: Tensor<2>, buckets: Buckets, queries: usize, keys: usize) -> Tensor<4> {
    let [_, heads] = table.dims();
    let at = |i: usize, j: usize| buckets.of(j as isize - i as isize) as u32;
    let index = (0..queries).flat_map(|i| (0..keys).map(move |j| at(i, j)));
    let index = integers(index, &table.device());
    let rows = table.select(0, index);
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
    bias: Option<&Weight>,
    targets: &Arc<Targets>,
) -> (Loss, Outcome) {
    let device = y.device();
    let table = table.beside(y);
    let bias = bias.map(|bias| bias.beside(y));
    let mut total = Tensor::zeros([1], &device);
    let mut outcome = Outcome::default();
    for first in (0..targets.classes.len()).step_by(ROWS) {
        let rows = first..(first + ROWS).min(targets.classes.len());
        let count = rows.len();
        let weights: Vec<f32> =
            rows.clone().map(|row| targets.weights.get(row).copied().unwrap_or(1.0)).collect();
        let classes = &targets.classes[rows.clone()];
        let mut logits =
            y.clone().narrow(0, first, count).matmul(table.clone().transpose()) * loss.scale;
        if let Some(bias) = &bias {
            logits = logits + bias.clone();
        }
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

/// The gradient of −ln p(target) by the logits is that of a cross-entropy with the posterior probabilities, which are constants
/// here; only the value is another.
pub(super) fn align(
    loss: Ctc,
    y: &Tensor<2>,
    table: &Weight,
    targets: &AlignmentTargets,
) -> (Loss, ctc::Outcome) {
    let device = y.device();
    let table = table.beside(y);
    let [classes, _] = table.dims();
    let mut total = Tensor::zeros([1], &device);
    let mut outcome = ctc::Outcome::default();
    for sentences in ctc::pieces(&targets.slots) {
        let first = targets.slots.range(sentences.start).start;
        let count = targets.slots.range(sentences.end - 1).end - first;
        if count == 0 {
            solve(loss, &[], classes, targets, sentences, &mut outcome);
            continue;
        }
        let logits =
            y.clone().narrow(0, first, count).matmul(table.clone().transpose()) * loss.scale;
        let log_p = log_softmax(logits.clone(), 1);
        let numbers = host(log_p.clone().detach());
        let before = outcome.nll;
        let shares = solve(loss, &numbers, classes, targets, sentences, &mut outcome);
        let nll = outcome.nll - before;
        // The mass of a row is its weight: 0 where a target does not fit.
        let weights: Vec<f32> =
            shares.chunks_exact(classes).map(|row| row.iter().sum::<f32>()).collect();
        let shares = Tensor::<2>::from_data(TensorData::new(shares, [count, classes]), &device);
        let weights = Tensor::<2>::from_data(TensorData::new(weights, [count, 1]), &device);
        let (w, e) = (f64::from(loss.weight), f64::from(loss.smoothing));
        let aligned = -(log_p.clone() * shares).sum() * (1.0 - loss.smoothing);
        let found: f32 = aligned.clone().detach().into_scalar();
        let log_z = (logits - log_p.clone()).mean_dim(1);
        let rest =
            (log_z.powf_scalar(2.0) * loss.z_loss - log_p.mean_dim(1) * loss.smoothing) * weights;
        let rest = rest.sum();
        let rest_value: f32 = rest.clone().detach().into_scalar();
        outcome.loss += w * (1.0 - e) * nll + f64::from(rest_value);
        let difference = w * (1.0 - e) * nll - f64::from(found);
        total = total + aligned + rest + difference as f32;
    }
    (Loss::composed(total), outcome)
}

/// The weighted posterior probabilities of some sentences, slots × classes, and what comes out of them but the loss.
fn solve(
    loss: Ctc,
    log_probs: &[f32],
    classes: usize,
    targets: &AlignmentTargets,
    sentences: Range<usize>,
    outcome: &mut ctc::Outcome,
) -> Vec<f32> {
    let first = targets.slots.range(sentences.start).start;
    let mut shares = vec![0.0; log_probs.len()];
    for sentence in sentences {
        let slots = targets.slots.range(sentence);
        let rows = (slots.start - first) * classes..(slots.end - first) * classes;
        let (log_probs, shares) = (&log_probs[rows.clone()], &mut shares[rows]);
        let labels = &targets.ids[targets.rows.range(sentence)];
        let best: Vec<u32> = log_probs.chunks_exact(classes).map(first_best).collect();
        outcome.best.extend_from_slice(&best);
        let Some(lattice) = Lattice::new(labels, slots.len()) else {
            outcome.unfit += 1;
            outcome.aligned.extend(best.iter().take(if loss.viterbi { best.len() } else { 0 }));
            continue;
        };
        let tokens: Vec<u32> = std::iter::once(loss.blank).chain(labels.iter().copied()).collect();
        let gathered: Vec<f64> = log_probs
            .chunks_exact(classes)
            .flat_map(|row| tokens.iter().map(|&token| f64::from(row[token as usize])))
            .collect();
        let (log_likelihood, posteriors) = lattice.posteriors(&gathered);
        for (row, own) in shares.chunks_exact_mut(classes).zip(posteriors.chunks(tokens.len())) {
            for (&token, share) in tokens.iter().zip(own) {
                row[token as usize] += loss.weight * share;
            }
        }
        if loss.viterbi {
            let path = lattice.viterbi(&gathered).1;
            let token = |label: Option<usize>| label.map_or(loss.blank, |label| labels[label]);
            outcome.aligned.extend(path.into_iter().map(token));
        }
        outcome.nll -= log_likelihood;
        outcome.counted += 1;
        outcome.tokens += labels.len();
    }
    shares
}

/// The first of the most probable classes.
fn first_best(row: &[f32]) -> u32 {
    let mut best = 0;
    for (class, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = class;
        }
    }
    best as u32
}
