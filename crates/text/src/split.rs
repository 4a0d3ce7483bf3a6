//! Divides a corpus into training, development and test pairs.
//!
//! Two passes. The first gives every pair a key, random or its place in the corpus, and keeps the
//! pairs with the smallest keys; the second streams everything else to the training set in its
//! old order. Memory: the development and test sets, not the corpus.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use padir_base::random::{Purpose, Seed};
use thiserror::Error;

use crate::filter::Forbidden;
use crate::pair::Pair;

/// How the held-out pairs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// At random, by a seed.
    Random(Seed),
    /// From the head of the corpus: first development, then test.
    Head,
}

/// How many pairs are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// For development.
    pub dev: usize,
    /// For the final test.
    pub test: usize,
}

/// Too few pairs to hold out that many.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("cannot hold out {wanted} of {pairs} pairs: only {usable} can be used")]
pub struct TooFew {
    /// Pairs asked for.
    pub wanted: usize,
    /// Pairs in the corpus.
    pub pairs: u64,
    /// Pairs that could be held out.
    pub usable: usize,
}

/// A pair that may be held out. The order is that of its key.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    key: (u64, u64),
    pair: Pair,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first pass: chooses the pairs to hold out.
#[derive(Debug)]
pub struct Chooser {
    by: By,
    sizes: Sizes,
    /// Whether no sentence may be in two of the three parts.
    disjoint: bool,
    seen: u64,
    best: BinaryHeap<Candidate>,
}

impl Chooser {
    /// Prepares the choice.
    pub fn new(by: By, sizes: Sizes, disjoint: bool) -> Self {
        Self { by, sizes, disjoint, seen: 0, best: BinaryHeap::new() }
    }

    fn wanted(&self) -> usize {
        self.sizes.dev.saturating_add(self.sizes.test)
    }

    /// More candidates than needed, because some may share a sentence with others.
    fn room(&self) -> usize {
        let wanted = self.wanted();
        if self.disjoint { wanted.saturating_mul(2).saturating_add(1000) } else { wanted }
    }

    /// Considers the next pair.
    pub fn add(&mut self, pair: &Pair) {
        let index = self.seen;
        self.seen += 1;
        let key = match self.by {
            By::Head => (0, index),
            By::Random(seed) => (seed.stream(Purpose::Splitting, index).next_u64(), index),
        };
        if self.best.len() == self.room() {
            if self.best.peek().is_none_or(|worst| worst.key < key) {
                return;
            }
            self.best.pop();
        }
        self.best.push(Candidate { key, pair: pair.clone() });
    }

    /// Ends the first pass.
    ///
    /// # Errors
    /// When there are too few pairs, or too few without a sentence in common.
    pub fn finish(self) -> Result<Split, TooFew> {
        let (wanted, pairs, disjoint, sizes) =
            (self.wanted(), self.seen, self.disjoint, self.sizes);
        let mut chosen = Chosen { disjoint, ..Chosen::default() };
        for candidate in self.best.into_sorted_vec() {
            if chosen.indices.len() == wanted {
                break;
            }
            chosen.consider(candidate, sizes.dev);
        }
        if chosen.indices.len() < wanted {
            return Err(TooFew { wanted, pairs, usable: chosen.indices.len() });
        }
        let Chosen { dev, test, indices, forbidden, .. } = chosen;
        let [dev, test] = [dev, test].map(in_old_order);
        Ok(Split { dev, test, held_out: indices, forbidden, disjoint, next: 0 })
    }
}

#[derive(Default)]
struct Chosen {
    disjoint: bool,
    dev: Vec<Candidate>,
    test: Vec<Candidate>,
    indices: HashSet<u64>,
    forbidden: Forbidden,
}

impl Chosen {
    /// Takes a candidate, for development as long as there is room.
    fn consider(&mut self, candidate: Candidate, dev: usize) {
        // Repetitions within a part go as well: held-out pairs are few and should be worth it.
        if self.disjoint && self.forbidden.shares(&candidate.pair) {
            return;
        }
        if self.disjoint {
            self.forbidden.insert(&candidate.pair);
        }
        self.indices.insert(candidate.key.1);
        if self.dev.len() < dev { &mut self.dev } else { &mut self.test }.push(candidate);
    }
}

fn in_old_order(mut part: Vec<Candidate>) -> Vec<Pair> {
    part.sort_by_key(|candidate| candidate.key.1);
    part.into_iter().map(|candidate| candidate.pair).collect()
}

