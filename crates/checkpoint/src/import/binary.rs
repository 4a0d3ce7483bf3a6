//! `model.bin` of CTranslate2: named variables of any type.
//!
//! ```text
//! u32 version · [name of the network · u32 revision] · u32 n · n variables · [u32 m · m aliases]
//! variable: name · u8 rank · rank × u32 · u8 type · u32 bytes · the numbers
//! alias:    name · name of the variable
//! name:     u16 length, its NUL included · bytes · NUL
//! ```
//!
//! All little-endian. Name and revision of the network exist since version 2, aliases since 3. Before version 4 a variable has the size of a
//! number and their count in place of type and bytes. Opening costs one pass over the heads of the variables.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use super::error::{ImportError, ImportFault};
use super::package;
use crate::tensors::{Dtype, decode, first_not_finite};

/// The newest version that is read.
const NEWEST: u32 = 6;
/// Most variables and aliases of a file.
const MOST: u32 = 1 << 16;
/// Most dimensions of a variable.
const MAX_RANK: u8 = 8;

/// A `model.bin` in memory.
#[derive(Debug)]
pub struct Binary {
    path: PathBuf,
    bytes: Vec<u8>,
    network: String,
    revision: u32,
    variables: Vec<Variable>,
    by_name: HashMap<String, usize>,
}

/// A variable of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its dimensions; none for a single number.
    pub shape: Vec<usize>,
    /// How its numbers are stored.
    pub kind: VariableType,
    range: Range<usize>,
}

/// How the numbers of a variable are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// IEEE 754 binary32.
    F32,
    /// Whole numbers of 8 bits.
    I8,
    /// Whole numbers of 16 bits.
    I16,
    /// Whole numbers of 32 bits.
    I32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of an F32.
    Bf16,
}

impl VariableType {
    fn of_number(number: u8) -> Option<Self> {
        [Self::F32, Self::I8, Self::I16, Self::I32, Self::F16, Self::Bf16]
            .get(usize::from(number))
            .copied()
    }

    /// What versions before 4 say.
    fn of_size(size: u8) -> Option<Self> {
        match size {
            4 => Some(Self::F32),
            2 => Some(Self::I16),
            1 => Some(Self::I8),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }
}

impl Variable {
    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged or of a version that is not known.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImportError> {
        let path = path.as_ref();
        Self::parse(path, package::read_weights(path)?)
    }

    /// Takes the content of a file.
    ///
    /// # Errors
    /// As [`Binary::open`].
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, ImportError> {
        let (mut network, mut revision) = ("TransformerBase".to_owned(), 1);
        let mut read = || -> Result<_, ImportFault> {
            let mut rest = Bytes::new(&bytes);
            let version = rest.u32("the version")?;
            if !(1..=NEWEST).contains(&version) {
                return Err(ImportFault::Version(version));
            }
            if version >= 2 {
                network = name(&mut rest)?;
                revision = rest.u32("the revision")?;
            }
            let variables = variables(&mut rest, version)?;
            let mut by_name = HashMap::new();
            for (index, variable) in variables.iter().enumerate() {
                insert(&mut by_name, variable.name.clone(), index)?;
            }
            if version >= 3 {
                aliases(&mut rest, &mut by_name)?;
            }
            if rest.left() > 0 {
                let surplus = format!("{} bytes follow its end", rest.left());
                return Err(ImportFault::Damaged(surplus));
            }
            Ok((variables, by_name))
        };
        let (variables, by_name) = read().map_err(|fault| fault.at(path))?;
        Ok(Self { path: path.to_owned(), bytes, network, revision, variables, by_name })
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What CTranslate2 calls the network.
    pub fn network(&self) -> &str {
        &self.network
    }

    /// The revision of its layout.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// All names, aliases included, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The variable of a name or alias.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.by_name.get(name).map(|&index| &self.variables[index])
    }

    /// The single whole number of a variable, whatever its type.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let variable = self.variable(name).filter(|variable| variable.len() == 1)?;
        let bytes = &self.bytes[variable.range.clone()];
        match (variable.kind, bytes) {
            (VariableType::I8, &[a]) => Some(i64::from(a as i8)),
            (VariableType::I16, &[a, b]) => Some(i64::from(i16::from_le_bytes([a, b]))),
            (VariableType::I32, &[a, b, c, d]) => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
            _ => None,
        }
    }

