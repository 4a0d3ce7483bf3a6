//! What two corpora have in common: a test set that was trained on proves nothing.

use std::cmp::Ordering;

use serde::Serialize;

use super::Inspection;

/// Lines of one corpus that occur in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// The corpus whose lines are counted, by its place from 0.
    pub of: usize,
    /// The corpus they are looked up in, by its place from 0.
    pub within: usize,
    /// Pairs found there.
    pub pairs: u64,
    /// Sources found there.
    pub sources: u64,
    /// Targets found there.
    pub targets: u64,
}

/// For every two corpora, how many lines of the one occur in the other, both ways.
pub fn overlaps(corpora: &[Inspection]) -> Vec<Overlap> {
    let mut all = Vec::new();
    for of in 0..corpora.len() {
        for within in (0..corpora.len()).filter(|&within| within != of) {
            all.push(overlap(corpora, of, within));
        }
    }
    all
}

fn overlap(corpora: &[Inspection], of: usize, within: usize) -> Overlap {
    let (lines, others) = (&corpora[of].fingerprints, &corpora[within].fingerprints);
    Overlap {
        of,
        within,
        pairs: found(&lines.pairs, &others.pairs),
        sources: found(&lines.sources, &others.sources),
        targets: found(&lines.targets, &others.targets),
    }
}

/// How many of the first sorted list, repetitions included, are in the second.
fn found(lines: &[u64], others: &[u64]) -> u64 {
    let mut count = 0;
    let mut others = others.iter().peekable();
    for line in lines {
        while let Some(other) = others.peek() {
            match (*other).cmp(line) {
                Ordering::Less => others.next(),
                Ordering::Equal => {
                    count += 1;
                    break;
                }
                Ordering::Greater => break,
            };
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lookup_in_a_sorted_list(
            mut lines in prop::collection::vec(0_u64..30, 0..50),
            mut others in prop::collection::vec(0_u64..30, 0..50),
        ) {
            lines.sort_unstable();
            others.sort_unstable();
            let expected = lines.iter().filter(|line| others.contains(line)).count() as u64;
            prop_assert_eq!(found(&lines, &others), expected);
        }
    }
}
