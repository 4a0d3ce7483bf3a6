//! `metrics.jsonl`: appended line by line, cut when a run is resumed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::events::EventsError;
use super::row::{Kind, Row};

/// The file name of the record inside a run's directory.
pub const FILE_NAME: &str = "metrics.jsonl";

/// A record could not be read or written.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line before the last is not a row.
    #[error("{}:{line} is not a row of a record", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// The events could not be written.
    #[error(transparent)]
    Events(#[from] EventsError),
}

/// How much of a record the checkpoint knows that a run is resumed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The last step it made.
    pub step: u64,
    /// The last step it evaluated: less, if the run was stopped in the middle of an evaluation, which is then made again.
    pub evaluated: u64,
}

impl Known {
    fn has(self, row: &Row) -> bool {
        let last = if row.kind == Kind::Eval { self.evaluated.min(self.step) } else { self.step };
        row.step <= last
    }
}

/// An open `metrics.jsonl`.
#[derive(Debug)]
pub struct Metrics {
    path: PathBuf,
    file: File,
}

/// All whole rows of a run's directory. A torn last line is ignored.
///
/// # Errors
/// If the record cannot be read or a line is not a row.
pub fn read(directory: impl AsRef<Path>) -> Result<Vec<Row>, RecordError> {
    let path = directory.as_ref().join(FILE_NAME);
    Ok(read_lines(&path)?.into_iter().map(|(row, _)| row).collect())
}

impl Metrics {
    /// Creates the record of a new run.
    ///
    /// # Errors
    /// If there is one already, or it cannot be created.
    pub fn begin(directory: &Path) -> Result<Self, RecordError> {
        let path = directory.join(FILE_NAME);
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(RecordError::Write { path, source }),
        }
    }

    /// Opens the record of a run that is resumed and removes what its checkpoint does not know and a torn line. Also returns the
    /// rows that stay.
    ///
    /// # Errors
    /// If it cannot be read or changed, or a line is not a row.
    pub fn resume(directory: &Path, known: Known) -> Result<(Self, Vec<Row>), RecordError> {
        let path = directory.join(FILE_NAME);
        let mut lines = read_lines(&path)?;
        let kept = lines.iter().position(|(row, _)| !known.has(row)).unwrap_or(lines.len());
        lines.truncate(kept);
        let end = lines.last().map_or(0, |&(_, end)| end);
        let open = || {
            let file = OpenOptions::new().append(true).open(&path)?;
            file.set_len(end)?;
            Ok(file)
        };
        match open() {
            Ok(file) => Ok((Self { path, file }, lines.into_iter().map(|(row, _)| row).collect())),
            Err(source) => Err(RecordError::Write { path, source }),
        }
    }

    /// Adds a row, in one piece.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// Never: a row is numbers with names.
    pub fn append(&mut self, row: &Row) -> Result<(), RecordError> {
        let mut line = serde_json::to_vec(row).expect("numbers with names");
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written.map_err(|source| RecordError::Write { path: self.path.clone(), source })
    }
}

/// Every whole row and where its line ends.
fn read_lines(path: &Path) -> Result<Vec<(Row, u64)>, RecordError> {
    let bytes =
        fs::read(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    let mut rows = Vec::new();
    let mut end = 0;
    for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        end += line.len() as u64;
        // Without its end it is what a killed run was writing.
        let Some(line) = line.strip_suffix(b"\n") else { break };
        match serde_json::from_slice(line) {
            Ok(row) => rows.push((row, end)),
            // What a power cut left of the last line.
            Err(_) if end == bytes.len() as u64 => {}
            Err(source) => {
                let (path, line) = (path.to_owned(), number + 1);
                return Err(RecordError::Foreign { path, line, source });
            }
        }
    }
    Ok(rows)
}
