//! What changed between two configurations, and what a resumed run may change.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

/// Keys and tables that do not touch what is learnt: budgets, what is watched and recorded, and
/// paths (the content of files is compared by hash). All that is below them is free, too.
pub(super) const FREE: [&str; 16] = [
    "data.dev",
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
    "run.threads",
];

/// One sentence for each key that changed and may not.
pub(super) fn differences(old: &Table, new: &Table) -> Vec<String> {
    let (old, new) = (flatten(old), flatten(new));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter()
        .filter(|key| !is_free(key))
        .filter_map(|key| match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => Some(format!("`{key}` was {old} and is {new}")),
            (Some(old), None) => Some(format!("`{key}` was {old} and is not set")),
            (None, new) => new.map(|new| format!("`{key}` was not set and is {new}")),
        })
        .collect()
}

fn is_free(key: &str) -> bool {
    FREE.iter().any(|free| {
        key.strip_prefix(free).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
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
