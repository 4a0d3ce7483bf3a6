//! Files that are either wholly there or not there at all.
//!
//! An [`AtomicFile`] is written beside its destination, flushed to the disk, and renamed over it
//! in one step; the directory is flushed too, so that the rename survives a power cut. A reader
//! sees the old content or the new one, whatever happens to the writer. What an interrupted writer leaves
//! beside the destination is removed, see `part.rs`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use crate::part::Part;
use crate::pending::Pending;

/// A file could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}", path.display())]
pub struct FileError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// A file under construction; nothing is visible before [`AtomicFile::commit`].
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
    /// Last, so that the part is gone when it is forgotten.
    pending: Pending,
}

impl AtomicFile {
    /// Starts a file that will stand at `path`. The directory must exist.
    ///
    /// # Errors
    /// If the directory does not exist or cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref().to_owned();
        let part = Part::begin(directory_of(&path)).map_err(FileError::at(&path))?;
        let Part { file, pending } = part;
        Ok(Self { path, writer: BufWriter::with_capacity(1 << 16, file), pending })
    }

    /// Where the file will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file appear at its path, replacing what stood there.
    ///
    /// # Errors
    /// If the disk is full or the rename fails; the old file is then untouched.
    pub fn commit(self) -> Result<(), FileError> {
        let Self { path, writer, pending } = self;
        let temporary = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .map_err(FileError::at(&path))?;
        let settled = settle(temporary, &path).map_err(FileError::at(&path));
        drop(pending);
        settled
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Writes a whole file atomically.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_atomically(path: impl AsRef<Path>, content: &[u8]) -> Result<(), FileError> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    file.write_all(content).map_err(FileError::at(path))?;
    file.commit()
}

fn settle(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    grant_usual_permissions(temporary.as_file(), path)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_directory(directory_of(path))
}

/// Temporary files are private; the finished one keeps the permissions of what it replaces, or
/// gets those of any newly created file.
#[cfg(unix)]
fn grant_usual_permissions(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match fs::metadata(path) {
        Ok(old) => old.permissions().mode() & 0o777,
        Err(_) => 0o644,
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn grant_usual_permissions(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_visible_before_commit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.bin");
        write_atomically(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn an_abandoned_file_leaves_no_trace() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.bin");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_directory_is_named() {
        let error = AtomicFile::create("/no/such/directory/x").unwrap_err();
        assert_eq!(error.to_string(), "cannot write /no/such/directory/x");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_a_usual_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        write_atomically(&path, b"1").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_atomically(&path, b"2").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
