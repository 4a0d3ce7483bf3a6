//! Sequences that are decoded together, and what each is conditioned on.

use padir_base::TokenId;
use padir_base::ragged::RaggedTokens;

/// A ragged batch of sequences and their contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    sequences: RaggedTokens,
    contexts: Vec<usize>,
}

impl Batch {
    /// A batch of (context, tokens).
    pub fn new(rows: impl IntoIterator<Item = (usize, Vec<TokenId>)>) -> Self {
        let mut batch = Self { sequences: RaggedTokens::default(), contexts: Vec::new() };
        for (context, tokens) in rows {
            batch.sequences.push(tokens);
            batch.contexts.push(context);
        }
        batch
    }

    /// The number of sequences.
    pub fn rows(&self) -> usize {
        self.sequences.len()
    }

    /// Where a sequence lies among all tokens.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.sequences.rows().range(row)
    }

    /// One sequence.
    pub fn row(&self, row: usize) -> &[TokenId] {
        self.sequences.row(row)
    }

    /// All tokens, sequence after sequence.
    pub fn tokens(&self) -> &[TokenId] {
        self.sequences.tokens()
    }

    pub(crate) fn tokens_mut(&mut self) -> &mut [TokenId] {
        self.sequences.tokens_mut()
    }

    pub(crate) fn sequences(&self) -> &RaggedTokens {
        &self.sequences
    }

    pub(crate) fn contexts(&self) -> &[usize] {
        &self.contexts
    }
}