/// The second pass: tells the training pairs from the others.
#[derive(Debug)]
pub struct Split {
    /// The development pairs, in the order of the corpus.
    pub dev: Vec<Pair>,
    /// The test pairs, in the order of the corpus.
    pub test: Vec<Pair>,
    held_out: HashSet<u64>,
    forbidden: Forbidden,
    disjoint: bool,
    next: u64,
}

/// Where a pair goes in the second pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Into the training set.
    Train,
    /// It is in the development or test set.
    HeldOut,
    /// Nowhere: it shares a sentence with a pair that is held out.
    Dropped,
}

impl Split {
    /// Where the next pair of the corpus goes. Pairs come in the same order as before.
    pub fn place(&mut self, pair: &Pair) -> Placement {
        let index = self.next;
        self.next += 1;
        if self.held_out.contains(&index) {
            Placement::HeldOut
        } else if self.disjoint && self.forbidden.shares(pair) {
            Placement::Dropped
        } else {
            Placement::Train
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corpus(count: u64) -> Vec<Pair> {
        (0..count).map(|i| Pair::new(format!("s{}", i % 40), format!("t{i}"))).collect()
    }

    fn split(
        pairs: &[Pair],
        by: By,
        sizes: Sizes,
        disjoint: bool,
    ) -> Result<[Vec<Pair>; 3], TooFew> {
        let mut chooser = Chooser::new(by, sizes, disjoint);
        for pair in pairs {
            chooser.add(pair);
        }
        let mut split = chooser.finish()?;
        let mut train = pairs.to_vec();
        train.retain(|pair| split.place(pair) == Placement::Train);
        Ok([train, split.dev, split.test])
    }

    #[test]
    fn the_head_is_taken_in_order() {
        let pairs = corpus(10);
        let [train, dev, test] = split(&pairs, By::Head, Sizes { dev: 2, test: 3 }, false).unwrap();
        assert_eq!((&dev[..], &test[..], &train[..]), (&pairs[..2], &pairs[2..5], &pairs[5..]));
    }

    #[test]
    fn too_much_is_refused() {
        let sizes = Sizes { dev: 8, test: 3 };
        let error = split(&corpus(10), By::Head, sizes, false).unwrap_err();
        assert_eq!(error, TooFew { wanted: 11, pairs: 10, usable: 10 });
        let same: Vec<Pair> = (0..50).map(|_| Pair::new("a", "b")).collect();
        let error = split(&same, By::Head, Sizes { dev: 1, test: 1 }, true).unwrap_err();
        assert_eq!(error.usable, 1);
    }

    #[test]
    fn another_seed_chooses_otherwise() {
        let pairs = corpus(200);
        let dev = |seed| {
            let sizes = Sizes { dev: 20, test: 0 };
            split(&pairs, By::Random(Seed(seed)), sizes, false).unwrap()[1].clone()
        };
        assert_eq!(dev(1), dev(1));
        assert_ne!(dev(1), dev(2));
    }

    #[test]
    fn every_pair_is_chosen_equally_often() {
        let pairs: Vec<Pair> = (0..20).map(|i| Pair::new(format!("{i}"), "")).collect();
        let mut counts = [0_u32; 20];
        for seed in 0..4000 {
            let sizes = Sizes { dev: 5, test: 0 };
            for pair in &split(&pairs, By::Random(Seed(seed)), sizes, false).unwrap()[1] {
                counts[pair.source.parse::<usize>().unwrap()] += 1;
            }
        }
        // 1000 expected, deviation 27: five of them.
        assert!(counts.iter().all(|count| (860..1140).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn parts_make_up_the_corpus_and_share_nothing(
            sources in prop::collection::vec(0_u8..12, 30..80),
            seed in any::<u64>(),
            disjoint in any::<bool>(),
        ) {
            let pairs: Vec<Pair> =
                sources.iter().map(|i| Pair::new(format!("s{i}"), format!("t{}", i / 2))).collect();
            let sizes = Sizes { dev: 2, test: 1 };
            if let Ok([train, dev, test]) = split(&pairs, By::Random(Seed(seed)), sizes, disjoint) {
                prop_assert_eq!((dev.len(), test.len()), (2, 1));
                let total = train.len() + 3;
                let complete = if disjoint { total <= pairs.len() } else { total == pairs.len() };
                prop_assert!(complete);
                if disjoint {
                    for held in dev.iter().chain(&test) {
                        for other in &train {
                            prop_assert!(held.source != other.source && held.target != other.target);
                        }
                    }
                    for held in &dev {
                        prop_assert!(test.iter().all(|t| t.source != held.source && t.target != held.target));
                    }
                }
            }
        }
    }
}
