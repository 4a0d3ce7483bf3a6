//! Finding and reading vocabulary files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::VocabError;
use super::marian::{PieceIds, VOCAB_JSON};

/// The name of the SentencePiece file inside a model directory, as in public T5 checkpoints.
pub const MODEL_FILE: &str = "spiece.model";
/// The name of the tokenizer file inside a model directory.
pub const TOKENIZER_FILE: &str = "tokenizer.json";

/// The vocabulary file at a path: the path itself, or the file inside if it is a directory.
///
/// `tokenizer.json` is preferred to `spiece.model` because it also knows the number of sentinels; of the files of a Marian model, the list of ids
/// stands for all.
pub(super) fn locate(path: &Path) -> Result<PathBuf, VocabError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let marian = PieceIds::are_in(path).then_some(VOCAB_JSON);
    marian
        .into_iter()
        .chain([TOKENIZER_FILE, MODEL_FILE])
        .map(|name| path.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| VocabError::NoneInDirectory { path: path.to_owned() })
}

/// The content of a file of at most `limit` bytes.
pub(super) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, VocabError> {
    let failed = |source| VocabError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(VocabError::TooLarge {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
            limit,
        });
    }
    Ok(bytes)
}
