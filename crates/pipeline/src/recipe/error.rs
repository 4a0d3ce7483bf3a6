//! Why a recipe cannot be read or run.

use std::io;
use std::path::PathBuf;

use padir_train::config::ConfigError;
use thiserror::Error;

use super::executor::End;

/// Why a recipe cannot be read or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// There is no recipe to read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It has faults, all of which are told.
    #[error(transparent)]
    Faults(ConfigError),
    /// It has faults that nobody told.
    #[error("the recipe cannot be read")]
    Unreadable,
    /// It has no stage of a name.
    #[error("there is no stage {name:?}")]
    NoStage {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// What stages read is not there, and no chosen stage makes it.
    #[error("what stages read is not there:{}", lines(readers))]
    Absent {
        /// Each path and the stages that read it.
        readers: Vec<(String, Vec<String>)>,
        /// Where it could come from.
        from: Supply,
    },
    /// A stage cannot run because of what is not there.
    #[error("stage {stage:?}: there is no {}", missing.join(", "))]
    Missing {
        /// The stage.
        stage: String,
        /// The paths.
        missing: Vec<String>,
    },
    /// The record of a directory is something else.
    #[error("{} is not a record of stages", path.display())]
    Record {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Somebody else runs stages in the directory.
    #[error("another `padir run`, or a stage of one, works in {}", .0.display())]
    Locked(PathBuf),
    /// The directory cannot be locked.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The lock's file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A child cannot have the lock.
    #[error("cannot share the lock")]
    Share(#[source] io::Error),
    /// The program that runs is not known.
    #[error("cannot find this program")]
    Program(#[source] io::Error),
    /// A process cannot be started.
    #[error("cannot start this program again")]
    Start(#[source] io::Error),
    /// It cannot be known whether a process has ended.
    #[error("cannot wait for the stage")]
    Wait(#[source] io::Error),
    /// What was made cannot be moved out of the way.
    #[error("cannot move {} to {}", from.display(), to.display())]
    Move {
        /// What.
        from: PathBuf,
        /// Where to.
        to: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of the recipe cannot be written for a stage.
    #[error("cannot prepare the stage")]
    Prepare(#[source] padir_base::file::FileError),
    /// A stage failed.
    #[error("stage {stage:?} ended {}: {line}", words(end))]
    Failed {
        /// Its name.
        stage: String,
        /// How it ended.
        end: End,
        /// Its command line.
        line: String,
    },
    /// A stage ended well and did not make what it should.
    #[error("stage {stage:?} ended without making {}: {line}", missing.join(", "))]
    Incomplete {
        /// Its name.
        stage: String,
        /// What is missing.
        missing: Vec<String>,
        /// Its command line.
        line: String,
    },
}

/// Where something that stages read could come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supply {
    /// It is data, which the recipe may say where to get.
    Data(Option<String>),
    /// Stages that were not chosen make it.
    Stages(Vec<String>),
    /// Nobody knows.
    Nobody,
}

fn lines(readers: &[(String, Vec<String>)]) -> String {
    let line = |(path, stages): &(String, Vec<String>)| {
        let plural = if stages.len() == 1 { "" } else { "s" };
        format!("\n  {path} (stage{plural} {})", stages.join(", "))
    };
    readers.iter().map(line).collect()
}

fn words(end: &End) -> String {
    match end {
        End::Success => "well".to_owned(),
        End::Code(code) => format!("with exit code {code}"),
        End::Other(words) => format!("by {words}"),
    }
}
