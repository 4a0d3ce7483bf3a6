//! Whether upper and lower case differ.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::unicode::lower;

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Case {
    /// They do.
    #[default]
    #[serde(rename = "mixed")]
    Mixed,
    /// Texts are lowercased first, as Python's `str.lower` does.
    #[serde(rename = "lc")]
    Lower,
}

impl Case {
    /// [`Case::Lower`] if asked for.
    pub fn lower_if(lowercase: bool) -> Self {
        if lowercase { Self::Lower } else { Self::Mixed }
    }

    /// The text as it is compared.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Mixed => Cow::Borrowed(text),
            Self::Lower => lower(text),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mixed => "mixed",
            Self::Lower => "lc",
        })
    }
}
