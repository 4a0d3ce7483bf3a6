//! Batches whose throughput is measured.
//!
//! A translator decodes a source once, however often it stands in a batch. Tokens of its copies would be counted though
//! nobody worked for them, so no batch holds a source twice.

use std::collections::{BTreeSet, HashSet};

use padir_base::TokenId;

/// Sizes of batches, and the sentences that fill them.
pub(super) struct Batches {
    /// Sentences of which no two have the same source.
    sentences: Vec<usize>,
    /// Sizes that the sentences can fill, smaller ones first.
    pub(super) sizes: Vec<usize>,
    /// Sizes that were asked for and are too large.
    pub(super) left_out: Vec<usize>,
}

impl Batches {
    pub(super) fn new(asked: &[usize], sources: &[Vec<TokenId>]) -> Self {
        let mut known = HashSet::new();
        let sentences: Vec<usize> =
            (0..sources.len()).filter(|&i| known.insert(&sources[i])).collect();
        let asked: BTreeSet<usize> = asked.iter().copied().filter(|&size| size > 0).collect();
        let (sizes, left_out) = asked.into_iter().partition(|&size| size <= sentences.len());
        Self { sentences, sizes, left_out }
    }

    /// Batches of a size, without an end: each goes on where the last one stopped.
    pub(super) fn of(&self, size: usize) -> impl Iterator<Item = Vec<usize>> {
        let mut sentences = self.sentences.iter().copied().cycle();
        std::iter::repeat_with(move || sentences.by_ref().take(size).collect::<Vec<usize>>())
    }

    /// What there is to say about sizes that are left out.
    pub(super) fn remark(&self) -> Option<String> {
        let sizes: Vec<String> = self.left_out.iter().map(ToString::to_string).collect();
        let count = self.sentences.len();
        (!sizes.is_empty()).then(|| {
            format!(
                "left out batches of {}: too few different sentences ({count}); raise --sentences",
                sizes.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources of one token each.
    fn sources(ids: &[u32]) -> Vec<Vec<TokenId>> {
        ids.iter().map(|&id| vec![TokenId(id), TokenId::EOS]).collect()
    }

    #[test]
    fn no_source_stands_twice_in_a_batch() {
        let batches = Batches::new(&[2], &sources(&[7, 8, 7, 9, 8]));
        let first: Vec<Vec<usize>> = batches.of(2).take(4).collect();
        assert_eq!(first, [[0, 1], [3, 0], [1, 3], [0, 1]]);
        let whole: Vec<Vec<usize>> = batches.of(3).take(2).collect();
        assert_eq!(whole, [[0, 1, 3], [0, 1, 3]]);
    }

    #[test]
    fn sizes_that_cannot_be_filled_are_left_out_and_told() {
        let batches = Batches::new(&[64, 3, 1, 0, 4, 1], &sources(&[7, 8, 7, 9, 8]));
        assert_eq!(batches.sizes, [1, 3]);
        assert_eq!(batches.left_out, [4, 64]);
        let remark = batches.remark().unwrap();
        assert!(remark.starts_with("left out batches of 4, 64: "), "{remark}");
        assert!(remark.contains("(3)"), "{remark}");
        assert_eq!(Batches::new(&[0, 3], &sources(&[7, 8, 9])).remark(), None);
    }
}
