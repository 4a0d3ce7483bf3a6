//! What can be wrong with a sentence, and what to do about it.
//!
//! A corpus is either taken as it is or refused: by default the first defect ends the reading
//! with an error that names file and line. With [`OnBad::Skip`] the pair is left out, both sides
//! together, and a [`DefectCounts`] counts why.

use std::fmt;

/// Why a line or a value cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
    /// The bytes are not UTF-8.
    InvalidUtf8 {
        /// Where, counted in bytes from 1.
        byte: usize,
    },
    /// It contains U+0000, which ends strings in other tools.
    Nul {
        /// Where, counted in bytes from 1.
        byte: usize,
    },
    /// It is longer than the limit.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A TSV line has too few columns.
    MissingColumn {
        /// The column that was asked for, counted from 1.
        column: usize,
        /// How many there are.
        found: usize,
    },
    /// A parquet value is null.
    Null,
    /// A parquet value contains a line break, so it is not one line.
    LineBreak {
        /// Where, counted in bytes from 1.
        byte: usize,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUtf8 { byte } => write!(f, "invalid UTF-8 at byte {byte}"),
            Self::Nul { byte } => write!(f, "NUL at byte {byte}"),
            Self::TooLong { limit } => write!(f, "longer than {limit} bytes"),
            Self::MissingColumn { column, found } => {
                write!(f, "no column {column} among {found}")
            }
            Self::Null => write!(f, "the value is null"),
            Self::LineBreak { byte } => write!(f, "line break inside the value at byte {byte}"),
        }
    }
}

/// What to do with a pair that has a [`Defect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBad {
    /// Stop with an error that names file and line.
    #[default]
    Fail,
    /// Leave the pair out and count it.
    Skip,
}

/// How many pairs were left out, by reason. A pair counts once, for the first defect found,
/// source before target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefectCounts {
    /// Not UTF-8.
    pub invalid_utf8: u64,
    /// With U+0000.
    pub nul: u64,
    /// Longer than the limit.
    pub too_long: u64,
    /// With too few TSV columns.
    pub missing_column: u64,
    /// Null in parquet.
    pub null: u64,
    /// With a line break inside a parquet value.
    pub line_break: u64,
}

impl DefectCounts {
    #[cfg(feature = "corpora")]
    pub(crate) fn add(&mut self, defect: Defect) {
        *match defect {
            Defect::InvalidUtf8 { .. } => &mut self.invalid_utf8,
            Defect::Nul { .. } => &mut self.nul,
            Defect::TooLong { .. } => &mut self.too_long,
            Defect::MissingColumn { .. } => &mut self.missing_column,
            Defect::Null => &mut self.null,
            Defect::LineBreak { .. } => &mut self.line_break,
        } += 1;
    }

    /// Reasons and counts, the zeros too.
    pub fn reasons(&self) -> [(&'static str, u64); 6] {
        [
            ("invalid UTF-8", self.invalid_utf8),
            ("NUL", self.nul),
            ("too long", self.too_long),
            ("missing column", self.missing_column),
            ("null", self.null),
            ("line break", self.line_break),
        ]
    }

    /// All pairs left out.
    pub fn total(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }
}

/// Checks bytes that are to become a sentence: `Ok` is valid UTF-8 without NUL.
///
/// # Errors
/// The first defect, bad encoding before NUL.
pub fn check(bytes: &[u8]) -> Result<&str, Defect> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Defect::InvalidUtf8 { byte: error.valid_up_to() + 1 })?;
    match memchr::memchr(0, bytes) {
        None => Ok(text),
        Some(at) => Err(Defect::Nul { byte: at + 1 }),
    }
}
