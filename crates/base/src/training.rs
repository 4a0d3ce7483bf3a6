//! What parallel models were trained for: which decoding methods fit depends on it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The objective of a parallel model, by its name in configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelTraining {
    /// Multi-stage refinement of corrupted targets.
    #[default]
    Padir,
    /// A conditional masked language model: masked tokens from the others.
    Cmlm,
    /// The same on its own predictions.
    Smart,
    /// Unrolled denoising of uniform noise.
    Sundae,
    /// All tokens in one pass.
    Nat,
    /// All tokens in several unrolled passes.
    Inat,
    /// Every token from a random set of others.
    Disco,
    /// Alignments of the target with slots, by their marginal likelihood.
    Ctc,
}

impl ParallelTraining {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Padir,
        Self::Cmlm,
        Self::Smart,
        Self::Sundae,
        Self::Nat,
        Self::Inat,
        Self::Disco,
        Self::Ctc,
    ];

    /// All names, for messages.
    pub const CHOICES: &str =
        r#""padir", "cmlm", "smart", "sundae", "nat", "inat", "disco" or "ctc""#;

    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Padir => "padir",
            Self::Cmlm => "cmlm",
            Self::Smart => "smart",
            Self::Sundae => "sundae",
            Self::Nat => "nat",
            Self::Inat => "inat",
            Self::Disco => "disco",
            Self::Ctc => "ctc",
        }
    }

    /// Whether what is to be predicted was masked in training; otherwise it was random.
    pub fn starts_from_masks(self) -> bool {
        !matches!(self, Self::Padir | Self::Sundae)
    }
}

impl fmt::Display for ParallelTraining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_configurations() {
        for training in ParallelTraining::ALL {
            let json = serde_json::to_string(&training).unwrap();
            assert_eq!(json, format!("{:?}", training.name()));
            assert!(ParallelTraining::CHOICES.contains(&json), "{json}");
        }
    }
}
