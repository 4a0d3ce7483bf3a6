//! Mask-predict (Ghazvininejad et al. 2019), as a form of refinement.
//!
//! Start from masks; after step t of T mask the ⌊n(T − t)/T⌋ least probable tokens and predict only those again; other tokens
//! keep their probabilities. Lengths are compared with α = 1, where the original divides by n; the end stays visible.
//!
//! SMART (2020) masks the same positions, but predicts all of them again.

use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::padir::{Initial, RemaskRule, Replacement, Settings, StopRule};
use crate::refine::Input;
use crate::settings::SettingsError;

/// How to mask and predict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaskPredict {
    /// Steps T. All of them are taken.
    pub steps: usize,
    /// Which positions later steps predict.
    pub repredict: Repredict,
    /// Commit by confidence instead of by schedule: a token stays once its probability is at least this, and the most probable one of each step in any case;
    /// none means the schedule. A hypothesis ends when all tokens are committed.
    pub commit: Option<f64>,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// Longest target, its end included.
    pub max_length: usize,
    /// α of [`normalise`](crate::normalise); none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// After the first step only so many of the most probable tokens of each position compete; none means all.
    pub candidates: Option<usize>,
    /// Where ties and samples come from.
    pub seed: Seed,
}

/// Which positions the steps after the first predict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repredict {
    /// Those that are masked.
    #[default]
    Masked,
    /// All (SMART).
    All,
}

impl Default for MaskPredict {
    fn default() -> Self {
        Self {
            steps: 10,
            repredict: Repredict::Masked,
            commit: None,
            lengths: 5,
            max_length: 128,
            length_penalty: Some(1.0),
            candidates: None,
            seed: Seed(0),
        }
    }
}

impl MaskPredict {
    /// The refinement that it is.
    pub fn settings(&self) -> Settings {
        Settings {
            steps: self.steps,
            lengths: self.lengths,
            max_length: self.max_length,
            length_penalty: self.length_penalty,
            candidates: self.candidates,
            seed: self.seed,
            initial: Initial::Mask,
            // What is not hidden but predicted must be masked by its token.
            input: match self.repredict {
                Repredict::Masked => Input::Hidden,
                Repredict::All => Input::Visible,
            },
            replacement: Replacement::Initial,
            remask: self
                .commit
                .map_or(RemaskRule::Linear, |commit| RemaskRule::Threshold { commit }),
            remask_stutter: false,
            stop: StopRule::Never,
            ..Settings::default()
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.settings().check()
    }
}
