//! The operations on the CPU, each a kernel with its gradient.
//!
//! Gradients of parameters go straight to the store of the pass; burn's graph carries those of activations only.

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use padir_base::ragged::Ragged;
use padir_kernels::attention::layer::{self as attention, Kind, Layer};
use padir_kernels::attention::{Bias, Core, Places};
use padir_kernels::cross_entropy::{self, CrossEntropy, Outcome};
use padir_kernels::ctc::{self, Ctc};
use padir_kernels::dropout::{Dropout, Masks};
use padir_kernels::{Slot, embedding, feedforward, norm};

use super::node::{tracked, untracked};
use super::{AlignmentTargets, AttentionPlan, FeedForwardPlan, Side, Targets};
use crate::block::{Attention, FeedForward};
use crate::loss::Loss;
use crate::pass::Pass;
use crate::weight::{Weight, flex, numbers};

pub(super) fn embed(
    pass: &Pass,
    table: &Weight,
    ids: &Arc<Vec<u32>>,
    rows: &Arc<Ragged>,
    drop: Dropout,
) -> Tensor<2> {
    let [_, width] = table.shape();
    let out = embedding::forward(numbers(&table.flex()), width, ids, rows, drop);
    let shape = [ids.len(), width];
    let Some(store) = pass.gradients() else { return untracked(out, shape) };
    let (store, ids, rows, index) =
        (Arc::clone(store), Arc::clone(ids), Arc::clone(rows), table.index());
    // The table is no tracked tensor; something must be, or the graph would end before this node.
    let anchor = Tensor::zeros([1, 1], &Device::flex().autodiff()).require_grad();
    tracked([anchor], out, shape, move |dy| {
        embedding::backward(width, &ids, &rows, drop, dy, &mut store.lock(index).slot());
        [vec![0.0]]
    })
}

impl AttentionPlan {
    fn layer<'a>(&'a self, bias: Option<&'a [f32]>) -> Layer<'a> {
        let bias = bias.zip(self.buckets).map(|(table, buckets)| Bias { table, buckets });
        let places = if self.kind == Kind::Positions { Places::Shared } else { Places::Own };
        let core = Core {
            heads: self.heads,
            queries: &self.queries,
            keys: &self.keys,
            causal: self.causal,
            bias,
            places,
            dropout: self.weights,
        };
        Layer { kind: self.kind, core, epsilon: self.norm.epsilon, output: self.output }
    }
}

pub(super) fn attend(
    pass: &Pass,
    layer: &Attention,
    plan: &AttentionPlan,
    x: Tensor<2>,
    side: Side<'_>,
    bias: Option<&Weight>,
) -> Tensor<2> {
    let shape = x.dims();
    let Attention { norm, q, k, v, o } = layer;
    let own = [&norm.weight, &q.weight, &k.weight, &v.weight, &o.weight];
    let (values, indices) = (own.map(Weight::flex), own.map(Weight::index));
    let bias_index = bias.map(Weight::index);
    let bias = bias.map(Weight::flex);
    let side_index = if let Side::Positions(table) = side { Some(table.index()) } else { None };
    let (side_value, side_tensor) = match side {
        // Visibility by query has no kernel.
        Side::None | Side::Embeddings(_) => (None, None),
        Side::EncoderOutput(output) => (Some(flex(output.clone())), Some(output.clone())),
        Side::Positions(table) => (Some(table.flex()), None),
    };
    let x_value = flex(x.clone());
    let side_numbers = side_value.as_ref().map_or(&[][..], numbers);
    let (out, saved) = plan.layer(bias.as_ref().map(numbers)).forward(
        numbers(&x_value),
        side_numbers,
        weights(&values),
    );
    let Some(store) = pass.gradients() else { return untracked(out, shape) };
    let (store, plan) = (Arc::clone(store), plan.clone());
    let gradient = move |dy: &[f32]| {
        let mut locks = indices.map(|index| store.lock(index));
        let [norm, q, k, v, o] = locks.each_mut().map(|lock| lock.slot());
        let mut bias_lock = bias_index.map(|index| store.lock(index));
        let bias_slot = bias_lock.as_mut().map(|lock| lock.slot());
        let to = attention::Gradients { norm, q, k, v, o, bias: bias_slot };
        let layer = plan.layer(bias.as_ref().map(numbers));
        let side = side_value.as_ref().map_or(&[][..], numbers);
        let (dx, dside) = layer.backward(numbers(&x_value), side, weights(&values), &saved, dy, to);
        if let Some(index) = side_index {
            store.add(index, &dside);
        }
        (dx, dside)
    };
    match side_tensor {
        Some(output) => tracked([x, output], out, shape, move |dy| {
            let (dx, dside) = gradient(dy);
            [dx, dside]
        }),
        None => tracked([x], out, shape, move |dy| [gradient(dy).0]),
    }
}

