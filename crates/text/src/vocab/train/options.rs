//! The settings of a training.

use serde::{Deserialize, Serialize};

use super::TrainError;
use crate::vocab::SENTINELS;

/// How a vocabulary is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainOptions {
    /// The number of pieces, the four reserved ones included, sentinels not.
    pub size: usize,
    /// The number of sentinels after the pieces.
    pub sentinels: u32,
    /// The share of character occurrences that the alphabet must cover.
    pub coverage: f64,
    /// Whether characters outside of the alphabet are spelt as bytes.
    pub byte_fallback: bool,
    /// The number of substrings the search starts from.
    pub seed_size: usize,
    /// The share of pieces that survives a pruning.
    pub shrink: f64,
    /// Steps of expectation and maximisation before each pruning.
    pub em_steps: usize,
    /// The longest piece in characters.
    pub longest_piece: usize,
    /// The longest line in bytes; longer ones are left out and counted.
    pub longest_line: usize,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            size: 8000,
            sentinels: SENTINELS,
            coverage: 0.9995,
            byte_fallback: false,
            seed_size: 1_000_000,
            shrink: 0.75,
            em_steps: 2,
            longest_piece: 16,
            longest_line: 100_000,
        }
    }
}

impl TrainOptions {
    /// Whether the options make sense.
    pub(super) fn check(&self) -> Result<(), TrainError> {
        let ranges = [
            ("the vocabulary size", self.size as f64, 5.0, 16_777_216.0),
            ("the number of sentinels", f64::from(self.sentinels), 0.0, 65_536.0),
            ("the character coverage", self.coverage, 0.5, 1.0),
            ("the number of seeds", self.seed_size as f64, 100.0, 1e8),
            ("the shrinking factor", self.shrink, 0.1, 0.99),
            ("the number of EM steps", self.em_steps as f64, 1.0, 100.0),
            ("the longest piece", self.longest_piece as f64, 1.0, 128.0),
            ("the longest line", self.longest_line as f64, 1.0, 1e9),
        ];
        for (name, found, low, high) in ranges {
            if !(low..=high).contains(&found) {
                return Err(TrainError::Option { name, low, high, found });
            }
        }
        Ok(())
    }
}
