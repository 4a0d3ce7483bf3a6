//! The sentences of one side of a batch as a rectangle, for devices that want one.

use padir_base::TokenId;
use padir_base::ragged::RaggedTokens;

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

impl Rectangle {
    /// The sentences as a rectangle whose width is a multiple of `multiple`.
    ///
    /// # Panics
    /// If `multiple` is 0.
    pub fn new(sentences: &RaggedTokens, multiple: u16) -> Self {
        let rows = sentences.len();
        let width = sentences.rows().longest().next_multiple_of(multiple.into());
        let mut tokens = vec![TokenId::PAD; rows * width];
        for (line, row) in tokens.chunks_exact_mut(width.max(1)).zip(sentences.iter()) {
            line[..row.len()].copy_from_slice(row);
        }
        Self { tokens, rows, width }
    }
}
