//! The causal model: next-token distributions, for autoregressive decoding.
//!
//! What [`crate::denoise::Denoiser`] is to parallel decoding this is to autoregression. A
//! [`CausalModel`] keeps a set of live rows, each the continuation of one of the rows before it:
//!
//! ```text
//! begin:    one empty row per context
//! decode_step: new row r = old row parent(r) followed by token(r);  answers log p(next | row r)
//! ```
//!
//! A beam that drops, keeps and doubles hypotheses says so by its parents; what an engine caches
//! for a row follows along. The first token of every row is the start symbol, which the decoder passes like
//! any other.

use crate::TokenId;
use crate::denoise::Candidate;

/// A row that continues another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeStep {
    /// The number of the row it continues, among those of the last call.
    pub parent: usize,
    /// What follows.
    pub token: TokenId,
}

/// Something that knows how sequences go on.
pub trait CausalModel {
    /// Why it may fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The vocabulary size |Ω|.
    fn vocabulary_size(&self) -> usize;

    /// Forgets all rows and begins one empty row for each context (the number of its source).
    ///
    /// # Errors
    /// If there is no such context.
    fn begin(&mut self, contexts: &[usize]) -> Result<(), Self::Error>;

    /// Replaces the rows by their continuations, and fills in for each of them the `depth` most probable next
    /// tokens, best first (ties: smaller id first), row after row.
    ///
    /// `depth` is at most the vocabulary size. A row's answer must not depend on the other rows.
    ///
    /// # Errors
    /// If a parent or a token does not exist, or a row becomes longer than the model knows.
    fn decode_step(
        &mut self,
        rows: &[DecodeStep],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), Self::Error>;
}
