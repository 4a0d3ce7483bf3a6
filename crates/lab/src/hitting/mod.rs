//! Hitting times: how long until a chain reaches a mode, exactly.
//!
//! [`Hitting`] holds a chain, a start and a target. Its expectation comes from a subtraction-free
//! elimination ([`crate::gth`]), its distribution from doubling; both are right to many digits at
//! any coupling, also when the answer is e⁷⁸⁰ steps.

mod clique;
mod law;
mod sweep;

pub use clique::{Update, clique_escape, clique_hitting};
pub use sweep::SweepHitting;

use crate::chain::{ChainError, Matrix};
use crate::gth::absorb;
use crate::wide::Wide;

/// A chain on its way to a target.
#[derive(Clone, Debug)]
pub struct Hitting {
    matrix: Matrix<Wide>,
    target: Vec<bool>,
    start: usize,
}

impl Hitting {
    /// A chain, where it starts, and the states it is to reach.
    ///
    /// # Panics
    /// If there is not one flag per state, or the start is no state.
    pub fn new(matrix: Matrix<Wide>, start: usize, target: Vec<bool>) -> Self {
        assert!(target.len() == matrix.size() && start < matrix.size(), "one flag per state");
        Self { matrix, target, start }
    }

    /// The same chain with another start and target.
    fn towards(&self, start: usize, target: Vec<bool>) -> Self {
        Self::new(self.matrix.clone(), start, target)
    }

    /// The largest t with P(T ≤ t) < `level`: for so many steps the target is missed with
    /// probability more than 1 − `level`.
    ///
    /// # Panics
    /// If the level does not lie in (0, 1).
    pub fn safe_steps(&self, level: f64) -> Wide {
        let first = self.quantiles(&[level])[0];
        let steps = first.to_f64();
        // Beyond 2⁵³ one step is below the last digit.
        if steps < 9e15 { Wide::new((steps - 1.0).max(0.0)) } else { first }
    }

    /// The expected number of steps from every state.
    ///
    /// # Errors
    /// If the target cannot be reached.
    pub fn expected_from_all(&self) -> Result<Vec<Wide>, ChainError> {
        let ones = vec![Wide::ONE; self.matrix.size()];
        absorb(&self.matrix, &self.target, &ones)
            .ok_or(ChainError::Unfit("the target cannot be reached from every state"))
    }

    /// The expected number of steps E T.
    ///
    /// # Errors
    /// If the target cannot be reached.
    pub fn expected(&self) -> Result<Wide, ChainError> {
        Ok(self.expected_from_all()?[self.start])
    }

    /// E T and the standard deviation of T.
    ///
    /// E T² solves s = (1 + 2 Q t) + Q s, with Q t formed as a sum.
    ///
    /// # Errors
    /// If the target cannot be reached.
    pub fn moments(&self) -> Result<(Wide, Wide), ChainError> {
        let times = self.expected_from_all()?;
        let after = self.matrix.pull(&times);
        let side: Vec<Wide> = after.iter().map(|&t| Wide::ONE + t + t).collect();
        let second = absorb(&self.matrix, &self.target, &side)
            .ok_or(ChainError::Unfit("the target cannot be reached from every state"))?;
        let mean = times[self.start];
        if mean.is_zero() {
            return Ok((mean, Wide::ZERO));
        }
        // Var T / (E T)²: a number of order one, so that the subtraction is harmless.
        let relative = (second[self.start] / mean / mean).to_f64() - 1.0;
        Ok((mean, mean * Wide::new(relative.max(0.0).sqrt())))
    }
}
