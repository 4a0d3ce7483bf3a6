//! Where stages run: one interface for processes on this computer and for schedulers of clusters.

use std::path::{Path, PathBuf};

use crate::Error;

/// A command line that is to be run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The stage's name.
    pub stage: &'a str,
    /// The directory to run in.
    pub directory: &'a Path,
    /// The words behind the program's name.
    pub arguments: Vec<&'a str>,
    /// The file that receives what is printed. It must appear whole, and only if all went well.
    pub stdout: Option<PathBuf>,
}

/// Somewhere to run command lines.
pub trait Executor {
    /// Starts a job and returns at once.
    ///
    /// # Errors
    /// If it cannot be started.
    fn start(&self, job: &Job<'_>) -> Result<Box<dyn Running>, Error>;
}

/// A job under way.
pub trait Running {
    /// How it ended; nothing if it has not.
    ///
    /// # Errors
    /// If that cannot be found out, or what it printed cannot be kept.
    fn poll(&mut self) -> Result<Option<End>, Error>;

    /// Asks it to stop: the first time (0) in good order, with all saved, then more and more firmly.
    fn interrupt(&mut self, times: usize);
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Success,
    /// With an exit code.
    Code(i32),
    /// Otherwise, such as by a signal; in words.
    Other(String),
}
