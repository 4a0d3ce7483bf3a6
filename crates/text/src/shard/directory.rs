//! A directory that appears as a whole or not at all.
//!
//! Files are collected in `.NAME.part` beside the destination `NAME`; the last step renames the
//! directory. A writer that fails removes it. One that is killed leaves it behind, invisible
//! under its true name, and the next writer of the same destination clears it away; a lock tells
//! a dead writer from a living one.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Fault, ShardError};
use super::number_of;

const LOCK: &str = "lock";

/// A directory under construction.
#[derive(Debug)]
pub(super) struct StagedDirectory {
    destination: PathBuf,
    staging: PathBuf,
    lock: Option<File>,
}

impl StagedDirectory {
    /// Starts a directory that will stand at `destination`, where nothing may be yet but an
    /// empty directory.
    pub(super) fn create(destination: &Path) -> Result<Self, ShardError> {
        Self::prepare(destination).map_err(|fault| ShardError::new(destination, fault))
    }

    fn prepare(destination: &Path) -> Result<Self, Fault> {
        refuse_occupied(destination)?;
        let staging = staging_of(destination).ok_or(Fault::Exists)?;
        match fs::create_dir(&staging) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Fault::Write(error));
            }
            _ => {}
        }
        let lock = File::create(staging.join(LOCK)).map_err(Fault::Write)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Fault::Busy),
            // Some network file systems know no locks; two writers at once are unlikely there.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        remove_leftovers(&staging).map_err(Fault::Write)?;
        Ok(Self { destination: destination.to_owned(), staging, lock: Some(lock) })
    }

    /// Where to write the files.
    pub(super) fn path(&self) -> &Path {
        &self.staging
    }

    /// Makes the directory appear.
    pub(super) fn commit(mut self) -> Result<(), ShardError> {
        let result = self.settle();
        result.map_err(|error| ShardError::new(&self.destination, Fault::Write(error)))
    }

    fn settle(&mut self) -> io::Result<()> {
        fs::remove_file(self.staging.join(LOCK))?;
        // An empty directory gives way: POSIX renames over it, other systems want it removed.
        if cfg!(not(unix)) && self.destination.exists() {
            fs::remove_dir(&self.destination)?;
        }
        fs::rename(&self.staging, &self.destination)?;
        self.lock = None;
        #[cfg(unix)]
        File::open(parent_of(&self.destination))?.sync_all()?;
        Ok(())
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // Nothing more can be done about a failure here; the next writer will clear it away.
            let _ = remove_leftovers(&self.staging);
            let _ = fs::remove_file(self.staging.join(LOCK));
            let _ = fs::remove_dir(&self.staging);
        }
    }
}

fn refuse_occupied(destination: &Path) -> Result<(), Fault> {
    match fs::read_dir(destination) {
        Ok(mut entries) => entries.next().map_or(Ok(()), |_| Err(Fault::Exists)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if parent_of(destination).is_dir() { Ok(()) } else { Err(Fault::Write(error)) }
        }
        Err(_) => Err(Fault::Exists),
    }
}

/// Removes what a dead writer left: shards, the manifest, and unfinished files; nothing else.
fn remove_leftovers(staging: &Path) -> io::Result<()> {
    for entry in fs::read_dir(staging)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| {
            number_of(name).is_some()
                || name == padir_base::manifest::FILE_NAME
                || name.strip_prefix(".padir-").is_some_and(|rest| rest.contains(".part"))
        });
        if ours {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// `.NAME.part` beside `NAME`; none for `/` and `..`.
fn staging_of(destination: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(destination.file_name()?);
    name.push(".part");
    Some(parent_of(destination).join(name))
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
