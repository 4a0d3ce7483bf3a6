//! Predicting the length of a target.

use std::sync::Arc;

use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Tensor, TensorData};
use padir_checkpoint::{LengthPredictor, candidates_around};
use padir_kernels::cross_entropy::CrossEntropy;

use crate::loss::Loss;
use crate::network::{Encoded, Network};
use crate::ops::{self, Targets};
use crate::pass::Pass;
use crate::weight::host;

/// How the length predictor learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthLoss {
    /// Multiplies the loss.
    pub weight: f32,
    /// ε: the mass spread over all classes.
    pub smoothing: f32,
    /// ζ: pulls the normaliser towards 1.
    pub z_loss: f32,
    /// σ of the soft target, a discretised Gaussian around the true class; 0 for the true class alone.
    pub sigma: f32,
    /// Whether the encoder learns from the lengths, too.
    pub trains_encoder: bool,
}

/// What came of predicting lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LengthOutcome {
    /// The loss, not weighted.
    pub loss: f64,
    /// How many lengths were right.
    pub right: usize,
    /// How many were among the [`NEAR`] most probable ones.
    pub near: usize,
    /// Of how many.
    pub counted: usize,
}

/// The k of length accuracy@k.
pub const NEAR: usize = 5;

impl Network {
    /// weight · the loss of the length predictor; `None` if there is nothing to learn.
    ///
    /// | predictor | loss |
    /// |---|---|
    /// | token | cross-entropy of class length − 1 |
    /// | offset | cross-entropy of class length − source + C/2 |
    /// | pooled | either of them |
    /// | affine, fertility | (predicted − length)² |
    pub fn length_loss(
        &self,
        pass: &Pass,
        encoded: &Encoded,
        lengths: &[usize],
        how: LengthLoss,
    ) -> Option<(Loss, LengthOutcome)> {
        let predictor = self.config().parallel()?.length;
        let pairs = lengths.iter().zip(encoded.rows.lengths());
        let wanted: Vec<u32> =
            pairs.map(|(&length, n)| predictor.class_of(length, n) as u32).collect();
        let learned = |states: &Tensor<2>| {
            if how.trains_encoder { states.clone() } else { states.clone().detach() }
        };
        if let (Some(states), Some(table)) = (&encoded.length, self.length_weights().0) {
            let states = learned(states);
            if how.sigma > 0.0 {
                let logits = states.clone().matmul(table.beside(&states).transpose());
                return Some(soft_loss(predictor, logits, encoded, lengths, &wanted, how));
            }
            let LengthLoss { weight, smoothing, z_loss, .. } = how;
            let targets =
                Arc::new(Targets { classes: wanted, weights: vec![weight; lengths.len()] });
            let loss = CrossEntropy { scale: 1.0, smoothing, z_loss, draw: None };
            let (total, outcome) = ops::classify(pass, loss, &states, table, &targets);
            let loss = outcome.loss / f64::from(if weight == 0.0 { 1.0 } else { weight });
            let near = near(&self.predict_lengths(encoded, NEAR), lengths);
            let (right, counted) = (outcome.right, outcome.counted);
            return Some((total, LengthOutcome { loss, right, near, counted }));
        }
        if let Some((pool, layout)) = self.length_pool() {
            let logits = pool.logits(Some(pass), layout, encoded, &learned(&encoded.output));
            return Some(soft_loss(predictor, logits, encoded, lengths, &wanted, how));
        }
        let predicted = self.expected_lengths(encoded)?;
        let wanted: Vec<f32> = lengths.iter().map(|&length| length as f32).collect();
        let count = wanted.len();
        let wanted_tensor =
            Tensor::<1>::from_data(TensorData::new(wanted, [count]), &predicted.device());
        let square = (predicted.clone() - wanted_tensor).powf_scalar(2.0).sum();
        let values = host(predicted);
        let right =
            values.iter().zip(lengths).filter(|(f, l)| (*f - **l as f32).abs() < 0.5).count();
        let loss: f32 = square.clone().into_scalar();
        let candidates: Vec<_> =
            values.iter().map(|&length| candidates_around(f64::from(length), NEAR)).collect();
        let near = near(&candidates, lengths);
        let outcome = LengthOutcome { loss: f64::from(loss), right, near, counted: count };
        Some((Loss::composed(square * how.weight), outcome))
    }

