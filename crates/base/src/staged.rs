//! Directories that appear and are replaced whole.
//!
//! A new directory NAME is written as `.NAME.part` beside its place, forced to the disk, and then
//!
//! 1. NAME is renamed to `.NAME.old` (if there is one),
//! 2. `.NAME.part` is renamed to NAME,
//! 3. `.NAME.old` is removed.
//!
//! | a crash | leaves | and a reader takes |
//! |---|---|---|
//! | before 1 | NAME, a partial `.NAME.part` | NAME, the old one |
//! | between 1 and 2 | `.NAME.old`, a whole `.NAME.part` | `.NAME.old` |
//! | after 2 | NAME, perhaps a `.NAME.old` | NAME, the new one |
//!
//! So a reader that does not find NAME looks for `.NAME.old` ([`in_place`]). The next writer puts
//! the old directory back and clears the rest away. Readers change nothing, lest they disturb a
//! writer that is just between two renames.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::file::{directory_of, sync_directory, write_atomically};
use crate::pending::Pending;

/// How long a writer waits for another one: as long as it takes to add a file.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long whoever adds a file waits: as long as it takes to write large weights.
const GREAT_PATIENCE: Duration = Duration::from_mins(1);
/// How often a lock is tried meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// A directory under construction. Dropped without [`StagedDirectory::commit`] it leaves no trace.
#[derive(Debug)]
pub struct StagedDirectory {
    target: PathBuf,
    part: PathBuf,
    old: PathBuf,
    /// Held while writing, so that no other process writes the same.
    _lock: Option<File>,
    /// Removes it if the process is told to end.
    pending: Option<Pending>,
    committed: bool,
}

impl StagedDirectory {
    /// Begins a directory that will stand at `target`, behind links.
    ///
    /// What stands there now is removed in the end. So it must be empty or hold all the `marks`:
    /// whoever gives a wrong path shall not lose what is there.
    ///
    /// # Errors
    /// If what stands there is of another kind, somebody else writes the same directory, or the file system fails.
    pub fn begin(target: &Path, marks: &[&str]) -> io::Result<Self> {
        Self::begin_within(target, marks, PATIENCE)
    }

    /// The same for whoever has looked at what stands at `target` and knows that it may be replaced.
    ///
    /// # Errors
    /// If somebody else writes the same directory, or the file system fails.
    pub fn begin_over(target: &Path) -> io::Result<Self> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        Self::prepare(&target, PATIENCE)
    }

    fn begin_within(target: &Path, marks: &[&str], patience: Duration) -> io::Result<Self> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        sibling(&target, "part")?;
        check_replaceable(&target, marks)?;
        Self::prepare(&target, patience)
    }

    fn prepare(target: &Path, patience: Duration) -> io::Result<Self> {
        let (part, old) = (sibling(target, "part")?, sibling(target, "old")?);
        fs::create_dir_all(directory_of(target))?;
        let lock = acquire(&part, patience)?;
        restore(target, &old)?;
        clear(&part)?;
        let doomed = part.clone();
        let pending = Some(Pending::new(move || drop(fs::remove_dir_all(doomed))));
        Ok(Self { target: target.to_owned(), part, old, _lock: lock, pending, committed: false })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.part
    }

    /// Takes a file along from the directory that is replaced, if it has one that the new one lacks.
    /// Others add files as [`attach`] does, so that none is added between this and [`StagedDirectory::commit`].
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn keep(&self, name: &str) -> io::Result<()> {
        let (old, new) = (self.target.join(name), self.part.join(name));
        if new.exists() || !old.is_file() {
            return Ok(());
        }
        fs::copy(old, new).map(drop)
    }

    /// Makes the directory appear in its place.
    ///
    /// # Errors
    /// If the file system fails; what stood there stands there still.
    pub fn commit(mut self) -> io::Result<()> {
        sync_tree(&self.part)?;
        // From here on a signal leaves what the table says of a crash.
        self.pending = None;
        let replaces = self.target.exists();
        if replaces {
            fs::rename(&self.target, &self.old)?;
        }
        if let Err(error) = fs::rename(&self.part, &self.target) {
            if replaces {
                fs::rename(&self.old, &self.target)?;
            }
            return Err(error);
        }
        self.committed = true;
        sync_directory(directory_of(&self.target))?;
        if replaces {
            // What cannot be removed now will be by the next writer; the new one stands.
            let _ = fs::remove_dir_all(&self.old);
        }
        Ok(())
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_dir_all(&self.part);
        }
    }
}

