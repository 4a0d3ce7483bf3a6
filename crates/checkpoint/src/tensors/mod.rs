//! Files of named tensors, in the safetensors format.
//!
//! ```text
//! u64 little-endian n · n bytes of JSON · the tensors, without gaps
//! JSON: { name: { "dtype": "F32", "shape": [..], "data_offsets": [begin, end] }, .. }
//! ```
//!
//! A [`TensorFile`] is mapped, not read: opening costs the header, and a tensor of f32 is a view
//! of the map. Nothing the header says is believed before it is checked against the size of the
//! file, and nothing larger than the header is ever allocated on its word. Other programs may
//! write F16 or BF16; such tensors are converted when asked for. Tensors we write carry a checksum,
//! which is compared when they are read.
//!
//! A matrix of I8 is accompanied by a vector of the same name and `.scale`, one number for each of its rows, by which they
//! are multiplied when it is asked for.
//!
//! A file that becomes *shorter while it is mapped* kills the process (`SIGBUS`), and one that is
//! overwritten in place changes under its reader. padir does neither: it writes beside and
//! renames.

mod checksum;
mod fault;
mod header;
mod numbers;
mod write;

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

pub(crate) use fault::NAMES;
pub use fault::{TensorError, TensorFault};
pub use header::{MAX_HEADER, MAX_RANK, MAX_TENSORS};
pub use numbers::Dtype;
pub(crate) use numbers::{decode, first_not_finite};
pub use write::{Announced, TensorWriter};

use header::{Entry, Header};

/// A mapped file of named tensors.
#[derive(Debug)]
pub struct TensorFile {
    path: PathBuf,
    map: Mmap,
    header: Header,
}

/// A tensor as its file describes it.
#[derive(Clone, Copy, Debug)]
pub struct TensorInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its dimensions.
    pub shape: &'a [usize],
    /// How its numbers are stored.
    pub dtype: Dtype,
}

impl TensorFile {
    /// Maps a file and checks its header.
    ///
    /// # Errors
    /// If it cannot be read or is not a whole safetensors file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TensorError> {
        let path = path.as_ref();
        Self::open_file(path).map_err(|fault| TensorError { path: path.to_owned(), fault })
    }

    fn open_file(path: &Path) -> Result<Self, TensorFault> {
        let map = map_file(&File::open(path).map_err(TensorFault::Read)?)?;
        let header = Header::parse(&map)?;
        Ok(Self { path: path.to_owned(), map, header })
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All tensors, in the order of their data.
    pub fn tensors(&self) -> impl Iterator<Item = TensorInfo<'_>> {
        self.header.entries().iter().map(Entry::info)
    }

    /// The description of a tensor.
    pub fn info(&self, name: &str) -> Option<TensorInfo<'_>> {
        self.header.find(name).map(Entry::info)
    }

    /// The text that was stored under a key beside the tensors.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.header.metadata(key)
    }

    /// The numbers of a tensor, row by row: a view of the map where that is possible, else a copy.
    /// Every number is finite, and those of our own files are the ones that were written. Costs
    /// two passes over the tensor.
    ///
    /// # Errors
    /// If there is no such tensor, if it is damaged, or if it holds NaN or an infinity.
    pub fn read(&self, name: &str) -> Result<Cow<'_, [f32]>, TensorError> {
        let numbers = self.read_plain(name)?;
        if self.info(name).is_none_or(|info| info.dtype != Dtype::I8) {
            return Ok(numbers);
        }
        let scales = self.read_plain(&scale_of(name))?;
        let (rows, found) = (scales.len(), numbers.len());
        if rows == 0 || found == 0 || !found.is_multiple_of(rows) {
            let (name, shape) = (scale_of(name), vec![rows]);
            return Err(self.error(TensorFault::Length { name, shape, found }));
        }
        let mut numbers = numbers.into_owned();
        for (row, &scale) in numbers.chunks_exact_mut(found / rows).zip(&*scales) {
            for number in row {
                *number *= scale;
            }
        }
        Ok(Cow::Owned(numbers))
    }

    /// The numbers of a tensor as they are stored.
    fn read_plain(&self, name: &str) -> Result<Cow<'_, [f32]>, TensorError> {
        let entry = self.header.find(name).ok_or_else(|| {
            self.error(TensorFault::Missing { names: vec![name.to_owned()], count: 1 })
        })?;
        let bytes = &self.map[self.header.range_of(entry)];
        if !self.header.is_sound(entry, bytes) {
            return Err(self.error(TensorFault::Checksum { name: name.to_owned() }));
        }
        let numbers = numbers::decode(bytes, entry.dtype);
        match numbers::first_not_finite(&numbers) {
            None => Ok(numbers),
            Some(index) => {
                let value = numbers[index];
                Err(self.error(TensorFault::NotFinite { name: name.to_owned(), index, value }))
            }
        }
    }

    pub(crate) fn error(&self, fault: TensorFault) -> TensorError {
        TensorError { path: self.path.clone(), fault }
    }
}

