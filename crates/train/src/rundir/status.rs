//! `status.json`: how a run stands.

use std::path::Path;
use std::{fmt, fs, io};

use padir_base::file::write_atomically;
use serde::{Deserialize, Serialize};

use super::RunDirError;

pub(super) const FILE_NAME: &str = "status.json";

/// How a run stands, as its trainer wrote it down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Whether it goes on.
    #[serde(alias = "standing")]
    pub state: RunState,
    /// The number of its parameters.
    pub parameters: u64,
    /// Why it ended, in words.
    pub reason: Option<String>,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It goes on, unless its process is gone.
    Running,
    /// A budget or its patience was used up.
    Finished,
    /// Somebody stopped it; it can be resumed.
    Stopped,
    /// Something went wrong.
    Failed,
}

impl Status {
    pub(super) fn save(&self, directory: &Path) -> Result<(), RunDirError> {
        let path = directory.join(FILE_NAME);
        match serde_json::to_vec(self) {
            Ok(mut text) => {
                text.push(b'\n');
                Ok(write_atomically(path, &text)?)
            }
            Err(source) => Err(RunDirError::Foreign { path, source }),
        }
    }

    /// Reads the status of a run, if it has one yet.
    ///
    /// # Errors
    /// If there is a file that cannot be read or is not a status.
    pub fn load(directory: &Path) -> Result<Option<Self>, RunDirError> {
        let path = directory.join(FILE_NAME);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|source| RunDirError::Foreign { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(RunDirError::Read { path, source }),
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        })
    }
}
