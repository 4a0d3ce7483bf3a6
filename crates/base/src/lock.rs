//! Files whose locks say who works in a directory.
//!
//! The operating system takes a lock back when the process that has it, and its children that share it, have ended. Some network file systems know no
//! locks: there everybody gets them, and it is left to the user not to do two things at once.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A file that can be locked.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Opens the file, or makes it. It is not locked yet.
    ///
    /// # Errors
    /// If it cannot be opened or made.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
        Ok(Self { file, path })
    }

    /// Locks it for us alone, unless somebody else has it.
    ///
    /// # Errors
    /// If the lock cannot be asked for.
    pub fn try_lock(&self) -> io::Result<bool> {
        granted(self.file.try_lock())
    }

    /// Locks it for us alone, as soon as nobody else has it.
    ///
    /// # Errors
    /// If the lock cannot be asked for.
    pub fn lock(&self) -> io::Result<()> {
        tolerate(self.file.lock())
    }

    /// Locks it together with all others that lock it like this, as soon as nobody has it alone.
    ///
    /// # Errors
    /// If the lock cannot be asked for.
    pub fn lock_shared(&self) -> io::Result<()> {
        tolerate(self.file.lock_shared())
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// If the system fails.
    pub fn unlock(&self) -> io::Result<()> {
        tolerate(self.file.unlock())
    }

    /// Whether the file still stands in its place, and not another one or none.
    pub fn is_in_place(&self) -> bool {
        let there = fs::metadata(&self.path);
        there.is_ok_and(|there| self.file.metadata().is_ok_and(|ours| is_same(&ours, &there)))
    }

    /// A handle for a child process: the lock stays as long as the child has it.
    ///
    /// # Errors
    /// If the system has no more handles.
    pub fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes into the file which process has it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        writeln!(self.file, "{}", std::process::id())
    }

    /// The process that signed the file.
    pub fn signature(&mut self) -> Option<u32> {
        self.file.rewind().ok()?;
        let mut text = String::new();
        Read::by_ref(&mut self.file).take(32).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }
}

/// The process that has the lock of a file, if one has it: 0 if it did not say which.
pub fn holder(path: &Path) -> Option<u32> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let mut file = LockFile { file, path: path.to_owned() };
            Some(file.signature().unwrap_or(0))
        }
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn granted(asked: Result<(), TryLockError>) -> io::Result<bool> {
    match asked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => tolerate(Err(error)).map(|()| true),
    }
}

fn tolerate(locked: io::Result<()>) -> io::Result<()> {
    match locked {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn is_same(ours: &fs::Metadata, there: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_same(ours: &fs::Metadata, there: &fs::Metadata) -> bool {
    ours.created().ok() == there.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_and_says_so() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        assert_eq!(holder(&path), None, "no file");
        let mut ours = LockFile::open(&path).unwrap();
        assert_eq!(holder(&path), None, "nobody has it");
        assert!(ours.try_lock().unwrap());
        assert_eq!(holder(&path), Some(0), "unsigned");
        ours.sign().unwrap();
        assert_eq!(holder(&path), Some(std::process::id()));
        let mut theirs = LockFile::open(&path).unwrap();
        assert!(!theirs.try_lock().unwrap());
        assert_eq!(theirs.signature(), Some(std::process::id()));
        let child = ours.share().unwrap();
        drop(ours);
        assert!(!theirs.try_lock().unwrap(), "a child has it");
        drop(child);
        assert!(theirs.try_lock().unwrap());
        theirs.unlock().unwrap();
        theirs.lock_shared().unwrap();
        LockFile::open(&path).unwrap().lock_shared().unwrap();
    }

    #[test]
    fn a_file_that_was_removed_is_not_in_place() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let lock = LockFile::open(&path).unwrap();
        assert!(lock.is_in_place());
        fs::remove_file(&path).unwrap();
        assert!(!lock.is_in_place());
        fs::write(&path, "").unwrap();
        let _keep = File::open(&path).unwrap();
        assert!(!lock.is_in_place(), "another one");
    }
}
