//! The working directory: a manifest, the parts that are done, and a lock.
//!
//! Workers hold the lock together as long as they work; whoever joins the parts holds it alone. The system takes it from a process
//! that dies, so nothing is left to be cleaned up after kill -9 but a part that was not finished. The last worker to let
//! go finds all parts there: it wrote its own before, and so did those who let go earlier.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use padir_base::lock::LockFile;
use padir_base::manifest::{self, Manifest};
use padir_text::Pair;

use super::error::DistilError;
use super::part::Part;
use super::task::differences;
use crate::Error;

const LOCK: &str = "lock";
const PART: (&str, &str) = ("part-", ".jsonl");
/// What atomic files are called before they are whole; a killed process leaves them.
const UNFINISHED: (&str, &str) = (".padir-", ".part");

/// The working directory, entered.
pub(super) struct Parts {
    directory: PathBuf,
    count: usize,
    lock: LockFile,
}

/// Whether the parts can be joined by us.
pub(super) enum PartState {
    /// All parts are there, and nobody else is at work.
    Complete,
    /// Parts are missing, and nobody else is at work.
    Missing,
    /// Others are at work.
    Busy,
    /// Somebody has joined them already.
    Joined,
}

impl Parts {
    /// Enters a working directory, which is made if need be. None if something has changed meanwhile, and it is worth
    /// looking again: the directory is new, or somebody has joined the parts and removed it.
    pub(super) fn enter(
        directory: &Path,
        manifest: &Manifest,
        count: usize,
    ) -> Result<Option<Self>, Error> {
        make_directory(directory)?;
        refuse_strangers(directory)?;
        let Some(lock) = open_lock(directory)? else { return Ok(None) };
        let parts = Self { directory: directory.to_owned(), count, lock };
        parts.context(parts.lock.lock_shared())?;
        // From here on nobody removes anything.
        if !parts.lock.is_in_place() {
            return Ok(None);
        }
        if !parts.has_manifest() {
            parts.begin(manifest)?;
            return Ok(None);
        }
        let unreadable = |source| DistilError::Manifest { directory: directory.to_owned(), source };
        let there = Manifest::load(directory).map_err(unreadable)?;
        let differences = differences(&there, manifest);
        if differences.is_empty() {
            return Ok(Some(parts));
        }
        if parts.begin_instead(manifest)? {
            return Ok(None);
        }
        Err(DistilError::Other { directory: directory.to_owned(), differences }.into())
    }

    /// Writes the manifest, unless another has done so. Parts without one belong to work whose removal was interrupted.
    fn begin(&self, manifest: &Manifest) -> Result<(), Error> {
        self.context(self.lock.unlock())?;
        self.context(self.lock.lock())?;
        if self.lock.is_in_place() && !self.has_manifest() {
            self.context(self.remove_parts())?;
            manifest.save(&self.directory)?;
        }
        Ok(())
    }

    /// Writes another manifest if nothing is done, so nothing can be lost, and nobody is at work.
    fn begin_instead(&self, manifest: &Manifest) -> Result<bool, Error> {
        self.context(self.lock.unlock())?;
        let free =
            self.context(self.lock.try_lock())? && self.lock.is_in_place() && self.is_unused()?;
        if free {
            manifest.save(&self.directory)?;
        }
        Ok(free)
    }

    /// How many parts there are when all is done.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Where a part stands; they are counted from 0, but not for people.
    pub(super) fn path(&self, part: usize) -> PathBuf {
        self.directory.join(format!("{}{:06}{}", PART.0, part + 1, PART.1))
    }

    /// Whether a part is done.
    pub(super) fn has(&self, part: usize) -> bool {
        self.path(part).is_file()
    }

    /// How many parts are done.
    pub(super) fn done(&self) -> usize {
        (0..self.count).filter(|&part| self.has(part)).count()
    }

    /// Reads the part that was made of these pairs.
    pub(super) fn read(&self, part: usize, pairs: &[Pair]) -> Result<Part, DistilError> {
        Part::read(&self.path(part), pairs)
    }

    /// Stops working and finds out whether the parts can be joined. If they are complete, we have the directory for
    /// ourselves.
    pub(super) fn leave(&self) -> Result<PartState, Error> {
        self.context(self.lock.unlock())?;
        if !self.context(self.lock.try_lock())? {
            return Ok(PartState::Busy);
        }
        if !self.lock.is_in_place() || !self.has_manifest() {
            return Ok(PartState::Joined);
        }
        Ok(if self.done() == self.count { PartState::Complete } else { PartState::Missing })
    }

    /// Removes what is ours, the manifest first: without it nobody takes the rest for work that can be continued.
    pub(super) fn remove(self) -> Result<(), Error> {
        let remove = || -> io::Result<()> {
            fs::remove_file(self.directory.join(manifest::FILE_NAME))?;
            self.remove_parts()?;
            fs::remove_file(self.directory.join(LOCK))?;
            fs::remove_dir(&self.directory)
        };
        let failed = |source| DistilError::Remove { directory: self.directory.clone(), source };
        Ok(remove().map_err(failed)?)
    }