fn weights(values: &[burn::backend::flex::FlexTensor; 5]) -> attention::Weights<'_> {
    let [norm, q, k, v, o] = values.each_ref().map(numbers);
    attention::Weights { norm, q, k, v, o }
}

pub(super) fn feed_forward(
    pass: &Pass,
    layer: &FeedForward,
    plan: &FeedForwardPlan,
    x: Tensor<2>,
) -> Tensor<2> {
    let shape = x.dims();
    let own = [&layer.norm.weight, &layer.inner.weight, &layer.outer.weight];
    let (values, indices) = (own.map(Weight::flex), own.map(Weight::index));
    let x_value = flex(x.clone());
    let run =
        |plan: &FeedForwardPlan| kernel(plan).forward(numbers(&x_value), kernel_weights(&values));
    let (out, saved) = run(plan);
    let Some(store) = pass.gradients() else { return untracked(out, shape) };
    let (store, plan) = (Arc::clone(store), plan.clone());
    tracked([x], out, shape, move |dy| {
        let mut locks = indices.map(|index| store.lock(index));
        let [norm, inner, outer] = locks.each_mut().map(|lock| lock.slot());
        let to = feedforward::Gradients { norm, inner, outer };
        [kernel(&plan).backward(numbers(&x_value), kernel_weights(&values), &saved, dy, to)]
    })
}

fn kernel(plan: &FeedForwardPlan) -> feedforward::Layer<'_> {
    feedforward::Layer {
        rows: &plan.rows,
        epsilon: plan.norm.epsilon,
        hidden: plan.hidden,
        output: plan.output,
    }
}

fn kernel_weights(values: &[burn::backend::flex::FlexTensor; 3]) -> feedforward::Weights<'_> {
    let [norm, inner, outer] = values.each_ref().map(numbers);
    feedforward::Weights { norm, inner, outer }
}

pub(super) fn normalise(
    pass: &Pass,
    scale: &Weight,
    epsilon: f32,
    rows: &Arc<Ragged>,
    drop: Dropout,
    x: Tensor<2>,
) -> Tensor<2> {
    let shape = x.dims();
    let (x_value, scale_value) = (flex(x.clone()), scale.flex());
    let (mut out, saved) = norm::forward(numbers(&x_value), numbers(&scale_value), epsilon);
    let masks = drop.masks(rows, shape[1]);
    apply(masks.as_ref(), &mut out, shape[1]);
    let Some(store) = pass.gradients() else { return untracked(out, shape) };
    let (store, index) = (Arc::clone(store), scale.index());
    let rows = Arc::clone(rows);
    tracked([x], out, shape, move |dy| {
        let mut dy = dy.to_vec();
        apply(drop.masks(&rows, shape[1]).as_ref(), &mut dy, shape[1]);
        let mut dx = vec![0.0; dy.len()];
        let (x, scale) = (numbers(&x_value), numbers(&scale_value));
        norm::backward(x, scale, &saved, &dy, &mut dx, &mut store.lock(index).slot());
        [dx]
    })
}

