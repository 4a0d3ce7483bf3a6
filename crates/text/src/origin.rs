//! Where a corpus file's bytes come from: a path, stdin, or a spooled copy.
//!
//! A pipe can be read once and from front to back. What must be read twice, or from the end as
//! parquet must, is first copied to an unnamed temporary file, which vanishes with the program
//! however that ends.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::input::{Compression, InputError, MAGIC, decode, display_name, is_stdin, open, sniff};

/// A file that can be opened, by whatever way its bytes come.
#[derive(Clone, Debug)]
pub struct Origin {
    path: PathBuf,
    copy: Option<Arc<File>>,
}

impl Origin {
    /// A path as the user typed it; `-` is stdin.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), copy: None }
    }

    /// The path as the user typed it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        display_name(&self.path)
    }

    /// Whether it is stdin that has not been copied.
    pub fn is_stdin(&self) -> bool {
        self.copy.is_none() && is_stdin(&self.path)
    }

    /// Opens it for reading from the start, decompressed. A copy must not be read twice at the
    /// same time.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>, InputError> {
        match &self.copy {
            None => open(&self.path),
            Some(copy) => decode(self.name(), self.rewind(copy)?),
        }
    }

    /// A decompressed file that can be read from any place: the file itself if it is one and
    /// plain, a temporary copy otherwise.
    ///
    /// # Errors
    /// When reading fails or the temporary directory is full.
    pub fn open_seekable(&self) -> Result<File, InputError> {
        if let Some(copy) = &self.copy {
            return self.rewind(copy);
        }
        if !is_stdin(&self.path)
            && let Some(plain) = self.open_plain()?
        {
            return Ok(plain);
        }
        self.spool()
    }

    /// The same content, readable more than once: stdin is copied, files stay where they are.
    ///
    /// # Errors
    /// When reading fails or the temporary directory is full.
    pub fn repeatable(self) -> Result<Self, InputError> {
        let file = self.path.clone();
        let named = |source| InputError::Open { file: display_name(&file), source };
        let is_pipe = self.is_stdin() || !std::fs::metadata(&self.path).map_err(named)?.is_file();
        if self.copy.is_some() || !is_pipe {
            return Ok(self);
        }
        let copy = self.spool()?;
        Ok(Self { copy: Some(Arc::new(copy)), ..self })
    }

    /// The file if it is a regular one and not compressed.
    fn open_plain(&self) -> Result<Option<File>, InputError> {
        let file = File::open(&self.path)
            .map_err(|source| InputError::Open { file: self.name(), source })?;
        let is_regular = file.metadata().is_ok_and(|data| data.is_file());
        let mut head = Vec::new();
        let plain = is_regular
            && (&file).take(MAGIC as u64).read_to_end(&mut head).is_ok()
            && matches!(sniff(&head), Ok(Compression::None))
            && (&file).rewind().is_ok();
        Ok(plain.then_some(file))
    }

    fn spool(&self) -> Result<File, InputError> {
        let mut reader = self.open()?;
        let copied = tempfile::tempfile().and_then(|mut copy| {
            io::copy(&mut reader, &mut copy)?;
            copy.rewind()?;
            Ok(copy)
        });
        copied.map_err(|source| InputError::Spool { file: self.name(), source })
    }

    fn rewind(&self, copy: &File) -> Result<File, InputError> {
        let again = copy.try_clone().and_then(|mut copy| {
            copy.rewind()?;
            Ok(copy)
        });
        again.map_err(|source| InputError::Read { file: self.name(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_parquet_becomes_a_plain_copy() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.gz");
        let bytes = crate::input::tests::compress(crate::input::Compression::Gzip, b"PAR1...PAR1");
        std::fs::write(&path, bytes).unwrap();
        let mut text = String::new();
        Origin::new(path).open_seekable().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "PAR1...PAR1");
    }

    #[test]
    fn a_copy_reads_from_the_start_each_time() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"again").unwrap();
        let origin = Origin { path: "-".into(), copy: Some(Arc::new(file)) };
        for _ in 0..2 {
            let mut text = String::new();
            origin.open().unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "again");
        }
        assert_eq!(origin.name(), "stdin");
        assert!(!origin.is_stdin());
    }
}