    fn remove_parts(&self) -> io::Result<()> {
        for name in names(&self.directory)? {
            if is_like(&name, PART) || is_like(&name, UNFINISHED) {
                fs::remove_file(self.directory.join(name))?;
            }
        }
        Ok(())
    }

    fn has_manifest(&self) -> bool {
        self.directory.join(manifest::FILE_NAME).is_file()
    }

    fn is_unused(&self) -> Result<bool, Error> {
        let names = self.context(names(&self.directory))?;
        Ok(!names.iter().any(|name| is_like(name, PART)))
    }

    fn context<T>(&self, result: io::Result<T>) -> Result<T, DistilError> {
        result.map_err(|source| DistilError::Work { directory: self.directory.clone(), source })
    }
}

/// The lock's file; none if the directory has vanished.
fn open_lock(directory: &Path) -> Result<Option<LockFile>, Error> {
    let path = directory.join(LOCK);
    match LockFile::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => Ok(Some(opened.map_err(Error::writing(&path))?)),
    }
}

/// Refuses a directory that holds what we would not have put there.
fn refuse_strangers(directory: &Path) -> Result<(), Error> {
    let names = names(directory).map_err(Error::reading(directory))?;
    let is_ours = |name: &String| {
        name == LOCK
            || name == manifest::FILE_NAME
            || is_like(name, PART)
            || is_like(name, UNFINISHED)
    };
    match names.iter().find(|name| !is_ours(name)) {
        None => Ok(()),
        Some(name) => {
            Err(DistilError::Foreign { directory: directory.to_owned(), name: name.clone() }.into())
        }
    }
}

/// Makes sure that the directory is there.
fn make_directory(path: &Path) -> Result<(), Error> {
    if path.exists() && !path.is_dir() {
        return Err(DistilError::NotADirectory(path.to_owned()).into());
    }
    fs::create_dir_all(path).map_err(Error::making(path))
}

fn names(directory: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(directory)?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn is_like(name: &str, (start, end): (&str, &str)) -> bool {
    name.starts_with(start) && name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(beam: usize) -> Manifest {
        Manifest::new("distil", None, &json!({ "beam": beam })).unwrap()
    }

    fn enter(directory: &Path, beam: usize) -> Result<Parts, Error> {
        for _ in 0..3 {
            if let Some(parts) = Parts::enter(directory, &manifest(beam), 2)? {
                return Ok(parts);
            }
        }
        panic!("there is always something new");
    }

    #[test]
    fn the_last_to_leave_joins() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("x.parts");
        let first = enter(&directory, 5).unwrap();
        let second = enter(&directory, 5).unwrap();
        Part::default().write(&first.path(0), &[]).unwrap();
        assert!(matches!(first.leave().unwrap(), PartState::Busy));
        assert!(matches!(second.leave().unwrap(), PartState::Missing));
        drop((first, second));
        let third = enter(&directory, 5).unwrap();
        Part::default().write(&third.path(1), &[]).unwrap();
        assert!(matches!(third.leave().unwrap(), PartState::Complete));
        third.remove().unwrap();
        assert!(!directory.exists());
    }

    #[test]
    fn who_comes_while_parts_are_joined_finds_them_joined() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("x.parts");
        let last = enter(&directory, 5).unwrap();
        (0..2).for_each(|part| Part::default().write(&last.path(part), &[]).unwrap());
        let slow = enter(&directory, 5).unwrap();
        drop(slow.lock.unlock());
        assert!(matches!(last.leave().unwrap(), PartState::Complete));
        std::thread::scope(|scope| {
            let late = scope.spawn(|| Parts::enter(&directory, &manifest(5), 2));
            std::thread::sleep(std::time::Duration::from_millis(50));
            last.remove().unwrap();
            assert!(late.join().unwrap().unwrap().is_none());
        });
        assert!(matches!(slow.leave().unwrap(), PartState::Joined));
    }

    #[test]
    fn other_settings_are_refused_once_something_is_done() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("x.parts");
        let first = enter(&directory, 5).unwrap();
        assert!(enter(&directory, 4).is_err(), "another is at work");
        drop(first);
        let second = enter(&directory, 4).unwrap();
        Part::default().write(&second.path(0), &[]).unwrap();
        drop(second);
        let error = enter(&directory, 5).err().expect("it is refused");
        let facts = error.to_string();
        assert!(facts.contains("beam is 4 there and 5 here"), "{facts}");
    }

    #[test]
    fn parts_without_a_manifest_are_nobodys() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("x.parts");
        let first = enter(&directory, 5).unwrap();
        Part::default().write(&first.path(0), &[]).unwrap();
        fs::remove_file(directory.join(manifest::FILE_NAME)).unwrap();
        drop(first);
        assert_eq!(enter(&directory, 4).unwrap().done(), 0);
    }

    #[test]
    fn foreign_files_are_not_touched() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("thesis.txt"), "…").unwrap();
        assert!(enter(home.path(), 5).is_err());
        assert_eq!(names(home.path()).unwrap(), ["thesis.txt"]);
    }
}
