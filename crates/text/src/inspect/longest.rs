//! The longest lines of a corpus.

use serde::Serialize;

/// How many are kept.
const KEPT: usize = 5;

/// How much of each is kept, in characters.
const START: usize = 60;

/// A long line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongLine {
    /// Which pair, from 1.
    pub pair: u64,
    /// Its length.
    pub characters: usize,
    /// How it begins.
    pub start: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Longest {
    lines: Vec<LongLine>,
}

impl Longest {
    pub(super) fn add(&mut self, pair: u64, characters: usize, text: &str) {
        let enough = self.lines.len() == KEPT;
        if enough && self.lines.last().is_some_and(|last| key(last) <= rank(characters, pair)) {
            return;
        }
        let start = text.chars().take(START).collect();
        self.insert(LongLine { pair, characters, start });
    }

    pub(super) fn merge(&mut self, other: Self) {
        other.lines.into_iter().for_each(|line| self.insert(line));
    }

    pub(super) fn finish(self) -> Vec<LongLine> {
        self.lines
    }

    fn insert(&mut self, line: LongLine) {
        let place = self.lines.partition_point(|other| key(other) < key(&line));
        self.lines.insert(place, line);
        self.lines.truncate(KEPT);
    }
}

/// Longer lines first, earlier ones first among equals.
fn rank(characters: usize, pair: u64) -> (std::cmp::Reverse<usize>, u64) {
    (std::cmp::Reverse(characters), pair)
}

fn key(line: &LongLine) -> (std::cmp::Reverse<usize>, u64) {
    rank(line.characters, line.pair)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_longest_of_a_sorted_list(lengths in prop::collection::vec(0_usize..20, 0..40), cut in 0_usize..40) {
            let mut parts = [Longest::default(), Longest::default()];
            for (index, &length) in lengths.iter().enumerate() {
                parts[usize::from(index < cut)].add(index as u64, length, "");
            }
            let [mut all, other] = parts;
            all.merge(other);
            let mut expected: Vec<(usize, u64)> =
                lengths.iter().enumerate().map(|(i, &length)| (length, i as u64)).collect();
            expected.sort_by_key(|&(length, pair)| rank(length, pair));
            expected.truncate(KEPT);
            let found: Vec<(usize, u64)> =
                all.finish().iter().map(|line| (line.characters, line.pair)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
