//! The shards of one corpus, numbered through as if they were one file.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::hash::Sha256;

use super::error::{Fault, ShardError};
use super::header::{Lexicon, PairLengths};
use super::mapped::Shard;
use super::{file_name, number_of};
use crate::vocab::Vocabulary;

/// An encoded corpus: pairs `0..pairs()` in the order they were written.
///
/// Clones share the mapped memory and cost little.
#[derive(Clone, Debug)]
pub struct ShardSet {
    directory: PathBuf,
    shards: Vec<Shard>,
    /// The number of each shard's first pair, and behind them the number of pairs.
    starts: Vec<u64>,
}

impl ShardSet {
    /// Opens all shards of a directory and checks all but their tokens: O(pairs), 4 bytes each.
    ///
    /// # Errors
    /// If there are no shards, one is missing, foreign, truncated or damaged, or they are not
    /// from one set.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, ShardError> {
        let directory = directory.as_ref();
        let refuse = |fault| ShardError::new(directory, fault);
        let count = count_shards(directory).map_err(refuse)?;
        let mut set = Self { directory: directory.to_owned(), shards: Vec::new(), starts: vec![0] };
        for number in 0..count {
            let path = directory.join(file_name(number));
            if !path.exists() {
                return Err(refuse(Fault::Missing(file_name(number))));
            }
            set.append(Shard::open(&path)?)?;
        }
        match set.shards.last() {
            None => Err(refuse(Fault::NoShards)),
            Some(shard) if !shard.header().last => Err(refuse(Fault::Missing(file_name(count)))),
            Some(_) => Ok(set),
        }
    }

    /// Adds a shard if it continues the ones before.
    fn append(&mut self, shard: Shard) -> Result<(), ShardError> {
        let (header, number) = (shard.header(), self.shards.len() as u32);
        let expected = match self.shards.last() {
            None => Sha256([0; 32]),
            Some(last) if last.header().last => {
                let fault = Fault::Surplus(file_name(number - 1));
                return Err(ShardError::new(shard.path(), fault));
            }
            Some(last) => last.checksum(),
        };
        let continues = header.number == number
            && header.previous == expected
            && self.shards.first().is_none_or(|first| first.header().lexicon == header.lexicon);
        if !continues {
            let before = number.checked_sub(1).map_or("nothing".to_owned(), file_name);
            return Err(ShardError::new(shard.path(), Fault::Unchained(before)));
        }
        self.starts.push(self.pairs() + header.pairs);
        self.shards.push(shard);
        Ok(())
    }

    /// Where the set was opened.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Tokens of all sources, ends of sentence included.
    pub fn source_tokens(&self) -> u64 {
        self.shards.iter().map(|shard| shard.header().source_tokens).sum()
    }

    /// Tokens of all targets, ends of sentence included.
    pub fn target_tokens(&self) -> u64 {
        self.shards.iter().map(|shard| shard.header().target_tokens).sum()
    }

    /// The size of all shards on the disk.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().filter_map(|shard| shard.header().file_bytes()).sum()
    }

    /// The vocabulary the set was encoded with.
    pub fn lexicon(&self) -> Lexicon {
        self.shards[0].header().lexicon
    }

    /// A digest of the whole content: vocabulary, lengths and tokens in their order.
    pub fn digest(&self) -> Sha256 {
        self.shards[self.shards.len() - 1].checksum()
    }

    /// Refuses the set if it was encoded with another vocabulary.
    ///
    /// # Errors
    /// If the hashes differ.
    pub fn require_vocabulary(&self, vocabulary: &Vocabulary) -> Result<(), ShardError> {
        self.require_hash(vocabulary.hashes())
    }

    /// Refuses the set unless it was encoded with a vocabulary of one of these hashes, of which the first is named.
    pub(super) fn require_hash(&self, expected: [Sha256; 2]) -> Result<(), ShardError> {
        let found = self.lexicon().hash;
        if expected.contains(&found) {
            Ok(())
        } else {
            let [expected, _] = expected;
            Err(ShardError::new(&self.directory, Fault::Vocabulary { expected, found }))
        }
    }

    /// Checks all tokens against their checksums. Reads everything, shard by shard, and calls
    /// `done` with the bytes of each.
    ///
    /// # Errors
    /// If the tokens of a shard are not those that were written.
    pub fn verify(&self, mut done: impl FnMut(u64)) -> Result<(), ShardError> {
        for shard in &self.shards {
            // A map of its own, so that its pages do not stay.
            let mut shard = shard.clone();
            shard.release()?;
            shard.verify()?;
            done(shard.header().file_bytes().unwrap_or(0));
        }
        Ok(())
    }

    /// Appends the lengths of consecutive pairs; those behind the end are left out.
    pub fn read_lengths(&self, pairs: Range<u64>, into: &mut Vec<PairLengths>) {
        self.for_parts(pairs, |shard, part| shard.read_lengths(part, into));
    }

    /// Appends the tokens of one pair to `source` and `target`, ends of sentence included.
    ///
    /// # Errors
    /// If there is no such pair, or if its tokens were damaged after they were written.
    pub fn read_pair(
        &self,
        pair: u64,
        source: &mut Vec<TokenId>,
        target: &mut Vec<TokenId>,
    ) -> Result<(), ShardError> {
        if pair >= self.pairs() {
            let fault = Fault::NoPair { pair, pairs: self.pairs() };
            return Err(ShardError::new(&self.directory, fault));
        }
        let index = self.shard_of(pair);
        let start = self.starts[index];
        self.shards[index].read_pair((pair - start) as usize, start, source, target)
    }

    /// Tells the system that consecutive pairs will be read soon, so that it may fetch them.
    pub fn expect_reading(&self, pairs: Range<u64>) {
        self.for_parts(pairs, Shard::expect_reading);
    }

    /// Gives the memory of everything read so far back to the system. Other clones keep theirs.
    ///
    /// # Errors
    /// If a file was truncated in the meantime.
    pub fn release(&mut self) -> Result<(), ShardError> {
        self.shards.iter_mut().try_for_each(Shard::release)
    }

    /// The shard that holds a pair, which must exist.
    pub(crate) fn shard_of(&self, pair: u64) -> usize {
        self.starts.partition_point(|&start| start <= pair) - 1
    }

    /// Splits a range of pairs at the borders of the shards.
    fn for_parts(&self, pairs: Range<u64>, mut visit: impl FnMut(&Shard, Range<usize>)) {
        let end = pairs.end.min(self.pairs());
        let mut at = pairs.start;
        while at < end {
            let index = self.shard_of(at);
            let (start, stop) = (self.starts[index], self.starts[index + 1].min(end));
            visit(&self.shards[index], (at - start) as usize..(stop - start) as usize);
            at = stop;
        }
    }
}

/// One more than the highest number of a shard in the directory.
fn count_shards(directory: &Path) -> Result<u32, Fault> {
    let mut count = 0;
    for entry in fs::read_dir(directory).map_err(Fault::Read)? {
        let name = entry.map_err(Fault::Read)?.file_name();
        if let Some(number) = name.to_str().and_then(number_of) {
            count = count.max(number.saturating_add(1));
        }
    }
    Ok(count)
}
