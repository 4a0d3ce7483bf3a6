//! A part of the work that is done: some consecutive sources and their translations.
//!
//! As a file it is JSON lines: a head that says how much there is and what it cost, then for each source the array of its
//! translations, best first, each without line breaks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use padir_base::file::AtomicFile;
use padir_base::hash::Sha256;
use padir_text::Pair;
use serde::{Deserialize, Serialize};

use super::error::{DistilError, PartError};
use super::task::TextHash;
use crate::Error;

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Seconds of translating.
    pub seconds: f64,
    /// Tokens that were read, ends included.
    pub source_tokens: u64,
    /// Tokens of the best translations.
    pub target_tokens: u64,
}

impl Cost {
    pub(super) fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.source_tokens += other.source_tokens;
        self.target_tokens += other.target_tokens;
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    sources: usize,
    /// The hash of the pairs that it was made of: a corpus may have been another one for a while.
    #[serde(default)]
    text: Option<Sha256>,
    /// Older parts do not say.
    #[serde(default)]
    cut: Option<u64>,
    cost: Cost,
}

/// Translations of consecutive sources.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    /// For each source its translations, best first.
    pub(super) translations: Vec<Vec<String>>,
    /// How many of the best did not end by themselves, if that is known.
    pub(super) cut: Option<u64>,
    pub(super) cost: Cost,
}

impl Part {
    /// Makes the file appear whole: what came of these pairs.
    pub(super) fn write(&self, path: &Path, pairs: &[Pair]) -> Result<(), Error> {
        let mut file = AtomicFile::create(path)?;
        let text = Some(TextHash::of(pairs));
        let sources = self.translations.len();
        let head = Head { sources, text, cut: self.cut, cost: self.cost };
        let mut write = || -> io::Result<()> {
            serde_json::to_writer(&mut file, &head)?;
            for translations in &self.translations {
                file.write_all(b"\n")?;
                serde_json::to_writer(&mut file, translations)?;
            }
            file.write_all(b"\n")
        };
        write().map_err(Error::writing(path))?;
        Ok(file.commit()?)
    }

    /// Reads what came of these pairs.
    pub(super) fn read(path: &Path, pairs: &[Pair]) -> Result<Self, DistilError> {
        let unusable = |source| DistilError::Part { path: path.to_owned(), source };
        Self::parse(path, pairs).map_err(unusable)
    }

    fn parse(path: &Path, pairs: &[Pair]) -> Result<Self, PartError> {
        let expected = pairs.len();
        let mut lines = BufReader::new(File::open(path)?).lines();
        let head = lines.next().ok_or(PartError::Empty)??;
        let head: Head = serde_json::from_str(&head)?;
        let translations = lines
            .map(|line| Ok(serde_json::from_str(&line?)?))
            .collect::<Result<Vec<Vec<String>>, PartError>>()?;
        for found in [head.sources, translations.len()] {
            if found != expected {
                return Err(PartError::Sources { found, expected });
            }
        }
        // Older parts do not say.
        if head.text.is_some_and(|text| text != TextHash::of(pairs)) {
            return Err(PartError::OtherText);
        }
        Ok(Self { translations, cut: head.cut, cost: head.cost })
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("part");
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let part = Part {
            translations: vec![texts(&["ein \"Hund\"", "Hund"]), texts(&[""]), texts(&[])],
            cut: Some(2),
            cost: Cost { seconds: 0.1 + 0.2, source_tokens: 7, target_tokens: 9 },
        };
        let pairs = |sources: &str| -> Vec<Pair> {
            sources.split(' ').map(|source| Pair::new(source, "x")).collect()
        };
        part.write(&path, &pairs("a b c")).unwrap();
        assert_eq!(Part::read(&path, &pairs("a b c")).unwrap(), part);
        for (sources, fault) in [
            ("a b c d", "it has 3 sources instead of 4"),
            ("a b other", "it was made of another text"),
        ] {
            let error = Part::read(&path, &pairs(sources)).unwrap_err();
            let cause = error.source().map(ToString::to_string);
            assert!(error.to_string().ends_with("part is not usable"), "{error}");
            assert_eq!(cause.as_deref(), Some(fault));
        }
        for damage in ["", "{}\n", "{\"sources\":1,", "[\"a\"]\n"] {
            std::fs::write(&path, damage).unwrap();
            assert!(Part::read(&path, &pairs("a")).is_err(), "{damage:?}");
        }
    }
}
