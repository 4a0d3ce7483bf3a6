//! Parts: files under construction beside their destinations, which do not outlive their processes.
//!
//! A part is called `.padir-….part` and locked while it is written. A signal that ends the process by [`crate::pending::exit`] removes
//! it; after a kill it stays, but without its lock, by which the next process that writes to the same directory knows that
//! it is abandoned. Where a file system has no locks, nothing is removed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::pending::Pending;

const BEGINNING: &str = ".padir-";
const END: &str = ".part";

/// A file under construction.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) file: NamedTempFile,
    /// Removes it if the process is told to end.
    pub(crate) pending: Pending,
}

impl Part {
    /// Begins a part in a directory, after what others abandoned there was removed.
    pub(crate) fn begin(directory: &Path) -> io::Result<Self> {
        sweep_once(directory);
        loop {
            let file =
                tempfile::Builder::new().prefix(BEGINNING).suffix(END).tempfile_in(directory)?;
            let path = file.path().to_owned();
            let pending = Pending::new(move || drop(fs::remove_file(path)));
            if claim(file.as_file())? {
                return Ok(Self { file, pending });
            }
        }
    }
}

/// Whether a file is called like a part.
pub fn is_part(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(BEGINNING) && name.ends_with(END))
}

/// Locks a new part; false if somebody took it for abandoned before that and removed it.
#[cfg(unix)]
fn claim(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    // Where there are no locks nobody removes parts.
    Ok(file.lock().is_err() || file.metadata()?.nlink() > 0)
}

#[cfg(not(unix))]
fn claim(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Removes abandoned parts when a process first writes to a directory.
fn sweep_once(directory: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Ok(place) = directory.canonicalize() else { return };
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(place) {
        sweep(directory);
    }
}

/// Removes the parts in a directory that nobody has locked. What cannot be removed stays.
fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_part(&entry.file_name()) {
            remove_abandoned(&entry.path());
        }
    }
}

#[cfg(unix)]
fn remove_abandoned(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    // The lock is held until the file is gone: whoever has just made it finds that out when it locks it.
    if file.try_lock().is_ok() {
        let _ = fs::remove_file(path);
    }
}

#[cfg(not(unix))]
fn remove_abandoned(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn abandoned_parts_are_removed_and_living_ones_are_not() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for name in [".padir-dead.part", ".padir-other", "padir-mine.part"] {
            fs::write(at(name), "half").unwrap();
        }
        fs::create_dir(at(".padir-folder.part")).unwrap();
        let living = Part::begin(home.path()).unwrap();
        sweep(home.path());
        let mut names: Vec<_> =
            fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let others = [".padir-folder.part", ".padir-other", "padir-mine.part"].map(OsStr::new);
        let mut expected: Vec<&OsStr> =
            others.into_iter().chain(living.file.path().file_name()).collect();
        expected.sort();
        assert_eq!(names, expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_part_that_was_removed_before_it_was_locked_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".padir-new.part");
        let file = File::create(&path).unwrap();
        remove_abandoned(&path);
        assert!(!claim(&file).unwrap());
    }
}
