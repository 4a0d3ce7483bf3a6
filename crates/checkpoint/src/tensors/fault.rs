//! What can be wrong with a file of tensors.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A file of tensors cannot be used.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct TensorError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it; part of the message, hence no source that would be told again.
    pub fault: TensorFault,
}

/// What is wrong with a file of tensors.
#[derive(Debug, Error)]
pub enum TensorFault {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// A directory or a device.
    #[error("is not a file")]
    NotAFile,
    /// It is of another kind.
    #[error("is {0}, not a safetensors file")]
    Foreign(&'static str),
    /// It ends before the header does.
    #[error("ends within its header, after {found} bytes")]
    NoHeader {
        /// Its size.
        found: u64,
    },
    /// No header is this long.
    #[error("is not a safetensors file: its header would be {bytes} bytes long")]
    LongHeader {
        /// What the first eight bytes say.
        bytes: u64,
    },
    /// The header is not what it should be.
    #[error("its header is damaged: {0}")]
    Header(String),
    /// More tensors than any model has.
    #[error("holds more than {} tensors", super::MAX_TENSORS)]
    TooManyTensors,
    /// A name that occurs twice.
    #[error("tensor {name:?} occurs twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Numbers of a type that is not read.
    #[error("tensor {name:?} is of type {dtype:?}; F32, F16 and BF16 are read")]
    Dtype {
        /// The tensor.
        name: String,
        /// Its type.
        dtype: String,
    },
    /// Too many dimensions.
    #[error("tensor {name:?} has {rank} dimensions; at most {} are read", super::MAX_RANK)]
    Rank {
        /// The tensor.
        name: String,
        /// Their number.
        rank: usize,
    },
    /// Shape and offsets contradict each other.
    #[error(
        "tensor {name:?} of shape {shape:?} takes {} bytes, not those from {begin} to {end}",
        bytes.map_or("countless".to_owned(), |bytes| bytes.to_string())
    )]
    Offsets {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Its size, unless it overflows.
        bytes: Option<u64>,
        /// Where the header says it begins.
        begin: u64,
        /// Where the header says it ends.
        end: u64,
    },
    /// Tensors overlap, or there is a gap between them.
    #[error("tensor {name:?} begins at byte {begin} of the data, where {expected} is expected")]
    NotAdjacent {
        /// The tensor.
        name: String,
        /// Where it begins.
        begin: u64,
        /// Where the one before ends.
        expected: u64,
    },
    /// It ends before its data does.
    #[error("is truncated: it should be {expected} bytes long and is {found}")]
    Truncated {
        /// The size its header announces.
        expected: u64,
        /// Its size.
        found: u64,
    },
    /// It goes on after its data.
    #[error("is {} bytes too long: it should end after {expected} bytes", found - expected)]
    Oversized {
        /// The size its header announces.
        expected: u64,
        /// Its size.
        found: u64,
    },
    /// Tensors that the model needs are not there.
    #[error("{}", named("lacks", names, *count))]
    Missing {
        /// The first few.
        names: Vec<String>,
        /// How many.
        count: usize,
    },
    /// Tensors that the model does not have are there.
    #[error("{}", named("holds, foreign to this model,", names, *count))]
    Unexpected {
        /// The first few.
        names: Vec<String>,
        /// How many.
        count: usize,
    },
    /// A tensor has another shape than the model.
    #[error("tensor {name:?} has the shape {found:?}; by config.json it is {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// Its shape in the model.
        expected: Vec<usize>,
    },
    /// A tensor holds something that is not a finite number.
    #[error("tensor {name:?} holds {value} at index {index}")]
    NotFinite {
        /// The tensor.
        name: String,
        /// Of the first such number.
        index: usize,
        /// NaN or an infinity.
        value: f32,
    },
    /// A tensor is not what was written.
    #[error("tensor {name:?} is damaged: its checksum is wrong")]
    Checksum {
        /// The tensor.
        name: String,
    },
    /// A tensor to be written has not as many numbers as its shape.
    #[error("tensor {name:?} of shape {shape:?} cannot hold {found} numbers")]
    Length {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The numbers given.
        found: usize,
    },
    /// A tensor to be written that the header does not know.
    #[error("a tensor of {found} numbers was not announced")]
    Unannounced {
        /// The numbers given.
        found: usize,
    },
}

impl TensorFault {
    /// What a user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read(_) | Self::NotAFile => "give the directory of a checkpoint",
            Self::Write(_) => "make room on the disk; the checkpoint that stood there is intact",
            Self::Foreign(_) => "fetch the model.safetensors itself",
            Self::Missing { .. } | Self::Unexpected { .. } | Self::Shape { .. } => {
                "config.json and model.safetensors belong to different models; copy both from one"
            }
            Self::Dtype { .. } => "convert the model to F32",
            Self::NotFinite { .. } => {
                "the training diverged or the file is damaged; use an earlier checkpoint"
            }
            Self::Length { .. } | Self::Unannounced { .. } => {
                "this is a fault of the program; please report it"
            }
            _ => "the file is damaged; copy it again or use an earlier checkpoint",
        }
    }
}

/// At most this many names are kept for a message.
pub(crate) const NAMES: usize = 3;

fn named(verb: &str, names: &[String], count: usize) -> String {
    let list = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let noun = if count == 1 { "the tensor" } else { "the tensors" };
    let rest = count.saturating_sub(names.len());
    if rest == 0 {
        format!("{verb} {noun} {list}")
    } else {
        format!("{verb} {noun} {list} and {rest} more")
    }
}
