//! The pages of one column of one row group, decompressed and checked.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;

use super::codec::{Codec, PAGE_LIMIT};
use super::general;
use super::header::Header;

/// The longest page header: statistics may repeat two values in it.
const HEADER_LIMIT: u64 = 1 << 20;

/// What is read at first in search of a header.
const HEADER_GUESS: u64 = 1 << 10;

/// The most values in a page; writers put some ten thousand there.
const VALUE_LIMIT: u32 = 1 << 24;

pub(super) struct Pages {
    file: File,
    codec: Codec,
    /// Whether values may be null, so that definition levels precede them.
    nullable: bool,
    offset: u64,
    end: u64,
}

impl Pages {
    pub(super) fn new(mut file: File, chunk: &ColumnChunkMetaData) -> Result<Self> {
        let codec = Codec::of(chunk.compression())
            .ok_or_else(|| general("unknown compression".to_owned()))?;
        let first = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let first = first.min(chunk.data_page_offset());
        let (first, length) = (u64::try_from(first), u64::try_from(chunk.compressed_size()));
        let size = file.seek(SeekFrom::End(0))?;
        match (first, length) {
            (Ok(offset), Ok(length)) if offset.saturating_add(length) <= size => {
                let nullable = chunk.column_descr().max_def_level() > 0;
                Ok(Self { file, codec, nullable, offset, end: offset + length })
            }
            _ => Err(general("a column lies outside of the file".to_owned())),
        }
    }

    /// Reads `length` bytes at the current place, which must be inside the column.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        (&self.file).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the next header and moves behind it.
    fn header(&mut self) -> Result<Header> {
        let rest = self.end - self.offset;
        let mut length = HEADER_GUESS.min(rest);
        loop {
            let bytes = self.bytes(length)?;
            match Header::parse(&bytes) {
                Ok((header, used)) => {
                    self.offset += used as u64;
                    return Ok(header);
                }
                Err(_) if length < rest.min(HEADER_LIMIT) => {
                    length = (length * 8).min(rest).min(HEADER_LIMIT);
                }
                Err(error) => return Err(general(format!("a page header is damaged: {error}"))),
            }
        }
    }

    fn next_page(&mut self) -> Result<Option<Page>> {
        while self.offset < self.end {
            let header = self.header()?;
            let length = u64::from(header.compressed_size);
            if length > self.end - self.offset || length > PAGE_LIMIT as u64 {
                return Err(general(format!("a page of {length} bytes leaves its column")));
            }
            let body = self.bytes(length)?;
            if body.len() as u64 != length {
                return Err(general("the file ends inside a page".to_owned()));
            }
            self.offset += length;
            if let Some(page) = self.decode(header, body)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn decode(&self, header: Header, body: Vec<u8>) -> Result<Option<Page>> {
        if header.values > VALUE_LIMIT {
            return Err(general(format!("a page of {} values is too large", header.values)));
        }
        Ok(Some(match header.kind {
            0 => self.data(header, &body)?,
            2 => self.dictionary(header, &body)?,
            3 => self.data_v2(header, body)?,
            // Index pages are of no use to a reader of everything.
            _ => return Ok(None),
        }))
    }

    fn data(&self, header: Header, body: &[u8]) -> Result<Page> {
        let buffer = self.codec.decompress(body, header.uncompressed_size as usize)?;
        let levels = |code| match code {
            3 => Ok(Encoding::RLE),
            code => Err(general(format!("levels with encoding {code} are not supported"))),
        };
        let encoding = text_encoding(header.encoding)?;
        if encoding == Encoding::DELTA_LENGTH_BYTE_ARRAY {
            let levels = if self.nullable { 4 + little_endian(&buffer) } else { 0 };
            check_delta(buffer.get(levels..).unwrap_or_default(), header.values)?;
        }
        Ok(Page::DataPage {
            buf: Bytes::from(buffer),
            num_values: header.values,
            encoding,
            def_level_encoding: levels(header.definition_encoding)?,
            rep_level_encoding: levels(header.repetition_encoding)?,
            statistics: None,
        })
    }

    fn dictionary(&self, header: Header, body: &[u8]) -> Result<Page> {
        let buffer = self.codec.decompress(body, header.uncompressed_size as usize)?;
        // Each entry begins with four bytes of length.
        if header.values as usize > buffer.len() / 4 {
            return Err(general(format!("{} dictionary entries do not fit", header.values)));
        }
        Ok(Page::DictionaryPage {
            buf: Bytes::from(buffer),
            num_values: header.values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        })
    }

    /// In version 2 the levels lie before the values and are never compressed.
    fn data_v2(&self, header: Header, mut body: Vec<u8>) -> Result<Page> {
        let levels = header.definition_size as usize + header.repetition_size as usize;
        if levels > body.len() || header.nulls > header.values {
            return Err(general("the levels of a page leave it".to_owned()));
        }
        if !header.stored_plain && self.codec != Codec::Plain {
            let size = (header.uncompressed_size as usize).saturating_sub(levels);
            // Without values there may be nothing to decompress.
            let values = match body.len() - levels {
                0 if size == 0 => Vec::new(),
                _ => self.codec.decompress(&body[levels..], size)?,
            };
            body.truncate(levels);
            body.extend_from_slice(&values);
        }
        let encoding = text_encoding(header.encoding)?;
        if encoding == Encoding::DELTA_LENGTH_BYTE_ARRAY {
            check_delta(&body[levels..], header.values)?;
        }
        Ok(Page::DataPageV2 {
            buf: Bytes::from(body),
            num_values: header.values,
            encoding,
            num_nulls: header.nulls,
            num_rows: header.rows,
            def_levels_byte_len: header.definition_size,
            rep_levels_byte_len: header.repetition_size,
            is_compressed: false,
            statistics: None,
        })
    }
}

/// The number in the first four bytes.
fn little_endian(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// The lengths of this encoding begin with the block size, the blocks' parts, and their own
/// number, for which the decoder takes memory: it must not exceed the number of values.
fn check_delta(mut bytes: &[u8], values: u32) -> Result<()> {
    let mut number = || -> Option<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = bytes.split_first()?;
            bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    };
    match (number(), number(), number()) {
        (Some(_), Some(_), Some(count)) if count <= u64::from(values) => Ok(()),
        _ => Err(general("the lengths of a page do not match its values".to_owned())),
    }
}

/// The encodings that writers use for text and whose decoders take no memory on trust. The crate's
/// decoder of `DELTA_BYTE_ARRAY` does.
fn text_encoding(code: u32) -> Result<Encoding> {
    match code {
        0 => Ok(Encoding::PLAIN),
        2 | 8 => Ok(Encoding::RLE_DICTIONARY),
        6 => Ok(Encoding::DELTA_LENGTH_BYTE_ARRAY),
        7 => Err(general("the encoding DELTA_BYTE_ARRAY is not supported".to_owned())),
        code => Err(general(format!("the encoding {code} is not supported"))),
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.next_page()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(ParquetError::NYI("peeking at pages".to_owned()))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(ParquetError::NYI("skipping pages".to_owned()))
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}
