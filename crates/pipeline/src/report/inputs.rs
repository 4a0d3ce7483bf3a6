//! Whether what a stage read is still what is there: the figures of a model that was trained again are those of another one.
//!
//! Each file is hashed once, as `padir run --list` does.

use std::path::Path;

use padir_base::hash::Sha256;

use crate::Error;
use crate::recipe::digest::Digests;
use crate::recipe::record::{Record, StageRecord};

/// What stages read in a directory, as it is now.
pub(super) struct Inputs<'a> {
    directory: &'a Path,
    record: &'a Record,
    digests: Digests,
}

/// What has become of an input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// It is not what was read.
    Other(&'a str),
    /// It is not there, and no stage is known to have made it.
    Gone(&'a str),
}

impl<'a> Inputs<'a> {
    pub(super) fn new(directory: &'a Path, record: &'a Record) -> Self {
        Self { directory, record, digests: Digests::default() }
    }

    /// The first input that is not what a stage read, if there is one.
    pub(super) fn change<'s>(
        &mut self,
        stage: &'s StageRecord,
    ) -> Result<Option<Change<'s>>, Error> {
        for (name, read) in &stage.identity.inputs {
            // Data is called by name: where it lies is not written down, and no stage makes it.
            if name.starts_with("{data.") {
                continue;
            }
            match self.now(name)? {
                Some(now) if now == *read => {}
                Some(_) => return Ok(Some(Change::Other(name))),
                None if self.went_whole(name, stage) => {}
                None => return Ok(Some(Change::Gone(name))),
            }
        }
        Ok(None)
    }

    /// Whether the directory it lay in was made before the stage ran, not again since, and then removed.
    fn went_whole(&self, name: &str, reader: &StageRecord) -> bool {
        let holds = |made: &String| Path::new(name).starts_with(made);
        let gone = |made: &&String| holds(made) && !self.directory.join(made.as_str()).exists();
        self.record.stages().any(|(_, stage)| {
            stage.outputs.keys().any(|made| gone(&made))
                && stage.ended.is_some_and(|ended| ended <= reader.started)
        })
    }

    /// The hash of what is there or, of what was removed to save space, the hash of what was made.
    fn now(&mut self, name: &str) -> Result<Option<Sha256>, Error> {
        let path = self.directory.join(name);
        let there = self.digests.of(&path).map_err(Error::reading(&path))?;
        let made = || self.record.stages().find_map(|(_, stage)| stage.outputs.get(name).copied());
        Ok(there.or_else(made))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use padir_base::hash::hash_bytes;

    use super::*;
    use crate::recipe::record::{Hashes, Identity, StageState};

    fn hashes(contents: &[(&str, &str)]) -> Hashes {
        let hash =
            |(name, content): &(&str, &str)| ((*name).to_owned(), hash_bytes(content.as_bytes()));
        contents.iter().map(hash).collect()
    }

    fn stage(inputs: &[(&str, &str)], outputs: &[(&str, &str)]) -> StageRecord {
        let (command, files) = (Vec::new(), Hashes::new());
        StageRecord {
            state: StageState::Done,
            identity: Identity { command, files, inputs: hashes(inputs) },
            outputs: hashes(outputs),
            started: 1,
            ended: Some(1),
            seconds: 1.0,
            version: String::new(),
        }
    }

    #[test]
    fn inputs_are_compared_with_what_is_there_or_was_made() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("corpus")).unwrap();
        fs::write(home.path().join("corpus/test"), "new").unwrap();
        fs::write(home.path().join("model"), "new").unwrap();
        let mut record = Record::read(home.path()).unwrap();
        record.put("train", stage(&[], &[("model", "new"), ("removed", "new")])).unwrap();
        record.put("early", stage(&[], &[("early", "new")])).unwrap();
        let late = StageRecord { ended: Some(9), ..stage(&[], &[("late", "new")]) };
        record.put("late", late).unwrap();
        let cases = [
            ("as it was", "model", "new", None),
            ("made again", "model", "old", Some(Change::Other("model"))),
            ("in a directory", "corpus/test", "new", None),
            ("another there", "corpus/test", "old", Some(Change::Other("corpus/test"))),
            ("removed", "removed", "new", None),
            ("made again and removed", "removed", "old", Some(Change::Other("removed"))),
            ("in a directory that was removed", "early/test", "old", None),
            ("in one that was made since", "late/test", "old", Some(Change::Gone("late/test"))),
            ("of nobody, and not there", "gone", "new", Some(Change::Gone("gone"))),
            ("data, wherever it lies", "{data.test}", "new", None),
        ];
        for (case, name, content, expected) in cases {
            let reader = stage(&[(name, content)], &[]);
            let mut inputs = Inputs::new(home.path(), &record);
            assert_eq!(inputs.change(&reader).unwrap(), expected, "{case}");
        }
    }
}