    /// The numbers of a variable, row by row. Whole numbers are divided by the variable of the same name and `_scale`, which holds one number
    /// for each row or one for all.
    ///
    /// # Errors
    /// If there is no such variable, its scale does not fit, or a number is not finite.
    pub fn read(&self, name: &str) -> Result<Cow<'_, [f32]>, ImportError> {
        self.read_numbers(name).map_err(|fault| fault.at(&self.path))
    }

    fn read_numbers(&self, name: &str) -> Result<Cow<'_, [f32]>, ImportFault> {
        let missing = || ImportFault::NoTensor(name.to_owned());
        let variable = self.variable(name).ok_or_else(missing)?;
        let bytes = &self.bytes[variable.range.clone()];
        let numbers = match variable.kind {
            VariableType::F32 => decode(bytes, Dtype::F32),
            VariableType::F16 => decode(bytes, Dtype::F16),
            VariableType::Bf16 => decode(bytes, Dtype::Bf16),
            VariableType::I8 => {
                let whole = bytes.iter().map(|&byte| f32::from(byte as i8)).collect();
                Cow::Owned(self.scaled(variable, whole)?)
            }
            VariableType::I16 => {
                let whole =
                    bytes.chunks_exact(2).map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])));
                Cow::Owned(self.scaled(variable, whole.collect())?)
            }
            VariableType::I32 => {
                let (name, found) = (name.to_owned(), "int32".to_owned());
                let expected = "weights are read as float32, float16, bfloat16, int16 and int8";
                return Err(ImportFault::Dtype { name, found, expected });
            }
        };
        match first_not_finite(&numbers) {
            None => Ok(numbers),
            Some(index) => {
                let value = numbers[index];
                Err(ImportFault::NotFinite { name: name.to_owned(), index, value })
            }
        }
    }

    fn scaled(&self, variable: &Variable, mut whole: Vec<f32>) -> Result<Vec<f32>, ImportFault> {
        let name = format!("{}_scale", variable.name);
        let Some(scale) = self.variable(&name) else { return Err(ImportFault::NoTensor(name)) };
        let rows = variable.shape.first().copied().unwrap_or(1);
        if ![1, rows].contains(&scale.len()) || scale.kind != VariableType::F32 {
            let (found, expected) = (scale.shape.clone(), vec![rows]);
            return Err(ImportFault::Shape { name, found, expected });
        }
        let scales = decode(&self.bytes[scale.range.clone()], Dtype::F32);
        let width = whole.len().checked_div(scales.len()).unwrap_or(0).max(1);
        for (row, &scale) in whole.chunks_mut(width).zip(&*scales) {
            for number in row {
                *number /= scale;
            }
        }
        Ok(whole)
    }
}

fn variables(rest: &mut Bytes<'_>, version: u32) -> Result<Vec<Variable>, ImportFault> {
    let count = rest.u32("the number of variables")?;
    if count > MOST {
        return Err(ImportFault::Damaged(format!("it would hold {count} variables")));
    }
    let mut found = Vec::new();
    for _ in 0..count {
        let name = name(rest)?;
        let rank = rest.u8("a rank")?;
        if rank > MAX_RANK {
            return Err(ImportFault::Damaged(format!("{name:?} has {rank} dimensions")));
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(rest.u32("a dimension")? as usize);
        }
        let number = rest.u8("a type")?;
        let count = rest.u32("a size")? as usize;
        let (kind, stated) = if version >= 4 {
            (VariableType::of_number(number), Some(count))
        } else {
            (VariableType::of_size(number), count.checked_mul(usize::from(number)))
        };
        let Some(kind) = kind else {
            let expected = "numbers 0 to 5 are known";
            return Err(ImportFault::Dtype { name, found: number.to_string(), expected });
        };
        let wanted = shape.iter().try_fold(kind.bytes(), |bytes, &n| bytes.checked_mul(n));
        let Some(wanted) = wanted.filter(|&bytes| Some(bytes) == stated) else {
            let stated = stated.map_or("countless".to_owned(), |bytes| bytes.to_string());
            return Err(ImportFault::Damaged(format!(
                "{name:?} of shape {shape:?} cannot take {stated} bytes"
            )));
        };
        let begin = rest.at();
        rest.take(wanted, &format!("{name:?}"))?;
        found.push(Variable { name, shape, kind, range: begin..begin + wanted });
    }
    Ok(found)
}

fn aliases(rest: &mut Bytes<'_>, by_name: &mut HashMap<String, usize>) -> Result<(), ImportFault> {
    let count = rest.u32("the number of aliases")?;
    if count > MOST {
        return Err(ImportFault::Damaged(format!("it would hold {count} aliases")));
    }
    for _ in 0..count {
        let (alias, of) = (name(rest)?, name(rest)?);
        let Some(&index) = by_name.get(&of) else {
            return Err(ImportFault::Damaged(format!(
                "{alias:?} stands for {of:?}, which is not there"
            )));
        };
        insert(by_name, alias, index)?;
    }
    Ok(())
}

fn insert(
    by_name: &mut HashMap<String, usize>,
    name: String,
    index: usize,
) -> Result<(), ImportFault> {
    match by_name.entry(name) {
        std::collections::hash_map::Entry::Vacant(place) => {
            place.insert(index);
            Ok(())
        }
        std::collections::hash_map::Entry::Occupied(place) => {
            Err(ImportFault::Damaged(format!("{:?} occurs twice", place.key())))
        }
    }
}

fn name(rest: &mut Bytes<'_>) -> Result<String, ImportFault> {
    let length = rest.u16("the length of a name")?;
    let bytes = rest.take(usize::from(length), "a name")?;
    let text = bytes.strip_suffix(&[0]).and_then(|bytes| str::from_utf8(bytes).ok());
    let text = text.filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(|| ImportFault::damaged("a name is not text"))
}
