//! The encoder-decoder.

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use padir_base::ragged::Ragged;
use padir_base::random::Seed;
use padir_checkpoint::layers::{self, DecoderInput, Unsupported, upsampled};
use padir_checkpoint::{Init, ModelConfig, Parameter};
use padir_kernels::cross_entropy::{CrossEntropy, Outcome, ROWS};
use padir_kernels::ctc::{self, Ctc};
use padir_kernels::draw::Draw;

use crate::assembly::{Assembly, Parts};
use crate::block::Weights;
use crate::forward::{self, QueryStream, norm_plan};
use crate::gradients::Gradients;
use crate::length_pool::LengthPool;
use crate::loss::Loss;
use crate::ops::{self, AlignmentTargets, Targets};
use crate::pass::Pass;
use crate::weight::{Weight, host};

/// Sentences of token ids, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Sentences {
    /// The ids.
    pub ids: Arc<Vec<u32>>,
    /// Where sentences end.
    pub rows: Arc<Ragged>,
}

impl Sentences {
    /// From the ids of each sentence.
    pub fn new<'a>(sentences: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut ids = Vec::new();
        let mut lengths = Vec::new();
        for sentence in sentences {
            ids.extend_from_slice(sentence);
            lengths.push(sentence.len());
        }
        Self { ids: Arc::new(ids), rows: Arc::new(Ragged::new(lengths)) }
    }

    /// The ids of each sentence.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + '_ {
        self.rows.ranges().map(|range| &self.ids[range])
    }

    /// The same rows with other ids.
    ///
    /// # Panics
    /// If their number is another.
    #[must_use]
    pub fn with_ids(&self, ids: Vec<u32>) -> Self {
        assert_eq!(ids.len(), self.ids.len(), "as many ids as before");
        Self { ids: Arc::new(ids), rows: Arc::clone(&self.rows) }
    }
}

/// What the encoder made of the sources.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The encoder's output: one row per source token.
    pub output: Tensor<2>,
    /// Where sentences end.
    pub rows: Arc<Ragged>,
    /// One row per sentence: the state of its LENGTH token, if the model has one.
    pub length: Option<Tensor<2>>,
}

impl Encoded {
    /// The same without its graph: nothing is learnt through it.
    #[must_use]
    pub fn detached(&self) -> Self {
        let detach = |x: &Tensor<2>| {
            let x = x.clone().detach();
            if x.device().is_autodiff() { x.inner() } else { x }
        };
        let length = self.length.as_ref().map(detach);
        Self { output: detach(&self.output), rows: Arc::clone(&self.rows), length }
    }

    /// The encoder's output for some sentences, which may come more than once.
    #[must_use]
    pub fn choose(&self, pass: &Pass, sentences: &[usize]) -> Self {
        let rows = sentences.iter().flat_map(|&s| self.rows.range(s)).map(|row| row as u32);
        let output = ops::pick(pass, &self.output, &Arc::new(rows.collect()));
        let rows = Ragged::new(sentences.iter().map(|&s| self.rows.range(s).len()));
        Self { output, rows: Arc::new(rows), length: None }
    }
}

/// An encoder-decoder with a causal or a parallel decoder, made of the [`layers`] that its configuration
/// describes.
#[derive(Clone, Debug)]
pub struct Network {
    config: ModelConfig,
    layers: Arc<layers::Network>,
    parts: Parts,
    device: Device,
}

/// Why a network cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The shape is impossible.
    #[error("the model's shape is impossible: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Config(Vec<padir_checkpoint::ConfigProblem>),
    /// The layers are none that can be computed yet.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A parameter has another size.
    #[error("{name} has {found} numbers instead of {wanted}")]
    Size {
        /// Its name.
        name: String,
        /// How many it should have.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
}

impl Network {
    /// Draws all parameters; the same seed gives the same numbers everywhere.
    ///
    /// # Errors
    /// If the shape is impossible, or a layer cannot be computed yet.
    pub fn initialise(
        config: &ModelConfig,
        seed: Seed,
        device: &Device,
    ) -> Result<Self, NetworkError> {
        Self::build(config, device, |index, parameter| {
            let mut numbers = vec![0.0; parameter.len()];
            parameter.init.fill(&mut Init::stream(seed, index), &mut numbers);
            numbers
        })
    }

