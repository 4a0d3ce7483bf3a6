//! Writes a set of shards, pair by pair.
//!
//! A shard is put together in memory, because its header comes first: at most
//! [`Extent::bytes`] of tokens plus 4 bytes a pair. It is written when the next pair would not
//! fit, atomically, into a directory that appears as a whole when the writer is finished.

use std::io::Write;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::file::AtomicFile;
use padir_base::hash::{Sha256, hash_bytes};
use padir_base::manifest::Manifest;
use padir_base::staged::StagedDirectory;

use super::directory::{self, Existing};
use super::error::{Fault, ShardError};
use super::header::{BYTES, Header, Lexicon, Width};
use super::{MAX_LENGTH, file_name};

/// File names have five digits.
const MAX_SHARDS: u32 = 100_000;

/// How large a shard may become. A single pair always fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The most pairs in a shard.
    pub pairs: u64,
    /// The most bytes of tokens in a shard; also about the memory the writer needs.
    pub bytes: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Self { pairs: 1 << 20, bytes: 128 << 20 }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Pairs.
    pub pairs: u64,
    /// Tokens of all sources, ends of sentence included.
    pub source_tokens: u64,
    /// Tokens of all targets, ends of sentence included.
    pub target_tokens: u64,
    /// Shards.
    pub shards: u32,
    /// Bytes of all shards.
    pub bytes: u64,
}

/// A set of shards under construction. Dropped before [`ShardWriter::finish`] it leaves nothing.
#[derive(Debug)]
pub struct ShardWriter {
    destination: PathBuf,
    directory: StagedDirectory,
    lexicon: Lexicon,
    extent: Extent,
    shard: StagedShard,
    previous: Sha256,
    volume: Volume,
}

/// The shard that is being filled.
#[derive(Debug, Default)]
struct StagedShard {
    pairs: u64,
    source_tokens: u64,
    target_tokens: u64,
    lengths: Vec<u8>,
    tokens: Vec<u8>,
}

impl ShardWriter {
    /// Starts a set that will stand at `directory`; its parent must exist, and it must not
    /// exist itself unless it is empty.
    ///
    /// # Errors
    /// If there is something already, or the place cannot be written to.
    pub fn create(
        directory: impl AsRef<Path>,
        lexicon: Lexicon,
        extent: Extent,
    ) -> Result<Self, ShardError> {
        Self::begin(directory.as_ref(), lexicon, extent, Existing::Refused)
    }

    /// The same, but a set that stands there makes way when the new one is complete.
    ///
    /// # Errors
    /// If there is something else than a set, or the place cannot be written to.
    pub fn replace(
        directory: impl AsRef<Path>,
        lexicon: Lexicon,
        extent: Extent,
    ) -> Result<Self, ShardError> {
        Self::begin(directory.as_ref(), lexicon, extent, Existing::Replaced)
    }

    fn begin(
        directory: &Path,
        lexicon: Lexicon,
        extent: Extent,
        existing: Existing,
    ) -> Result<Self, ShardError> {
        let destination = directory.to_owned();
        let directory = directory::begin(&destination, existing)?;
        Ok(Self {
            destination,
            directory,
            lexicon,
            extent,
            shard: StagedShard::default(),
            previous: Sha256([0; 32]),
            volume: Volume::default(),
        })
    }

    /// Adds a pair. The sentences come without their ends; the writer appends them.
    ///
    /// # Errors
    /// If a side has more than [`MAX_LENGTH`] tokens with its end, or a token that is outside
    /// of the vocabulary, padding or an end of sentence; or if the disk is full. The pair is
    /// then not added; after a token was refused others may follow.
    pub fn push(&mut self, source: &[TokenId], target: &[TokenId]) -> Result<(), ShardError> {
        self.check(source).and_then(|()| self.check(target)).map_err(|fault| self.refuse(fault))?;
        let width = self.lexicon.width();
        let bytes = width.bytes() * (source.len() + target.len() + 2);
        let full = self.shard.pairs >= self.extent.pairs
            || self.shard.tokens.len() + bytes > self.extent.bytes;
        if full && self.shard.pairs > 0 {
            self.write_shard(false)?;
        }
        self.shard.push(source, target, width);
        self.volume.pairs += 1;
        self.volume.source_tokens += source.len() as u64 + 1;
        self.volume.target_tokens += target.len() as u64 + 1;
        Ok(())
    }

