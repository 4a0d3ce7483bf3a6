//! `pytorch_model.bin`: a pickled dictionary of tensors and their storages.
//!
//! Since version 1.6, PyTorch writes a zip archive: `*/data.pkl` is the [pickle](super::pickle), `*/data/KEY` the storages, not packed. Before that, it wrote
//! five pickles (a magic number, the version of the protocol, facts about the machine, the dictionary, the keys of the storages) and then each storage with
//! its length. Both are read; nothing of either is ever run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use super::error::{ImportError, ImportFault};
use super::package;
use super::pickle::{Pickled, StorageType, TensorView};
use super::zip::Archive;
use crate::tensors::{Dtype, decode, first_not_finite};

/// The longest pickle in an archive.
const LONGEST_PICKLE: u64 = 1 << 24;
/// The version of the protocol of the old format.
const PROTOCOL: i64 = 1001;

/// A file of PyTorch in memory.
#[derive(Debug)]
pub struct PyTorchFile {
    path: PathBuf,
    bytes: Vec<u8>,
    tensors: HashMap<String, TensorView>,
    /// Where the bytes of each storage lie.
    storages: HashMap<String, Range<usize>>,
}

impl PyTorchFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged or holds anything but tensors.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImportError> {
        let path = path.as_ref();
        Self::parse(path, package::read_weights(path)?)
    }

    /// Takes the content of a file.
    ///
    /// # Errors
    /// As [`PyTorchFile::open`].
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, ImportError> {
        let file = if Archive::is_one(&bytes) {
            Self::from_archive(path, bytes)
        } else {
            Self::legacy(path, bytes)
        }?;
        for (name, view) in &file.tensors {
            file.place(name, view).map_err(|fault| fault.at(path))?;
        }
        Ok(file)
    }

    fn from_archive(path: &Path, bytes: Vec<u8>) -> Result<Self, ImportError> {
        let archive = Archive::parse(path, bytes)?;
        let prefix = archive.names().find_map(|name| name.strip_suffix("data.pkl"));
        let prefix = prefix.ok_or_else(|| ImportFault::Missing("data.pkl").at(path))?.to_owned();
        let order = archive.read(&format!("{prefix}byteorder"), 16)?;
        if order.is_some_and(|order| &*order != b"little") {
            return Err(ImportFault::Unsupported("big-endian storages".to_owned()).at(path));
        }
        let program = archive.read(&format!("{prefix}data.pkl"), LONGEST_PICKLE)?;
        let program = program.ok_or_else(|| ImportFault::Missing("data.pkl").at(path))?;
        let tensors = Pickled::parse(&program).and_then(|pickled| pickled.tensors());
        let tensors = tensors.map_err(|fault| fault.at(path))?;
        let mut storages = HashMap::new();
        for view in tensors.values() {
            let name = format!("{prefix}data/{}", view.storage);
            let missing = || ImportFault::NoTensor(name.clone()).at(path);
            let range = archive.stored(&name)?.ok_or_else(missing)?;
            storages.insert(view.storage.clone(), range);
        }
        drop(program);
        Ok(Self { path: path.to_owned(), bytes: archive.into_bytes(), tensors, storages })
    }

    fn legacy(path: &Path, bytes: Vec<u8>) -> Result<Self, ImportError> {
        let (tensors, storages) = legacy(&bytes).map_err(|fault| fault.at(path))?;
        Ok(Self { path: path.to_owned(), bytes, tensors, storages })
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The dimensions of a tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|view| &view.shape[..])
    }

    /// The numbers of a tensor, row by row.
    ///
    /// # Errors
    /// If there is none of this name, or it does not hold finite floating-point numbers.
    pub fn read(&self, name: &str) -> Result<Cow<'_, [f32]>, ImportError> {
        self.read_numbers(name).map_err(|fault| fault.at(&self.path))
    }

    fn read_numbers(&self, name: &str) -> Result<Cow<'_, [f32]>, ImportFault> {
        let view = self.tensors.get(name).ok_or_else(|| ImportFault::NoTensor(name.to_owned()))?;
        let dtype = match view.kind {
            StorageType::Float => Dtype::F32,
            StorageType::Half => Dtype::F16,
            StorageType::BFloat16 => Dtype::Bf16,
            StorageType::Other(found, _) => {
                let (name, found) = (name.to_owned(), found.to_owned());
                let expected = "weights are read as float32, float16 and bfloat16";
                return Err(ImportFault::Dtype { name, found, expected });
            }
        };
        let numbers = decode(&self.bytes[self.place(name, view)?], dtype);
        match first_not_finite(&numbers) {
            None => Ok(numbers),
            Some(index) => {
                let value = numbers[index];
                Err(ImportFault::NotFinite { name: name.to_owned(), index, value })
            }
        }
    }

    /// Where the bytes of a tensor lie.
    fn place(&self, name: &str, view: &TensorView) -> Result<Range<usize>, ImportFault> {
        let damaged = |why: &str| ImportFault::Damaged(format!("{name:?} {why}"));
        let mut count = 1_usize;
        for (&size, &stride) in view.shape.iter().zip(&view.strides).rev() {
            if size != 1 && stride != count {
                return Err(damaged("does not lie row by row"));
            }
            count = count.checked_mul(size).ok_or_else(|| damaged("is too large"))?;
        }
        let storage = self.storages.get(&view.storage);
        let storage = storage.ok_or_else(|| damaged("has no storage"))?;
        let bytes = view.kind.bytes();
        let begin = view.offset.checked_mul(bytes);
        let end = view.offset.checked_add(count).and_then(|end| end.checked_mul(bytes));
        match begin.zip(end) {
            Some((begin, end)) if end <= storage.len() => {
                Ok(storage.start + begin..storage.start + end)
            }
            _ => Err(damaged("is larger than its storage")),
        }
    }
}

type Parts = (HashMap<String, TensorView>, HashMap<String, Range<usize>>);

fn legacy(bytes: &[u8]) -> Result<Parts, ImportFault> {
    let mut at = 0;
    let mut next = || -> Result<Pickled, ImportFault> {
        let pickled = Pickled::parse(&bytes[at..])?;
        at += pickled.length;
        Ok(pickled)
    };
    let magic = next().map_err(|_| ImportFault::damaged("it is no file of PyTorch"))?;
    if magic.integer().is_some() || next()?.integer() != Some(PROTOCOL) {
        return Err(ImportFault::damaged("it is no file of PyTorch"));
    }
    next()?;
    let tensors = next()?.tensors()?;
    let keys = next()?;
    let keys = keys.texts().ok_or_else(|| ImportFault::damaged("its storages have no keys"))?;
    let sizes: HashMap<&str, usize> =
        tensors.values().map(|view| (view.storage.as_str(), view.kind.bytes())).collect();
    let mut rest = Bytes::new(&bytes[at..]);
    let mut storages = HashMap::new();
    for key in keys {
        let count = usize::try_from(rest.u64("the length of a storage")?).unwrap_or(usize::MAX);
        let size = sizes.get(key).copied();
        let size = size.ok_or_else(|| ImportFault::damaged("it holds a storage of no tensor"))?;
        let begin = at + rest.at();
        let length = count.saturating_mul(size);
        rest.take(length, "a storage")?;
        storages.insert(key.to_owned(), begin..begin + length);
    }
    Ok((tensors, storages))
}
