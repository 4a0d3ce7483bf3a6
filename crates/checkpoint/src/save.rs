//! Writing a checkpoint, replacing the one before in one step.
//!
//! Files are written beside the destination and take its place when all of them are on the disk;
//! the table in [`padir_base::staged`] says what each crash leaves behind. If the disk is full, or a parameter is
//! not finite, there is an error and the old checkpoint stands untouched.
//!
//! Memory: one parameter at a time.

use padir_base::staged::{self, StagedDirectory};
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::card::ModelCard;
use crate::checkpoint::{CARD, CONFIG, GENERATION, MODEL, SENTENCEPIECE, TOKENIZER};
use crate::config::{ConfigError, ModelConfig};
use crate::error::CheckpointError;
use crate::generation::GenerationConfig;
use crate::inventory::Parameter;
use crate::quantise;
use crate::tensors::{TensorError, TensorFault, TensorWriter};

/// Every checkpoint has these; nothing without them is replaced by one.
const MARKS: [&str; 2] = [CONFIG, MODEL];

/// A checkpoint under construction. Dropped without [`CheckpointWriter::commit`] it leaves no
/// trace.
#[derive(Debug)]
pub struct CheckpointWriter {
    directory: PathBuf,
    config: ModelConfig,
    staged: StagedDirectory,
    kept: Vec<&'static str>,
}

/// What may travel with a model.
#[derive(Clone, Debug, Default)]
pub struct Extras<'a> {
    /// How it decodes; else the defaults of its decoder.
    pub generation: Option<GenerationConfig>,
    /// What it is.
    pub card: ModelCard,
    /// The content of `tokenizer.json`.
    pub tokenizer: Option<&'a [u8]>,
    /// The content of the `SentencePiece` model.
    pub sentencepiece: Option<&'a [u8]>,
}

/// Writes a checkpoint and replaces the one that stands in the directory.
///
/// `tensor` gives the numbers of each parameter when its turn comes, in the order of
/// [`ModelConfig::parameters`].
///
/// # Errors
/// As [`CheckpointWriter`]; the old checkpoint is then intact.
pub fn save<'a>(
    directory: impl AsRef<Path>,
    config: &ModelConfig,
    tensor: impl FnMut(&Parameter) -> Option<Cow<'a, [f32]>>,
    extras: &Extras<'_>,
) -> Result<(), CheckpointError> {
    let writer = CheckpointWriter::create(directory, config, extras)?;
    writer.tensors(tensor)?;
    writer.commit()
}

/// Adds a file to a checkpoint that stands, or replaces it there. A process that is just replacing the checkpoint is waited for, so that
/// the file does not get lost with the old one. Tells where it is.
///
/// # Errors
/// If there is no checkpoint, if another process writes it for a minute, or if the disk is full.
pub fn attach(
    directory: impl AsRef<Path>,
    name: &str,
    content: &[u8],
) -> Result<PathBuf, CheckpointError> {
    let directory = directory.as_ref();
    staged::attach(directory, &MARKS, name, content).map_err(CheckpointError::write(directory))
}

impl CheckpointWriter {
    /// Begins a checkpoint: everything but the weights.
    ///
    /// # Errors
    /// If no model can be so, if something else than a checkpoint stands in the directory, if
    /// another process is writing it, or if the disk is full.
    pub fn create(
        directory: impl AsRef<Path>,
        config: &ModelConfig,
        extras: &Extras<'_>,
    ) -> Result<Self, CheckpointError> {
        let directory = directory.as_ref();
        config.validate().map_err(|problems| CheckpointError::Config {
            path: directory.join(CONFIG),
            source: ConfigError::Problems(problems),
        })?;
        let staged =
            StagedDirectory::begin(directory, &MARKS).map_err(CheckpointError::write(directory))?;
        let writer = Self {
            directory: directory.to_owned(),
            config: config.clone(),
            staged,
            kept: Vec::new(),
        };
        writer.file(CONFIG, config.to_json().as_bytes())?;
        let generation = extras.generation.clone().unwrap_or_default().to_json(config);
        writer.file(GENERATION, generation.as_bytes())?;
        writer.file(CARD, extras.card.to_markdown(config).as_bytes())?;
        for (name, content) in
            [(TOKENIZER, extras.tokenizer), (SENTENCEPIECE, extras.sentencepiece)]
        {
            if let Some(content) = content {
                writer.file(name, content)?;
            }
        }
        Ok(writer)
    }

