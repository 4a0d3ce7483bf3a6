//! Any distribution over a small space, given state by state.

use super::ModelError;
use crate::space::Space;

/// A table of probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    space: Space,
    probabilities: Vec<f64>,
}

/// How far from one the sum of a table may lie; what is left is rounding in its last digits.
const TOLERANCE: f64 = 1e-9;

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

    pub(super) fn log_probabilities(&self) -> Vec<f64> {
        self.probabilities.iter().map(|p| p.ln()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
