//! A parallel corpus in any of its forms, as a stream of pairs.
//!
//! [`Corpus`] says where the pairs are; [`Corpus::open`] gives [`Pairs`], which reads them one
//! after the other with bounded memory. [`Pairs::read`] reuses the strings of the pair before;
//! the iterator makes new ones.

use std::fmt;

use crate::aligned::Aligned;
use crate::columnar::{Languages, ParquetPairs};
use crate::defect::{Defect, DefectCounts, OnBad};
use crate::lines::LINE_LIMIT;
use crate::origin::Origin;
use crate::pair::{CorpusError, Pair};
use crate::tsv::{Columns, Tsv};

/// Where pairs are to be found.
#[derive(Clone, Debug)]
pub enum Corpus {
    /// Two files with a line for a line.
    Aligned {
        /// The file of the sources.
        source: Origin,
        /// The file of the targets.
        target: Origin,
    },
    /// One file with tabs between the columns.
    Tsv {
        /// The file.
        file: Origin,
        /// Which columns to take.
        columns: Columns,
    },
    /// A parquet file in the Hugging Face layout.
    Parquet {
        /// The file.
        file: Origin,
        /// Which columns to take; obvious if there are just two.
        languages: Option<Languages>,
    },
}

/// How strictly to read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// What to do with bad lines.
    pub on_bad: OnBad,
    /// How many bytes a line may have.
    pub limit: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Self { on_bad: OnBad::Fail, limit: LINE_LIMIT }
    }
}

impl Corpus {
    /// Opens the corpus for reading.
    ///
    /// # Errors
    /// When a file does not open, or a parquet file is not one.
    pub fn open(&self, reading: Reading) -> Result<Pairs, CorpusError> {
        let limit = reading.limit;
        let reader: Box<dyn PairReader> = match self {
            Self::Aligned { source, target } => Box::new(Aligned::open(source, target, limit)?),
            Self::Tsv { file, columns } => Box::new(Tsv::open(file, *columns, limit)?),
            Self::Parquet { file, languages } => {
                Box::new(ParquetPairs::open(file, languages.as_ref(), limit)?)
            }
        };
        Ok(Pairs { reader, on_bad: reading.on_bad, skipped: DefectCounts::default(), over: false })
    }

    /// The same corpus, readable more than once: stdin is copied to a temporary file.
    ///
    /// # Errors
    /// When a file cannot be read or the temporary directory is full.
    pub fn repeatable(self) -> Result<Self, CorpusError> {
        Ok(match self {
            Self::Aligned { source, target } => {
                Self::Aligned { source: source.repeatable()?, target: target.repeatable()? }
            }
            Self::Tsv { file, columns } => Self::Tsv { file: file.repeatable()?, columns },
            Self::Parquet { file, languages } => {
                Self::Parquet { file: file.repeatable()?, languages }
            }
        })
    }

    /// The files it reads.
    pub fn files(&self) -> Vec<&Origin> {
        match self {
            Self::Aligned { source, target } => vec![source, target],
            Self::Tsv { file, .. } | Self::Parquet { file, .. } => vec![file],
        }
    }
}

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.files().iter().map(|file| file.name()).collect();
        f.write_str(&names.join(" + "))
    }
}

/// One way of storing pairs.
pub(crate) trait PairReader: Send {
    /// Reads the next pair into `pair`; `Ok(None)` at the end. A defect leaves `pair` in any
    /// state, and the next call goes on behind it.
    fn read(&mut self, pair: &mut Pair) -> Result<Option<Result<(), Bad>>, CorpusError>;
}

/// A defect and the file that has it.
pub(crate) struct Bad {
    pub(crate) defect: Defect,
    pub(crate) line: u64,
    pub(crate) file: String,
}

/// The pairs of a corpus, one after the other.
pub struct Pairs {
    reader: Box<dyn PairReader>,
    on_bad: OnBad,
    skipped: DefectCounts,
    over: bool,
}

impl Pairs {
    /// Reads the next pair over the last one; `false` at the end. After an error there is
    /// nothing more to read.
    ///
    /// # Errors
    /// When reading fails, when two files differ in length, and at a bad line unless those are
    /// to be skipped.
    pub fn read(&mut self, pair: &mut Pair) -> Result<bool, CorpusError> {
        while !self.over {
            match self.reader.read(pair) {
                Ok(Some(Ok(()))) => return Ok(true),
                Ok(Some(Err(bad))) if self.on_bad == OnBad::Skip => self.skipped.add(bad.defect),
                Ok(Some(Err(Bad { defect, line, file }))) => {
                    self.over = true;
                    return Err(CorpusError::Bad { file, line, defect });
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    self.over = true;
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// The pairs left out so far.
    pub fn skipped(&self) -> DefectCounts {
        self.skipped
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut pair = Pair::default();
        match self.read(&mut pair) {
            Ok(true) => Some(Ok(pair)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests;
