//! Why a piece of work failed. Errors state facts; what to do about them is for the caller to say.

use std::io;
use std::path::{Path, PathBuf};

use padir_base::file::FileError;
use padir_base::manifest::ManifestError;
use padir_text::pair::CorpusError;
use padir_text::writer::WriteError;
use padir_translate::TranslateError;
use thiserror::Error;

use crate::distil::DistilError;
use crate::recipe::RecipeError;
use crate::report::ReportError;

/// Why a piece of work failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A directory cannot be made.
    #[error("cannot make {}", path.display())]
    Make {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be written in one step.
    #[error(transparent)]
    File(#[from] FileError),
    /// Corpora have no pair between them; the text names them.
    #[error("{0}")]
    Empty(String),
    /// A corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A corpus cannot be written.
    #[error(transparent)]
    Pairs(#[from] WriteError),
    /// Texts cannot be scored.
    #[error(transparent)]
    Score(#[from] padir_score::CorpusError),
    /// The manifest of a piece of work cannot be made.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Something cannot be expressed as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A corpus cannot be distilled.
    #[error(transparent)]
    Distil(#[from] DistilError),
    /// A page of results cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A recipe cannot be read or run.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// A model cannot be used.
    #[error(transparent)]
    Translate(#[from] TranslateError),
}

impl Error {
    /// For `map_err` on what reads `path`.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    /// For `map_err` on what writes `path`.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    /// For `map_err` on what makes the directory `path`.
    pub(crate) fn making(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Make { path, source }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_file_is_named_and_the_cause_is_kept() {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let path = Path::new("a/b");
        for (error, expected) in [
            (Error::reading(path)(gone()), "cannot read a/b"),
            (Error::writing(path)(gone()), "cannot write a/b"),
            (Error::making(path)(gone()), "cannot make a/b"),
        ] {
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.source().unwrap().to_string(), gone().to_string(), "{expected}");
        }
    }
}
