//! What can be wrong with a vocabulary.

use std::io;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use thiserror::Error;

use super::charsmap::CharsMapError;
use super::proto::ModelKind;

/// A vocabulary that cannot be used.
#[derive(Debug, Error)]
pub enum VocabError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is too large to be a vocabulary.
    #[error("{} has {bytes} bytes, more than the {limit} a vocabulary may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A directory without a vocabulary.
    #[error("{} holds neither spiece.model, tokenizer.json nor source.spm and vocab.json", path.display())]
    NoneInDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// Something is wrong inside a file.
    #[error("{} is not a usable vocabulary", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<VocabError>,
    },
    /// Not a SentencePiece model.
    #[error("not a SentencePiece model file")]
    NotAModel(#[source] prost::DecodeError),
    /// Not a tokenizer.json.
    #[error("not a tokenizer.json of the tokenizers library")]
    NotATokenizer(#[source] serde_json::Error),
    /// A tokenizer.json of another kind.
    #[error("the tokenizer's {part} is {found}, only {expected} can be used")]
    ForeignTokenizer {
        /// Which part.
        part: &'static str,
        /// What it is.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Not a list of ids.
    #[error("not a vocab.json: an object of pieces and their ids")]
    NotAVocabJson(#[source] serde_json::Error),
    /// An id beyond the number of pieces.
    #[error("piece {piece:?} has the id {id}; the ids of {size} pieces are below {size}")]
    PieceId {
        /// The piece.
        piece: String,
        /// Its id.
        id: u64,
        /// How many pieces there are.
        size: usize,
    },
    /// An id that two pieces have.
    #[error("pieces {:?} and {:?} both have the id {id}", pieces[0], pieces[1])]
    TwiceId {
        /// The id.
        id: u64,
        /// The two.
        pieces: [String; 2],
    },
    /// A model of another kind.
    #[error("the model segments by {0:?}, only Unigram can be used")]
    NotUnigram(ModelKind),
    /// No pieces at all.
    #[error("the model has no pieces")]
    NoPieces,
    /// A piece without text.
    #[error("piece {id} is empty")]
    EmptyPiece {
        /// Its id.
        id: usize,
    },
    /// A piece that cannot occur in text.
    #[error("piece {id} contains NUL or is longer than 1024 bytes")]
    UnusablePiece {
        /// Its id.
        id: usize,
    },
    /// The same piece twice.
    #[error("piece {id} ({piece:?}) occurs twice")]
    TwicePiece {
        /// The later id.
        id: usize,
        /// Its text.
        piece: String,
    },
    /// A score that is no number.
    #[error("piece {id} has the score {score}")]
    Score {
        /// Its id.
        id: usize,
        /// The score.
        score: f32,
    },
    /// A kind of piece this version does not know.
    #[error("piece {id} is of the unknown kind {kind}")]
    Kind {
        /// Its id.
        id: usize,
        /// The number of the kind.
        kind: i32,
    },
    /// No unknown piece.
    #[error("the model has no piece for unknown text")]
    NoUnknown,
    /// Two unknown pieces.
    #[error("pieces {first} and {second} both stand for unknown text")]
    TwoUnknowns {
        /// The first id.
        first: TokenId,
        /// The second id.
        second: TokenId,
    },
    /// Byte fallback without a byte.
    #[error("the model spells unknown characters as bytes, but has no piece for byte {0:#04x}")]
    NoByte(u8),
    /// A broken normalisation rule.
    #[error("the normalisation rule is damaged")]
    Rule(#[source] CharsMapError),
    /// More ids than fit.
    #[error("{0} sentinels are too many")]
    TooManySentinels(u32),
}

impl VocabError {
    pub(super) fn in_file(self, path: &Path) -> Self {
        Self::InFile { path: path.to_owned(), source: Box::new(self) }
    }
}
