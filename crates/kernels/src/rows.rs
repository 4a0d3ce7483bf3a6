//! Ragged batches: rows of different lengths, one after the other, without padding.

use std::ops::Range;

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
}
