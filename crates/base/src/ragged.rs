//! Ragged batches: rows of different lengths, one after the other, without padding.
//!
//! [`Ragged`] says where rows end, whatever they hold: tokens, activations, gradients. [`RaggedTokens`] holds rows of tokens.

use std::ops::Range;

use crate::TokenId;

/// Where the rows of a batch end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ragged {
    ends: Vec<usize>,
}

impl Ragged {
    /// From the length of each row.
    pub fn new(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            end += length;
            end
        });
        Self { ends: ends.collect() }
    }

    /// Adds a row.
    pub fn push(&mut self, length: usize) {
        self.ends.push(self.tokens() + length);
    }

    /// Where each row ends.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of tokens of all rows.
    pub fn tokens(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Where the tokens of a row stand.
    pub fn range(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }

    /// Where the tokens of each row stand.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        (0..self.len()).map(|row| self.range(row))
    }

    /// The length of each row.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.ranges().map(|range| range.len())
    }

    /// The length of the longest row.
    pub fn longest(&self) -> usize {
        self.lengths().max().unwrap_or(0)
    }

    /// The row of each token.
    pub fn owners(&self) -> Vec<u32> {
        let mut owners = Vec::with_capacity(self.tokens());
        for (row, range) in self.ranges().enumerate() {
            owners.resize(range.end, row as u32);
        }
        owners
    }

    /// Groups of whole rows of about equal numbers of tokens, at most `most`: a function of the lengths alone, so
    /// that sums over groups do not depend on the number of threads.
    pub fn groups(&self, most: usize) -> Vec<Range<usize>> {
        let target = self.tokens().div_ceil(most.max(1)).max(1);
        let mut groups = Vec::new();
        let mut first = 0;
        let mut taken = 0;
        for (row, length) in self.lengths().enumerate() {
            taken += length;
            if taken >= target {
                groups.push(first..row + 1);
                first = row + 1;
                taken = 0;
            }
        }
        if first < self.len() {
            groups.push(first..self.len());
        }
        groups
    }
}

/// Sequences of tokens, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaggedTokens {
    tokens: Vec<TokenId>,
    rows: Ragged,
}

impl RaggedTokens {
    /// Adds a sequence.
    pub fn push(&mut self, sequence: impl IntoIterator<Item = TokenId>) {
        let start = self.tokens.len();
        self.tokens.extend(sequence);
        self.rows.push(self.tokens.len() - start);
    }

    /// The number of sequences.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All tokens, sequence after sequence.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// All tokens, to be changed in place.
    pub fn tokens_mut(&mut self) -> &mut [TokenId] {
        &mut self.tokens
    }

    /// Where the sequences stand among all tokens.
    pub fn rows(&self) -> &Ragged {
        &self.rows
    }

    /// One sequence.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[TokenId] {
        &self.tokens[self.rows.range(row)]
    }

    /// The sequences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[TokenId]> {
        self.rows.ranges().map(|range| &self.tokens[range])
    }
}

impl<S: IntoIterator<Item = TokenId>> FromIterator<S> for RaggedTokens {
    fn from_iter<I: IntoIterator<Item = S>>(sequences: I) -> Self {
        let mut all = Self::default();
        sequences.into_iter().for_each(|sequence| all.push(sequence));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_one_after_the_other() {
        let rows = Ragged::new([2, 0, 3]);
        assert_eq!(rows.ranges().collect::<Vec<_>>(), [0..2, 2..2, 2..5]);
        assert_eq!(rows.owners(), [0, 0, 2, 2, 2]);
        assert_eq!((rows.tokens(), rows.longest(), rows.len()), (5, 3, 3));
        assert_eq!(rows.groups(2).first(), Some(&(0..3)));
        assert_eq!(Ragged::new([4, 4, 4, 4]).groups(2), [0..2, 2..4]);
        assert!(Ragged::new([]).groups(2).is_empty());
    }

    #[test]
    fn sequences_are_kept_in_order() {
        let ids = |ids: &[u32]| ids.iter().map(|&id| TokenId(id)).collect::<Vec<_>>();
        let mut batch: RaggedTokens = [ids(&[5, 6]), ids(&[])].into_iter().collect();
        batch.push(ids(&[7]));
        assert_eq!(batch.iter().collect::<Vec<_>>(), [ids(&[5, 6]), ids(&[]), ids(&[7])]);
        assert_eq!((batch.row(2), batch.rows().ends()), (&ids(&[7])[..], &[2, 2, 3][..]));
        batch.tokens_mut()[2] = TokenId(8);
        assert_eq!(batch.tokens(), ids(&[5, 6, 8]));
    }
}
