//! Models on record: where they lay, and what they were.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use padir_base::hash::{Sha256, hash_file};
use padir_checkpoint::{CONFIG, GENERATION, MODEL, SENTENCEPIECE, TOKENIZER};
use padir_text::shortlist::SHORTLIST;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The hashes of a model's files; its shortlist matters only if it is used.
///
/// # Errors
/// If a file cannot be read.
pub fn hash_model(directory: &Path, shortlist: bool) -> Result<BTreeMap<String, Sha256>, Error> {
    let names = [CONFIG, GENERATION, MODEL, TOKENIZER, SENTENCEPIECE];
    let files = names
        .into_iter()
        .chain(shortlist.then_some(SHORTLIST))
        .map(|name| (name, directory.join(name)));
    files
        .filter(|(_, path)| path.is_file())
        .map(|(name, path)| {
            let hash = hash_file(&path).map_err(Error::reading(&path))?;
            Ok((name.to_owned(), hash))
        })
        .collect()
}

/// A model on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Where it lay.
    pub directory: PathBuf,
    /// Its files' hashes.
    pub files: BTreeMap<String, Sha256>,
}

impl ModelRecord {
    /// A model as it is now.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of(directory: &Path, shortlist: bool) -> Result<Self, Error> {
        Ok(Self { directory: directory.to_owned(), files: hash_model(directory, shortlist)? })
    }

    /// What it is called: `padir` if it is `padir/best`, and `padir/final` as it is.
    pub fn name(&self) -> String {
        let path = &self.directory;
        let run = match path.file_name() {
            Some(name) if name == "best" => path.parent().unwrap_or(path),
            _ => path,
        };
        if run.is_absolute() { last(run) } else { run.to_string_lossy().into_owned() }
    }
}

fn last(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A reranker on record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RerankerRecord {
    /// The model.
    #[serde(flatten)]
    pub model: ModelRecord,
    /// α of its length penalty.
    pub length_penalty: f64,
}
