//! Encoded corpora on the disk: memory-mapped binary shards.
//!
//! A *set* is a directory of `shard-00000.bin`, `shard-00001.bin`, … Each shard holds sentence
//! pairs as token ids. The writer appends [`TokenId::EOS`](padir_base::TokenId::EOS) to both
//! sides, so a shard holds just what a model sees, lengths count the end of sentence, and no
//! sentence is empty: an empty side is one token long. All numbers are little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0‥8 | `PADIRSHD` |
//! | 8‥12 | format version, 1 |
//! | 12‥16 | number of this shard in its set, from 0 |
//! | 16‥20 | flags: bit 0 is set in the last shard of a set, the others are zero |
//! | 20‥24 | bytes per token *w*: 2 if the vocabulary has at most 65 536 entries, otherwise 4 |
//! | 24‥28 | size of the vocabulary |
//! | 28‥32 | zero |
//! | 32‥40 | pairs *n* |
//! | 40‥48 | source tokens *S*, ends of sentence included |
//! | 48‥56 | target tokens *T*, likewise |
//! | 56‥88 | SHA-256 of the vocabulary |
//! | 88‥120 | checksum of the previous shard's header; zeros in shard 0 |
//! | 120‥152 | SHA-256 of the lengths |
//! | 152‥184 | SHA-256 of the tokens |
//! | 184‥224 | zero |
//! | 224‥256 | SHA-256 of bytes 0‥224: the checksum of this header |
//! | 256‥256+4n | *lengths*: source and target length of every pair, `u16` each |
//! | …‥256+4n+w(S+T) | *tokens*: source then target of every pair |
//!
//! The headers form a chain, so the checksum of the last one names the whole set, and a shard
//! that is missing, doubled, swapped or from another set is noticed.
//!
//! Opening a shard checks the header, the size of the file, and the lengths against their
//! checksum and their sums: O(n), 4 bytes a pair. The tokens are checked against the vocabulary
//! size whenever they are read, and against their checksum by [`ShardSet::verify`]. Pair *i* is
//! found from offsets kept for every 64th pair (an eighth of a byte a pair) in O(64).
//!
//! Nothing is allocated from a number in a header before that number was checked against the
//! size of the file.

mod directory;
mod error;
mod header;
mod mapped;
mod set;
mod writer;

pub use error::{Fault, ShardError};
pub use header::{Lexicon, PairLengths};
pub use set::ShardSet;
pub use writer::{Extent, ShardWriter, Volume};

#[cfg(test)]
mod tests;

/// The longest sentence a shard can hold, in tokens, its end included.
pub const MAX_LENGTH: usize = u16::MAX as usize;

/// The file name of a shard in its set.
fn file_name(number: u32) -> String {
    format!("shard-{number:05}.bin")
}

/// The number of a shard by its file name.
fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("shard-")?.strip_suffix(".bin")?;
    let number = digits.parse().ok()?;
    (file_name(number) == name).then_some(number)
}
