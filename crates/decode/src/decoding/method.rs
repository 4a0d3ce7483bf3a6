//! The names of the decoding methods.

use std::fmt;
use std::str::FromStr;

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
    /// Beam search.
    Beam,
    /// Autoregressive sampling.
    Sample,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Refine, Self::MaskPredict, Self::Beam, Self::Sample];

    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refine => "refine",
            Self::MaskPredict => "mask-predict",
            Self::Beam => "beam",
            Self::Sample => "sample",
        }
    }

    /// The models it decodes.
    pub fn order(self) -> Order {
        match self {
            Self::Refine | Self::MaskPredict => Order::Parallel,
            Self::Beam | Self::Sample => Order::Autoregressive,
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
