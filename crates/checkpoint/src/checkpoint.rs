//! A checkpoint opened for reading.
//!
//! Opening reads the two configurations and the header of the tensors, and checks that the file
//! holds exactly the parameters of the model; the weights stay on the disk until asked for.

use padir_base::staged;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::config::ModelConfig;
use crate::error::CheckpointError;
use crate::generation::GenerationConfig;
use crate::inventory::Parameter;
use crate::languages::Languages;
use crate::tensors::{Dtype, NAMES, TensorError, TensorFault, TensorFile, scale_of};

/// The file of the shape.
pub const CONFIG: &str = "config.json";
/// The file of the weights.
pub const MODEL: &str = "model.safetensors";
/// The file of the decoding defaults; may be missing.
pub const GENERATION: &str = "generation_config.json";
/// The vocabulary as `tokenizers` reads it; may be missing.
pub const TOKENIZER: &str = "tokenizer.json";
/// The vocabulary as `SentencePiece` reads it, by its name in T5 checkpoints; may be missing.
pub const SENTENCEPIECE: &str = "spiece.model";
/// The file of the model card; may be missing.
pub const CARD: &str = "README.md";

/// The longest configuration that is read.
const LONGEST_CONFIG: u64 = 1 << 24;
/// How often opening begins anew because the checkpoint was replaced meanwhile.
const ATTEMPTS: usize = 100;

/// A model on disk.
#[derive(Debug)]
pub struct Checkpoint {
    directory: PathBuf,
    config: ModelConfig,
    generation: GenerationConfig,
    tensors: TensorFile,
}

impl Checkpoint {
    /// Opens the checkpoint in a directory. If a crash befell a writer just as it replaced the
    /// directory, the one it was replacing is opened.
    ///
    /// # Errors
    /// If there is none, or its files are damaged, foreign or do not belong together.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let directory = directory.as_ref();
        let mut opened = Self::open_in_place(directory);
        for _ in 1..ATTEMPTS {
            if opened.1 {
                break;
            }
            opened = Self::open_in_place(directory);
        }
        opened.0
    }

    /// The checkpoint as it stands, and whether it was the same all the while: files of two
    /// checkpoints must not be mixed when a writer replaces one by the other.
    fn open_in_place(directory: &Path) -> (Result<Self, CheckpointError>, bool) {
        let place = staged::in_place(directory);
        let before = staged::identity(&place);
        let opened = Self::open_in(&place);
        // Whoever found nothing may have looked between two renames.
        let same = before.is_some()
            && before == staged::identity(&place)
            && place == staged::in_place(directory);
        (opened, same)
    }

    fn open_in(directory: &Path) -> Result<Self, CheckpointError> {
        let config = read_config(directory)?;
        let generation = read_generation(directory)?;
        let path = directory.join(MODEL);
        if !path.exists() {
            let instead = other_weights(directory);
            return Err(not_a_checkpoint(directory, MODEL, instead));
        }
        let tensors = TensorFile::open(path)?;
        check_inventory(&tensors, &config)?;
        Ok(Self { directory: directory.to_owned(), config, generation, tensors })
    }

    /// Where it stands.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its shape.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// How it decodes unless told otherwise: empty if it has no such file.
    pub fn generation(&self) -> &GenerationConfig {
        &self.generation
    }

    /// Whether its matrices are kept in int8.
    pub fn is_quantised(&self) -> bool {
        self.tensors.tensors().any(|tensor| tensor.dtype == Dtype::I8)
    }

    /// A parameter, row by row, all numbers finite; a view of the file where possible. Costs one
    /// pass over it.
    ///
    /// # Errors
    /// If the model has no such parameter, or it holds NaN or an infinity.
    pub fn tensor(&self, name: &str) -> Result<Cow<'_, [f32]>, CheckpointError> {
        Ok(self.tensors.read(name)?)
    }

    /// Reads every parameter once: a model that passes holds finite numbers only.
    ///
    /// # Errors
    /// As [`Checkpoint::tensor`].
    pub fn verify(&self) -> Result<(), CheckpointError> {
        self.config.parameters().iter().try_for_each(|p| self.tensor(&p.name).map(drop))
    }

    /// Another file of the checkpoint, such as [`TOKENIZER`]; none if it is not there. It is read
    /// now, so if the checkpoint was replaced since it was opened, it is the new one's.
    ///
    /// # Errors
    /// If it is longer than `limit` or cannot be read.
    pub fn file(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CheckpointError> {
        let path = self.directory.join(name);
        if path.exists() { read_bounded(&path, limit).map(Some) } else { Ok(None) }
    }
}

