//! One trainer in one directory.

use std::path::Path;

use padir_base::lock::{self, LockFile};

use super::RunDirError;

const FILE_NAME: &str = "run.lock";

/// The right to work in a directory; given back when dropped, or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: LockFile,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// If another process has it, or the file cannot be made.
    pub fn take(directory: &Path) -> Result<Self, RunDirError> {
        let path = directory.join(FILE_NAME);
        let fail = |source| RunDirError::Write { path: path.clone(), source };
        let mut file = LockFile::open(&path).map_err(fail)?;
        if !file.try_lock().map_err(fail)? {
            let pid = file.signature();
            return Err(RunDirError::Locked { path: directory.to_owned(), pid });
        }
        file.sign().map_err(fail)?;
        Ok(Self { _file: file })
    }
}

/// The process that works in a directory, if there is one: 0 if it did not say which.
pub fn holder(directory: &Path) -> Option<u32> {
    lock::holder(&directory.join(FILE_NAME))
}
