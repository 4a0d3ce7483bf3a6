//! A symbol of the vocabulary Ω: a word piece, a spin.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a symbol in its vocabulary.
///
/// In translation the first ids are reserved (see the constants); a model of the laboratory
/// with `q` symbols uses `0..q`, an Ising spin −1 is 0 and +1 is 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct TokenId(pub u32);

impl TokenId {
    /// Padding; never part of a sentence.
    pub const PAD: Self = Self(0);
    /// End of sentence.
    pub const EOS: Self = Self(1);
    /// A symbol outside the vocabulary.
    pub const UNK: Self = Self(2);
    /// Beginning of sentence.
    pub const BOS: Self = Self(3);

    /// The id as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u32> for TokenId {
    fn from(id: u32) -> Self {
        Self(id)
    }
}