    /// Takes each parameter, in the order of the inventory, from `numbers`.
    ///
    /// # Errors
    /// If the shape is impossible, a layer cannot be computed yet, or a parameter has another size.
    pub fn build(
        config: &ModelConfig,
        device: &Device,
        mut numbers: impl FnMut(usize, &Parameter) -> Vec<f32>,
    ) -> Result<Self, NetworkError> {
        config.validate().map_err(NetworkError::Config)?;
        let layers = config.layers();
        layers.check_translator()?;
        let mut weights = HashMap::new();
        for (index, parameter) in layers.parameters().into_iter().enumerate() {
            let values = numbers(index, parameter);
            if values.len() != parameter.len() {
                let (name, wanted) = (parameter.name.clone(), parameter.len());
                return Err(NetworkError::Size { name, wanted, found: values.len() });
            }
            let shape = match parameter.shape[..] {
                [rows, columns] => [rows, columns],
                _ => [1, parameter.len()],
            };
            weights.insert(parameter.name.clone(), Weight::new(index, values, shape, device));
        }
        let parts = Assembly { weights }.parts(&layers);
        let (config, layers) = (config.clone(), Arc::new(layers));
        Ok(Self { config, layers, parts, device: device.clone() })
    }

    /// The shape.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The device that holds the parameters.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// All weights in the order of the inventory.
    pub fn weights(&self) -> Vec<&Weight> {
        let mut weights = Vec::new();
        self.parts.show(&mut |weight| weights.push(weight));
        weights.sort_by_key(|weight| weight.index());
        weights
    }

    /// All weights in the order of the inventory, to be changed.
    pub fn weights_mut(&mut self) -> Vec<&mut Weight> {
        let mut weights = Vec::new();
        self.parts.show_mut(&mut |weight| weights.push(weight));
        weights.sort_by_key(|weight| weight.index());
        weights
    }

    /// A store for the gradients of this network.
    pub fn gradients(&self) -> Gradients {
        Gradients::new(self.weights().iter().map(|weight| weight.shape().iter().product()))
    }

    /// Walks the graph of a loss backwards and adds the gradients of all parameters to the store of the pass.
    ///
    /// # Panics
    /// If a fused loss of this pass is not part of the sum: half of its gradient is in the store.
    pub fn backward(&self, pass: &Pass, loss: Loss) {
        let Some(store) = pass.gradients() else { return };
        let (total, fused) = loss.into_parts();
        assert_eq!(pass.settle_losses(), fused, "every fused loss of a pass is part of its sum");
        let mut found = total.backward();
        for weight in self.weights() {
            // Fused operations have put theirs into the store already.
            if let Some(gradient) = weight.tensor().grad_remove(&mut found) {
                store.add(weight.index(), &host(gradient));
            }
        }
    }

    /// Encodes sources.
    pub fn encode(&self, pass: &Pass, sources: &Sentences) -> Encoded {
        let (stack, weights) = (&self.layers.encoder, &self.parts.encoder);
        let read = self.with_length_token(sources);
        let rows = &read.rows;
        let x = forward::embed(pass, &self.layers.embeddings, &self.parts.tokens, None, &read);
        let mut x = forward::run(pass, stack, weights, rows, None, None, x);
        if let (Some(norm), Some(own)) = (&stack.final_norm, &weights.final_norm) {
            x = ops::normalise(pass, own, norm_plan(norm), rows, pass.drop_tokens(), x);
        }
        self.split_length(pass, x, sources, rows)
    }

    /// Sources with the LENGTH token before them, if the model has one.
    fn with_length_token(&self, sources: &Sentences) -> Sentences {
        let Some(token) = self.length_token() else { return sources.clone() };
        let rows: Vec<Vec<u32>> = sources
            .iter()
            .map(|ids| std::iter::once(token).chain(ids.iter().copied()).collect())
            .collect();
        Sentences::new(rows.iter().map(Vec::as_slice))
    }

    fn length_token(&self) -> Option<u32> {
        let predictor = self.config.parallel()?.length;
        let token = self.config.symbols.length?;
        predictor.has_token().then_some(token.0)
    }

    /// Takes the states of LENGTH tokens out of the encoder's output.
    fn split_length(
        &self,
        pass: &Pass,
        x: Tensor<2>,
        sources: &Sentences,
        rows: &Ragged,
    ) -> Encoded {
        let own = Arc::clone(&sources.rows);
        if self.length_token().is_none() {
            return Encoded { output: x, rows: own, length: None };
        }
        let first = rows.ranges().map(|range| range.start as u32).collect();
        let others = rows.ranges().flat_map(|range| range.skip(1)).map(|row| row as u32).collect();
        let length = ops::pick(pass, &x, &Arc::new(first));
        let output = ops::pick(pass, &x, &Arc::new(others));
        Encoded { output, rows: own, length: Some(length) }
    }

    /// The states of the decoder over its inputs: one row per token, normalised.
    pub fn decode(&self, pass: &Pass, inputs: &Sentences, encoded: &Encoded) -> Tensor<2> {
        self.decode_with(pass, inputs, encoded, None, false).0
    }

