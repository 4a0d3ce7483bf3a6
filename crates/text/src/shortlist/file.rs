//! Shortlists on disk.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::file::{FileError, write_atomically};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::Shortlist;
use crate::vocab::Vocabulary;

/// The file's name in a model's directory.
pub const SHORTLIST: &str = "vmap.txt";

/// A larger file is no shortlist.
const LIMIT: u64 = 1 << 30;

/// A shortlist that cannot be read.
#[derive(Debug, Error)]
pub enum ShortlistError {
    /// The file.
    #[error("cannot read {}", path.display())]
    Read {
        /// Its name.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that is too long for what it is.
    #[error("{} is {bytes} bytes long; at most {LIMIT} are read", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// A line that is none of a shortlist.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Shortlist {
    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>, vocabulary: &Vocabulary) -> Result<(), FileError> {
        write_atomically(path, self.to_text(vocabulary).as_bytes())
    }

    /// The content of the file. Pieces that contain white space cannot be listed and are left out.
    pub fn to_text(&self, vocabulary: &Vocabulary) -> String {
        let name = |token: TokenId| {
            vocabulary.piece(token).filter(|piece| !piece.contains(char::is_whitespace))
        };
        let mut text = String::new();
        let mut write = |key: &str, list: &[TokenId]| {
            let names: Vec<_> = list.iter().filter_map(|&token| name(token)).collect();
            if !names.is_empty() {
                let _ = writeln!(text, "{key}\t{}", names.join(" "));
            }
        };
        write("", &self.always);
        for (source, list) in self.lists.iter().enumerate() {
            if let Some(key) = name(TokenId(source as u32)) {
                write(&key, list);
            }
        }
        text
    }

    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or names pieces that the vocabulary does not have.
    pub fn load(path: impl AsRef<Path>, vocabulary: &Vocabulary) -> Result<Self, ShortlistError> {
        let path = path.as_ref();
        let failed = |source| ShortlistError::Read { path: path.to_owned(), source };
        let bytes = fs::metadata(path).map_err(failed)?.len();
        if bytes > LIMIT {
            return Err(ShortlistError::TooLong { path: path.to_owned(), bytes });
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        let pieces: Vec<_> = (0..vocabulary.size() as u32)
            .map(TokenId)
            .filter_map(|token| Some((vocabulary.piece(token)?, token)))
            .collect();
        let ids: FxHashMap<&str, TokenId> =
            pieces.iter().map(|(piece, token)| (piece.as_ref(), *token)).collect();
        let mut shortlist = Self { always: Vec::new(), lists: vec![Vec::new(); vocabulary.size()] };
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |reason: String| ShortlistError::Line {
                path: path.to_owned(),
                line: number,
                reason,
            };
            let find = |piece: &str| {
                let id = ids.get(piece).copied();
                id.ok_or_else(|| wrong(format!("the vocabulary has no piece {piece:?}")))
            };
            let (key, list) =
                line.split_once('\t').ok_or_else(|| wrong("there is no tab".to_owned()))?;
            let mut list: Vec<TokenId> =
                list.split_whitespace().map(find).collect::<Result<_, _>>()?;
            list.sort_unstable();
            list.dedup();
            if key.is_empty() {
                shortlist.always = list;
            } else {
                shortlist.lists[find(key)?.0 as usize] = list;
            }
        }
        if shortlist.always.is_empty() {
            let reason = "no line without a source says what is always listed".to_owned();
            return Err(ShortlistError::Line { path: path.to_owned(), line: 1, reason });
        }
        Ok(shortlist)
    }
}
