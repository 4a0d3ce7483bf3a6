//! The exact law of a randomised procedure: run it through every outcome.
//!
//! A procedure that takes its decisions from a [`Chance`] is a tree; [`exact_law`] walks its
//! leaves by running it again and again, each time along the next path, and adds up the
//! probability of what it returns. The cost is the number of leaves.

use std::collections::BTreeMap;

use padir_base::denoise::Candidate;
use padir_base::mask::{Mask, MaskContext, MaskLaw};

use crate::chance::{Chance, ChanceError};

/// One decision on a path.
#[derive(Clone, Debug)]
struct Decision {
    taken: usize,
    options: Vec<f64>,
}

/// A path through all decisions, with its probability.
#[derive(Clone, Debug)]
pub struct Replay {
    path: Vec<Decision>,
    depth: usize,
    probability: f64,
    cutoff: f64,
}

/// What can happen, with probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLaw<T> {
    /// The probability of each outcome.
    pub outcomes: BTreeMap<T, f64>,
    /// The probability of paths that were cut off.
    pub cut: f64,
}

/// The law of what `run` returns, over all decisions it takes.
///
/// Paths are followed while their probability is at least `cutoff`; 0 follows all, which a
/// procedure with a loop of no certain end does not survive.
///
/// # Errors
/// If `run` fails other than by [`ChanceError::Unlikely`], which `is_cut` recognises.
pub fn exact_law<T: Ord, E>(
    cutoff: f64,
    mut run: impl FnMut(&mut Replay) -> Result<T, E>,
    is_cut: impl Fn(&E) -> bool,
) -> Result<ExactLaw<T>, E> {
    let mut law = ExactLaw { outcomes: BTreeMap::new(), cut: 0.0 };
    let mut replay = Replay { path: Vec::new(), depth: 0, probability: 1.0, cutoff };
    loop {
        replay.depth = 0;
        replay.probability = 1.0;
        match run(&mut replay) {
            Ok(outcome) => *law.outcomes.entry(outcome).or_insert(0.0) += replay.probability,
            Err(error) if is_cut(&error) => law.cut += replay.probability,
            Err(error) => return Err(error),
        }
        replay.path.truncate(replay.depth);
        if !replay.advance() {
            return Ok(law);
        }
    }
}

impl Replay {
    /// Takes a decision: as on the path, or the first option where the path ends.
    fn decide(&mut self, options: impl FnOnce() -> Vec<f64>) -> Result<usize, ChanceError> {
        if self.depth == self.path.len() {
            let options = options();
            let taken = options.iter().position(|&p| p > 0.0);
            let taken = taken.ok_or(ChanceError::NoCandidate(self.depth))?;
            self.path.push(Decision { taken, options });
        }
        let decision = &self.path[self.depth];
        self.probability *= decision.options[decision.taken];
        self.depth += 1;
        if self.probability < self.cutoff { Err(ChanceError::Unlikely) } else { Ok(decision.taken) }
    }

    /// Moves on to the next path; false if there is none.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.path.last_mut() {
            let next = (last.taken + 1..last.options.len()).find(|&i| last.options[i] > 0.0);
            if let Some(next) = next {
                last.taken = next;
                return true;
            }
            self.path.pop();
        }
        false
    }
}

impl Chance for Replay {
    fn mask(
        &mut self,
        _: usize,
        law: &MaskLaw,
        mask_context: &MaskContext<'_>,
    ) -> Result<Mask, ChanceError> {
        let sets: Vec<(Mask, f64)> = law.enumerate(mask_context)?.collect();
        let taken = self.decide(|| sets.iter().map(|&(_, p)| p).collect())?;
        Ok(sets[taken].0.clone())
    }

    fn candidate(&mut self, _: usize, candidates: &[Candidate]) -> Result<usize, ChanceError> {
        self.decide(|| {
            let total: f64 = candidates.iter().map(|c| c.log_prob.exp()).sum();
            candidates.iter().map(|c| c.log_prob.exp() / total).collect()
        })
    }

    fn accept(&mut self, _: usize, p: f64) -> Result<bool, ChanceError> {
        Ok(self.decide(|| vec![p, 1.0 - p])? == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dice_and_a_loop() {
        let die: Vec<Candidate> =
            (1..=6).map(|i| Candidate { token: padir_base::TokenId(i), log_prob: 0.0 }).collect();
        let law = exact_law(
            0.0,
            |chance| {
                let first = chance.candidate(0, &die)?;
                Ok::<_, ChanceError>(first + chance.candidate(0, &die)? + 2)
            },
            |_| false,
        )
        .unwrap();
        assert!((law.outcomes[&7] - 6.0 / 36.0).abs() < 1e-15);
        assert!((law.outcomes[&2] - 1.0 / 36.0).abs() < 1e-15);

        // Tosses until the first head: geometric, cut where it hardly matters.
        let law = exact_law(
            1e-6,
            |chance| {
                let mut tosses = 1;
                while !chance.accept(0, 0.5)? {
                    tosses += 1;
                }
                Ok::<_, ChanceError>(tosses)
            },
            |e: &ChanceError| *e == ChanceError::Unlikely,
        )
        .unwrap();
        assert!((law.outcomes[&3] - 0.125).abs() < 1e-15);
        let total: f64 = law.outcomes.values().sum::<f64>() + law.cut;
        assert!((total - 1.0).abs() < 1e-12 && law.cut < 1e-5);
    }
}
