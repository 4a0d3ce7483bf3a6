//! A mask law over an enumerated space: every block with its weight p(K | x).

use std::collections::BTreeMap;

use padir_base::mask::{LawError, MaskContext, MaskLaw};
use thiserror::Error;

use super::schedule::schedule_length;
use crate::space::Space;

/// A chain or mask law that cannot be analysed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ChainError {
    /// The mask law makes no sense.
    #[error(transparent)]
    Law(#[from] LawError),
    /// A block size outside of 1..=N.
    #[error("k = {k} is not between 1 and N = {sites}")]
    Size {
        /// The block size.
        k: usize,
        /// N.
        sites: usize,
    },
    /// The analysis would take too much memory.
    #[error("{what} over {states} states needs {gigabytes:.1} GB; the limit is {limit:.1} GB")]
    Memory {
        /// What needs it.
        what: &'static str,
        /// The number of states.
        states: usize,
        /// How much.
        gigabytes: f64,
        /// How much there may be.
        limit: f64,
    },
    /// The probabilities span more than a float can.
    #[error(
        "the probabilities span e^{span:.0}, more than the e^700 a float holds; the matrix-free operator cannot represent them"
    )]
    Span {
        /// ln of the largest over the smallest positive probability.
        span: f64,
    },
    /// The law changes from step to step.
    #[error(
        "the mask law follows a schedule of {0} steps; it is a different law at each of them, which only `decay` and `sample` can follow"
    )]
    Scheduled(usize),
    /// The chain does not have what was asked for.
    #[error("{0}")]
    Unfit(&'static str),
}

/// p(K | x) for one block K.
#[derive(Clone, Debug, PartialEq)]
pub enum Weight {
    /// The same for all states.
    Same(f64),
    /// State by state.
    PerState(Vec<f64>),
}

impl Weight {
    /// p(K | x).
    #[inline]
    pub fn of(&self, state: usize) -> f64 {
        match self {
            Self::Same(weight) => *weight,
            Self::PerState(weights) => weights[state],
        }
    }
}

/// A block as a bit pattern, and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockEntry {
    /// The sites.
    pub block: u64,
    /// p(K | x).
    pub weight: Weight,
}

/// Every block of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    space: Space,
    entries: Vec<BlockEntry>,
}

/// The most memory an enumerated adaptive law may take.
const MOST_BYTES: f64 = 2e9;

impl Blocks {
    /// Enumerates a law over a space.
    ///
    /// # Errors
    /// If the law makes no sense here, hides nothing for certain, or has too many sets.
    pub fn of(law: &MaskLaw, space: Space) -> Result<Self, ChainError> {
        let sites = space.sites();
        if let MaskLaw::Exactly { k } = *law
            && !(1..=sites).contains(&k)
        {
            return Err(ChainError::Size { k, sites });
        }
        if let Some(steps) = schedule_length(law) {
            return Err(ChainError::Scheduled(steps));
        }
        let entries = if law.is_adaptive() { adaptive(law, space)? } else { fixed(law, sites)? };
        Ok(Self { space, entries })
    }

    /// The space.
    pub fn space(&self) -> Space {
        self.space
    }

    /// The blocks in a fixed order.
    pub fn entries(&self) -> &[BlockEntry] {
        &self.entries
    }

    /// Whether some p(K | x) depends on x.
    pub fn is_adaptive(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.weight, Weight::PerState(_)))
    }
}

fn fixed(law: &MaskLaw, sites: usize) -> Result<Vec<BlockEntry>, ChainError> {
    let sets = law.enumerate(&MaskContext::of_length(sites))?;
    let bytes = sets.support() * 64.0;
    check_memory("enumerating the mask law", 1, bytes)?;
    Ok(sets.map(|(set, p)| BlockEntry { block: set.bits(), weight: Weight::Same(p) }).collect())
}

fn adaptive(law: &MaskLaw, space: Space) -> Result<Vec<BlockEntry>, ChainError> {
    let mut blocks: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for state in 0..space.size() {
        let tokens = space.tokens_of(state);
        for (set, p) in law.enumerate(&MaskContext::of_tokens(&tokens))? {
            let known = blocks.len();
            let weights = match blocks.entry(set.bits()) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let bytes = (known + 1) as f64 * space.size() as f64 * 8.0;
                    check_memory("an adaptive mask law", space.size(), bytes)?;
                    entry.insert(vec![0.0; space.size()])
                }
            };
            weights[state] += p;
        }
    }
    let entry = |(block, weights)| BlockEntry { block, weight: Weight::PerState(weights) };
    Ok(blocks.into_iter().map(entry).collect())
}

pub(crate) fn check_memory(
    what: &'static str,
    states: usize,
    bytes: f64,
) -> Result<(), ChainError> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let (gigabytes, limit) = (bytes * 1e-9, MOST_BYTES * 1e-9);
    Err(ChainError::Memory { what, states, gigabytes, limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use padir_base::TokenId;
    use padir_base::mask::Case;

    #[test]
    fn adaptive_weights_sum_to_one_in_every_state() {
        let law = MaskLaw::Adaptive {
            cases: vec![Case {
                when: vec![TokenId(1), TokenId(0), TokenId(1)],
                then: MaskLaw::All,
            }],
            otherwise: Box::new(MaskLaw::Exactly { k: 2 }),
        };
        let space = Space::new(3, 2).unwrap();
        let blocks = Blocks::of(&law, space).unwrap();
        assert!(blocks.is_adaptive());
        for x in 0..8 {
            let sum: f64 = blocks.entries().iter().map(|e| e.weight.of(x)).sum();
            assert!((sum - 1.0).abs() < 1e-14, "state {x}");
        }
    }

    #[test]
    fn block_sizes_out_of_range_are_named() {
        let space = Space::new(3, 2).unwrap();
        for k in [0, 4] {
            let error = Blocks::of(&MaskLaw::Exactly { k }, space).unwrap_err();
            assert_eq!(error.to_string(), format!("k = {k} is not between 1 and N = 3"));
        }
    }
}
