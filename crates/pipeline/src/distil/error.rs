//! Why a corpus cannot be distilled.

use std::io;
use std::path::PathBuf;

use padir_base::manifest::ManifestError;
use thiserror::Error;

use super::program::ProgramError;

/// Why a corpus cannot be distilled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DistilError {
    /// No output is named.
    #[error("no --output")]
    NoOutput,
    /// Pipes cannot be continued.
    #[error("--output - cannot be continued: distilled corpora are written to files")]
    Stdout,
    /// The directory of an output is not there.
    #[error("cannot write {}: there is no such directory", .0.display())]
    NoDirectory(PathBuf),
    /// The corpus is not what it was when the work began.
    #[error("the corpus was changed during the work")]
    Changed,
    /// Somebody wants the work to end.
    #[error("stopped with {done} of {count} parts done")]
    Stopped {
        /// Parts that are done.
        done: usize,
        /// Parts in all.
        count: usize,
    },
    /// The working directory cannot be used.
    #[error("cannot work in {}", directory.display())]
    Work {
        /// Where it is.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something that is not a directory stands where the working directory should be.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The working directory holds something else.
    #[error("{} holds a foreign file, {name}", directory.display())]
    Foreign {
        /// Where it is.
        directory: PathBuf,
        /// The file.
        name: String,
    },
    /// The working directory's manifest cannot be read.
    #[error("{source}")]
    Manifest {
        /// Where it is.
        directory: PathBuf,
        /// What is wrong.
        source: ManifestError,
    },
    /// The working directory belongs to other work.
    #[error("{} was begun with other settings: {}", directory.display(), differences.join("; "))]
    Other {
        /// Where it is.
        directory: PathBuf,
        /// In what the settings differ.
        differences: Vec<String>,
    },
    /// The working directory cannot be removed.
    #[error("cannot remove {}", directory.display())]
    Remove {
        /// Where it is.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The program that translates fails again and again.
    #[error("`{command}` failed at part {part}")]
    Program {
        /// The command line.
        command: String,
        /// The part, counted from 1.
        part: usize,
        /// What went wrong at last.
        source: ProgramError,
    },
    /// A part cannot be used.
    #[error("{} is not usable", path.display())]
    Part {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        source: PartError,
    },
}

/// What is wrong with a part.
#[derive(Debug, Error)]
pub enum PartError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It has no line.
    #[error("it is empty")]
    Empty,
    /// A line is not what it should be.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has another number of sources.
    #[error("it has {found} sources instead of {expected}")]
    Sources {
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// It was made of another text.
    #[error("it was made of another text")]
    OtherText,
}
