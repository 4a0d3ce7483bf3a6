//! One trainer in one directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use super::RunDirError;

const FILE_NAME: &str = "run.lock";

/// The right to work in a directory; given back when dropped, or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// If another process has it, or the file cannot be made.
    pub fn take(directory: &Path) -> Result<Self, RunDirError> {
        let path = directory.join(FILE_NAME);
        let fail = |source| RunDirError::Write { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = read_pid(&mut file);
                return Err(RunDirError::Locked { path: directory.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(fail)?;
        Ok(Self { _file: file })
    }
}

/// The process that works in a directory, if there is one: 0 if it did not say which.
pub fn holder(directory: &Path) -> Option<u32> {
    let mut file = File::open(directory.join(FILE_NAME)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_pid(&mut file).unwrap_or(0)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
