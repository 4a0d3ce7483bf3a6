//! A directory that appears as a whole or not at all.
//!
//! Files are collected in `.NAME.part` beside the destination `NAME`; the last step renames the
//! directory, after the set that it replaces, if it may, has been renamed to `.NAME.old`. A writer that fails removes it. One that is killed leaves it behind, invisible
//! under its true name, and the next writer of the same destination clears it away; a lock tells
//! a dead writer from a living one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use padir_base::is_part;
use padir_base::pending::Pending;

use super::error::{Fault, ShardError};
use super::number_of;

const LOCK: &str = "lock";

/// What happens to a set that stands at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// It stays, and the writer fails.
    Refused,
    /// It makes way when the new one is complete.
    Replaced,
}

/// A directory under construction.
#[derive(Debug)]
pub(super) struct StagedDirectory {
    destination: PathBuf,
    staging: PathBuf,
    lock: Option<File>,
    /// Removes it if the process is told to end.
    pending: Option<Pending>,
}

impl StagedDirectory {
    /// Starts a directory that will stand at `destination`, where nothing may be yet but an
    /// empty directory, or a set that may be replaced.
    pub(super) fn create(destination: &Path, existing: Existing) -> Result<Self, ShardError> {
        Self::prepare(destination, existing).map_err(|fault| ShardError::new(destination, fault))
    }

    fn prepare(destination: &Path, existing: Existing) -> Result<Self, Fault> {
        match existing {
            Existing::Refused => refuse_occupied(destination)?,
            Existing::Replaced => refuse_foreign(destination)?,
        }
        let staging = sibling(destination, "part").ok_or(Fault::Exists)?;
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
        let doomed = staging.clone();
        let pending = Some(Pending::new(move || discard(&doomed)));
        Ok(Self { destination: destination.to_owned(), staging, lock: Some(lock), pending })
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
        // From here on a signal leaves it as a kill would: never neither the old set nor the new.
        self.pending = None;
        fs::remove_file(self.staging.join(LOCK))?;
        let old = self.make_way()?;
        if let Err(error) = fs::rename(&self.staging, &self.destination) {
            if let Some(old) = old {
                fs::rename(old, &self.destination)?;
            }
            return Err(error);
        }
        self.lock = None;
        if let Some(old) = old {
            // The new set stands; what remains of the old one is invisible.
            let _ = remove_leftovers(&old).and_then(|()| fs::remove_dir(&old));
        }
        #[cfg(unix)]
        File::open(parent_of(&self.destination))?.sync_all()?;
        Ok(())
    }

    /// Moves a set that is replaced aside, and tells where it is.
    fn make_way(&self) -> io::Result<Option<PathBuf>> {
        // An empty directory gives way: POSIX renames over it, other systems want it removed.
        match fs::read_dir(&self.destination).map(|mut entries| entries.next().is_none()) {
            Ok(true) if cfg!(not(unix)) => fs::remove_dir(&self.destination).map(|()| None),
            Ok(true) | Err(_) => Ok(None),
            Ok(false) => {
                let old = sibling(&self.destination, "old");
                let old = old.ok_or(io::ErrorKind::InvalidInput)?;
                // What a writer left that was killed right here.
                if old.exists() {
                    remove_leftovers(&old)?;
                    fs::remove_dir(&old)?;
                }
                fs::rename(&self.destination, &old)?;
                Ok(Some(old))
            }
        }
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        if self.lock.is_some() {
            discard(&self.staging);
        }
    }
}

/// Removes an unfinished directory. Nothing more can be done about a failure here; the next writer will clear it away.
fn discard(staging: &Path) {
    let _ = remove_leftovers(staging);
    let _ = fs::remove_file(staging.join(LOCK));
    let _ = fs::remove_dir(staging);
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

/// Only a set may be replaced, and only as a whole.
fn refuse_foreign(destination: &Path) -> Result<(), Fault> {
    let Ok(entries) = fs::read_dir(destination) else { return refuse_occupied(destination) };
    for entry in entries {
        let name = entry.map_err(Fault::Read)?.file_name();
        if !is_ours(&name) {
            return Err(Fault::Occupied(name.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}

/// Whether a file of this name belongs to a set or to one that was begun.
fn is_ours(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        number_of(name).is_some()
            || name == padir_base::manifest::FILE_NAME
            || is_part(OsStr::new(name))
    })
}

/// Removes what a dead writer left: shards, the manifest, and unfinished files; nothing else.
fn remove_leftovers(staging: &Path) -> io::Result<()> {
    for entry in fs::read_dir(staging)? {
        let entry = entry?;
        if is_ours(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// `.NAME.part` or the like beside `NAME`; none for `/` and `..`.
fn sibling(destination: &Path, end: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(destination.file_name()?);
    name.push(".");
    name.push(end);
    Some(parent_of(destination).join(name))
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
