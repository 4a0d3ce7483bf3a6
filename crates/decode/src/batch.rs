//! Sequences that are decoded together: concatenated, without padding.

use padir_base::TokenId;

/// A ragged batch of sequences and what each is conditioned on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    tokens: Vec<TokenId>,
    ends: Vec<usize>,
    contexts: Vec<usize>,
}

impl Batch {
    /// A batch of (context, tokens).
    pub fn new(rows: impl IntoIterator<Item = (usize, Vec<TokenId>)>) -> Self {
        let mut batch = Self { tokens: Vec::new(), ends: Vec::new(), contexts: Vec::new() };
        for (context, tokens) in rows {
            batch.tokens.extend(tokens);
            batch.ends.push(batch.tokens.len());
            batch.contexts.push(context);
        }
        batch
    }

    /// The number of sequences.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Where a sequence lies among all tokens.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        if row == 0 { 0..self.ends[0] } else { self.ends[row - 1]..self.ends[row] }
    }

    /// One sequence.
    pub fn row(&self, row: usize) -> &[TokenId] {
        &self.tokens[self.range(row)]
    }

    /// All tokens, sequence after sequence.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    pub(crate) fn tokens_mut(&mut self) -> &mut [TokenId] {
        &mut self.tokens
    }

    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub(crate) fn contexts(&self) -> &[usize] {
        &self.contexts
    }
}
