//! One line of the record.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize};

/// The numbers of one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// How many steps were done.
    pub step: u64,
    /// What was measured.
    pub kind: Kind,
    /// When, in seconds since 1970.
    pub time: f64,
    /// How long the run has trained, in seconds, all its sessions together.
    pub seconds: f64,
    /// How many target tokens were learnt from.
    pub tokens: u64,
    /// What was changed when the run was resumed here, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The numbers by name: `loss`, `rate`; of an evaluation `dev.loss`, `dev.bleu`. What is not
    /// finite is written as null and read as not a number.
    #[serde(flatten, deserialize_with = "null_is_nan")]
    pub values: BTreeMap<String, f64>,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Steps of training.
    Train,
    /// Dev sets.
    Eval,
    /// Nothing: the run was resumed with other settings.
    Change,
}

impl Row {
    /// A row without numbers yet, of this moment.
    pub fn now(kind: Kind, step: u64, seconds: f64, tokens: u64) -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.map_or(0.0, |time| time.as_secs_f64());
        Self { step, kind, time, seconds, tokens, changes: Vec::new(), values: BTreeMap::new() }
    }

    /// The same with one more number.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: f64) -> Self {
        self.values.insert(name.into(), value);
        self
    }
}

fn null_is_nan<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let values = BTreeMap::<String, Option<f64>>::deserialize(from)?;
    Ok(values.into_iter().map(|(name, value)| (name, value.unwrap_or(f64::NAN))).collect())
}
