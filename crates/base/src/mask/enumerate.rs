//! Every set a law can hide, with its probability.
//!
//! The support of a rate is 2ᴺ sets, of a count C(N, k); nothing is stored, sets are made as they
//! are asked for.

use super::law::Resolved;
use super::{Block, Mask};

/// A lazy list of (set, probability), each set once, probabilities summing to one.
#[derive(Clone, Debug)]
pub struct Enumeration<'a> {
    support: f64,
    walk: Walk<'a>,
}

#[derive(Clone, Debug)]
enum Walk<'a> {
    Fixed(Option<Mask>),
    /// Subsets by size, then in lexicographic order of their positions.
    Subsets {
        len: usize,
        last: usize,
        next: Option<Vec<usize>>,
        weight: Weight,
    },
    /// Blocks from an index on; equal sets are merged into the first of them.
    Blocks {
        len: usize,
        blocks: &'a [Block],
        total: f64,
        index: usize,
    },
}

/// The probability of a set of size k.
#[derive(Clone, Copy, Debug)]
enum Weight {
    /// rᵏ(1−r)ᴺ⁻ᵏ
    Rate(f64),
    /// 1 / (number of sizes · C(N, k))
    Sizes(usize),
}

impl<'a> Enumeration<'a> {
    pub(super) fn new(law: Resolved<'a>) -> Self {
        let (support, walk) = match law {
            Resolved::Fixed(mask) => (1.0, Walk::Fixed(Some(mask))),
            Resolved::Rate { len, rate: 0.0 } => (1.0, Walk::Fixed(Some(Mask::none(len)))),
            Resolved::Rate { len, rate: 1.0 } => (1.0, Walk::Fixed(Some(Mask::all(len)))),
            Resolved::Rate { len, rate } => {
                (2_f64.powi(len as i32), Walk::subsets(len, 0, len, Weight::Rate(rate)))
            }
            Resolved::Sizes { len, low, high } => (
                (low..=high).map(|k| choose(len, k)).sum(),
                Walk::subsets(len, low, high, Weight::Sizes(high - low + 1)),
            ),
            Resolved::Blocks { len, blocks, total } => {
                let walk = Walk::Blocks { len, blocks, total, index: 0 };
                ((0..blocks.len()).filter(|&i| is_first(blocks, i)).count() as f64, walk)
            }
        };
        Self { support, walk }
    }

    /// The number of sets there are in all, as a float because it may be astronomical.
    pub fn support(&self) -> f64 {
        self.support
    }
}

impl Iterator for Enumeration<'_> {
    type Item = (Mask, f64);

    fn next(&mut self) -> Option<(Mask, f64)> {
        match &mut self.walk {
            Walk::Fixed(mask) => mask.take().map(|mask| (mask, 1.0)),
            Walk::Subsets { len, last, next, weight } => {
                let subset = next.take()?;
                let mask = Mask::of(*len, subset.iter().copied());
                let probability = weight.of(*len, subset.len());
                *next = successor(subset, *len, *last);
                Some((mask, probability))
            }
            Walk::Blocks { len, blocks, total, index } => {
                let first = (*index..blocks.len()).find(|&i| is_first(blocks, i))?;
                *index = first + 1;
                let mask = mask_of(*len, &blocks[first]);
                let weight: f64 = (first..blocks.len())
                    .filter(|&i| same_set(&blocks[i], &blocks[first]))
                    .map(|i| blocks[i].weight)
                    .sum();
                Some((mask, weight / *total))
            }
        }
    }
}

impl Walk<'_> {
    fn subsets(len: usize, first: usize, last: usize, weight: Weight) -> Self {
        Self::Subsets { len, last, next: Some((0..first).collect()), weight }
    }
}

impl Weight {
    fn of(self, len: usize, k: usize) -> f64 {
        match self {
            Self::Rate(rate) => rate.powi(k as i32) * (1.0 - rate).powi((len - k) as i32),
            Self::Sizes(sizes) => 1.0 / (sizes as f64 * choose(len, k)),
        }
    }
}

/// The next subset of 0..len: the same size while there is one, then a larger one.
fn successor(mut subset: Vec<usize>, len: usize, last: usize) -> Option<Vec<usize>> {
    let k = subset.len();
    for i in (0..k).rev() {
        if subset[i] < len - k + i {
            let start = subset[i] + 1;
            for (offset, position) in subset[i..].iter_mut().enumerate() {
                *position = start + offset;
            }
            return Some(subset);
        }
    }
    (k < last).then(|| (0..=k).collect())
}

/// Whether block `i` has weight and is the first with its set.
fn is_first(blocks: &[Block], i: usize) -> bool {
    blocks[i].weight > 0.0 && !blocks[..i].iter().any(|b| b.weight > 0.0 && same_set(b, &blocks[i]))
}

fn same_set(a: &Block, b: &Block) -> bool {
    a.positions.len() == b.positions.len() && a.positions.iter().all(|i| b.positions.contains(i))
}

fn mask_of(len: usize, block: &Block) -> Mask {
    Mask::of(len, block.positions.iter().copied())
}

/// C(n, k), exact while it fits 53 bits.
fn choose(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| (product * (n - i) as f64 / (i + 1) as f64).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_coefficients_are_exact() {
        let cases = [(0, 0, 1.0), (5, 2, 10.0), (10, 10, 1.0), (52, 5, 2_598_960.0)];
        for (n, k, expected) in cases {
            assert!((choose(n, k) - expected).abs() < 0.5, "C({n}, {k})");
        }
        // Rounding between the steps keeps large ones exact: C(50, 25), OEIS A000984.
        assert!((choose(50, 25) - 126_410_606_437_752.0).abs() < 0.5);
    }

    #[test]
    fn successors_walk_all_subsets() {
        let mut next = Some(Vec::new());
        let mut seen = Vec::new();
        while let Some(subset) = next {
            seen.push(subset.clone());
            next = successor(subset, 3, 3);
        }
        let expected: [&[usize]; 8] =
            [&[], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        assert_eq!(seen, expected);
    }
}