/// What the scales of a matrix of I8 are called.
pub(crate) fn scale_of(name: &str) -> String {
    format!("{name}.scale")
}

#[expect(unsafe_code, reason = "a memory map is only as constant as the file below it")]
fn map_file(file: &File) -> Result<Mmap, TensorFault> {
    if !file.metadata().map_err(TensorFault::Read)?.is_file() {
        return Err(TensorFault::NotAFile);
    }
    // SAFETY: the map is read-only, and every bit pattern is a valid byte and a valid f32. Model
    // files are written beside and renamed into place, never changed where they stand. What
    // remains is a foreign process that does change one: see the head of this file.
    unsafe { Mmap::map(file) }.map_err(TensorFault::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.safetensors");
        std::fs::write(&path, bytes).unwrap();
        (directory, path)
    }

    fn with_header(json: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn damaged_and_foreign_files_are_refused_by_name() {
        let one = |shape: &str, offsets: &str| {
            let json =
                format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#);
            with_header(&json, &[0; 8])
        };
        let twice = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                        "a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
        let gap = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
        let overlap = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                          "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
        let ints = r#"{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#;
        let surplus = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}"#;
        let cases = [
            ("empty", vec![], "ends within its header"),
            ("five bytes", vec![1; 5], "ends within its header"),
            ("short header", with_header("{}", &[])[..9].to_vec(), "ends within its header"),
            ("endless header", vec![255; 100], "would be 18446744073709551615 bytes long"),
            ("git lfs", b"version https://git-lfs.github.com/spec/v1\noid".to_vec(), "Git LFS"),
            ("torch", b"PK\x03\x04archive/data.pkl".to_vec(), "PyTorch archive"),
            ("not json", with_header("{\"a\":", &[]), "its header is damaged"),
            ("not a tensor", with_header("{\"\u{e9}\":1}", &[]), "its header is damaged"),
            ("truncated", one("[2]", "[0,8]")[..69].to_vec(), "is truncated"),
            ("oversized", one("[1]", "[0,4]"), "4 bytes too long"),
            ("shape and offsets", one("[3]", "[0,8]"), "tensor \"a\" of shape [3] takes 12 bytes"),
            (
                "overflowing shape",
                one("[4294967296,4294967296,4]", "[0,8]"),
                "tensor \"a\" of shape",
            ),
            ("negative shape", one("[-2]", "[0,8]"), "its header is damaged"),
            (
                "backwards",
                one("[2]", "[8,0]"),
                "tensor \"a\" of shape [2] takes 8 bytes, not those",
            ),
            ("far away", one("[2]", "[0,18446744073709551615]"), "tensor \"a\" of shape"),
            ("deep", one("[1,1,1,1,1,1,1,1,2]", "[0,8]"), "tensor \"a\" has 9 dimensions"),
            ("duplicate", with_header(twice, &[0; 8]), "tensor \"a\" occurs twice"),
            ("gap", with_header(gap, &[0; 8]), "tensor \"a\" begins at byte 4 of the data"),
            ("overlap", with_header(overlap, &[0; 8]), "tensor \"b\" begins at byte 4 of the data"),
            ("integers", with_header(ints, &[0; 8]), "tensor \"a\" is of type \"I64\""),
            ("surplus key", with_header(surplus, &[0; 8]), "its header is damaged"),
        ];
        for (name, bytes, expected) in cases {
            let (_directory, path) = written(&bytes);
            let error = TensorFile::open(&path).expect_err(name).to_string();
            assert!(error.contains("m.safetensors"), "{name}: {error}");
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused_when_read() {
        let json = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let data = [1.0_f32.to_le_bytes(), bad.to_le_bytes()].concat();
            let (_directory, path) = written(&with_header(json, &data));
            let file = TensorFile::open(&path).unwrap();
            let error = file.read("a").unwrap_err().to_string();
            assert!(error.ends_with(&format!("tensor \"a\" holds {bad} at index 1")), "{error}");
            assert!(file.read("b").is_err());
        }
    }

    #[test]
    fn matrices_in_8_bits_are_multiplied_by_the_scales_of_their_rows() {
        let matrix = |shape: &str, scale: &str, scales: usize| {
            let end = 4 + 4 * scales;
            format!(
                r#"{{"w":{{"dtype":"I8","shape":{shape},"data_offsets":[0,4]}},
                    "w.{scale}":{{"dtype":"F32","shape":[{scales}],"data_offsets":[4,{end}]}}}}"#
            )
        };
        let read = |json: &str, scales: &[f32]| {
            let mut data = vec![1, 0xff, 63, 0xc1];
            data.extend(scales.iter().flat_map(|s| s.to_le_bytes()));
            let (_directory, path) = written(&with_header(json, &data));
            let file = TensorFile::open(&path).unwrap();
            file.read("w").map(Cow::into_owned).map_err(|error| error.to_string())
        };
        let whole = read(&matrix("[2,2]", "scale", 2), &[0.5, 2.0]).unwrap();
        assert_eq!(whole, [0.5, -0.5, 126.0, -126.0]);
        let cases = [
            ("no scales", read(&matrix("[2,2]", "other", 2), &[0.5, 2.0]), "lacks the tensor"),
            ("none", read(&matrix("[2,2]", "scale", 0), &[]), "cannot hold 4 numbers"),
            ("three", read(&matrix("[2,2]", "scale", 3), &[1.0; 3]), "cannot hold 4 numbers"),
            ("NaN", read(&matrix("[2,2]", "scale", 2), &[f32::NAN; 2]), "holds NaN"),
        ];
        for (name, result, expected) in cases {
            let error = result.expect_err(name);
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn other_precisions_are_converted_and_odd_places_copied() {
        let json = r#"{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},
                       "b":{"dtype":"BF16","shape":[1,1],"data_offsets":[2,4]},
                       "c":{"dtype":"F32","shape":[],"data_offsets":[4,8]},
                       "__metadata__":{"format":"pt"}}"#;
        for pad in 0..4 {
            let json = format!("{json}{}", " ".repeat(pad));
            let mut data = vec![0x00, 0xc1, 0x20, 0x40];
            data.extend(3.75_f32.to_le_bytes());
            let (_directory, path) = written(&with_header(&json, &data));
            let file = TensorFile::open(&path).unwrap();
            assert_eq!(*file.read("a").unwrap(), [-2.5]);
            assert_eq!(*file.read("b").unwrap(), [2.5]);
            assert_eq!(*file.read("c").unwrap(), [3.75]);
            assert_eq!(file.metadata("format"), Some("pt"));
            assert_eq!(file.info("b").unwrap().shape, [1, 1]);
            assert_eq!(file.tensors().map(|t| t.name).collect::<Vec<_>>(), ["a", "b", "c"]);
        }
    }
}
