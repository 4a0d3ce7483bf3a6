//! Decompression of parquet pages, in Rust alone. No page may claim more than its bytes can hold.

use std::borrow::Cow;
use std::io::{self, Read};

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use ruzstd::decoding::StreamingDecoder;

use crate::pair::CorpusError;

/// The largest page, decompressed. Writers aim at 1 MiB.
pub(super) const PAGE_LIMIT: usize = 256 << 20;

/// How much longer than its compressed form a block can be: snappy copies 64 bytes with 3, LZ4
/// 255 with 1.
const SNAPPY_RATIO: usize = 32;
const LZ4_RATIO: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Plain,
    Snappy,
    Gzip,
    Zstd,
    Lz4,
}

impl Codec {
    pub(super) fn of(compression: Compression) -> Option<Self> {
        Some(match compression {
            Compression::UNCOMPRESSED => Self::Plain,
            Compression::SNAPPY => Self::Snappy,
            Compression::GZIP(_) => Self::Gzip,
            Compression::ZSTD(_) => Self::Zstd,
            Compression::LZ4_RAW => Self::Lz4,
            _ => return None,
        })
    }

    /// Decompresses a block to exactly `size` bytes.
    pub(super) fn decompress(self, bytes: &[u8], size: usize) -> Result<Vec<u8>, ParquetError> {
        if size > PAGE_LIMIT {
            return Err(fail(&format!("a page of {size} bytes is too large")));
        }
        let block = match self {
            Self::Plain => bytes.to_vec(),
            Self::Snappy => {
                let claimed = snap::raw::decompress_len(bytes).map_err(|e| fail(&e.to_string()))?;
                plausible(claimed, size, bytes.len(), SNAPPY_RATIO)?;
                let mut decoder = snap::raw::Decoder::new();
                decoder.decompress_vec(bytes).map_err(|e| fail(&e.to_string()))?
            }
            Self::Lz4 => {
                plausible(size, size, bytes.len(), LZ4_RATIO)?;
                lz4_flex::block::decompress(bytes, size).map_err(|e| fail(&e.to_string()))?
            }
            Self::Gzip => read(flate2::read::MultiGzDecoder::new(bytes), size)?,
            Self::Zstd => {
                let decoder = StreamingDecoder::new_with_max_window_size(bytes, PAGE_LIMIT as u64);
                read(decoder.map_err(|e| fail(&e.to_string()))?, size)?
            }
        };
        if block.len() == size {
            return Ok(block);
        }
        Err(fail(&format!("a page has {} bytes and should have {size}", block.len())))
    }
}

/// Refuses a column whose compression is not known here.
pub(super) fn require(file: &str, chunk: &ColumnChunkMetaData) -> Result<(), CorpusError> {
    if Codec::of(chunk.compression()).is_some() {
        return Ok(());
    }
    let codec = format!("{:?}", chunk.compression());
    let codec = codec.split('(').next().unwrap_or_default().to_lowercase();
    let (file, column) = (file.to_owned(), chunk.column_path().string());
    Err(CorpusError::Codec { file, column, codec })
}

fn plausible(claimed: usize, size: usize, from: usize, ratio: usize) -> Result<(), ParquetError> {
    if claimed == size && claimed <= from.saturating_mul(ratio).saturating_add(64) {
        return Ok(());
    }
    Err(fail(&format!("a page cannot grow from {from} to {claimed} bytes")))
}

/// Memory grows with what is really there, not with what is claimed.
fn read(decoder: impl Read, size: usize) -> io::Result<Vec<u8>> {
    let mut block = Vec::new();
    decoder.take(size as u64 + 1).read_to_end(&mut block)?;
    Ok(block)
}

fn fail(reason: &str) -> ParquetError {
    ParquetError::General(Cow::from(reason).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_beyond_reason_are_refused() {
        // A snappy block that claims 4 GiB, in ten bytes.
        let snappy = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0];
        let cases = [
            (Codec::Snappy, &snappy[..], u32::MAX as usize),
            (Codec::Snappy, &snappy[..], 100 << 20),
            (Codec::Lz4, &snappy[..], 100 << 20),
            (Codec::Gzip, &[][..], 100),
            (Codec::Zstd, &[][..], 100),
            (Codec::Plain, &[1, 2, 3][..], 4),
            (Codec::Plain, &[1, 2, 3][..], 2),
        ];
        for (codec, bytes, size) in cases {
            assert!(codec.decompress(bytes, size).is_err(), "{codec:?} to {size}");
        }
    }
}
