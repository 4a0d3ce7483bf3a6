//! Opens a file or stdin for reading, decompressing on the way.
//!
//! The compression is recognised by its first bytes, never by the name, so that a pipe and a
//! misnamed file work alike. Concatenated gzip members, zstd frames and xz streams are read to
//! the end, and never more is read than it takes, so that a line can be answered before the next one
//! is sent. Every error, early or late, names the file; compressed data that stops early is an
//! error, not an end.
//!
//! Cost: one buffer of 128 KiB on each side of the decoder, and at most [`MEMORY_LIMIT`] bytes
//! of history for zstd and xz, whatever the file demands.

mod zstd;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use thiserror::Error;

/// The most history a decoder may keep, in bytes: what `zstd --ultra -22` needs; `xz -9` needs
/// half of it.
pub const MEMORY_LIMIT: u64 = 128 << 20;

/// Bytes read or decoded at once.
const BUFFER: usize = 128 << 10;

/// The longest magic number.
pub(crate) const MAGIC: usize = 10;

/// One magic number of each form that [`sniff`] recognises.
const MAGICS: [&[u8]; 6] = [
    &[0x1f, 0x8b],
    &[0x28, 0xb5, 0x2f, 0xfd],
    &[0x50, 0x2a, 0x4d, 0x18],
    b"\xfd7zXZ\0",
    b"BZh1\x31\x41\x59\x26\x53\x59",
    b"PK\x03\x04",
];

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// RFC 1952, one or several members.
    Gzip,
    /// RFC 8878, one or several frames.
    Zstd,
    /// The `.xz` format, one or several streams.
    Xz,
}

impl Compression {
    /// The compression a file name asks for: `.gz`, `.zst`, `.xz` or none.
    pub fn of_name(path: &Path) -> Self {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Self::Gzip,
            "zst" | "zstd" => Self::Zstd,
            "xz" => Self::Xz,
            _ => Self::None,
        }
    }

    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }
}

/// Why a file could not be opened or read.
#[derive(Debug, Error)]
pub enum InputError {
    /// The file does not open.
    #[error("cannot open {file}")]
    Open {
        /// The file as the user named it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file opened, but reading it failed.
    #[error("cannot read {file}")]
    Read {
        /// The file as the user named it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A pipe or a compressed file could not be copied to where it can be read again.
    #[error("cannot copy {file} to a temporary file")]
    Spool {
        /// The file as the user named it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The compressed data ends before it is complete.
    #[error("{file}: {} data is truncated", compression.name())]
    Truncated {
        /// The file as the user named it.
        file: String,
        /// How it is compressed.
        compression: Compression,
    },
    /// The compressed data is not what its format allows.
    #[error("{file}: {} data is damaged: {reason}", compression.name())]
    Damaged {
        /// The file as the user named it.
        file: String,
        /// How it is compressed.
        compression: Compression,
        /// What the decoder objected to.
        reason: String,
    },
    /// The compressed data asks for more memory than it gets.
    #[error(
        "{file}: decompressing this {} data needs more than {} MiB of memory",
        compression.name(),
        MEMORY_LIMIT >> 20
    )]
    Memory {
        /// The file as the user named it.
        file: String,
        /// How it is compressed.
        compression: Compression,
    },
    /// A format padir knows by sight only.
    #[error("{file}: {format} data is not supported; gzip, zstd and xz are")]
    Unsupported {
        /// The file as the user named it.
        file: String,
        /// What it is.
        format: &'static str,
    },
}

/// Opens a file for reading; `-` is stdin. The reader decompresses gzip, zstd and xz.
///
/// Errors that the returned reader gives later are [`InputError`]s inside [`io::Error`]s: they
/// too name the file.
///
/// # Errors
/// When the file does not open or its first bytes cannot be read, or when it is compressed in a
/// way that padir does not know.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, InputError> {
    let file = display_name(path);
    if is_stdin(path) {
        // `StdinLock` is bound to its thread; `Stdin` is not, and large reads pass its buffer by.
        return decode(file, io::stdin());
    }
    match File::open(path) {
        Ok(handle) => decode(file, handle),
        Err(source) => Err(InputError::Open { file, source }),
    }
}

