//! Networks that are run in two ways, for tests that compare the outcomes.

use std::sync::Arc;

use padir_base::random::Stream;
use padir_checkpoint::ModelConfig;
use padir_model::length::LengthLoss;
use padir_model::ops::Targets;
use padir_model::{DropoutKey, Network, Pass, Sentences};

pub(crate) const VOCABULARY: usize = 37;

/// How lengths are learnt.
pub(crate) const LENGTHS: LengthLoss =
    LengthLoss { weight: 0.5, smoothing: 0.0, z_loss: 0.0, sigma: 0.0, trains_encoder: true };

/// What a pass gave: the loss, its parts, the gradients by parameter.
pub(crate) struct Outcome {
    pub(crate) loss: f64,
    pub(crate) best: Vec<u32>,
    pub(crate) gradients: Vec<Vec<f32>>,
}

pub(crate) fn run(
    network: &Network,
    fused: bool,
    dropout: Option<DropoutKey>,
    batch: &Batch,
) -> Outcome {
    let store = Arc::new(network.gradients());
    let pass = Pass::training(fused, dropout, Arc::clone(&store));
    let encoded = network.encode(&pass, &batch.sources);
    let states = network.decode(&pass, &batch.inputs, &encoded);
    let (mut total, outcome) = network.token_loss(&pass, &states, &batch.targets, 0.1, 0.01);
    let mut loss = outcome.loss;
    let lengths: Vec<usize> = batch.inputs.rows.lengths().collect();
    if let Some((length, outcome)) = network.length_loss(&pass, &encoded, &lengths, LENGTHS) {
        total = total + length;
        loss += 0.5 * outcome.loss;
    }
    let wanted = &batch.targets.classes;
    let rated = network.confidence_loss(&pass, &states, &outcome.best, wanted, 0.7);
    if let Some((confidence_accuracy, outcome)) = rated {
        total = total + confidence_accuracy;
        loss += outcome.loss;
    }
    network.backward(&pass, total);
    drop((pass, states, encoded));
    let gradients = (0..store.len()).map(|index| store.read(index).to_vec()).collect();
    Outcome { loss, best: outcome.best, gradients }
}

pub(crate) struct Batch {
    pub(crate) sources: Sentences,
    pub(crate) inputs: Sentences,
    pub(crate) targets: Arc<Targets>,
}

impl Batch {
    pub(crate) fn random(stream: &mut Stream, sources: &[usize], targets: &[usize]) -> Self {
        let mut sentences = |lengths: &[usize]| {
            let rows: Vec<Vec<u32>> = lengths
                .iter()
                .map(|&n| (0..n).map(|_| stream.below(VOCABULARY as u64) as u32).collect())
                .collect();
            Sentences::new(rows.iter().map(Vec::as_slice))
        };
        let (sources, inputs, wanted) =
            (sentences(sources), sentences(targets), sentences(targets));
        let weights = (0..wanted.ids.len())
            .map(|i| if i % 5 == 4 { 0.0 } else { 0.5 + (i % 3) as f32 })
            .collect();
        let targets = Arc::new(Targets { classes: wanted.ids.to_vec(), weights });
        Self { sources, inputs, targets }
    }
}

pub(crate) fn shrink(mut config: ModelConfig) -> ModelConfig {
    config.symbols.length = Some(padir_base::TokenId(VOCABULARY as u32 - 3));
    config.d_model = 24;
    config.d_kv = 10;
    config.num_heads = 3;
    config.d_ff = 40;
    config
}