    /// The lengths that predictors of one number predict.
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
            | LengthPredictor::Pooled(_)
            | LengthPredictor::Oracle
            | LengthPredictor::Upsample { .. } => None,
        }
    }

    /// For each sentence its likeliest lengths with their log-probabilities, at most `most`, the best first. Predictors of one
    /// number give the lengths around it. Empty for the oracle.
    pub fn predict_lengths(&self, encoded: &Encoded, most: usize) -> Vec<Vec<(usize, f64)>> {
        let parallel = self.config().parallel();
        if let Some(parallel) = parallel.filter(|parallel| parallel.length.is_upsampled()) {
            let slots = |source: usize| parallel.slots(source).map(|slots| (slots, 0.0));
            let rows = encoded.rows.lengths().map(|n| slots(n).into_iter().take(most).collect());
            return rows.collect();
        }
        let predictor = parallel.map_or(LengthPredictor::Oracle, |p| p.length);
        if let (Some(states), Some(table)) = (&encoded.length, self.length_weights().0) {
            let logits = states.clone().matmul(table.beside(states).transpose());
            return candidates(predictor, logits, encoded, most);
        }
        if let Some((pool, layout)) = self.length_pool() {
            let logits = pool.logits(None, layout, encoded, &encoded.output);
            return candidates(predictor, logits, encoded, most);
        }
        let Some(predicted) = self.expected_lengths(encoded) else {
            return vec![Vec::new(); encoded.rows.len()];
        };
        let values = host(predicted);
        values.iter().map(|&length| candidates_around(f64::from(length), most)).collect()
    }
}

/// weight · (the cross-entropy of soft targets + ζ·(log Z)²).
fn soft_loss(
    predictor: LengthPredictor,
    logits: Tensor<2>,
    encoded: &Encoded,
    lengths: &[usize],
    wanted: &[u32],
    how: LengthLoss,
) -> (Loss, LengthOutcome) {
    let [count, classes] = logits.dims();
    let soft: Vec<f32> =
        wanted.iter().flat_map(|&class| soft_target(class as usize, classes, how)).collect();
    let soft = Tensor::<2>::from_data(TensorData::new(soft, [count, classes]), &logits.device());
    let log_p = log_softmax(logits.clone(), 1);
    let log_z = (logits.clone() - log_p.clone()).narrow(1, 0, 1);
    let each = (log_z.powf_scalar(2.0) * how.z_loss).sum() - (log_p * soft).sum();
    let found = candidates(predictor, logits, encoded, NEAR);
    let right = found.iter().zip(lengths).filter(|(f, l)| f.first().is_some_and(|c| c.0 == **l));
    let (right, near) = (right.count(), near(&found, lengths));
    let loss: f32 = each.clone().into_scalar();
    let outcome = LengthOutcome { loss: f64::from(loss), right, near, counted: count };
    (Loss::composed(each * how.weight), outcome)
}

/// (1 − ε)·g + ε/C, g being 1 at the true class, or ∝ exp(−(c − class)²/2σ²).
fn soft_target(class: usize, classes: usize, how: LengthLoss) -> Vec<f32> {
    let gauss = |c: usize| {
        let distance = c as f32 - class as f32;
        if how.sigma > 0.0 {
            (-0.5 * (distance / how.sigma).powi(2)).exp()
        } else {
            f32::from(u8::from(c == class))
        }
    };
    let mut target: Vec<f32> = (0..classes).map(gauss).collect();
    let total: f32 = target.iter().sum();
    for share in &mut target {
        *share = (1.0 - how.smoothing) * *share / total + how.smoothing / classes as f32;
    }
    target
}

/// How many true lengths are among the candidates.
fn near(candidates: &[Vec<(usize, f64)>], lengths: &[usize]) -> usize {
    let among = |(candidates, length): &(&Vec<(usize, f64)>, &usize)| {
        candidates.iter().any(|(candidate, _)| candidate == *length)
    };
    candidates.iter().zip(lengths).filter(among).count()
}

/// The most probable lengths of each sentence.
fn candidates(
    predictor: LengthPredictor,
    logits: Tensor<2>,
    encoded: &Encoded,
    most: usize,
) -> Vec<Vec<(usize, f64)>> {
    let [_, classes] = logits.dims();
    let logits = host(logits);
    let rows = logits.chunks_exact(classes).zip(encoded.rows.lengths());
    rows.map(|(row, n)| predictor.candidates(row, n, most)).collect()
}
