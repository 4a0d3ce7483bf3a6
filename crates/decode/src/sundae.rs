//! SUNDAE's decoding (Savinov et al. 2022), as forms of refinement.
//!
//! | mode | a step |
//! |---|---|
//! | `sample` | every position is drawn, at a low temperature, from its distribution given the whole old sequence; several samples, of which the best is returned |
//! | `argmax-unrolled` | the most probable tokens: first everywhere, then only where the step before was least confident |
//!
//! Steps, temperature and the share of uncertain positions are not known from the original for translation; these are our choices.

use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::padir::{Initial, RemaskRule, Replacement, Settings, StopRule, Wanted};
use crate::settings::{SettingsError, bounded};

/// How SUNDAE decodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sundae {
    /// How tokens are updated.
    pub mode: SundaeMode,
    /// Most steps. A sample that a step does not change goes on; argmax-unrolled ends.
    pub steps: usize,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// How many samples each length gets; argmax-unrolled has random starts instead.
    pub samples: usize,
    /// Of the samples; without effect on argmax-unrolled.
    pub temperature: f64,
    /// Sample from this many of the most probable tokens only.
    pub top_k: Option<usize>,
    /// The probability with which a step updates a position; the last step updates all.
    pub update_prob: f64,
    /// Argmax-unrolled: the share of positions, the least confident ones, that later steps update.
    pub uncertain_share: f64,
    /// Longest target, its end included.
    pub max_length: usize,
    /// α of [`normalise`](crate::normalise); none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// Where starts and samples come from.
    pub seed: Seed,
}

/// How tokens are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SundaeMode {
    /// By low-temperature samples.
    #[default]
    Sample,
    /// By the most probable tokens, uncertain ones last.
    ArgmaxUnrolled,
}

impl Default for Sundae {
    fn default() -> Self {
        Self {
            mode: SundaeMode::Sample,
            steps: 10,
            lengths: 1,
            samples: 16,
            temperature: 0.3,
            top_k: None,
            update_prob: 1.0,
            uncertain_share: 0.3,
            max_length: 128,
            length_penalty: Some(1.0),
            seed: Seed(0),
        }
    }
}

impl Sundae {
    /// The refinement that it is.
    pub fn settings(&self) -> Settings {
        let common = Settings {
            steps: self.steps,
            lengths: self.lengths,
            parallel_decodes: self.samples,
            max_length: self.max_length,
            length_penalty: self.length_penalty,
            seed: self.seed,
            initial: Initial::Random,
            remask_stutter: false,
            drop_unchanged: false,
            replacement: Replacement::Previous,
            ..Settings::default()
        };
        match self.mode {
            SundaeMode::Sample => Settings {
                temperature: self.temperature,
                top_k: self.top_k,
                stop: StopRule::Never,
                remask: if self.update_prob < 1.0 {
                    RemaskRule::Law { law: MaskLaw::Rate { rate: 1.0 - self.update_prob } }
                } else {
                    RemaskRule::Nothing
                },
                ..common
            },
            SundaeMode::ArgmaxUnrolled => Settings {
                stop: StopRule::Unchanged,
                wanted: Wanted::LeastConfident { share: self.uncertain_share },
                ..common
            },
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        let share = |x: f64| x > 0.0 && x <= 1.0;
        let wanted = "above 0 and at most 1";
        bounded("update_prob", self.update_prob, share(self.update_prob), wanted)?;
        let uncertain = self.uncertain_share;
        bounded("uncertain_share", uncertain, share(uncertain), wanted)?;
        self.settings().check()
    }
}
