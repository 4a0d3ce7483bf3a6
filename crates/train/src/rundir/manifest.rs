//! The manifest of a training run, and whether two of them saw the same.
//!
//! Files are listed as: vocabulary, training data, dev sets, the model that was started from. The first two decide what is
//! learnt and must not change under a run; the others may.

use std::path::Path;

use padir_base::hash::hash_file;
use padir_base::manifest::{DataFile, Manifest};
use padir_checkpoint::MODEL;
use padir_text::shard::ShardSet;
use padir_text::vocab::Vocabulary;

use super::RunDirError;
use crate::config::{Config, Difference, TrainData};

/// Hashes everything that a run reads.
///
/// # Errors
/// If a file cannot be read.
///
/// # Panics
/// Never: a configuration is numbers, words and tables.
pub fn manifest_of(config: &Config) -> Result<Manifest, RunDirError> {
    let mut manifest = Manifest::new("train", Some(config.run.seed), config)
        .expect("a configuration is numbers, words and tables");
    manifest.add_data(&config.data.vocabulary)?;
    for path in config.data.train_files() {
        manifest.add_data(path)?;
    }
    if let TrainData::Shards { shards } = &config.data.train {
        manifest.data.push(describe_shards(shards)?);
    }
    for path in config.data.dev_files() {
        manifest.add_data(path)?;
    }
    if let Some(model) = &config.model.start_from {
        manifest.add_data(model.join(MODEL))?;
    }
    Ok(manifest)
}

fn describe_shards(directory: &Path) -> Result<DataFile, RunDirError> {
    let set = ShardSet::open(directory)?;
    let path = directory.to_string_lossy().into_owned();
    Ok(DataFile { path, bytes: set.bytes(), sha256: set.digest() })
}

/// How many of a manifest's files decide what is learnt.
fn decisive(manifest: &Manifest) -> usize {
    let train = &manifest.config["data"]["train"];
    let count = |key: &str| train[key].as_array().map_or(0, Vec::len);
    let files = if train["shards"].is_string() { 1 } else { count("source") + count("target") };
    (1 + files).min(manifest.data.len())
}

/// Whether two files hold the same vocabulary in different forms. Of the old one this can be told as long as it stands.
fn is_same_vocabulary(old: &DataFile, new: &DataFile) -> bool {
    let stands = hash_file(&old.path).is_ok_and(|hash| hash == old.sha256);
    let hash = |file: &DataFile| Vocabulary::load(&file.path).ok().map(|v| v.hash());
    stands && hash(old).is_some() && hash(old) == hash(new)
}

/// Every file that changed and may not.
pub(super) fn differences(old: &Manifest, new: &Manifest) -> Vec<Difference> {
    let old = &old.data[..decisive(old)];
    let new = &new.data[..decisive(new)];
    if old.len() != new.len() {
        let (old, new) = (old.len() - 1, new.len() - 1);
        let sentence = format!("there were {old} files of training data and are {new}");
        return vec![Difference::fixed(sentence)];
    }
    let is_changed = |(index, (old, new)): &(usize, (&DataFile, &DataFile))| {
        old.sha256 != new.sha256 && !(*index == 0 && is_same_vocabulary(old, new))
    };
    let changed = old.iter().zip(new).enumerate().filter(is_changed);
    changed
        .map(|(index, (old, new))| {
            let what = if index == 0 { "the vocabulary" } else { "the training data" };
            Difference::fixed(format!(
                "{what} {} had {} bytes with the hash {:.12}…, {} has {} with {:.12}…",
                old.path,
                old.bytes,
                old.sha256.to_string(),
                new.path,
                new.bytes,
                new.sha256.to_string(),
            ))
        })
        .collect()
}
