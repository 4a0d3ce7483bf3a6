//! Writes pairs in any form that [`crate::corpus`] reads.
//!
//! The form follows from the file names: two files are aligned, `.tsv` and `.parquet` say what
//! they are, and stdout is TSV. Compression follows from the name as well.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

use crate::columnar::{Languages, ParquetWriter};
use crate::output::{Output, OutputError};
use crate::pair::{Pair, Side};

/// Where and in which form to write pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Two files, line by line.
    Aligned {
        /// The file of the sources.
        source: PathBuf,
        /// The file of the targets.
        target: PathBuf,
    },
    /// One file with a tab between source and target.
    Tsv(PathBuf),
    /// Parquet in the Hugging Face layout.
    Parquet {
        /// The file.
        file: PathBuf,
        /// The names of the two fields of `translation`.
        languages: Languages,
    },
}

/// Why pairs could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The parquet encoder failed.
    #[error("cannot write {file}")]
    Parquet {
        /// The file as the user named it.
        file: String,
        /// What went wrong.
        source: ParquetError,
    },
    /// A tab inside a sentence cannot be written as TSV.
    #[error("pair {number}: the {} contains a tab, which TSV cannot hold", side_name(*side))]
    Tab {
        /// Pairs count from 1.
        number: u64,
        /// Which sentence.
        side: Side,
    },
    /// One file whose name does not say its form.
    #[error("the form of {0} is unknown")]
    UnknownForm(String),
    /// Neither one file nor two.
    #[error("pairs are written to one file or two, not {0}")]
    Files(usize),
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Source => "source",
        Side::Target => "target",
    }
}

impl Destination {
    /// The form that file names ask for: two aligned files, or one `.tsv` or `.parquet`; `-` is
    /// TSV on stdout.
    ///
    /// # Errors
    /// With no file, with more than two, and with one whose name says nothing.
    pub fn of_names(files: &[PathBuf], languages: &Languages) -> Result<Self, WriteError> {
        match files {
            [source, target] => {
                Ok(Self::Aligned { source: source.clone(), target: target.clone() })
            }
            [file] => match Form::of_name(file) {
                Some(Form::Tsv) => Ok(Self::Tsv(file.clone())),
                Some(Form::Parquet) => {
                    Ok(Self::Parquet { file: file.clone(), languages: languages.clone() })
                }
                None => Err(WriteError::UnknownForm(file.display().to_string())),
            },
            files => Err(WriteError::Files(files.len())),
        }
    }

    /// The files that are written.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::Aligned { source, target } => vec![source, target],
            Self::Tsv(file) | Self::Parquet { file, .. } => vec![file],
        }
    }

    /// Starts writing.
    ///
    /// # Errors
    /// When a directory does not exist or cannot be written to.
    pub fn create(&self) -> Result<PairWriter, WriteError> {
        let sink = match self {
            Self::Aligned { source, target } => Sink::Aligned {
                source: Box::new(Output::create(source)?),
                target: Box::new(Output::create(target)?),
            },
            Self::Tsv(file) => Sink::Tsv(Box::new(Output::create(file)?)),
            Self::Parquet { file, languages } => {
                let output = Output::create(file)?;
                let name = output.name().to_owned();
                let writer = ParquetWriter::new(output, languages)
                    .map_err(|source| WriteError::Parquet { file: name.clone(), source })?;
                Sink::Parquet { name, writer: Box::new(writer) }
            }
        };
        Ok(PairWriter { sink, number: 0 })
    }
}

/// A form of corpus that is one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tabs between the columns.
    Tsv,
    /// Parquet.
    Parquet,
}

impl Form {
    /// What a name says, its compression aside; `-` is TSV.
    pub fn of_name(path: &Path) -> Option<Self> {
        if path.as_os_str() == "-" {
            return Some(Self::Tsv);
        }
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = [".gz", ".zst", ".zstd", ".xz"];
        let plain = ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match plain.rsplit_once('.')?.1 {
            "tsv" | "tab" => Some(Self::Tsv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// A corpus being written. Nothing is visible before [`PairWriter::finish`].
pub struct PairWriter {
    sink: Sink,
    number: u64,
}

enum Sink {
    Aligned { source: Box<Output>, target: Box<Output> },
    Tsv(Box<Output>),
    Parquet { name: String, writer: Box<ParquetWriter<Output>> },
}

impl PairWriter {
    /// Writes one pair.
    ///
    /// # Errors
    /// On a full disk or a closed pipe, and for a tab in TSV; after the latter the writer can go
    /// on with other pairs.
    pub fn write(&mut self, pair: &Pair) -> Result<(), WriteError> {
        self.number += 1;
        match &mut self.sink {
            Sink::Aligned { source, target } => {
                line(source, &[&pair.source])?;
                line(target, &[&pair.target])?;
            }
            Sink::Tsv(output) => {
                for (text, side) in [(&pair.source, Side::Source), (&pair.target, Side::Target)] {
                    if text.contains('\t') {
                        return Err(WriteError::Tab { number: self.number, side });
                    }
                }
                line(output, &[&pair.source, "\t", &pair.target])?;
            }
            Sink::Parquet { name, writer } => writer
                .write(pair)
                .map_err(|source| WriteError::Parquet { file: name.clone(), source })?,
        }
        Ok(())
    }

    /// Makes the files appear.
    ///
    /// # Errors
    /// On a full disk; files that stood there before are then untouched, but of two aligned files
    /// the first may already be new.
    pub fn finish(self) -> Result<(), WriteError> {
        match self.sink {
            Sink::Aligned { source, target } => {
                source.finish()?;
                target.finish()?;
            }
            Sink::Tsv(output) => output.finish()?,
            Sink::Parquet { name, writer } => {
                let written = writer.finish();
                let fail = |source| WriteError::Parquet { file: name, source };
                written.map_err(fail)?.finish()?;
            }
        }
        Ok(())
    }
}

fn line(output: &mut Output, parts: &[&str]) -> Result<(), OutputError> {
    let mut write = || -> io::Result<()> {
        for part in parts {
            output.write_all(part.as_bytes())?;
        }
        output.write_all(b"\n")
    };
    write().map_err(|source| OutputError::Write { file: output.name().to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_follow_from_names() {
        let cases = [
            ("a.tsv", Some(Form::Tsv)),
            ("a.TSV.gz", Some(Form::Tsv)),
            ("dir.parquet/a.tab.zst", Some(Form::Tsv)),
            ("-", Some(Form::Tsv)),
            ("a.parquet", Some(Form::Parquet)),
            ("a.parquet.xz", Some(Form::Parquet)),
            ("a.txt", None),
            ("tsv", None),
            ("a.gz", None),
        ];
        for (name, expected) in cases {
            assert_eq!(Form::of_name(Path::new(name)), expected, "{name}");
        }
    }
}
