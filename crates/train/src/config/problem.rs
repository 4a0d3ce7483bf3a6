//! What is wrong with a configuration: every fault, each with the line or flag it comes from.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a file.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// Nowhere in particular: it should have been in this file.
    File(PathBuf),
    /// `--set` on the command line, with its argument.
    Flag(String),
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it was written.
    pub origin: Origin,
    /// What is wrong.
    pub message: String,
}

/// No run can be made of a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// All faults that were found, one a line.
    #[error("{}", list(path, problems))]
    Problems {
        /// The file.
        path: PathBuf,
        /// The faults, in the order of the file.
        problems: Vec<Problem>,
    },
}

/// So many faults are shown: a file that has more is probably no configuration at all.
const SHOWN: usize = 20;

fn list(path: &Path, problems: &[Problem]) -> String {
    let shown = problems.iter().take(SHOWN).map(|problem| format!("\n  {problem}"));
    let more = problems.len().saturating_sub(SHOWN);
    let rest = (more > 0).then(|| format!("\n  and {more} more"));
    let lines: Vec<String> = shown.chain(rest).collect();
    let number = match problems.len() {
        1 => "a problem".to_owned(),
        n => format!("{n} problems"),
    };
    format!("{number} in {}:{}", path.display(), lines.concat())
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Line { file, line } => write!(f, "{}:{line}: ", file.display())?,
            Origin::File(file) => write!(f, "{}: ", file.display())?,
            Origin::Flag(flag) => write!(f, "--set {flag}: ")?,
        }
        f.write_str(&self.message)
    }
}