fn apply(masks: Option<&Masks>, numbers: &mut [f32], width: usize) {
    let Some(masks) = masks else { return };
    for (token, row) in numbers.chunks_exact_mut(width).enumerate() {
        row.iter_mut().zip(masks.row(token)).for_each(|(x, m)| *x *= m);
    }
}

pub(super) fn pick(pass: &Pass, x: &Tensor<2>, rows: &Arc<Vec<u32>>) -> Tensor<2> {
    let [count, width] = x.dims();
    let value = flex(x.clone());
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in rows.iter() {
        out.extend_from_slice(&numbers(&value)[row as usize * width..][..width]);
    }
    let shape = [rows.len(), width];
    if pass.gradients().is_none() {
        return untracked(out, shape);
    }
    let rows = Arc::clone(rows);
    tracked([x.clone()], out, shape, move |dy| {
        let mut dx = vec![0.0; count * width];
        for (&row, dy) in rows.iter().zip(dy.chunks_exact(width)) {
            let sum = &mut dx[row as usize * width..][..width];
            sum.iter_mut().zip(dy).for_each(|(sum, dy)| *sum += dy);
        }
        [dx]
    })
}

pub(super) fn classify(
    pass: &Pass,
    loss: CrossEntropy,
    y: &Tensor<2>,
    table: &Weight,
    targets: &Arc<Targets>,
) -> (Loss, Outcome) {
    let [_, width] = table.shape();
    let (y_value, table_value) = (flex(y.clone()), table.flex());
    let (numbers_y, numbers_table) = (numbers(&y_value), numbers(&table_value));
    let wanted = cross_entropy::Targets { classes: &targets.classes, weights: &targets.weights };
    let Some(store) = pass.gradients() else {
        let outcome = loss.evaluate(numbers_y, numbers_table, width, wanted);
        return (Loss::composed(untracked(vec![outcome.loss as f32], [1])), outcome);
    };
    // The gradient of the table is known already; that of y waits for the graph to come to it.
    let mut entry = store.lock(table.index());
    let slot: Slot<'_> = entry.slot();
    let (outcome, dy) = loss.differentiate(numbers_y, numbers_table, width, wanted, slot);
    drop(entry);
    (fused_loss(pass, y, outcome.loss, dy), outcome)
}

/// A loss whose gradient of y is known, and that of its table delivered.
fn fused_loss(pass: &Pass, y: &Tensor<2>, value: f64, dy: Vec<f32>) -> Loss {
    let total = tracked([y.clone()], vec![value as f32], [1], move |d| {
        // Only the operations of this crate hold the tensor; everybody else holds a `Loss`.
        assert!((d[0] - 1.0).abs() < 1e-6, "a fused loss counts with factor 1, not {}", d[0]);
        [dy]
    });
    pass.owe_loss();
    Loss::fused(total)
}

pub(super) fn align(
    pass: &Pass,
    loss: Ctc,
    y: &Tensor<2>,
    table: &Weight,
    targets: &AlignmentTargets,
) -> (Loss, ctc::Outcome) {
    let [_, width] = table.shape();
    let (y_value, table_value) = (flex(y.clone()), table.flex());
    let (numbers_y, numbers_table) = (numbers(&y_value), numbers(&table_value));
    let Some(store) = pass.gradients() else {
        let outcome = loss.evaluate(numbers_y, numbers_table, width, targets.labels());
        return (Loss::composed(untracked(vec![outcome.loss as f32], [1])), outcome);
    };
    let mut entry = store.lock(table.index());
    let (outcome, dy) =
        loss.differentiate(numbers_y, numbers_table, width, targets.labels(), entry.slot());
    drop(entry);
    (fused_loss(pass, y, outcome.loss, dy), outcome)
}