/// Writes a file into a directory that stands, while nobody can replace the directory; tells where it is.
///
/// # Errors
/// If there is no such directory, it lacks one of its `marks`, or the file system fails.
pub fn attach(target: &Path, marks: &[&str], name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let staged = StagedDirectory::begin_within(target, marks, GREAT_PATIENCE)?;
    if !marks.iter().all(|mark| staged.target.join(mark).is_file()) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is nothing to add a file to"));
    }
    let path = staged.target.join(name);
    write_atomically(&path, content).map_err(io::Error::other)?;
    Ok(target.join(name))
}

/// The directory to read when `target` is asked for.
pub fn in_place(target: &Path) -> PathBuf {
    if !target.exists()
        && let Ok(old) = sibling(target, "old")
        && old.is_dir()
    {
        return old;
    }
    target.to_owned()
}

/// Something that changes when a directory is replaced by another of the same name.
#[cfg(unix)]
pub fn identity(directory: &Path) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    // Numbers of files that were removed are used again at once; the time of the last renaming is not.
    let identity = |m: fs::Metadata| (m.dev(), m.ino(), m.ctime(), m.ctime_nsec());
    fs::metadata(directory).ok().map(identity)
}

/// Something that changes when a directory is replaced by another of the same name.
#[cfg(not(unix))]
pub fn identity(directory: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(directory).and_then(|metadata| metadata.created()).ok()
}

fn check_replaceable(target: &Path, marks: &[&str]) -> io::Result<()> {
    let replaceable = match fs::read_dir(target) {
        Ok(mut entries) => {
            entries.next().is_none() || marks.iter().all(|mark| target.join(mark).is_file())
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if replaceable {
        return Ok(());
    }
    let reason = "what stands there is not of the same kind and will not be replaced";
    Err(io::Error::new(io::ErrorKind::AlreadyExists, reason))
}

/// Undoes what a crash left behind.
fn restore(target: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        Ok(())
    } else if target.exists() {
        fs::remove_dir_all(old)
    } else {
        fs::rename(old, target)
    }
}

fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes the directory to write to and locks it; waits for whoever has it.
fn acquire(part: &Path, patience: Duration) -> io::Result<Option<File>> {
    let start = Instant::now();
    loop {
        fs::create_dir_all(part)?;
        match lock_directory(part) {
            // Whoever had it has renamed or removed it: what we have locked is no longer there.
            Ok(Some(lock)) if !is_at(&lock, part) => {}
            Err(error) if is_passing(&error) && start.elapsed() < patience => thread::sleep(PAUSE),
            other => return other,
        }
    }
}

/// Whether a moment later things may be different.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::NotFound)
}

#[cfg(unix)]
fn is_at(directory: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (ours, there) = (directory.metadata().map(identity), fs::metadata(path).map(identity));
    ours.is_ok_and(|ours| there.is_ok_and(|there| ours == there))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Another process that writes the same directory at the same time is an error, not a mixture.
#[cfg(unix)]
fn lock_directory(directory: &Path) -> io::Result<Option<File>> {
    let file = File::open(directory)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process is writing it at this moment",
        )),
        // Some network file systems know no locks.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(not(unix))]
fn lock_directory(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

fn sync_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_directory(directory)
}

