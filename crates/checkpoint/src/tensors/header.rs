//! The header of a safetensors file, believed in nothing.
//!
//! Memory: proportional to the header, which is no longer than the file and [`MAX_HEADER`].

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use super::numbers::Dtype;
use super::{TensorFault, TensorInfo, checksum};

/// The longest header that is read. A model of 2000 layers has one of 6 MB.
pub const MAX_HEADER: u64 = 1 << 24;
/// Most tensors of a file.
pub const MAX_TENSORS: usize = 1 << 16;
/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 8;

/// The key of what is no tensor.
const METADATA: &str = "__metadata__";
/// Bytes of the length of the header.
const PREFIX: usize = 8;

/// A header whose every entry lies within the file.
#[derive(Debug)]
pub(super) struct Header {
    /// By their place in the file.
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    metadata: HashMap<String, String>,
    /// Of every entry, if the file has them.
    checksums: Option<Vec<u64>>,
    /// Where the data begins.
    data: usize,
}

#[derive(Debug)]
pub(super) struct Entry {
    name: String,
    shape: Vec<usize>,
    pub(super) dtype: Dtype,
    /// Within the data.
    begin: usize,
    end: usize,
}

impl Entry {
    pub(super) fn info(&self) -> TensorInfo<'_> {
        TensorInfo { name: &self.name, shape: &self.shape, dtype: self.dtype }
    }
}

impl Header {
    pub(super) fn parse(file: &[u8]) -> Result<Self, TensorFault> {
        let found = file.len() as u64;
        let Some((prefix, rest)) = file.split_first_chunk::<PREFIX>() else {
            return Err(TensorFault::NoHeader { found });
        };
        if let Some(kind) = foreign(file) {
            return Err(TensorFault::Foreign(kind));
        }
        let bytes = u64::from_le_bytes(*prefix);
        if bytes > MAX_HEADER {
            return Err(TensorFault::LongHeader { bytes });
        }
        let length = bytes as usize;
        let json = rest.get(..length).ok_or(TensorFault::NoHeader { found })?;
        let raw: Raw =
            serde_json::from_slice(json).map_err(|error| TensorFault::Header(error.to_string()))?;
        if raw.tensors.len() > MAX_TENSORS {
            return Err(TensorFault::TooManyTensors);
        }
        let mut entries =
            raw.tensors.into_iter().map(Entry::checked).collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|entry| (entry.begin, entry.end));
        check_places(&entries, (rest.len() - length) as u64, (PREFIX + length) as u64)?;
        let by_name = index_names(&entries)?;
        let checksums = read_checksums(&raw.metadata, entries.len())?;
        let data = PREFIX + length;
        Ok(Self { entries, by_name, metadata: raw.metadata, checksums, data })
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|&index| &self.entries[index])
    }

    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Where the bytes of a tensor lie in the file.
    pub(super) fn range_of(&self, entry: &Entry) -> Range<usize> {
        self.data + entry.begin..self.data + entry.end
    }

    /// Whether the bytes of a tensor are those that were written, as far as one can know.
    pub(super) fn is_sound(&self, entry: &Entry, bytes: &[u8]) -> bool {
        let expected = self.checksums.as_ref().zip(self.by_name.get(&entry.name));
        expected.is_none_or(|(checksums, &index)| {
            checksums[index] == checksum::of_tensor(&entry.name, bytes)
        })
    }
}

/// Files that are often found where a model should be.
fn foreign(file: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 4] = [
        (b"version https://git-lfs", "the pointer of a file kept by Git LFS"),
        (b"PK\x03\x04", "a PyTorch archive"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (b"<!DOCTYPE", "a web page"),
    ];
    kinds.into_iter().find(|(start, _)| file.starts_with(start)).map(|(_, kind)| kind)
}

impl Entry {
    /// Shape, type and offsets agree; where the offsets lead is another question.
    fn checked((name, raw): (String, RawEntry)) -> Result<Self, TensorFault> {
        let RawEntry { dtype: kind, shape, data_offsets: [begin, end] } = raw;
        let Some(dtype) = Dtype::of_name(&kind) else {
            return Err(TensorFault::Dtype { name, dtype: kind.chars().take(20).collect() });
        };
        if shape.len() > MAX_RANK {
            return Err(TensorFault::Rank { name, rank: shape.len() });
        }
        let bytes = shape.iter().try_fold(dtype.bytes(), |product, &n| product.checked_mul(n));
        let bytes = bytes.map(|bytes| bytes as u64);
        let place = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        match place {
            Some((low, high)) if end.checked_sub(begin) == bytes && bytes.is_some() => {
                Ok(Self { name, shape, dtype, begin: low, end: high })
            }
            _ => Err(TensorFault::Offsets { name, shape, bytes, begin, end }),
        }
    }
}

/// Entries in order follow each other without gaps from the beginning of the data to its end.
fn check_places(entries: &[Entry], data: u64, before: u64) -> Result<(), TensorFault> {
    let mut expected = 0;
    for entry in entries {
        let begin = entry.begin as u64;
        if begin != expected {
            return Err(TensorFault::NotAdjacent { name: entry.name.clone(), begin, expected });
        }
        expected = entry.end as u64;
    }
    let (found, expected) = (data + before, expected.saturating_add(before));
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(TensorFault::Truncated { expected, found }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(TensorFault::Oversized { expected, found }),
    }
}

fn index_names(entries: &[Entry]) -> Result<HashMap<String, usize>, TensorFault> {
    let mut by_name = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if by_name.insert(entry.name.clone(), index).is_some() {
            return Err(TensorFault::Duplicate { name: entry.name.clone() });
        }
    }
    Ok(by_name)
}

fn read_checksums(
    metadata: &HashMap<String, String>,
    tensors: usize,
) -> Result<Option<Vec<u64>>, TensorFault> {
    let damaged =
        || TensorFault::Header(format!("its {} is not a checksum for each tensor", checksum::KEY));
    let text = metadata.get(checksum::KEY);
    // A damaged key must not make us read damaged weights unchecked.
    if text.is_none() && metadata.values().any(|text| checksum::resembles(text, tensors)) {
        return Err(damaged());
    }
    text.map(|text| checksum::split(text, tensors).ok_or_else(damaged)).transpose()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// A JSON object that keeps all its entries: a map would silently drop duplicates.
struct Raw {
    tensors: Vec<(String, RawEntry)>,
    metadata: HashMap<String, String>,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut raw = Raw { tensors: Vec::new(), metadata: HashMap::new() };
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                raw.metadata = map.next_value()?;
            } else {
                raw.tensors.push((name, map.next_value()?));
            }
        }
        Ok(raw)
    }
}
