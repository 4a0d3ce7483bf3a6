//! `stages.json`: what every stage was when it last ran, and what came of it.

use padir_base::lock::LockFile;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use padir_base::file::write_atomically;
use padir_base::hash::Sha256;
use serde::{Deserialize, Serialize};

use super::RecipeError;
use super::recipe::{LOCK, RECORD};
use crate::Error;

/// Hashes by name.
pub(crate) type Hashes = BTreeMap<String, Sha256>;

/// What decides whether a stage is the one that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The command line, data called by name.
    pub(crate) command: Vec<String>,
    /// Files of the recipe, data called by name in them, too.
    pub(crate) files: Hashes,
    pub(crate) inputs: Hashes,
}

/// How a stage stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StageState {
    /// It was begun, and nobody wrote down how it ended: interrupted, or running.
    Begun,
    Failed,
    Done,
}

/// A stage that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StageRecord {
    #[serde(alias = "standing")]
    pub(crate) state: StageState,
    #[serde(flatten)]
    pub(crate) identity: Identity,
    pub(crate) outputs: Hashes,
    /// Seconds since 1970.
    pub(crate) started: u64,
    pub(crate) ended: Option<u64>,
    /// The time it took, that before interruptions included.
    pub(crate) seconds: f64,
    /// The version of padir.
    pub(crate) version: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    stages: BTreeMap<String, StageRecord>,
}

/// The record of a directory.
pub(crate) struct Record {
    path: PathBuf,
    content: Content,
}

impl Record {
    /// Reads the record of a directory; one that is not there is empty.
    pub(crate) fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(RECORD);
        let content = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|source| RecipeError::Record { path: path.clone(), source })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(Error::reading(&path)(error)),
        };
        Ok(Self { path, content })
    }

    pub(crate) fn get(&self, stage: &str) -> Option<&StageRecord> {
        self.content.stages.get(stage)
    }

    /// All stages by name.
    pub(crate) fn stages(&self) -> impl Iterator<Item = (&str, &StageRecord)> {
        self.content.stages.iter().map(|(name, stage)| (name.as_str(), stage))
    }

    /// Writes down how a stage stands. What it made is no longer what another stage made, such as one that the recipe once had by
    /// another name; of that nothing may be left.
    pub(crate) fn put(&mut self, stage: &str, record: StageRecord) -> Result<(), Error> {
        self.content.stages.retain(|name, other| {
            let before = other.outputs.len();
            if name != stage {
                other.outputs.retain(|output, _| !record.outputs.contains_key(output));
            }
            other.outputs.len() == before || !other.outputs.is_empty()
        });
        self.content.stages.insert(stage.to_owned(), record);
        let mut text = serde_json::to_vec_pretty(&self.content)?;
        text.push(b'\n');
        Ok(write_atomically(&self.path, &text)?)
    }
}

/// The right to run stages in a directory; the operating system takes it back when the process and its children have ended.
#[derive(Debug)]
pub struct Lock(LockFile);

impl Lock {
    /// The lock for a child, which then has it as long as it lives; nothing can be read from it.
    pub(super) fn share(&self) -> io::Result<File> {
        self.0.share()
    }

    /// Takes the lock of a directory, which must be there.
    ///
    /// # Errors
    /// If somebody else has it.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(LOCK);
        let file = LockFile::open(&path).map_err(Error::writing(&path))?;
        match file.try_lock() {
            Ok(true) => Ok(Self(file)),
            Ok(false) => Err(RecipeError::Locked(dir.to_owned()).into()),
            Err(source) => Err(RecipeError::Lock { path, source }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use padir_base::hash::hash_bytes;

    use super::*;

    #[test]
    fn an_output_that_moves_takes_only_itself_along() {
        let home = tempfile::tempdir().unwrap();
        let mut record = Record::read(home.path()).unwrap();
        let mut put = |stage: &str, outputs: &[&str]| {
            let hash = |output: &&str| ((*output).to_owned(), hash_bytes(output.as_bytes()));
            let (command, files, inputs) = (Vec::new(), Hashes::new(), Hashes::new());
            let made = StageRecord {
                state: StageState::Done,
                identity: Identity { command, files, inputs },
                outputs: outputs.iter().map(hash).collect(),
                started: 1,
                ended: Some(1),
                seconds: 1.0,
                version: String::new(),
            };
            record.put(stage, made).unwrap();
            let made = |(name, stage): (&str, &StageRecord)| {
                let outputs: Vec<&str> = stage.outputs.keys().map(String::as_str).collect();
                format!("{name}: {}", outputs.join(" "))
            };
            record.stages().map(made).collect::<Vec<String>>()
        };
        assert_eq!(put("a", &["x", "y"]), ["a: x y"]);
        assert_eq!(put("b", &["x"]), ["a: y", "b: x"]);
        assert_eq!(put("c", &["y"]), ["b: x", "c: y"], "nothing is left of it");
        assert_eq!(put("d", &[]), ["b: x", "c: y", "d: "], "what makes nothing takes nothing");
    }
}
