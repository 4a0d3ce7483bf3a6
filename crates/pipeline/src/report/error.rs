//! Why a page of results cannot be made.

use std::path::PathBuf;

use padir_plot::RenderError;
use padir_train::rundir::RunDirError;
use thiserror::Error;

/// Why a page of results cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Two directories would be one chapter.
    #[error("two directories have the same name")]
    SameName,
    /// No stage was finished in a directory.
    #[error("{} holds no finished stage", .0.display())]
    NoStage(PathBuf),
    /// A stage that leaves figures keeps none.
    #[error("stage {stage} of {} keeps no JSON", directory.display())]
    NoJson {
        /// The stage.
        stage: String,
        /// Where it ran.
        directory: PathBuf,
    },
    /// A file is not what a stage wrote.
    #[error("{} is not what stage {stage} wrote", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// The stage.
        stage: String,
    },
    /// A file is not of the form that a stage writes.
    #[error("{} is not what stage {stage} writes", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The stage.
        stage: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A run of training has no manifest that can be read.
    #[error("{} has no manifest", run.display())]
    Manifest {
        /// The run.
        run: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A run of training cannot be read.
    #[error(transparent)]
    Run(#[from] RunDirError),
    /// A figure cannot be drawn.
    #[error("cannot draw the figure")]
    Figure(#[source] RenderError),
    /// The paper's numbers cannot be read.
    #[error("the paper's table is damaged")]
    Paper(#[from] toml::de::Error),
}
