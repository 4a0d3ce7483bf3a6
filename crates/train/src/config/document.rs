//! A TOML file as a tree in which every entry knows its line, and flags that change it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::problem::{Origin, Problem};

/// The entries of a table.
pub(super) type Entries = BTreeMap<String, Entry>;

/// What stands behind a key.
pub(super) struct Entry {
    pub(super) origin: Origin,
    pub(super) node: Node,
}

/// A table, or a value without keys.
pub(super) enum Node {
    Table(Entries),
    Value(toml::Value),
}

impl Node {
    /// As a value of its own, without lines.
    pub(super) fn into_value(self) -> toml::Value {
        match self {
            Self::Value(value) => value,
            Self::Table(entries) => {
                let table = entries.into_iter().map(|(key, entry)| (key, entry.node.into_value()));
                toml::Value::Table(table.collect())
            }
        }
    }
}

/// Reads a file and applies `a.b=c` flags to it, noting what cannot be read.
pub(super) fn read(
    file: &Path,
    text: &str,
    flags: &[String],
    problems: &mut Vec<Problem>,
) -> Entries {
    let lines = Lines::new(file, text);
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in faults {
        let origin = lines.origin(fault.span().map_or(0, |span| span.start));
        problems.push(Problem { origin, message: fault.message().to_owned() });
    }
    let mut entries = lines.entries(table.into_inner(), problems);
    for flag in flags {
        if let Err(message) = set(&mut entries, flag) {
            problems.push(Problem { origin: Origin::Flag(flag.clone()), message });
        }
    }
    entries
}

/// From positions to lines.
struct Lines<'a> {
    file: &'a Path,
    /// Where lines end.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(file: &'a Path, text: &str) -> Self {
        Self { file, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    fn origin(&self, position: usize) -> Origin {
        let line = 1 + self.ends.partition_point(|&end| end < position);
        Origin::Line { file: self.file.to_owned(), line }
    }

    fn entries(&self, table: DeTable<'_>, problems: &mut Vec<Problem>) -> Entries {
        let mut entries = Entries::new();
        for (key, value) in table {
            let origin = self.origin(key.span().start);
            let node = match value.as_ref() {
                DeValue::Table(_) => match value.into_inner() {
                    DeValue::Table(table) => Node::Table(self.entries(table, problems)),
                    _ => continue,
                },
                _ => match plain(value) {
                    Ok(value) => Node::Value(value),
                    Err(message) => {
                        problems.push(Problem { origin, message });
                        continue;
                    }
                },
            };
            entries.insert(key.into_inner().into_owned(), Entry { origin, node });
        }
        entries
    }
}

fn plain(value: Spanned<DeValue<'_>>) -> Result<toml::Value, String> {
    toml::Value::deserialize(ValueDeserializer::from(value))
        .map_err(|error| error.message().to_owned())
}

/// Applies `a.b=c`. What is not TOML is taken for a string, so that words need no quotes.
fn set(entries: &mut Entries, flag: &str) -> Result<(), String> {
    let (path, text) = flag.split_once('=').ok_or("there is no `=` between key and value")?;
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or("the key is empty")?;
    let origin = Origin::Flag(flag.to_owned());
    let mut table = entries;
    for (depth, key) in keys.iter().enumerate() {
        if key.is_empty() {
            return Err("a part of the key is empty".to_owned());
        }
        let entry = table
            .entry((*key).to_owned())
            .or_insert_with(|| Entry { origin: origin.clone(), node: Node::Table(Entries::new()) });
        match &mut entry.node {
            Node::Table(inner) => table = inner,
            Node::Value(_) => return Err(format!("`{}` is not a table", keys[..=depth].join("."))),
        }
    }
    let value = DeValue::parse(text.trim())
        .ok()
        .and_then(|value| plain(value).ok())
        .unwrap_or_else(|| toml::Value::String(text.trim().to_owned()));
    let node = node_of(value, &origin);
    table.insert(last.to_owned(), Entry { origin, node });
    Ok(())
}

fn node_of(value: toml::Value, origin: &Origin) -> Node {
    match value {
        toml::Value::Table(table) => Node::Table(
            table
                .into_iter()
                .map(|(key, value)| {
                    (key, Entry { origin: origin.clone(), node: node_of(value, origin) })
                })
                .collect(),
        ),
        value => Node::Value(value),
    }
}
