//! A Marian checkpoint of `transformers` (OPUS-MT).
//!
//! Names and shapes are [ours](crate::layers). What differs is which of the shared tables a file names, and that old files also hold the sinusoids
//! of positions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::hash::{Sha256, hash_bytes, hash_file};

use super::ctranslate2::are_sinusoids;
use super::error::{ImportError, ImportFault};
use super::pytorch::PyTorchFile;
use crate::config::ModelConfig;
use crate::inventory::Parameter;
use crate::tensors::TensorFile;

const BIAS: &str = "final_logits_bias";

/// The tensors of a checkpoint.
#[derive(Debug)]
pub(super) enum Tensors {
    Safe(TensorFile),
    PyTorch(PyTorchFile),
}

/// Where the parameters of the model lie.
#[derive(Debug)]
pub(super) struct Weights {
    tensors: Tensors,
    /// The tensor of each parameter; none for a bias of zeros.
    names: HashMap<String, Option<String>>,
}

impl Tensors {
    fn path(&self) -> PathBuf {
        match self {
            Self::Safe(file) => file.path().to_owned(),
            Self::PyTorch(file) => file.path().to_owned(),
        }
    }

    fn names(&self) -> Vec<&str> {
        match self {
            Self::Safe(file) => file.tensors().map(|tensor| tensor.name).collect(),
            Self::PyTorch(file) => file.names().collect(),
        }
    }

    fn shape(&self, name: &str) -> Option<&[usize]> {
        match self {
            Self::Safe(file) => file.info(name).map(|info| info.shape),
            Self::PyTorch(file) => file.shape(name),
        }
    }

    fn read(&self, name: &str) -> Result<Cow<'_, [f32]>, ImportError> {
        match self {
            Self::Safe(file) => Ok(file.read(name)?),
            Self::PyTorch(file) => file.read(name),
        }
    }

    pub(super) fn hash(&self) -> Option<Sha256> {
        match self {
            Self::Safe(file) => hash_file(file.path()).ok(),
            Self::PyTorch(file) => Some(hash_bytes(file.bytes())),
        }
    }
}

impl Weights {
    pub(super) fn new(tensors: Tensors, config: &ModelConfig) -> Result<Self, ImportError> {
        let path = tensors.path();
        let names = names(&tensors, config).map_err(|fault| fault.at(&path))?;
        check_positions(&tensors, config)?;
        Ok(Self { tensors, names })
    }

    pub(super) fn tensors(&self) -> &Tensors {
        &self.tensors
    }

    pub(super) fn tensor(&self, parameter: &Parameter) -> Result<Cow<'_, [f32]>, ImportError> {
        match self.names.get(&parameter.name) {
            Some(Some(name)) => self.tensors.read(name),
            Some(None) => Ok(Cow::Owned(vec![0.0; parameter.len()])),
            None => Err(ImportFault::NoTensor(parameter.name.clone()).at(&self.tensors.path())),
        }
    }
}

/// The tensor of each parameter, all with the right shape, and no others.
fn names(
    tensors: &Tensors,
    config: &ModelConfig,
) -> Result<HashMap<String, Option<String>>, ImportFault> {
    let layers = config.layers();
    let mut names = HashMap::new();
    for parameter in layers.parameters() {
        let mut candidates = vec![parameter.name.as_str()];
        if parameter.name == "model.shared.weight" {
            candidates.extend([
                "model.encoder.embed_tokens.weight",
                "model.decoder.embed_tokens.weight",
                "lm_head.weight",
            ]);
        }
        let found = candidates.into_iter().find(|name| tensors.shape(name).is_some());
        let Some(name) = found else {
            if parameter.name == BIAS {
                names.insert(parameter.name.clone(), None);
                continue;
            }
            return Err(ImportFault::NoTensor(parameter.name.clone()));
        };
        check_shape(tensors, name, &parameter.shape)?;
        names.insert(parameter.name.clone(), Some(name.to_owned()));
    }
    let mut rest = tensors.names();
    rest.sort_unstable();
    for name in rest.into_iter().filter(|&name| !names.contains_key(name)) {
        let repeated = layers.repetitions.iter().find(|(known, _)| known == name);
        // Files of models with two vocabularies hold the source's table as the shared one, too.
        let stray = name == "model.shared.weight" || name == "lm_head.weight";
        match repeated {
            Some((_, shape)) => check_shape(tensors, name, shape)?,
            None if stray => {}
            None => return Err(ImportFault::Unexpected(name.to_owned())),
        }
    }
    Ok(names)
}

fn check_shape(tensors: &Tensors, name: &str, expected: &[usize]) -> Result<(), ImportFault> {
    match tensors.shape(name) {
        Some(found) if found != expected => {
            let (name, found) = (name.to_owned(), found.to_vec());
            Err(ImportFault::Shape { name, found, expected: expected.to_vec() })
        }
        _ => Ok(()),
    }
}

/// Positions that a file holds must be those that are computed.
fn check_positions(tensors: &Tensors, config: &ModelConfig) -> Result<(), ImportError> {
    for stack in ["encoder", "decoder"] {
        let name = format!("model.{stack}.embed_positions.weight");
        if tensors.shape(&name).is_some() && !are_sinusoids(&tensors.read(&name)?, config.d_model) {
            let what = format!("{name}: positions that are not Marian's sinusoids");
            return Err(ImportFault::Unsupported(what).at(&tensors.path()));
        }
    }
    Ok(())
}

/// Ids by piece, as far as they are needed here.
pub(super) struct Ids {
    /// How many there are.
    size: usize,
    end: Option<u64>,
    unknown: Option<u64>,
}

impl Ids {
    pub(super) fn parse(path: &Path, vocab: &[u8]) -> Result<Self, ImportError> {
        let ids: HashMap<String, u64> = serde_json::from_slice(vocab)
            .map_err(|error| ImportFault::Vocabulary(error.to_string()).at(path))?;
        let get = |piece: &str| ids.get(piece).copied();
        Ok(Self { size: ids.len(), end: get("</s>"), unknown: get("<unk>") })
    }

    /// Whether they fit a table of so many rows, and mean what the configuration says.
    pub(super) fn check(&self, rows: usize, eos: TokenId) -> Result<(), ImportFault> {
        let wrong = |what: String| Err(ImportFault::Vocabulary(what));
        if self.size > rows {
            return wrong(format!("it has {} pieces; the model has {rows}", self.size));
        }
        if self.end != Some(u64::from(eos.0)) {
            let found = self.end.map_or("no id".to_owned(), |id| format!("the id {id}"));
            return wrong(format!("\"</s>\" has {found}; by config.json it is {}", eos.0));
        }
        Ok(())
    }

    pub(super) fn unknown(&self) -> Result<TokenId, ImportFault> {
        let id = self.unknown.and_then(|id| u32::try_from(id).ok());
        id.map(TokenId).ok_or(ImportFault::Vocabulary("it has no \"<unk>\"".to_owned()))
    }
}
