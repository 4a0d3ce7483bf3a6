//! The first 256 bytes of a shard. The layout is the table in the documentation of this module's
//! parent. Reading never panics and allocates nothing.

use padir_base::hash::{Sha256, hash_bytes};

use super::error::Fault;

/// The size of a header.
pub(super) const BYTES: usize = 256;

/// How every shard begins.
pub(super) const MAGIC: [u8; 8] = *b"PADIRSHD";

const VERSION: u32 = 1;
const CHECKED: usize = 224;
const LAST: u32 = 1;

/// The vocabulary a set was encoded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexicon {
    /// The hash of the vocabulary.
    pub hash: Sha256,
    /// Its number of entries: every token is below.
    pub size: u32,
}

impl Lexicon {
    /// How tokens of this vocabulary are stored.
    pub(super) fn width(&self) -> Width {
        if self.size <= 1 << 16 { Width::Two } else { Width::Four }
    }
}

/// How many tokens the two sides of a pair have, ends of sentence included: at least 1 each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PairLengths {
    /// Tokens of the source.
    pub source: u16,
    /// Tokens of the target.
    pub target: u16,
}

impl PairLengths {
    /// Source and target together.
    #[inline]
    pub fn sum(self) -> u32 {
        u32::from(self.source) + u32::from(self.target)
    }

    /// The longer side.
    #[inline]
    pub fn larger(self) -> u16 {
        self.source.max(self.target)
    }

    /// Whether a side is nothing but its end.
    #[inline]
    pub fn has_empty_side(self) -> bool {
        self.source <= 1 || self.target <= 1
    }
}

/// Bytes per stored token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Two,
    Four,
}

impl Width {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }
}

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u32,
    pub(super) last: bool,
    pub(super) lexicon: Lexicon,
    pub(super) pairs: u64,
    pub(super) source_tokens: u64,
    pub(super) target_tokens: u64,
    pub(super) previous: Sha256,
    pub(super) lengths_hash: Sha256,
    pub(super) tokens_hash: Sha256,
}

impl Header {
    /// The bytes of the header, and its checksum.
    pub(super) fn encode(&self) -> ([u8; BYTES], Sha256) {
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &self.number.to_le_bytes());
        put(16, &(if self.last { LAST } else { 0 }).to_le_bytes());
        put(20, &(self.lexicon.width().bytes() as u32).to_le_bytes());
        put(24, &self.lexicon.size.to_le_bytes());
        put(32, &self.pairs.to_le_bytes());
        put(40, &self.source_tokens.to_le_bytes());
        put(48, &self.target_tokens.to_le_bytes());
        put(56, &self.lexicon.hash.0);
        put(88, &self.previous.0);
        put(120, &self.lengths_hash.0);
        put(152, &self.tokens_hash.0);
        let checksum = hash_bytes(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&checksum.0);
        (bytes, checksum)
    }

    /// Reads a header and its checksum.
    pub(super) fn decode(bytes: &[u8; BYTES]) -> Result<(Self, Sha256), Fault> {
        if bytes[..8] != MAGIC {
            return Err(foreign(bytes));
        }
        // The version comes first: another version may place its checksum elsewhere.
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(Fault::Version(version));
        }
        let checksum = hash_bytes(&bytes[..CHECKED]);
        if hash_at(bytes, CHECKED) != checksum {
            return Err(Fault::HeaderDamaged);
        }
        let header = Self {
            number: u32_at(bytes, 12),
            last: u32_at(bytes, 16) & LAST != 0,
            lexicon: Lexicon { hash: hash_at(bytes, 56), size: u32_at(bytes, 24) },
            pairs: u64_at(bytes, 32),
            source_tokens: u64_at(bytes, 40),
            target_tokens: u64_at(bytes, 48),
            previous: hash_at(bytes, 88),
            lengths_hash: hash_at(bytes, 120),
            tokens_hash: hash_at(bytes, 152),
        };
        // Whatever the fields cannot express (unknown flags, other widths, reserved bytes) is
        // lost in writing them again.
        if header.encode().0 != *bytes {
            return Err(Fault::HeaderAbsurd("it has fields that version 1 does not know"));
        }
        if header.source_tokens < header.pairs || header.target_tokens < header.pairs {
            return Err(Fault::HeaderAbsurd("it counts more sentences than tokens"));
        }
        Ok((header, checksum))
    }

    /// The size of the lengths in bytes; none if no file could be that large.
    pub(super) fn lengths_bytes(&self) -> Option<u64> {
        self.pairs.checked_mul(4)
    }

    /// The size of the tokens in bytes; none if no file could be that large.
    pub(super) fn tokens_bytes(&self) -> Option<u64> {
        let tokens = self.source_tokens.checked_add(self.target_tokens)?;
        tokens.checked_mul(self.lexicon.width().bytes() as u64)
    }

    /// The size of the file in bytes; none if no file could be that large.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        (BYTES as u64).checked_add(self.lengths_bytes()?)?.checked_add(self.tokens_bytes()?)
    }
}

/// The refusal of a file by its first bytes.
pub(super) fn foreign(bytes: &[u8]) -> Fault {
    Fault::Foreign(String::from_utf8_lossy(&bytes[..bytes.len().min(12)]).into_owned())
}

fn u32_at(bytes: &[u8; BYTES], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8; BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn hash_at(bytes: &[u8; BYTES], at: usize) -> Sha256 {
    Sha256(std::array::from_fn(|i| bytes[at + i]))
}
