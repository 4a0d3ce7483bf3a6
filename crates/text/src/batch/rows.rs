//! The sentences of one side of a batch: one behind the other, or as a rectangle.

use std::ops::Range;

use padir_base::TokenId;

/// Sentences without padding, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub(super) tokens: Vec<TokenId>,
    pub(super) ends: Vec<u32>,
}

/// Sentences as the rows of a rectangle, filled up with [`TokenId::PAD`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Row by row. // [rows, width]
    pub tokens: Vec<TokenId>,
    /// The number of sentences.
    pub rows: usize,
    /// The length of the longest sentence, rounded up as asked.
    pub width: usize,
}

impl Rows {
    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All tokens.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Where each sentence ends in [`Rows::tokens`]; the next begins there.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The sentences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[TokenId]> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// One sentence.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[TokenId] {
        &self.tokens[self.span(row)]
    }

    fn span(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        start..self.ends[row] as usize
    }

    /// The length of the longest sentence.
    pub fn longest(&self) -> usize {
        self.iter().map(<[_]>::len).max().unwrap_or(0)
    }

    /// The sentences as a rectangle whose width is a multiple of `multiple`.
    ///
    /// # Panics
    /// If `multiple` is 0.
    pub fn padded(&self, multiple: u16) -> Rectangle {
        let (rows, width) = (self.len(), self.longest().next_multiple_of(multiple.into()));
        let mut tokens = vec![TokenId::PAD; rows * width];
        for (line, row) in tokens.chunks_exact_mut(width.max(1)).zip(self.iter()) {
            line[..row.len()].copy_from_slice(row);
        }
        Rectangle { tokens, rows, width }
    }
}
