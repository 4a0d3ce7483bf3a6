//! Foretelling the length of a target.

use std::sync::Arc;

use burn::tensor::activation::softmax;
use burn::tensor::{Tensor, TensorData};
use padir_checkpoint::LengthPredictor;
use padir_kernels::cross_entropy::CrossEntropy;

use crate::loss::Loss;
use crate::network::{Encoded, Network};
use crate::ops::{self, Targets};
use crate::pass::Pass;
use crate::weight::host;

/// What came of foretelling lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LengthOutcome {
    /// The loss, not weighted.
    pub loss: f64,
    /// How many lengths were right.
    pub right: usize,
    /// Of how many.
    pub counted: usize,
}

impl Network {
    /// weight · the loss of the length predictor; `None` if there is nothing to learn.
    ///
    /// | predictor | loss |
    /// |---|---|
    /// | token | cross-entropy of class length − 1 |
    /// | offset | cross-entropy of class length − source + C/2 |
    /// | affine, fertility | (foretold − length)² |
    pub fn length_loss(
        &self,
        pass: &Pass,
        encoded: &Encoded,
        lengths: &[usize],
        weight: f32,
        smoothing: f32,
        z_loss: f32,
    ) -> Option<(Loss, LengthOutcome)> {
        let predictor = self.config().parallel()?.length;
        if let (Some(states), Some(table)) = (&encoded.length, self.length_weights().0) {
            let pairs = lengths.iter().zip(encoded.rows.lengths());
            let wanted = pairs.map(|(&length, n)| predictor.class_of(length, n) as u32).collect();
            let targets =
                Arc::new(Targets { classes: wanted, weights: vec![weight; lengths.len()] });
            let loss = CrossEntropy { scale: 1.0, smoothing, z_loss, draw: None };
            let (total, outcome) = ops::classify(pass, loss, states, table, &targets);
            let loss = outcome.loss / f64::from(if weight == 0.0 { 1.0 } else { weight });
            return Some((
                total,
                LengthOutcome { loss, right: outcome.right, counted: outcome.counted },
            ));
        }
        let foretold = self.expected_lengths(encoded)?;
        let wanted: Vec<f32> = lengths.iter().map(|&length| length as f32).collect();
        let count = wanted.len();
        let wanted_tensor =
            Tensor::<1>::from_data(TensorData::new(wanted, [count]), &foretold.device());
        let square = (foretold.clone() - wanted_tensor).powf_scalar(2.0).sum();
        let values = host(foretold);
        let right =
            values.iter().zip(lengths).filter(|(f, l)| (*f - **l as f32).abs() < 0.5).count();
        let loss: f32 = square.clone().into_scalar();
        let outcome = LengthOutcome { loss: f64::from(loss), right, counted: count };
        Some((Loss::composed(square * weight), outcome))
    }

    /// The lengths that predictors of one number foretell.
    fn expected_lengths(&self, encoded: &Encoded) -> Option<Tensor<1>> {
        let (weight, bias) = self.length_weights();
        let weight = weight?.tensor();
        let device = weight.device();
        let count = encoded.rows.len();
        let sources: Vec<f32> = encoded.rows.lengths().map(|length| length as f32).collect();
        let sources = Tensor::<1>::from_data(TensorData::new(sources, [count]), &device);
        match self.config().parallel()?.length {
            LengthPredictor::Affine => {
                Some(sources * weight.reshape([1]) + bias?.tensor().reshape([1]))
            }
            LengthPredictor::Fertility { max_fertility } => {
                let classes = 2 * max_fertility + 2;
                let least = -(max_fertility as f32) - 1.0;
                let offsets: Vec<f32> = (0..classes).map(|c| least + c as f32).collect();
                let offsets =
                    Tensor::<2>::from_data(TensorData::new(offsets, [classes, 1]), &device);
                // The encoder does not learn from fertilities.
                let states = encoded.output.clone().detach();
                let each = softmax(states.matmul(weight.transpose()), 1).matmul(offsets);
                let mut owner = vec![0.0; count * encoded.rows.tokens()];
                for (row, range) in encoded.rows.ranges().enumerate() {
                    owner[row * encoded.rows.tokens()..][range].fill(1.0);
                }
                let owner = TensorData::new(owner, [count, encoded.rows.tokens()]);
                let sums = Tensor::<2>::from_data(owner, &device).matmul(each).reshape([count]);
                Some(sources + sums)
            }
            LengthPredictor::Token { .. }
            | LengthPredictor::Offset { .. }
            | LengthPredictor::Oracle => None,
        }
    }

    /// For each sentence its likeliest lengths with their log-probabilities, at most `most`, the best first. Predictors of one
    /// number give the lengths around it. Empty for the oracle.
    pub fn foretell(&self, encoded: &Encoded, most: usize) -> Vec<Vec<(usize, f32)>> {
        let predictor = self.config().parallel().map_or(LengthPredictor::Oracle, |p| p.length);
        if let (Some(states), Some(table)) = (&encoded.length, self.length_weights().0) {
            let [classes, _] = table.shape();
            let table = table.tensor();
            let table = if states.device().is_autodiff() { table } else { table.inner() };
            let logits = states.clone().matmul(table.transpose());
            let logits = host(logits);
            let rows = logits.chunks_exact(classes).zip(encoded.rows.lengths());
            return rows.map(|(row, n)| best_lengths(predictor, row, n, most)).collect();
        }
        let Some(foretold) = self.expected_lengths(encoded) else {
            return vec![Vec::new(); encoded.rows.len()];
        };
        let values = host(foretold);
        values.iter().map(|&length| around(length, most)).collect()
    }
}

/// The likeliest classes as lengths.
fn best_lengths(
    predictor: LengthPredictor,
    logits: &[f32],
    source: usize,
    most: usize,
) -> Vec<(usize, f32)> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let log_z = top + logits.iter().map(|l| (l - top).exp()).sum::<f32>().ln();
    let length =
        |(class, logit): (usize, &f32)| Some((predictor.length_of(class, source)?, logit - log_z));
    let mut lengths: Vec<(usize, f32)> = logits.iter().enumerate().filter_map(length).collect();
    lengths.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    lengths.truncate(most);
    lengths
}

/// Whole lengths by their distance from a number.
fn around(length: f32, most: usize) -> Vec<(usize, f32)> {
    let centre = length.round().clamp(1.0, 1e6) as usize;
    let mut lengths: Vec<(usize, f32)> = (centre.saturating_sub(most).max(1)..=centre + most)
        .map(|candidate| (candidate, -(candidate as f32 - length).abs()))
        .collect();
    lengths.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    lengths.truncate(most);
    lengths
}
