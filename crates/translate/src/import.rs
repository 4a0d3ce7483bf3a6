//! Models of other programs, turned into models of this one: weights, vocabulary, decoding settings and card.
//!
//! [`padir_checkpoint::import`] reads the foreign files. Here they are put together with what only this crate knows: whether the vocabulary can
//! segment, and how the model's own program would have decoded.

use std::fmt::Write as _;
use std::path::Path;

use padir_checkpoint::import::{Foreign, Format, Given, ImportError, Origin};
use padir_checkpoint::{
    CheckpointError, CheckpointWriter, Extras, Family, Languages, ModelCard, ModelConfig,
};
use padir_decode::autoregression::{Beam, Normalization};
use padir_decode::decoding::stored;
use padir_text::vocab::{MarianFiles, VocabError, Vocabulary};
use serde::Serialize;
use serde_json::Map;
use thiserror::Error;

use crate::Decoding;

/// The beam of a model whose files do not say one.
const BEAMS: usize = 4;
/// The longest target that is stored as a default: longer ones are not sentences.
const LONGEST: usize = 512;
/// The longest part of a foreign card that is taken over.
const LONGEST_README: usize = 1 << 16;

/// How a model is imported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// SentencePiece models that are not where they are looked for.
    pub given: Given,
    /// What it translates, where its files do not say it.
    pub languages: Languages,
    /// The licence, where its files do not name it.
    pub licence: Option<String>,
    /// Where it came from: an address, or the name of a package.
    pub origin: Option<String>,
    /// Whether matrices are stored in int8.
    pub int8: bool,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    /// The format it came in.
    pub format: String,
    /// The language of sources.
    pub source_language: Option<String>,
    /// The language of targets.
    pub target_language: Option<String>,
    /// The licence.
    pub licence: Option<String>,
    /// Layers of encoder and decoder.
    pub layers: [usize; 2],
    /// Width of the stream.
    pub width: usize,
    /// Tokens of targets.
    pub vocabulary: usize,
    /// How many numbers its parameters hold.
    pub parameters: u64,
    /// Whether they are stored in int8.
    pub int8: bool,
}

/// A model that cannot be imported.
#[derive(Debug, Error)]
pub enum ImportFailure {
    /// The foreign files.
    #[error(transparent)]
    Foreign(#[from] ImportError),
    /// The vocabulary.
    #[error("the model's vocabulary cannot be used")]
    Vocabulary(#[from] VocabError),
    /// A vocabulary with more ids than the model.
    #[error("the vocabulary has {ids} ids, but the model knows {known}")]
    TooManyIds {
        /// The vocabulary's size.
        ids: usize,
        /// The model's.
        known: usize,
    },
    /// The result.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Imports a model into a directory, replacing the model that stands there.
///
/// # Errors
/// If it is no model, damaged, cannot be represented, or cannot be written; what stood in the directory is then intact.
pub fn import(
    source: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ImportOptions,
) -> Result<Imported, ImportFailure> {
    let source = source.as_ref();
    let foreign = Foreign::open_with(source, &options.given)?;
    let files = MarianFiles {
        source_spm: foreign.pieces.source_spm.clone(),
        target_spm: foreign.pieces.target_spm.clone(),
        vocab: foreign.pieces.vocab.clone(),
        target_vocab: foreign.pieces.target_vocab.clone(),
    };
    let vocabulary = Vocabulary::from_marian(&files)?;
    let mut config = foreign.config.clone();
    let (ids, known) = (vocabulary.size(), config.symbols.vocab_size);
    if ids > known {
        return Err(ImportFailure::TooManyIds { ids, known });
    }
    config.provenance.vocabulary = Some(vocabulary.hash());
    let Languages { source: from, target: to } = options.languages.clone();
    config.languages = Languages {
        source: from.or(config.languages.source),
        target: to.or(config.languages.target),
    };
    let licence = options.licence.clone().or_else(|| foreign.origin.licence.clone());
    let mut generation = Map::new();
    stored::write(&decoding(foreign.format, &config, &foreign.origin), &mut generation);
    let extras = Extras {
        generation: Some(generation.into()),
        card: card(source, &foreign, &config, licence.as_deref(), options.origin.as_deref()),
        tokenizer: None,
        sentencepiece: None,
    };
    let writer = CheckpointWriter::create(output, &config, &extras)?;
    for (name, content) in files.files() {
        writer.file(name, content)?;
    }
    let mut failure = None;
    let tensor =
        |parameter: &_| foreign.tensor(parameter).map_err(|error| failure = Some(error)).ok();
    let written =
        if options.int8 { writer.quantised_tensors(tensor) } else { writer.tensors(tensor) };
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    written?;
    writer.commit()?;
    let code = |language: &Option<padir_checkpoint::Language>| {
        language.as_ref().map(|language| language.code().to_owned())
    };
    Ok(Imported {
        format: foreign.format.to_string(),
        source_language: code(&config.languages.source),
        target_language: code(&config.languages.target),
        licence,
        layers: [config.num_layers, config.num_decoder_layers],
        width: config.d_model,
        vocabulary: config.symbols.vocab_size,
        parameters: config.parameter_count(),
        int8: options.int8,
    })
}

/// How the model's own program would decode: it divides by the length itself, and CTranslate2 also stops with the last hypothesis that
/// fits into the beam and makes no empty ones.
fn decoding(format: Format, config: &ModelConfig, origin: &Origin) -> Decoding {
    let positions = match &config.family {
        Family::Marian(family) => family.max_positions,
        Family::T5 => LONGEST,
    };
    let (early_stopping, min_length) = match format {
        Format::CTranslate2 | Format::Argos => (true, 1),
        Format::Marian | Format::MarianPyTorch => (false, 0),
    };
    Decoding::Beam(Beam {
        num_beams: origin.num_beams.unwrap_or(BEAMS),
        length_penalty: 1.0,
        normalization: Normalization::Length,
        early_stopping,
        min_length,
        max_length: positions.min(LONGEST),
        ..Beam::default()
    })
}

fn card(
    source: &Path,
    foreign: &Foreign,
    config: &ModelConfig,
    licence: Option<&str>,
    origin: Option<&str>,
) -> ModelCard {
    let name = source.file_name().map_or("a model".into(), std::ffi::OsStr::to_string_lossy);
    let title = foreign.origin.title.clone();
    let pair = config.languages.pair().map(|(from, to)| format!("{from} to {to}"));
    let mut text = format!(
        "Imported by `padir import` from `{name}`, a model in the format of {}.",
        foreign.format
    );
    if let Some(origin) = origin {
        let _ = write!(text, " It came from {}.", origin.trim());
    }
    if let Some(hash) = foreign.origin.weights_sha256 {
        let _ = write!(text, "\n\n- SHA-256 of its weights: `{hash}`");
    }
    let mut readme = foreign.origin.readme.clone().unwrap_or_default();
    readme.truncate(readme.floor_char_boundary(LONGEST_README));
    let attribution = if readme.trim().is_empty() {
        String::new()
    } else {
        let quoted: Vec<String> =
            readme.trim().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
        format!("The model came with these words:\n\n{}", quoted.join("\n"))
    };
    // Model hubs know this word.
    let licence = licence.map_or_else(|| "unknown".to_owned(), str::to_owned);
    ModelCard {
        title: title.or(pair).unwrap_or_else(|| name.into_owned()),
        origin: text,
        attribution,
        licence,
        ..ModelCard::default()
    }
}