    /// The number of pairs so far.
    pub fn pairs(&self) -> u64 {
        self.volume.pairs
    }

    /// Writes the last shard and the manifest, and makes the set appear.
    ///
    /// # Errors
    /// If the disk is full or the destination was taken in the meantime.
    pub fn finish(mut self, manifest: Option<&Manifest>) -> Result<Volume, ShardError> {
        self.write_shard(true)?;
        if let Some(manifest) = manifest {
            manifest
                .save(self.directory.path())
                .map_err(|error| ShardError::new(&self.destination, Fault::Commit(error)))?;
        }
        let failed = |error| ShardError::new(&self.destination, Fault::Write(error));
        self.directory.commit().map_err(failed)?;
        Ok(self.volume)
    }

    fn refuse(&self, fault: Fault) -> ShardError {
        ShardError::new(&self.destination, fault)
    }

    fn check(&self, sentence: &[TokenId]) -> Result<(), Fault> {
        let pair = self.volume.pairs;
        if sentence.len() >= MAX_LENGTH {
            return Err(Fault::TooLong { pair, tokens: sentence.len() + 1, limit: MAX_LENGTH });
        }
        let unwritable = |&token: &TokenId| {
            if token.0 >= self.lexicon.size {
                Some((token, "which the vocabulary does not have"))
            } else if token == TokenId::PAD {
                Some((token, "which is padding"))
            } else if token == TokenId::EOS {
                Some((token, "which ends a sentence"))
            } else {
                None
            }
        };
        match sentence.iter().find_map(unwritable) {
            Some((token, reason)) => Err(Fault::Unwritable { pair, token, reason }),
            None => Ok(()),
        }
    }

    fn write_shard(&mut self, last: bool) -> Result<(), ShardError> {
        let number = self.volume.shards;
        if number >= MAX_SHARDS {
            return Err(self.refuse(Fault::TooMany(MAX_SHARDS)));
        }
        let (head, checksum) =
            self.shard.header(number, last, self.lexicon, self.previous).encode();
        let path = self.directory.path().join(file_name(number));
        let mut file = AtomicFile::create(path).map_err(|e| self.refuse(Fault::Commit(e)))?;
        [head.as_slice(), &self.shard.lengths, &self.shard.tokens]
            .into_iter()
            .try_for_each(|part| file.write_all(part))
            .map_err(|e| self.refuse(Fault::Write(e)))?;
        file.commit().map_err(|e| self.refuse(Fault::Commit(e)))?;
        self.volume.shards += 1;
        self.volume.bytes += (BYTES + self.shard.lengths.len() + self.shard.tokens.len()) as u64;
        self.previous = checksum;
        self.shard.clear();
        Ok(())
    }
}

impl StagedShard {
    fn push(&mut self, source: &[TokenId], target: &[TokenId], width: Width) {
        for sentence in [source, target] {
            let length = sentence.len() as u16 + 1;
            self.lengths.extend(length.to_le_bytes());
            let tokens = sentence.iter().copied().chain([TokenId::EOS]);
            match width {
                Width::Two => self.tokens.extend(tokens.flat_map(|t| (t.0 as u16).to_le_bytes())),
                Width::Four => self.tokens.extend(tokens.flat_map(|t| t.0.to_le_bytes())),
            }
        }
        self.pairs += 1;
        self.source_tokens += source.len() as u64 + 1;
        self.target_tokens += target.len() as u64 + 1;
    }

    fn header(&self, number: u32, last: bool, lexicon: Lexicon, previous: Sha256) -> Header {
        Header {
            number,
            last,
            lexicon,
            pairs: self.pairs,
            source_tokens: self.source_tokens,
            target_tokens: self.target_tokens,
            previous,
            lengths_hash: hash_bytes(&self.lengths),
            tokens_hash: hash_bytes(&self.tokens),
        }
    }

    /// Empties the staged shard and keeps its memory.
    fn clear(&mut self) {
        let Self { mut lengths, mut tokens, .. } = std::mem::take(self);
        lengths.clear();
        tokens.clear();
        *self = Self { lengths, tokens, ..Self::default() };
    }
}
