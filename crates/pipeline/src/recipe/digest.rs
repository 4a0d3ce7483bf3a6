//! Hashes of files and directories: whether something is still what it was.
//!
//! A directory's hash is over the relative names of its files, in order, and their contents. Each file is read once, unless its size or time
//! of change become others meanwhile. A shortlist that somebody puts beside a model is not part of it: the model is the same.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use padir_base::hash::{Hasher, Sha256, hash_bytes, hash_file};
use padir_checkpoint::MODEL;
use padir_text::shortlist::SHORTLIST;

/// Hashes, and what is known already.
#[derive(Default)]
pub(crate) struct Digests {
    known: BTreeMap<PathBuf, (u64, Option<SystemTime>, Sha256)>,
}

impl Digests {
    /// The hash of a file or directory; nothing if it is not there.
    pub(crate) fn of(&mut self, path: &Path) -> io::Result<Option<Sha256>> {
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => self.directory(path).map(Some),
            Ok(data) => self.file(path, &data).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&mut self, path: &Path, data: &Metadata) -> io::Result<Sha256> {
        let (size, time) = (data.len(), data.modified().ok());
        if let Some(&(known_size, known_time, digest)) = self.known.get(path)
            && (known_size, known_time) == (size, time)
            && time.is_some()
        {
            return Ok(digest);
        }
        let digest = hash_file(path)?;
        self.known.insert(path.to_owned(), (size, time, digest));
        Ok(digest)
    }

    fn directory(&mut self, path: &Path) -> io::Result<Sha256> {
        let mut hasher = Hasher::default();
        let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let is_model = entries.iter().any(|entry| entry.file_name() == MODEL);
        entries.retain(|entry| !(is_model && entry.file_name() == SHORTLIST));
        for entry in entries {
            let (inner, kind) = (entry.path(), entry.file_type()?);
            let (mark, digest) = if kind.is_dir() {
                (b'd', self.directory(&inner)?)
            } else if kind.is_symlink() && inner.is_dir() {
                // Followed, it could lead in a circle.
                (b'l', hash_bytes(fs::read_link(&inner)?.as_os_str().as_encoded_bytes()))
            } else {
                (b'f', self.file(&inner, &fs::metadata(&inner)?)?)
            };
            let name = entry.file_name();
            hasher.update(&[mark]);
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_encoded_bytes());
            hasher.update(&digest.0);
        }
        Ok(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(path: &Path) -> Option<Sha256> {
        Digests::default().of(path).unwrap()
    }

    #[test]
    fn directories_are_their_names_and_contents() {
        let home = tempfile::tempdir().unwrap();
        let (a, b) = (home.path().join("a"), home.path().join("b"));
        for folder in [&a, &b] {
            fs::create_dir_all(folder.join("inner")).unwrap();
            fs::write(folder.join("inner/x"), "1").unwrap();
            fs::write(folder.join("y"), "2").unwrap();
        }
        assert_eq!(digest(&a), digest(&b));
        let before = digest(&a);
        fs::write(a.join("inner/x"), "3").unwrap();
        assert_ne!(digest(&a), before, "another content");
        fs::write(a.join("inner/x"), "1").unwrap();
        fs::rename(a.join("y"), a.join("z")).unwrap();
        assert_ne!(digest(&a), before, "another name");
        fs::rename(a.join("z"), a.join("y")).unwrap();
        assert_eq!(digest(&a), before);
        fs::create_dir(a.join("empty")).unwrap();
        assert_ne!(digest(&a), before, "another directory");
        fs::write(b.join(SHORTLIST), "").unwrap();
        assert_ne!(digest(&b), before, "another file");
        fs::write(b.join(MODEL), "").unwrap();
        let model = digest(&b);
        fs::remove_file(b.join(SHORTLIST)).unwrap();
        assert_eq!(digest(&b), model, "a model with its shortlist");
    }

    #[test]
    fn what_is_not_there_has_none() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(digest(&home.path().join("none")), None);
        fs::write(home.path().join("file"), "").unwrap();
        assert_eq!(digest(&home.path().join("file/below")), None);
        assert_eq!(digest(&home.path().join("file")), Some(hash_bytes(b"")));
    }
}
