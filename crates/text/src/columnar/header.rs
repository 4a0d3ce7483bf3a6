//! The header of a parquet page, in Thrift's compact protocol.
//!
//! Only the fields that reading needs are kept; unknown ones are skipped, nested to a depth that
//! a hostile file cannot exceed. Field numbers are those of `parquet.thrift`.

use std::io::{self, Read};

/// What a page says of itself. Sizes are checked to be non-negative, and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// 0 data, 1 index, 2 dictionary, 3 data of version 2.
    pub(super) kind: u32,
    pub(super) uncompressed_size: u32,
    pub(super) compressed_size: u32,
    pub(super) values: u32,
    pub(super) encoding: u32,
    /// Encodings of the levels, version 1 only.
    pub(super) definition_encoding: u32,
    pub(super) repetition_encoding: u32,
    /// Version 2 only.
    pub(super) nulls: u32,
    pub(super) rows: u32,
    pub(super) definition_size: u32,
    pub(super) repetition_size: u32,
    pub(super) stored_plain: bool,
}

/// Structs within structs that are followed before giving up.
const DEPTH: u32 = 16;

mod wire {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
}

/// The structs of a page header that matter.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Page,
    Data,
    Dictionary,
    DataV2,
}

impl Header {
    /// Reads a header from the start of `bytes`; gives it and its length.
    ///
    /// # Errors
    /// When the bytes end early or are no page header.
    pub(super) fn parse(bytes: &[u8]) -> io::Result<(Self, usize)> {
        let mut header = Self::default();
        let mut reader = Reader { bytes };
        reader.part(Part::Page, &mut header)?;
        Ok((header, bytes.len() - reader.bytes.len()))
    }

    fn set(&mut self, part: Part, field: i16, value: u32) {
        let place = match (part, field) {
            (Part::Page, 1) => &mut self.kind,
            (Part::Page, 2) => &mut self.uncompressed_size,
            (Part::Page, 3) => &mut self.compressed_size,
            (Part::Data | Part::Dictionary | Part::DataV2, 1) => &mut self.values,
            (Part::Data | Part::Dictionary, 2) | (Part::DataV2, 4) => &mut self.encoding,
            (Part::Data, 3) => &mut self.definition_encoding,
            (Part::Data, 4) => &mut self.repetition_encoding,
            (Part::DataV2, 2) => &mut self.nulls,
            (Part::DataV2, 3) => &mut self.rows,
            (Part::DataV2, 5) => &mut self.definition_size,
            (Part::DataV2, 6) => &mut self.repetition_size,
            _ => return,
        };
        *place = value;
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn part(&mut self, part: Part, header: &mut Header) -> io::Result<()> {
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (part, field, kind) {
                (Part::Page, 5, wire::STRUCT) => self.part(Part::Data, header)?,
                (Part::Page, 7, wire::STRUCT) => self.part(Part::Dictionary, header)?,
                (Part::Page, 8, wire::STRUCT) => self.part(Part::DataV2, header)?,
                (Part::DataV2, 7, wire::TRUE | wire::FALSE) => {
                    header.stored_plain = kind == wire::FALSE;
                }
                // A checksum may have any sign; the other numbers may not be negative.
                (Part::Page, 4, wire::I32) => self.skip(kind, DEPTH)?,
                (_, _, wire::I32) => header.set(part, field, self.count()?),
                _ => self.skip(kind, DEPTH)?,
            }
        }
        Ok(())
    }

    /// The next field's number and type; `None` at the end of the struct.
    fn field(&mut self, last: &mut i16) -> io::Result<Option<u8>> {
        let byte = self.byte()?;
        let (delta, kind) = (byte >> 4, byte & 0x0f);
        if kind == wire::STOP {
            return Ok(None);
        }
        *last = if delta == 0 {
            zigzag(self.varint()?) as i16
        } else {
            last.wrapping_add(i16::from(delta))
        };
        Ok(Some(kind))
    }

    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| invalid("structs too deep"))?;
        match kind {
            wire::TRUE | wire::FALSE => Ok(()),
            wire::BYTE => self.byte().map(|_| ()),
            wire::I16 | wire::I32 | wire::I64 => self.varint().map(|_| ()),
            wire::DOUBLE => self.advance(8),
            wire::BINARY => {
                let length = self.varint()?;
                self.advance(usize::try_from(length).map_err(|_| invalid("binary too long"))?)
            }
            wire::LIST | wire::SET => self.skip_list(depth),
            wire::STRUCT => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(invalid("unknown type in a page header")),
        }
    }

    fn skip_list(&mut self, depth: u32) -> io::Result<()> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        let kind = byte & 0x0f;
        // Every element takes a byte, truth values included, so the count cannot run away.
        for _ in 0..count {
            if matches!(kind, wire::TRUE | wire::FALSE) {
                self.advance(1)?;
            } else {
                self.skip(kind, depth)?;
            }
        }
        Ok(())
    }

    fn count(&mut self) -> io::Result<u32> {
        u32::try_from(zigzag(self.varint()?)).map_err(|_| invalid("a count is negative or huge"))
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(invalid("a number is too long"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn advance(&mut self, count: usize) -> io::Result<()> {
        self.bytes = self.bytes.get(count..).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(())
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_is_read_field_by_field() {
        // Written by hand after `parquet.thrift`: zigzag doubles each number.
        let bytes = [
            0x15, 0x00, // type = DATA_PAGE
            0x15, 0x28, // uncompressed_page_size = 20
            0x15, 0x14, // compressed_page_size = 10
            0x15, 0x01, // crc = -1, skipped
            0x1c, // data_page_header
            0x15, 0x06, // num_values = 3
            0x15, 0x10, // encoding = RLE_DICTIONARY (8)
            0x15, 0x06, // definition_level_encoding = RLE (3)
            0x15, 0x06, // repetition_level_encoding = RLE (3)
            0x1c, 0x18, 0x02, b'a', b'z', 0x00, // statistics, skipped
            0x00, 0x00, 0xff,
        ];
        let expected = Header {
            kind: 0,
            uncompressed_size: 20,
            compressed_size: 10,
            values: 3,
            encoding: 8,
            definition_encoding: 3,
            repetition_encoding: 3,
            ..Header::default()
        };
        assert_eq!(Header::parse(&bytes).unwrap(), (expected, bytes.len() - 1));
        for cut in 0..bytes.len() - 1 {
            assert!(Header::parse(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn hostile_headers_are_refused() {
        let cases: [(&str, Vec<u8>); 4] = [
            ("negative size", vec![0x15, 0x00, 0x15, 0x01, 0x00]),
            ("endless number", vec![0xff; 64]),
            ("structs in structs", vec![0x1c; 64]),
            ("a list longer than the bytes", vec![0x19, 0xf3, 0xff, 0xff, 0xff, 0x7f, 0, 0]),
        ];
        for (name, bytes) in cases {
            assert!(Header::parse(&bytes).is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((_, length)) = Header::parse(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
