//! The network that a run begins with.

use std::collections::HashMap;

use padir_checkpoint::{Checkpoint, Init, ModelConfig, Parameter};
use padir_model::{Device, Network};
use padir_text::vocab::Vocabulary;

use super::TrainError;
use crate::config::Config;

/// Its buckets are distances to the left in a causal decoder, and to both sides in a parallel one.
const DECODER_BIAS: &str = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";

/// Random parameters, and those of `model.start_from` wherever their name and shape are the same.
pub(super) fn network(
    config: &Config,
    model: &ModelConfig,
    vocabulary: &Vocabulary,
    device: &Device,
) -> Result<Network, TrainError> {
    let Some(path) = &config.model.start_from else {
        return Ok(Network::initialise(model, config.run.seed, device)?);
    };
    let other = Checkpoint::open(path)?;
    let theirs = other.config().provenance.vocabulary;
    if theirs.is_some_and(|hash| !vocabulary.is_known_as(hash)) {
        return Err(TrainError::OtherVocabulary { model: path.clone() });
    }
    let theirs: HashMap<String, Parameter> =
        other.config().parameters().into_iter().map(|p| (p.name.clone(), p)).collect();
    let alike = other.config().decoder_kind() == model.decoder_kind();
    let (mut taken, mut failure) = (0, None);
    let network = Network::build(model, device, |index, parameter| {
        let mut numbers = vec![0.0; parameter.len()];
        parameter.init.fill(&mut Init::stream(config.run.seed, index), &mut numbers);
        let fits = theirs.get(&parameter.name).is_some_and(|p| p.shape == parameter.shape);
        if fits && (alike || !parameter.name.ends_with(DECODER_BIAS)) {
            match other.tensor(&parameter.name) {
                Ok(tensor) => {
                    numbers.copy_from_slice(&tensor);
                    taken += 1;
                }
                Err(error) => failure = Some(error),
            }
        }
        numbers
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None if taken == 0 => Err(TrainError::NothingInCommon { model: path.clone() }),
        None => Ok(network),
    }
}
