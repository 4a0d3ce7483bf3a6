//! Why a shard or a set of shards was refused.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use padir_base::TokenId;
use padir_base::file::FileError;
use padir_base::hash::Sha256;
use thiserror::Error;

/// A shard or a set could not be read or written.
#[derive(Debug)]
pub struct ShardError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is the matter with it.
    pub fault: Box<Fault>,
}

impl ShardError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        Self { path: path.to_owned(), fault: Box::new(fault) }
    }
}

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl error::Error for ShardError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.fault.source()
    }
}

/// What is the matter with a shard or a set.
#[derive(Debug, Error)]
pub enum Fault {
    /// The system could not read it.
    #[error("cannot be read")]
    Read(#[source] io::Error),
    /// The system could not write it.
    #[error("cannot be written")]
    Write(#[source] io::Error),
    /// The file could not be put in place.
    #[error("cannot be written")]
    Commit(#[source] FileError),
    /// A directory, a pipe or a device.
    #[error("not a regular file")]
    Irregular,
    /// The first bytes are not those of a shard.
    #[error("not a padir shard: it begins with {0:?}")]
    Foreign(String),
    /// A shard of a future or foreign format.
    #[error("a shard of format version {0}, but this padir reads version 1")]
    Version(u32),
    /// The checksum of the header is wrong.
    #[error("the header is damaged: its checksum does not fit its content")]
    HeaderDamaged,
    /// The header is intact but says something impossible.
    #[error("the header contradicts itself: {0}")]
    HeaderAbsurd(&'static str),
    /// The file is shorter than it must be.
    #[error("truncated: {found} bytes of {expected}")]
    Truncated {
        /// What the header promises, or the size of a header.
        expected: u64,
        /// The size of the file.
        found: u64,
    },
    /// The file is longer than it must be.
    #[error("{found} bytes long, but the header promises {expected}")]
    Oversized {
        /// What the header promises.
        expected: u64,
        /// The size of the file.
        found: u64,
    },
    /// A part of the file is not what was written.
    #[error("the {0} are damaged: their checksum does not fit")]
    Damaged(&'static str),
    /// The lengths are intact but do not belong to this header.
    #[error("the lengths do not add up to the {0} tokens of the header")]
    Sums(&'static str),
    /// A token that the vocabulary does not have.
    #[error("damaged: pair {pair} has the token {token}, but the vocabulary ends at {size}")]
    Token {
        /// The pair, counted from 0 in its set.
        pair: u64,
        /// The token.
        token: u32,
        /// The size of the vocabulary.
        size: u32,
    },
    /// A sentence without an end.
    #[error("damaged: a side of pair {pair} does not end with the end of sentence")]
    Endless {
        /// The pair, counted from 0 in its set.
        pair: u64,
    },
    /// A directory without shards.
    #[error("no shards here")]
    NoShards,
    /// A shard is not there.
    #[error("the set is incomplete: {0} is missing")]
    Missing(String),
    /// A shard behind the last one.
    #[error("the set ended with {0}, so this shard does not belong to it")]
    Surplus(String),
    /// A shard of another set, or not in its place.
    #[error("does not continue {0}: the two are not from the same set")]
    Unchained(String),
    /// The shards were made with another vocabulary.
    #[error("encoded with vocabulary {found}, not with {expected}")]
    Vocabulary {
        /// The vocabulary in use.
        expected: Sha256,
        /// The vocabulary of the shards.
        found: Sha256,
    },
    /// A pair that is not there.
    #[error("pair {pair} does not exist: the set has {pairs}")]
    NoPair {
        /// The pair asked for, counted from 0.
        pair: u64,
        /// How many there are.
        pairs: u64,
    },
    /// The destination is taken.
    #[error("already exists")]
    Exists,
    /// The destination holds something else than a set, which is not replaced.
    #[error("holds {0}, which is no part of a set of shards")]
    Occupied(String),
    /// Two writers of one set.
    #[error("another process is writing this set")]
    Busy,
    /// More shards than file names.
    #[error("more than {0} shards in one set")]
    TooMany(u32),
    /// A sentence that no shard can hold.
    #[error("pair {pair} has a side of {tokens} tokens; a shard holds at most {limit}")]
    TooLong {
        /// The pair, counted from 0.
        pair: u64,
        /// Its tokens, the end of sentence included.
        tokens: usize,
        /// The most a shard can hold.
        limit: usize,
    },
    /// A token that must not be written.
    #[error("pair {pair} contains {token}, {reason}")]
    Unwritable {
        /// The pair, counted from 0.
        pair: u64,
        /// The token.
        token: TokenId,
        /// Why.
        reason: &'static str,
    },
}
