//! The directory of a set of shards, which appears as a whole or not at all.
//!
//! What a [staged directory](padir_base::staged) replaces must be a set of shards, or an empty directory.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use padir_base::is_part;
use padir_base::staged::StagedDirectory;

use super::error::{Fault, ShardError};
use super::number_of;

/// What happens to a set that stands at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// It stays, and the writer fails.
    Refused,
    /// It makes way when the new one is complete.
    Replaced,
}

/// Starts a directory that will stand at `destination`, where nothing may be yet but an
/// empty directory, or a set that may be replaced.
pub(super) fn begin(destination: &Path, existing: Existing) -> Result<StagedDirectory, ShardError> {
    let checked = match existing {
        Existing::Refused => refuse_occupied(destination),
        Existing::Replaced => refuse_foreign(destination),
    };
    let begun = checked.and_then(|()| {
        StagedDirectory::begin_over(destination).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => Fault::Busy,
            io::ErrorKind::InvalidInput => Fault::Exists,
            _ => Fault::Write(error),
        })
    });
    begun.map_err(|fault| ShardError::new(destination, fault))
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

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