/// What the model in a directory translates, by its `config.json` or else by its card. A directory that cannot be read says nothing: whoever
/// opens it is told why.
pub fn languages(directory: impl AsRef<Path>) -> Languages {
    let place = staged::in_place(directory.as_ref());
    let config = read_config(&place).ok().map(|config| config.languages);
    let config = config.filter(|languages| languages.pair().is_some());
    let card = || Languages::of_card(&read_text(&place.join(CARD)).ok()?);
    config.or_else(card).unwrap_or_default()
}

fn read_config(directory: &Path) -> Result<ModelConfig, CheckpointError> {
    let path = directory.join(CONFIG);
    if directory.is_dir() && !path.exists() {
        return Err(not_a_checkpoint(directory, CONFIG, None));
    }
    let text = read_text(&path)?;
    ModelConfig::from_json(&text).map_err(|source| CheckpointError::Config { path, source })
}

fn read_generation(directory: &Path) -> Result<GenerationConfig, CheckpointError> {
    let path = directory.join(GENERATION);
    if !path.exists() {
        return Ok(GenerationConfig::default());
    }
    let text = read_text(&path)?;
    GenerationConfig::from_json(&text).map_err(|source| CheckpointError::Config { path, source })
}

fn read_text(path: &Path) -> Result<String, CheckpointError> {
    let bytes = read_bounded(path, LONGEST_CONFIG)?;
    String::from_utf8(bytes).map_err(|error| {
        CheckpointError::read(path)(std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    })
}

fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, CheckpointError> {
    let file = File::open(path).map_err(CheckpointError::read(path))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(CheckpointError::read(path))?;
    if bytes.len() as u64 <= limit {
        return Ok(bytes);
    }
    let bytes = std::fs::metadata(path).map_or(limit + 1, |metadata| metadata.len());
    Err(CheckpointError::TooLong { path: path.to_owned(), bytes, limit })
}

fn not_a_checkpoint(
    directory: &Path,
    file: &'static str,
    instead: Option<&'static str>,
) -> CheckpointError {
    CheckpointError::NotACheckpoint { directory: directory.to_owned(), file, instead }
}

/// Weights in forms that are not read.
fn other_weights(directory: &Path) -> Option<&'static str> {
    let forms = [
        ("model.safetensors.index.json", "a model split into several files"),
        ("pytorch_model.bin", "a PyTorch archive; convert it to safetensors"),
        ("tf_model.h5", "a TensorFlow model; convert it to safetensors"),
        ("flax_model.msgpack", "a Flax model; convert it to safetensors"),
    ];
    forms.into_iter().find(|(file, _)| directory.join(file).exists()).map(|(_, form)| form)
}

/// The file holds the parameters of the model and, besides, nothing but known repetitions.
fn check_inventory(tensors: &TensorFile, config: &ModelConfig) -> Result<(), TensorError> {
    let layers = config.layers();
    let parameters = layers.parameters();
    let repetitions = layers.repetitions.iter().map(|(name, shape)| (name.as_str(), &shape[..]));
    let mut expected: HashMap<&str, &[usize]> = repetitions
        .chain(parameters.iter().map(|p| (p.name.as_str(), p.shape.as_slice())))
        .collect();
    let missing = |p: &&&Parameter| tensors.info(&p.name).is_none();
    let missing = parameters.iter().filter(missing).map(|p| p.name.as_str());
    if let Some((names, count)) = first_few(missing) {
        return Err(tensors.error(TensorFault::Missing { names, count }));
    }
    // Int8 matrices have a scale for each row.
    let scales: Vec<(String, [usize; 1])> = parameters
        .iter()
        .filter(|p| tensors.info(&p.name).is_some_and(|info| info.dtype == Dtype::I8))
        .map(|p| (scale_of(&p.name), [p.shape[0]]))
        .collect();
    for (name, shape) in &scales {
        if tensors.info(name).is_none() {
            let names = vec![name.clone()];
            return Err(tensors.error(TensorFault::Missing { names, count: 1 }));
        }
        expected.insert(name, shape);
    }
    let foreign = tensors.tensors().filter(|tensor| !expected.contains_key(tensor.name));
    if let Some((names, count)) = first_few(foreign.map(|tensor| tensor.name)) {
        return Err(tensors.error(TensorFault::Unexpected { names, count }));
    }
    for tensor in tensors.tensors() {
        if let Some(&shape) = expected.get(tensor.name)
            && shape != tensor.shape
        {
            let (found, expected) = (tensor.shape.to_vec(), shape.to_vec());
            let name = tensor.name.to_owned();
            return Err(tensors.error(TensorFault::Shape { name, found, expected }));
        }
    }
    Ok(())
}

/// The first few of some names and how many there are; none if there are none.
fn first_few<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<(Vec<String>, usize)> {
    let shown: Vec<String> = names.by_ref().take(NAMES).map(str::to_owned).collect();
    let count = shown.len() + names.count();
    if count == 0 { None } else { Some((shown, count)) }
}
