//! Zstandard as a stream of frames: skips skippable ones, verifies checksums.
//!
//! `ruzstd` decodes one frame at a time; a file may hold many (`pzstd`, `cat a.zst b.zst`).

use std::error::Error;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::MEMORY_LIMIT;

/// All frames of a source, one after the other.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    open: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MEMORY_LIMIT);
        Self { source, decoder, open: false }
    }

    /// Moves to the next frame with content; `false` at the end of the source.
    fn open_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(u64::from(length))?,
                Err(error) => return Err(explain(error)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Ends a frame that is decoded and collected.
    fn close_frame(&mut self) -> io::Result<()> {
        self.open = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "checksum mismatch"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.open && !self.open_frame()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(explain)?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.close_frame()?;
        }
    }
}

/// Finds out whether the data ended early, asked for too much, or is wrong; and says it at the
/// length of one clause.
fn explain(error: FrameDecoderError) -> io::Error {
    if matches!(
        error,
        FrameDecoderError::WindowSizeTooBig { .. }
            | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { .. })
    ) {
        return io::ErrorKind::OutOfMemory.into();
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(this) = cause {
        if let Some(io) = this.downcast_ref::<io::Error>() {
            return io.raw_os_error().map_or(io.kind().into(), io::Error::from_raw_os_error);
        }
        cause = this.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, error)
}