/// Whether a path means stdin.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path as messages show it: `stdin` for `-`.
pub fn display_name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Decompresses any stream of bytes; `file` is what errors call it.
///
/// # Errors
/// When the first bytes cannot be read, or show a format that padir does not know.
pub fn decode(
    file: String,
    raw: impl Read + Send + 'static,
) -> Result<Box<dyn BufRead + Send>, InputError> {
    let mut raw = Ending { inner: raw, ended: false };
    let head = match read_head(&mut raw) {
        Ok(head) => head,
        Err(source) => return Err(InputError::Read { file, source }),
    };
    let compression = match sniff(&head) {
        Ok(compression) => compression,
        Err(format) => return Err(InputError::Unsupported { file, format }),
    };
    let raw = Cursor::new(head).chain(BufReader::with_capacity(BUFFER, raw));
    let inner: Box<dyn BufRead + Send> = match compression {
        Compression::None => Box::new(raw),
        Compression::Gzip => buffered(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Zstd => buffered(zstd::Frames::new(raw)),
        Compression::Xz => {
            buffered(lzma_rust2::XzReader::new_mem_limit(raw, true, xz_limit_in_kib()))
        }
    };
    Ok(Box::new(Named { file, compression, inner }))
}

/// The first bytes, as many as it takes to recognise the compression: whoever sends a line may wait for an answer before the next.
fn read_head(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut buffer = [0; MAGIC];
    let mut length = 0;
    while is_undecided(&buffer[..length]) {
        match raw.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer[..length].to_vec())
}

/// Whether bytes may be the beginning of a format that is not recognised yet.
fn is_undecided(head: &[u8]) -> bool {
    let plain = Ok(Compression::None);
    let may_become = |magic: &&[u8]| {
        magic.len() > head.len() && sniff(&[head, &magic[head.len()..]].concat()) != plain
    };
    sniff(head) == plain && MAGICS.iter().any(may_become)
}

/// The dictionary plus what the decoder adds to it.
fn xz_limit_in_kib() -> u32 {
    (MEMORY_LIMIT >> 10) as u32 + 1024
}

fn buffered(decoder: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER, decoder))
}

/// Recognises a format by its first bytes; `Err` names one that is not supported.
pub(crate) fn sniff(head: &[u8]) -> Result<Compression, &'static str> {
    Ok(match head {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        // A frame, or a skippable frame before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59] => return Err("bzip2"),
        [b'P', b'K', 3, 4, ..] => return Err("zip"),
        _ => Compression::None,
    })
}

/// A reader that stays at its end. A terminal does not: what is read after Ctrl-D waits for the next line.
struct Ending<R> {
    inner: R,
    ended: bool,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let count = self.inner.read(buffer)?;
        self.ended = count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// A reader whose errors name its file.
struct Named<R> {
    file: String,
    compression: Compression,
    inner: R,
}

impl<R> Named<R> {
    fn explain(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        if kind == io::ErrorKind::Interrupted {
            return error;
        }
        let (file, compression) = (self.file.clone(), self.compression);
        let explained = if compression == Compression::None || is_system(&error) {
            InputError::Read { file, source: error }
        } else {
            match kind {
                io::ErrorKind::UnexpectedEof => InputError::Truncated { file, compression },
                io::ErrorKind::OutOfMemory => InputError::Memory { file, compression },
                _ => InputError::Damaged { file, compression, reason: error.to_string() },
            }
        };
        io::Error::new(kind, explained)
    }
}

/// Whether the disk, and not the decoder, is to blame.
fn is_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| self.explain(error))
    }
}

impl<R: BufRead> BufRead for Named<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Two calls, because a borrow returned early would last too long; the second finds the
        // buffer full and is free.
        if let Err(error) = self.inner.fill_buf() {
            return Err(self.explain(error));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

#[cfg(test)]
pub(crate) mod tests;
