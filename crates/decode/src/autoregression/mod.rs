//! Autoregressive decoding: greedy, beam search, sampling.
//!
//! All are written against a [`CausalModel`](padir_base::causal::CausalModel), and all sentences go on together: a step is
//! one call for the live hypotheses of all of them, and a sentence that is done leaves the batch. What becomes of a
//! sentence does not depend on the others.
//!
//! Lengths count the end. At its greatest length a hypothesis is cut: its last token counts like an end, and is
//! not part of the translation.

mod beam;
mod drive;
mod sample;

use padir_base::TokenId;

pub use beam::{Beam, Normalization, beam, beam_each};
pub use sample::{Sample, greedy, sample, sample_by, sample_each};

/// A sentence to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its number, which names it in the trace and chooses its randomness.
    pub number: u64,
    /// What the causal model knows it by.
    pub context: usize,
    /// The most tokens of a translation, its end included; see [`max_length`].
    pub max_length: usize,
}

/// The longest translation of a source of so many tokens, ends included: min(`most`, 2·`source` + 10).
///
/// Models that know little do not know where to end.
pub fn max_length(source: usize, most: usize) -> usize {
    most.min(source.saturating_mul(2).saturating_add(10)).max(1)
}

/// What the ids of a model mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// What every translation is the continuation of.
    pub start: TokenId,
    /// What ends a translation.
    pub eos: TokenId,
    /// What is never chosen. Each costs a candidate more to ask for.
    pub never: Vec<TokenId>,
}

impl Symbols {
    /// The symbols of a model that may choose anything.
    pub fn new(start: TokenId) -> Self {
        Self { start, eos: TokenId::EOS, never: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::max_length;

    #[test]
    fn lengths_have_a_limit() {
        let cases = [(0, 100, 10), (5, 100, 20), (60, 100, 100), (usize::MAX, 256, 256), (5, 0, 1)];
        for (source, most, expected) in cases {
            assert_eq!(max_length(source, most), expected, "{source} of at most {most}");
        }
    }
}