    /// The same where queries see only some tokens: `visible` has queries × keys of each sentence. Without it, and in a decoder without
    /// visibility by query, they see all tokens; of those with it, all but their own.
    pub fn decode_seeing(
        &self,
        pass: &Pass,
        inputs: &Sentences,
        encoded: &Encoded,
        visible: Option<Arc<Vec<bool>>>,
    ) -> Tensor<2> {
        self.decode_with(pass, inputs, encoded, visible, false).0
    }

    /// The states of the decoder, and if `inner` is asked for, what the layers before the last give: their states through the same
    /// final norm, the first layer's first.
    pub fn decode_layers(
        &self,
        pass: &Pass,
        inputs: &Sentences,
        encoded: &Encoded,
        inner: bool,
    ) -> (Tensor<2>, Vec<Tensor<2>>) {
        self.decode_with(pass, inputs, encoded, None, inner)
    }

    fn decode_with(
        &self,
        pass: &Pass,
        inputs: &Sentences,
        encoded: &Encoded,
        visible: Option<Arc<Vec<bool>>>,
        inner: bool,
    ) -> (Tensor<2>, Vec<Tensor<2>>) {
        let (decoder, weights) = (self.layers.decoder.as_ref().zip(self.parts.decoder.as_ref()))
            .expect("a network without a decoder is refused when it is built");
        let (stack, rows) = (&decoder.stack, &inputs.rows);
        let learned = weights.positions.as_ref();
        let x = forward::embed(pass, &decoder.embeddings, self.target_tokens(), learned, inputs);
        let (x, stream) = match (decoder.input, learned) {
            (DecoderInput::UpsampledSource, _) => (add_source(pass, x, rows, encoded), None),
            (DecoderInput::Positions, Some(table)) => {
                let others = || Arc::new(all_others(rows));
                let visible = visible.unwrap_or_else(others);
                let stream = QueryStream { embedded: x, visible };
                (forward::embed_positions(pass, table, rows), Some(stream))
            }
            _ => (x, None),
        };
        let normalise = |x: Tensor<2>| match (&stack.final_norm, &weights.final_norm) {
            (Some(norm), Some(own)) => {
                ops::normalise(pass, own, norm_plan(norm), rows, pass.drop(), x)
            }
            _ => x,
        };
        let mut states = Vec::new();
        let stream = stream.as_ref();
        let x = forward::run_each(pass, stack, weights, rows, Some(encoded), stream, x, |x| {
            if inner {
                states.push(x.clone());
            }
        });
        let last = normalise(x);
        (last, states.into_iter().map(normalise).collect())
    }

    /// The loss of targets, without their ends, as sums over their alignments with slots, and what came out; `None` if the model has
    /// no BLANK. The scale and the blank of `loss` are the model's own.
    pub fn alignment_loss(
        &self,
        pass: &Pass,
        states: &Tensor<2>,
        targets: &AlignmentTargets,
        loss: Ctc,
    ) -> Option<(Loss, ctc::Outcome)> {
        let blank = self.config.symbols.blank?.0;
        let loss = Ctc { blank, scale: self.logit_scale(), ..loss };
        Some(ops::align(pass, loss, states, self.output(), targets))
    }

    /// The loss of predicting tokens from the decoder's states, and what came out.
    pub fn token_loss(
        &self,
        pass: &Pass,
        states: &Tensor<2>,
        targets: &Arc<Targets>,
        smoothing: f32,
        z_loss: f32,
    ) -> (Loss, Outcome) {
        self.token_loss_with(pass, states, targets, smoothing, z_loss, None)
    }

    /// The same, and a token is drawn for each row if that is asked for: [`Outcome::samples`].
    pub fn token_loss_with(
        &self,
        pass: &Pass,
        states: &Tensor<2>,
        targets: &Arc<Targets>,
        smoothing: f32,
        z_loss: f32,
        draw: Option<Draw>,
    ) -> (Loss, Outcome) {
        let loss = CrossEntropy { scale: self.logit_scale(), smoothing, z_loss, draw };
        match &self.parts.output_bias {
            Some(bias) => ops::classify_biased(loss, states, self.output(), bias, targets),
            None => ops::classify(pass, loss, states, self.output(), targets),
        }
    }

    /// The loss of predicting which of the `best` tokens at the targets are right, each counted `each` times, and what came out; `None`
    /// if there is no confidence head. Nothing but the confidence head learns from it.
    pub fn confidence_loss(
        &self,
        pass: &Pass,
        states: &Tensor<2>,
        best: &[u32],
        targets: &[u32],
        each: f32,
    ) -> Option<(Loss, Outcome)> {
        let table = self.parts.confidence.as_ref()?;
        let right = best.iter().zip(targets).map(|(best, target)| u32::from(best == target));
        let weights = vec![each; targets.len()];
        let targets = Arc::new(Targets { classes: right.collect(), weights });
        let loss = CrossEntropy { scale: 1.0, smoothing: 0.0, z_loss: 0.0, draw: None };
        Some(ops::classify(pass, loss, &states.clone().detach(), table, &targets))
    }

