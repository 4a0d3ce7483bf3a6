//! Writes a file or stdout, compressing as the file name asks.
//!
//! Files are atomic: until [`Output::finish`] the old content stays, and a writer dropped before
//! leaves nothing behind. gzip at level 6, xz at preset 6, zstd at the only level its encoder has
//! (about `zstd -1`), in frames of 1 MiB so that memory stays bounded.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use padir_base::file::{AtomicFile, FileError};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use thiserror::Error;

use crate::input::{Compression, display_name, is_stdin};

/// Bytes of text per zstd frame. Larger frames would compress no better: the encoder looks back
/// 128 KiB only.
const FRAME: usize = 1 << 20;

/// Bytes collected before the encoder or the disk is bothered.
const BUFFER: usize = 128 << 10;

/// A file could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The file does not start or does not appear.
    #[error(transparent)]
    File(#[from] FileError),
    /// Writing failed, on a full disk or a closed pipe.
    #[error("cannot write {file}")]
    Write {
        /// The file as the user named it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Something to write lines to.
pub struct Output {
    name: String,
    encoder: BufWriter<Encoder>,
}

enum Encoder {
    Plain(Sink),
    Gzip(flate2::write::GzEncoder<Sink>),
    Zstd(Frames),
    Xz(Box<lzma_rust2::XzWriter<Sink>>),
}

enum Sink {
    Stdout(io::Stdout),
    File(AtomicFile),
}

impl Output {
    /// Starts a file; `-` is stdout, which is never compressed. The directory must exist.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be written to.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let name = if is_stdin(path) { "stdout".to_owned() } else { display_name(path) };
        let sink = if is_stdin(path) {
            Sink::Stdout(io::stdout())
        } else {
            Sink::File(AtomicFile::create(path)?)
        };
        let encoder = match Compression::of_name(path) {
            Compression::None => Encoder::Plain(sink),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(sink, flate2::Compression::new(6)))
            }
            Compression::Zstd => Encoder::Zstd(Frames { sink, pending: Vec::new() }),
            Compression::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(6);
                let writer = lzma_rust2::XzWriter::new(sink, options)
                    .map_err(|source| OutputError::Write { file: name.clone(), source })?;
                Encoder::Xz(Box::new(writer))
            }
        };
        Ok(Self { name, encoder: BufWriter::with_capacity(BUFFER, encoder) })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends the compressed data and makes the file appear.
    ///
    /// # Errors
    /// When the disk is full or the rename fails; the old file is then untouched.
    pub fn finish(self) -> Result<(), OutputError> {
        let fail = |source| OutputError::Write { file: self.name.clone(), source };
        let encoder =
            self.encoder.into_inner().map_err(io::IntoInnerError::into_error).map_err(fail)?;
        let sink = match encoder {
            Encoder::Plain(sink) => sink,
            Encoder::Gzip(writer) => writer.finish().map_err(fail)?,
            Encoder::Zstd(frames) => frames.finish().map_err(fail)?,
            Encoder::Xz(writer) => writer.finish().map_err(fail)?,
        };
        match sink {
            Sink::Stdout(mut stdout) => stdout.flush().map_err(fail),
            Sink::File(file) => Ok(file.commit()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Gzip(writer) => writer.write(bytes),
            Self::Zstd(frames) => frames.write(bytes),
            Self::Xz(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Gzip(writer) => writer.flush(),
            // An early frame or block would cost compression; nobody reads along.
            Self::Zstd(_) | Self::Xz(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// zstd, one frame per [`FRAME`] bytes: the encoder wants all of a frame at once.
struct Frames {
    sink: Sink,
    pending: Vec<u8>,
}

impl Frames {
    fn emit(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(self.pending.as_slice(), CompressionLevel::Fastest);
        self.pending.clear();
        self.sink.write_all(&frame)
    }

    /// An empty file is one empty frame, or it would not be recognised.
    fn finish(mut self) -> io::Result<Sink> {
        self.emit()?;
        Ok(self.sink)
    }
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == FRAME {
            self.emit()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
