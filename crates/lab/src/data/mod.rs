//! Files: samples from CSV, Parquet and NumPy, edge lists, results to CSV and NumPy.

mod csv;
mod edges;
mod npy;
mod parquet;

pub use csv::write_csv;
pub use edges::read_edges;
pub use npy::{write_npy_array, write_npy_f64, write_npy_i8};

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file cannot be read or written.
    #[error("{path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be put in place.
    #[error(transparent)]
    Place(#[from] padir_base::file::FileError),
    /// The name does not tell the format.
    #[error("{0} is none of .csv, .npy and .parquet")]
    Kind(PathBuf),
    /// The content is not what it should be.
    #[error("{path}: {fact}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fact: String,
    },
    /// A line is not what it should be.
    #[error("{path}:{line}: {fact}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        fact: String,
    },
}

impl FileError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn content(path: &Path, fact: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), fact: fact.into() }
    }
}

/// Reads a table of numbers, one row per sample, one column per site.
///
/// # Errors
/// If the file cannot be read or holds anything but numbers.
pub fn read_rows(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => csv::read(path),
        Some("npy") => npy::read(path),
        Some("parquet") => parquet::read(path),
        _ => Err(FileError::Kind(path.to_owned())),
    }
}
