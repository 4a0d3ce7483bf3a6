//! What the translations depend on, and so what may not change between two runs of the same work.
//!
//! The hash of the text is SHA-256 over `source\ntarget\n` of every pair as it was read: moving, renaming or
//! compressing the corpus changes nothing.

use std::collections::BTreeMap;

use padir_base::hash::{Hasher, Sha256};
use padir_base::manifest::Manifest;
use padir_text::origin::Origin;
use padir_text::{Corpus, Pair};
use serde::Serialize;
use serde_json::Value;

use super::error::DistilError;
use super::teacher::Identity;
use crate::Error;

/// The work, by its content.
#[derive(Serialize)]
pub(super) struct Task {
    /// Who translates.
    #[serde(flatten)]
    pub(super) teacher: Identity,
    /// Most translations of a source.
    pub(super) nbest: usize,
    /// Pairs in a part.
    pub(super) part: usize,
    /// Pairs in all.
    pub(super) pairs: u64,
    /// The hash of the pairs.
    pub(super) text: Sha256,
}

impl Task {
    /// The manifest of the work.
    pub(super) fn manifest(&self, corpora: &[Corpus]) -> Result<Manifest, Error> {
        let mut manifest = Manifest::new("distil", None, self)?;
        // Pipes cannot be read twice.
        let files = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        for file in files.filter(|file| file.is_file()) {
            manifest.add_data(file)?;
        }
        Ok(manifest)
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        (self.pairs as usize).div_ceil(self.part)
    }
}

/// The hash of pairs as they come.
#[derive(Default)]
pub(super) struct TextHash(Hasher);

impl TextHash {
    pub(super) fn of(pairs: &[Pair]) -> Sha256 {
        let mut hash = Self::default();
        for pair in pairs {
            hash.add(pair);
        }
        hash.finish()
    }

    pub(super) fn add(&mut self, pair: &Pair) {
        for text in [&pair.source, &pair.target] {
            self.0.update(text.as_bytes());
            self.0.update(b"\n");
        }
    }

    pub(super) fn finish(self) -> Sha256 {
        self.0.finish()
    }

    /// Whether it is still the corpus that the work began with.
    pub(super) fn check(self, expected: Sha256) -> Result<(), DistilError> {
        if self.finish() == expected { Ok(()) } else { Err(DistilError::Changed) }
    }
}

/// In what two manifests of the same work differ, if they do: `decoding.num_beams is 5 there and 4 here`.
pub(super) fn differences(there: &Manifest, here: &Manifest) -> Vec<String> {
    let flat = |manifest: &Manifest| {
        let mut keys = BTreeMap::new();
        keys.insert("the command".to_owned(), manifest.command.clone());
        keys.insert("the version".to_owned(), manifest.version.clone());
        flatten(&manifest.config, String::new(), &mut keys);
        keys
    };
    let (there, here) = (flat(there), flat(here));
    let keys: std::collections::BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let value = |of: &BTreeMap<String, String>, key: &str| {
        of.get(key).cloned().unwrap_or_else(|| "absent".to_owned())
    };
    keys.into_iter()
        .map(|key| (key, value(&there, key), value(&here, key)))
        .filter(|(_, there, here)| there != here)
        .map(|(key, there, here)| format!("{key} is {there} there and {here} here"))
        .collect()
}

/// The leaves of a JSON value under dotted keys.
fn flatten(value: &Value, key: String, leaves: &mut BTreeMap<String, String>) {
    let Value::Object(fields) = value else {
        leaves.insert(key, value.to_string());
        return;
    };
    for (name, value) in fields {
        let below = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        flatten(value, below, leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named_by_their_keys() {
        let manifest = |config: Value| Manifest::new("distil", None, &config).unwrap();
        let there = manifest(json!({"decoding": {"num_beams": 5, "groups": 1}, "nbest": 1}));
        assert_eq!(differences(&there, &there), [""; 0]);
        let here = manifest(json!({"decoding": {"num_beams": 4, "groups": 1}, "part": 9}));
        let expected = [
            "decoding.num_beams is 5 there and 4 here",
            "nbest is 1 there and absent here",
            "part is absent there and 9 here",
        ];
        assert_eq!(differences(&there, &here), expected);
    }

    #[test]
    fn the_same_words_in_other_pairs_are_another_text() {
        let hash = |pairs: &[(&str, &str)]| {
            let mut hash = TextHash::default();
            for &(source, target) in pairs {
                hash.add(&Pair::new(source, target));
            }
            hash.finish()
        };
        assert_eq!(hash(&[("a", "b")]), hash(&[("a", "b")]));
        assert_ne!(hash(&[("a", "b")]), hash(&[("b", "a")]));
        assert_ne!(hash(&[("a b", "")]), hash(&[("a", "b")]));
        hash(&[]);
        assert!(TextHash::default().check(hash(&[("a", "b")])).is_err());
    }
}
