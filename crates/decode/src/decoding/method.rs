//! The names of the decoding methods.

use std::fmt;
use std::str::FromStr;

use padir_base::ParallelTraining;
use serde::{Deserialize, Serialize};

use super::ability::Order;
use crate::settings::SettingsError;

/// A way of decoding, without its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// All positions at once, refined (PaDIR).
    Refine,
    /// Mask-predict.
    MaskPredict,
    /// Parallel easy-first (`DisCo`).
    EasyFirst,
    /// Low-temperature samples of all positions (SUNDAE).
    Sundae,
    /// Gibbs sampling, one position at a time.
    Gibbs,
    /// Beam search.
    Beam,
    /// Autoregressive sampling.
    Sample,
    /// Latent alignments (CTC).
    Ctc,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Refine,
        Self::MaskPredict,
        Self::EasyFirst,
        Self::Sundae,
        Self::Gibbs,
        Self::Beam,
        Self::Sample,
        Self::Ctc,
    ];

    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refine => "refine",
            Self::MaskPredict => "mask-predict",
            Self::EasyFirst => "easy-first",
            Self::Sundae => "sundae",
            Self::Gibbs => "gibbs",
            Self::Beam => "beam",
            Self::Sample => "sample",
            Self::Ctc => "ctc",
        }
    }

    /// The models it decodes.
    pub fn order(self) -> Order {
        match self {
            Self::Refine | Self::MaskPredict | Self::EasyFirst | Self::Sundae | Self::Gibbs => {
                Order::Parallel
            }
            Self::Beam | Self::Sample => Order::Autoregressive,
            Self::Ctc => Order::Alignment,
        }
    }

    /// Whether parallel models that were trained for something can be decoded by it. The objective `padir` may have shown masks, random tokens
    /// or both, so that everything fits.
    pub fn fits(self, training: ParallelTraining) -> bool {
        use ParallelTraining::{Cmlm, Disco, Inat, Nat, Padir, Smart};
        match self {
            Self::Refine => !matches!(training, Cmlm | Disco),
            Self::MaskPredict => matches!(training, Padir | Cmlm | Smart | Disco),
            Self::EasyFirst => training == Disco,
            Self::Sundae => matches!(training, Padir | ParallelTraining::Sundae),
            Self::Gibbs => !matches!(training, ParallelTraining::Sundae | Nat | Inat | Disco),
            Self::Beam | Self::Sample | Self::Ctc => false,
        }
    }

    /// The methods that fit a parallel model, for messages.
    pub(crate) fn fitting(training: ParallelTraining) -> String {
        let fits = Self::ALL.into_iter().filter(|method| method.fits(training));
        let names: Vec<&str> = fits.map(Self::name).collect();
        match &names[..] {
            [only] => format!("{only} does"),
            [first @ .., last] => format!("{} and {last} do", first.join(", ")),
            [] => "none does".to_owned(),
        }
    }

    /// All names, for messages.
    pub(crate) fn list() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| SettingsError::UnknownMethod { name: name.to_owned() })
    }
}
