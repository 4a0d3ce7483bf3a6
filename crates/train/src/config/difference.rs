//! What changed between two configurations, and what a resumed run may change.
//!
//! | | keys | a resumed run |
//! |---|---|---|
//! | free | budgets, records, paths | may change them |
//! | negotiable | how parameters move from here on | may change them if that is asked for, and notes it |
//! | fixed | the rest: network, data, batches, kinds, seed | may not: what was saved would mean something else |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toml::{Table, Value};

/// Keys and tables that do not touch what is learnt: budgets, what is watched and recorded, what
/// languages are called, and paths (the content of files is compared by hash). All that is below them is free, too.
pub(super) const FREE: [&str; 19] = [
    "data.dev",
    "data.source_language",
    "data.target_language",
    "data.train.shards",
    "data.train.source",
    "data.train.target",
    "data.vocabulary",
    "run.dir",
    "run.decode",
    "run.eval_every",
    "run.keep",
    "run.log_every",
    "run.max_epochs",
    "run.max_minutes",
    "run.max_steps",
    "run.patience",
    "run.save_every",
    "run.save_minutes",
    "run.threads",
];

/// Keys and tables that say how parameters move and how much is dropped: after a loss that was no number, other values may lead
/// past it. No checkpoint depends on them.
pub(super) const NEGOTIABLE: [&str; 14] = [
    "model.dropout_rate",
    "objective.label_smoothing",
    "objective.length_weight",
    "objective.z_loss",
    "optimiser.beta1",
    "optimiser.beta2",
    "optimiser.clip_norm",
    "optimiser.clip_threshold",
    "optimiser.epsilon",
    "optimiser.epsilon1",
    "optimiser.epsilon2",
    "optimiser.exponent",
    "optimiser.schedule",
    "optimiser.weight_decay",
];

/// Something that a run was begun with and is resumed without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In words.
    pub sentence: String,
    /// Whether the run can go on with it, if that is asked for.
    pub negotiable: bool,
}

impl Difference {
    /// A difference that no run can go on with.
    pub fn fixed(sentence: String) -> Self {
        Self { sentence, negotiable: false }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Every key that changed and is not free.
pub(super) fn differences(old: &Table, new: &Table) -> Vec<Difference> {
    let (old, new) = (flatten(old), flatten(new));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter()
        .filter(|key| !is_below(key, &FREE))
        .filter_map(|key| {
            let sentence = match (old.get(key), new.get(key)) {
                (Some(old), Some(new)) if old == new => return None,
                (Some(old), Some(new)) => format!("`{key}` was {old} and is {new}"),
                (Some(old), None) => format!("`{key}` was {old} and is not set"),
                (None, new) => format!("`{key}` was not set and is {}", new?),
            };
            Some(Difference { sentence, negotiable: is_below(key, &NEGOTIABLE) })
        })
        .collect()
}

/// Whether a key is one of these or in one of these tables.
fn is_below(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Dotted keys and their values.
fn flatten(table: &Table) -> BTreeMap<String, Value> {
    let mut flat = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => flat.extend(
                flatten(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)),
            ),
            value => {
                flat.insert(key.clone(), value.clone());
            }
        }
    }
    flat
}