    /// ln p that the likeliest token of each row is right, if there is a confidence head.
    pub fn confidences(&self, states: &Tensor<2>) -> Option<Vec<f32>> {
        let table = self.parts.confidence.as_ref()?.tensor();
        let table = if states.device().is_autodiff() { table } else { table.inner() };
        let logits = host(states.clone().matmul(table.transpose()));
        Some(logits.chunks_exact(2).map(ln_second).collect())
    }

    /// The logits of all tokens, row after row. Large: for tests and small batches.
    pub fn logits(&self, states: &Tensor<2>) -> Vec<f32> {
        let table = self.output().beside(states);
        let logits = states.clone().matmul(table.transpose()) * self.logit_scale();
        match &self.parts.output_bias {
            Some(bias) => host(logits + bias.beside(states)),
            None => host(logits),
        }
    }

    /// For each row its likeliest tokens with their log-probabilities, the best first.
    pub fn top(&self, states: &Tensor<2>, most: usize) -> Vec<Vec<(u32, f32)>> {
        let [rows, _] = states.dims();
        let size = self.config.symbols.vocab_size;
        let mut best = Vec::with_capacity(rows);
        for first in (0..rows).step_by(ROWS) {
            let logits = self.logits(&states.clone().narrow(0, first, ROWS.min(rows - first)));
            best.extend(logits.chunks_exact(size).map(|row| likeliest(row, most)));
        }
        best
    }

    /// The embeddings of the target.
    fn target_tokens(&self) -> &Weight {
        self.parts.target_tokens.as_ref().unwrap_or(&self.parts.tokens)
    }

    /// The output layer.
    fn output(&self) -> &Weight {
        self.parts.output.as_ref().unwrap_or_else(|| self.target_tokens())
    }

    fn logit_scale(&self) -> f32 {
        self.layers.output.as_ref().map_or(1.0, |output| output.scale)
    }

    /// The weights of the length predictor, if it has any.
    pub(crate) fn length_weights(&self) -> (Option<&Weight>, Option<&Weight>) {
        (self.parts.length.as_ref(), self.parts.length_bias.as_ref())
    }

    /// The pooled length predictor, if it is that one.
    pub(crate) fn length_pool(&self) -> Option<(&LengthPool, &layers::PooledLength)> {
        match (&self.parts.length_pool, &self.layers.heads.length) {
            (Some(pool), Some(layers::LengthHead::Pooled(layout))) => Some((pool, layout)),
            _ => None,
        }
    }
}

/// x + the encoder's output, each slot with its state. Empty sources have none.
fn add_source(pass: &Pass, x: Tensor<2>, slots: &Ragged, encoded: &Encoded) -> Tensor<2> {
    let Some(last) = encoded.rows.tokens().checked_sub(1) else { return x };
    let (mut rows, mut there) = (Vec::new(), Vec::new());
    for (count, source) in slots.lengths().zip(encoded.rows.ranges()) {
        for slot in 0..count {
            let state = source.start + upsampled(slot, count, source.len());
            rows.push(state.min(last) as u32);
            there.push(if source.is_empty() { 0.0 } else { 1.0 });
        }
    }
    let states = ops::pick(pass, &encoded.output, &Arc::new(rows));
    if there.iter().all(|&one| one > 0.5_f32) {
        return x + states;
    }
    let shape = [there.len(), 1];
    let there = Tensor::<2>::from_data(TensorData::new(there, shape), &states.device());
    x + states * there
}

/// Queries × keys of each sentence: everybody sees all but themselves.
fn all_others(rows: &Ragged) -> Vec<bool> {
    let pairs = |n: usize| (0..n).flat_map(move |i| (0..n).map(move |j| i != j));
    rows.lengths().flat_map(pairs).collect()
}

/// The largest logits as log-probabilities.
fn likeliest(logits: &[f32], most: usize) -> Vec<(u32, f32)> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let log_z = top + logits.iter().map(|l| (l - top).exp()).sum::<f32>().ln();
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(most + 1);
    for (token, &logit) in logits.iter().enumerate() {
        if best.len() == most && best.last().is_some_and(|&(_, least)| logit - log_z <= least) {
            continue;
        }
        let place = best.partition_point(|&(_, l)| l >= logit - log_z);
        best.insert(place, (token as u32, logit - log_z));
        best.truncate(most);
    }
    best
}

/// The log-probability of the second of two classes.
fn ln_second(logits: &[f32]) -> f32 {
    let against = logits[0] - logits[1];
    -(against.max(0.0) + (-against.abs()).exp().ln_1p())
}