fn sibling(target: &Path, suffix: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a directory")
    })?;
    let mut sibling = OsString::from(".");
    sibling.push(name);
    sibling.push(".");
    sibling.push(suffix);
    Ok(directory_of(target).join(sibling))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(directory: &Path) -> String {
        fs::read_to_string(directory.join("x")).unwrap_or_else(|_| "nothing".to_owned())
    }

    fn write(target: &Path, text: &str) {
        let staged = StagedDirectory::begin(target, &["x"]).unwrap();
        fs::write(staged.path().join("x"), text).unwrap();
        staged.commit().unwrap();
    }

    #[test]
    fn a_directory_is_replaced_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("deep/model");
        write(&target, "old");
        let staged = StagedDirectory::begin(&target, &["x"]).unwrap();
        fs::write(staged.path().join("x"), "half").unwrap();
        assert_eq!(content(&target), "old");
        drop(staged);
        assert_eq!(content(&target), "old");
        write(&target, "new");
        assert_eq!(content(&target), "new");
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1, "no litter");
    }

    #[test]
    fn whatever_a_crash_leaves_is_read_and_then_cleared_away() {
        // Which of NAME, .NAME.part and .NAME.old exist, and what a reader then sees.
        let cases = [
            ("before the first directory", [None, Some("half"), None], "nothing"),
            ("before the first rename", [Some("old"), Some("half"), None], "old"),
            ("between the renames", [None, Some("new"), Some("old")], "old"),
            ("before the removal", [Some("new"), None, Some("old")], "new"),
            ("a second crash", [Some("new"), Some("half"), Some("old")], "new"),
        ];
        for (name, contents, expected) in cases {
            let root = tempfile::tempdir().unwrap();
            let target = root.path().join("m");
            for (place, text) in ["m", ".m.part", ".m.old"].iter().zip(contents) {
                if let Some(text) = text {
                    fs::create_dir(root.path().join(place)).unwrap();
                    fs::write(root.path().join(place).join("x"), text).unwrap();
                }
            }
            assert_eq!(content(&in_place(&target)), expected, "{name}");
            let staged = StagedDirectory::begin(&target, &["x"]).unwrap();
            assert_eq!(content(&target), expected, "{name}, restored");
            assert_eq!(content(staged.path()), "nothing", "{name}, cleared");
            drop(staged);
            write(&target, "newest");
            assert_eq!(content(&target), "newest", "{name}");
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "{name}: litter");
        }
    }

    #[cfg(unix)]
    #[test]
    fn two_writers_do_not_mix() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("m");
        let _first = StagedDirectory::begin(&target, &["x"]).unwrap();
        let error = StagedDirectory::begin(&target, &["x"]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    }

    #[test]
    fn a_file_that_is_added_meanwhile_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("m");
        write(&target, "old");
        let staged = StagedDirectory::begin(&target, &["x"]).unwrap();
        fs::write(staged.path().join("x"), "new").unwrap();
        let there = target.clone();
        let adding = thread::spawn(move || attach(&there, &["x"], "list", b"precious").unwrap());
        // It has to wait: what it writes now would be lost.
        thread::sleep(Duration::from_millis(50));
        assert!(!adding.is_finished());
        staged.commit().unwrap();
        assert_eq!(adding.join().unwrap(), target.join("list"));
        assert_eq!(content(&target), "new");
        for kept in [true, false] {
            let staged = StagedDirectory::begin(&target, &["x"]).unwrap();
            fs::write(staged.path().join("x"), "newest").unwrap();
            if kept {
                staged.keep("list").unwrap();
            }
            staged.commit().unwrap();
            assert_eq!(target.join("list").exists(), kept);
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "no litter");
    }

    #[test]
    fn a_root_is_no_place() {
        assert!(StagedDirectory::begin(Path::new("/"), &[]).is_err());
        assert!(StagedDirectory::begin(Path::new("no/such/.."), &[]).is_err());
    }

    #[test]
    fn what_is_of_another_kind_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("thesis.tex"), "precious").unwrap();
        fs::write(root.path().join("file"), "precious").unwrap();
        for target in [root.path().to_owned(), root.path().join("file")] {
            let error = StagedDirectory::begin(&target, &["x"]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{}", target.display());
        }
        fs::create_dir(root.path().join("empty")).unwrap();
        assert!(StagedDirectory::begin(&root.path().join("empty"), &["x"]).is_ok());
        assert_eq!(fs::read_to_string(root.path().join("thesis.tex")).unwrap(), "precious");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (target, link) = (root.path().join("step-1"), root.path().join("best"));
        write(&target, "old");
        std::os::unix::fs::symlink("step-1", &link).unwrap();
        write(&link, "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(content(&target), "new");
    }
}
