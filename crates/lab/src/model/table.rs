//! Any distribution over a small space, given state by state.

use super::ModelError;
use crate::graph::Edge;
use crate::space::Space;

/// A table of probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    space: Space,
    probabilities: Vec<f64>,
}

/// How far from one the sum of a table may lie; what is left is rounding in its last digits.
const TOLERANCE: f64 = 1e-9;

/// Mixed differences of ln p below this are rounding.
const ROUNDING: f64 = 1e-11;

impl Table {
    /// A distribution from the probability of every state, in the order of [`Space`].
    ///
    /// # Errors
    /// If a probability is negative or not finite, or they do not sum to one.
    pub fn new(space: Space, probabilities: Vec<f64>) -> Result<Self, ModelError> {
        if probabilities.len() != space.size() {
            return Err(ModelError::Length {
                what: "probabilities",
                found: probabilities.len(),
                expected: space.size(),
                of: "states",
            });
        }
        for (state, &value) in probabilities.iter().enumerate() {
            if !(0.0..=1.0).contains(&value) {
                return Err(ModelError::Probability { state, value });
            }
        }
        let sum: f64 = probabilities.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(ModelError::Sum(sum));
        }
        Ok(Self { space, probabilities })
    }

    /// The space.
    pub fn space(&self) -> Space {
        self.space
    }

    /// The pairs of sites that are not independent given all others: ln p has a mixed difference that
    /// is not zero, up to rounding. Where a state is impossible the pair counts as dependent.
    pub(super) fn interactions(&self) -> Vec<Edge> {
        let sites = self.space.sites();
        let pairs = (0..sites).flat_map(|a| (0..a).map(move |b| Edge(b, a)));
        pairs.filter(|&Edge(a, b)| self.interact(a, b)).collect()
    }

    fn interact(&self, a: usize, b: usize) -> bool {
        let log = |state: usize| self.probabilities[state].ln();
        let groups = self.space.groups(1 << a | 1 << b);
        let symbols = 1..self.space.symbols();
        let (one, other) = (self.space.stride(a), self.space.stride(b));
        groups.into_iter().any(|g| {
            symbols.clone().any(|s| {
                symbols.clone().any(|t| {
                    let mixed = log(g) + log(g + s * one + t * other)
                        - log(g + s * one)
                        - log(g + t * other);
                    // Also true if that is not a number.
                    mixed.abs().partial_cmp(&ROUNDING) != Some(std::cmp::Ordering::Less)
                })
            })
        })
    }

    pub(super) fn log_probabilities(&self) -> Vec<f64> {
        self.probabilities.iter().map(|p| p.ln()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of three spins, and the same with one impossible state.
    #[test]
    fn a_table_knows_who_interacts() {
        use crate::graph::Shape;
        use crate::model::{Ising, Model};
        let chain = Ising::uniform(3, &Shape::Chain { periodic: false }, 0.3, 0.7).unwrap();
        let mut p = Model::Ising(chain).enumerate().unwrap().probs();
        let space = Space::new(3, 2).unwrap();
        let of = |p: &[f64]| Table::new(space, p.to_vec()).unwrap().interactions();
        assert_eq!(of(&p), [Edge(0, 1), Edge(1, 2)]);
        p[1] += p[7];
        p[7] = 0.0;
        assert_eq!(of(&p), [Edge(0, 1), Edge(0, 2), Edge(1, 2)]);
    }

    #[test]
    fn tables_must_be_distributions() {
        let space = Space::new(1, 3).unwrap();
        let table = |p: &[f64]| Table::new(space, p.to_vec()).map_err(|e| e.to_string());
        assert!(table(&[0.5, 0.25, 0.25]).is_ok());
        let cases: [(&[f64], &str); 4] = [
            (&[0.5, 0.5], "probabilities has 2 entries, but there are 3 states"),
            (&[0.5, 0.25, 0.5], "the probabilities sum to 1.25, not to 1"),
            (&[1.0, -0.5, 0.5], "the probability of state 1 is -0.5; it must lie between 0 and 1"),
            (
                &[f64::NAN, 0.5, 0.5],
                "the probability of state 0 is NaN; it must lie between 0 and 1",
            ),
        ];
        for (probabilities, message) in cases {
            assert_eq!(table(probabilities).unwrap_err(), message);
        }
    }
}
