//! Two sentences that say the same, and what ends the reading of them.

use std::io;

use thiserror::Error;

use crate::defect::Defect;
use crate::input::InputError;

/// A sentence and its translation. Neither contains a line break or NUL.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// What is translated.
    pub source: String,
    /// What it becomes.
    pub target: String,
}

impl Pair {
    /// A pair from two texts.
    pub fn new(source: impl Into<String>, target: impl Into<String>) -> Self {
        Self { source: source.into(), target: target.into() }
    }

    /// Makes this pair hold other texts, in the memory it has.
    pub fn set(&mut self, source: &str, target: &str) {
        self.source.clear();
        self.source.push_str(source);
        self.target.clear();
        self.target.push_str(target);
    }
}

/// Which half of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is translated.
    Source,
    /// What it becomes.
    Target,
}

/// Why a corpus could not be read to its end.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// A file does not open or is not what it seems.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file opened, but reading failed later; the error names the file.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A line that cannot be used.
    #[error("{file}, line {line}: {defect}")]
    Bad {
        /// The file as the user named it.
        file: String,
        /// Lines or rows count from 1.
        line: u64,
        /// What is wrong with it.
        defect: Defect,
    },
    /// Two files that should have a line for a line do not.
    #[error("{source_file} has {source_lines} lines, but {target_file} has {target_lines}")]
    Unequal {
        /// The file of the sources.
        source_file: String,
        /// Its number of lines.
        source_lines: u64,
        /// The file of the targets.
        target_file: String,
        /// Its number of lines.
        target_lines: u64,
    },
    /// A parquet file that is damaged, or not parquet.
    #[error("{file} is not readable as parquet: {reason}")]
    Parquet {
        /// The file as the user named it.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A parquet file compressed in a way that padir does not know.
    #[error("{file}: column {column} is compressed with {codec}, which padir does not read")]
    Codec {
        /// The file as the user named it.
        file: String,
        /// The path of the column.
        column: String,
        /// The name of the compression.
        codec: String,
    },
    /// A parquet file without the columns asked for.
    #[error("{file} has no text column {wanted}; it has {found}")]
    NoColumn {
        /// The file as the user named it.
        file: String,
        /// What was asked for.
        wanted: String,
        /// The text columns it has.
        found: String,
    },
    /// A parquet file where the choice of two columns is not obvious.
    #[error(
        "{file} has {count} text columns, so which is the source and which the target? \
             It has {found}"
    )]
    WhichColumns {
        /// The file as the user named it.
        file: String,
        /// How many text columns it has.
        count: usize,
        /// Their names.
        found: String,
    },
}