    /// Writes the weights, asking for one parameter after the other.
    ///
    /// # Errors
    /// If one is missing, has another size, or holds NaN or an infinity; if the disk is full.
    pub fn tensors<'a>(
        &self,
        mut tensor: impl FnMut(&Parameter) -> Option<Cow<'a, [f32]>>,
    ) -> Result<(), CheckpointError> {
        let parameters = self.config.parameters();
        let plan = parameters.iter().map(|p| (p.name.clone(), p.shape.clone()));
        let path = self.path().join(MODEL);
        // transformers asks which program's layout it is; PyTorch's is row by row.
        let mut writer = TensorWriter::create(&path, plan, &[("format", "pt")])?;
        for parameter in &parameters {
            let Some(numbers) = tensor(parameter) else {
                let fault = TensorFault::Missing { names: vec![parameter.name.clone()], count: 1 };
                return Err(TensorError { path, fault }.into());
            };
            writer.push(&numbers)?;
        }
        Ok(writer.finish()?)
    }

    /// Writes the weights with matrices in int8, a quarter of the size, and says so in `config.json`.
    ///
    /// # Errors
    /// As [`CheckpointWriter::tensors`].
    pub fn quantised_tensors<'a>(
        &self,
        mut tensor: impl FnMut(&Parameter) -> Option<Cow<'a, [f32]>>,
    ) -> Result<(), CheckpointError> {
        self.file(CONFIG, self.config.to_quantised_json().as_bytes())?;
        let parameters = self.config.parameters();
        let plan = parameters.iter().flat_map(quantise::announce);
        let path = self.path().join(MODEL);
        let mut writer = TensorWriter::create(&path, plan, &[("format", "pt")])?;
        for parameter in &parameters {
            let Some(numbers) = tensor(parameter) else {
                let fault = TensorFault::Missing { names: vec![parameter.name.clone()], count: 1 };
                return Err(TensorError { path, fault }.into());
            };
            if quantise::applies_to(parameter) {
                let (bytes, scales) = quantise::quantise(&numbers, parameter.shape[1]);
                writer.push_bytes(&bytes)?;
                writer.push(&scales)?;
            } else {
                writer.push(&numbers)?;
            }
        }
        Ok(writer.finish()?)
    }

    /// Adds another file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn file(&self, name: &str, content: &[u8]) -> Result<(), CheckpointError> {
        let path = self.path().join(name);
        fs::write(&path, content).map_err(CheckpointError::write(&path))
    }

    /// Takes a file along from the checkpoint that is replaced, if it has one in the end: what others have put there with
    /// [`attach`] and is as good for the new one.
    #[must_use]
    pub fn keeping(mut self, name: &'static str) -> Self {
        self.kept.push(name);
        self
    }

    /// Where the checkpoint is being written. What a caller puts there, such as the state of an
    /// optimiser, becomes part of the checkpoint.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// Makes the checkpoint appear in its directory, forced to the disk.
    ///
    /// # Errors
    /// If there are no weights in it, or the disk is full.
    pub fn commit(self) -> Result<(), CheckpointError> {
        if !self.path().join(MODEL).is_file() {
            let directory = self.directory.clone();
            return Err(CheckpointError::NotACheckpoint { directory, file: MODEL, instead: None });
        }
        for name in &self.kept {
            self.staged.keep(name).map_err(CheckpointError::write(&self.directory))?;
        }
        self.staged.commit().map_err(CheckpointError::write(&self.directory))
    }
}
