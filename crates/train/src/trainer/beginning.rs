//! The network that a run begins with: random, or with the parameters of another model wherever they fit.
//!
//! Tables with one row per token (embeddings, an untied output layer) are matched by piece, not by id, so the other model may have another
//! vocabulary: rows of pieces that both have are taken, the others stay random.

use std::collections::HashMap;
use std::path::Path;

use padir_base::TokenId;
use padir_checkpoint::{Checkpoint, Init, ModelConfig, Parameter};
use padir_model::{Device, Network};
use padir_text::vocab::Vocabulary;

use super::TrainError;
use crate::config::Config;

/// Its buckets are distances to the left in a causal decoder, and to both sides in a parallel one.
const DECODER_BIAS: &str = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";

/// Tables with one row per token.
const TOKEN_TABLES: [&str; 2] = ["shared.weight", "lm_head.weight"];

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
    let rows = other_rows(path, &other, vocabulary)?;
    let theirs: HashMap<String, Parameter> =
        other.config().parameters().into_iter().map(|p| (p.name.clone(), p)).collect();
    let alike = other.config().decoder_kind() == model.decoder_kind();
    let (mut taken, mut failure) = (0, None);
    let network = Network::build(model, device, |index, parameter| {
        let mut numbers = vec![0.0; parameter.len()];
        parameter.init.fill(&mut Init::stream(config.run.seed, index), &mut numbers);
        let Some(their) = theirs.get(&parameter.name) else { return numbers };
        let by_piece = rows.as_ref().filter(|_| TOKEN_TABLES.contains(&parameter.name.as_str()));
        let fits = match by_piece {
            Some(_) => their.shape[1..] == parameter.shape[1..],
            None => their.shape == parameter.shape,
        };
        if fits && (alike || !parameter.name.ends_with(DECODER_BIAS)) {
            match other.tensor(&parameter.name) {
                Ok(tensor) => {
                    match by_piece {
                        Some(rows) => take_rows(rows, &tensor, &mut numbers, parameter.shape[1]),
                        None => numbers.copy_from_slice(&tensor),
                    }
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

/// For each id of `vocabulary`, the id of the same piece in the other model's; nothing if the two vocabularies are the same.
fn other_rows(
    path: &Path,
    other: &Checkpoint,
    vocabulary: &Vocabulary,
) -> Result<Option<Vec<Option<usize>>>, TrainError> {
    let hash = other.config().provenance.vocabulary;
    if hash.is_none_or(|hash| vocabulary.is_known_as(hash)) {
        return Ok(None);
    }
    let unknown = |_| TrainError::OtherVocabulary { model: path.to_owned() };
    let theirs = Vocabulary::load(path).map_err(unknown)?;
    let size = theirs.size().min(other.config().symbols.vocab_size);
    let by_piece: HashMap<_, _> =
        (0..size).filter_map(|id| Some((theirs.piece(TokenId(id as u32))?, id))).collect();
    let ours = (0..vocabulary.size()).map(|id| vocabulary.piece(TokenId(id as u32)));
    Ok(Some(ours.map(|piece| by_piece.get(&piece?).copied()).collect()))
}

/// Copies the rows of `from` that `rows` names.
fn take_rows(rows: &[Option<usize>], from: &[f32], to: &mut [f32], width: usize) {
    for (row, to) in rows.iter().zip(to.chunks_exact_mut(width)) {
        if let Some(from) = row.and_then(|row| from.get(row * width..(row + 1) * width)) {
            to.copy_from_slice(from);
        }
    }
}
