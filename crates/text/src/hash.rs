//! 64-bit fingerprints of sentences, to find repetitions without keeping the text.
//!
//! Two different sentences among n share a fingerprint by chance with probability about
//! n² / 2⁶⁵: one in a hundred thousand for twenty million, so a count of duplicates is exact for
//! all practical purposes. XXH64, the same on every machine.

use twox_hash::XxHash64;

use crate::pair::Pair;

/// The fingerprint of a text.
pub fn hash_text(text: &str) -> u64 {
    XxHash64::oneshot(0, text.as_bytes())
}

/// The fingerprint of a pair, given that of its source.
pub fn hash_pair(source: u64, target: &str) -> u64 {
    XxHash64::oneshot(source, target.as_bytes())
}

/// The fingerprints of source, target and both together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the source.
    pub source: u64,
    /// Of the target.
    pub target: u64,
    /// Of the pair.
    pub pair: u64,
}

impl Fingerprint {
    /// The fingerprints of a pair.
    pub fn of(pair: &Pair) -> Self {
        let source = hash_text(&pair.source);
        Self { source, target: hash_text(&pair.target), pair: hash_pair(source, &pair.target) }
    }
}
