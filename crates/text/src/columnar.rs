//! Parquet in the Hugging Face layout: a struct column `translation` with a text field for each
//! language, as the WMT sets have it, or plain text columns.
//!
//! The `parquet` crate reads the footer and decodes values. Pages are read here (`pages`), so
//! that every size is checked before memory is taken for it; and as that crate may panic on
//! damaged bytes, [`caught`] turns a panic into an error.
//!
//! Memory: the footer, and for each of the two columns one dictionary and one data page.

mod codec;
mod header;
mod pages;
mod select;
mod writer;

use std::fs::File;
use std::io::Seek;

use padir_base::caught;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use self::pages::Pages;
pub use self::select::{Languages, LanguagesError};
pub(crate) use self::writer::ParquetWriter;
use crate::corpus::{Bad, PairReader};
use crate::defect::{Defect, check};
use crate::origin::Origin;
use crate::pair::{CorpusError, Pair};

/// Rows decoded at once.
const BATCH: usize = 1024;

/// The largest footer to parse. A file of a thousand row groups has a few megabytes.
const FOOTER_LIMIT: u64 = 64 << 20;

pub(crate) struct ParquetPairs {
    name: String,
    file: File,
    metadata: ParquetMetaData,
    columns: [usize; 2],
    limit: usize,
    /// The row group to be opened next.
    group: usize,
    sides: Option<[Column; 2]>,
    row: u64,
}

/// One column of one row group, and the batch decoded last.
struct Column {
    reader: ColumnReaderImpl<ByteArrayType>,
    /// The definition level of a value that is there.
    present: i16,
    levels: Vec<i16>,
    values: Vec<ByteArray>,
    next_level: usize,
    next_value: usize,
}

impl ParquetPairs {
    pub(crate) fn open(
        origin: &Origin,
        languages: Option<&Languages>,
        limit: usize,
    ) -> Result<Self, CorpusError> {
        let name = origin.name();
        let file = origin.open_seekable()?;
        let metadata = decode(|| read_metadata(&file)).map_err(|e| damaged(&name, &e))?;
        let columns = select::columns(&name, metadata.file_metadata().schema_descr(), languages)?;
        for &column in &columns {
            for group in metadata.row_groups() {
                codec::require(&name, group.column(column))?;
            }
        }
        Ok(Self { name, file, metadata, columns, limit, group: 0, sides: None, row: 0 })
    }

    /// Makes sure that both columns have a value decoded; `false` at the end.
    fn fill(&mut self) -> Result<bool, ParquetError> {
        loop {
            if self.sides.is_none() && !self.open_group()? {
                return Ok(false);
            }
            let Some([source, target]) = &mut self.sides else { return Ok(false) };
            if source.has_next() {
                return Ok(true);
            }
            let (found, other) = (source.decode()?, target.decode()?);
            if found != other {
                return Err(general("the two columns differ in length".to_owned()));
            }
            if found == 0 {
                self.close_group()?;
            }
        }
    }

    fn open_group(&mut self) -> Result<bool, ParquetError> {
        if self.group == self.metadata.num_row_groups() {
            return Ok(false);
        }
        let group = self.metadata.row_group(self.group);
        self.group += 1;
        let open = |column: usize| -> Result<Column, ParquetError> {
            let descriptor = group.schema_descr().column(column);
            let present = descriptor.max_def_level();
            let pages = Pages::new(self.file.try_clone()?, group.column(column))?;
            Ok(Column::new(ColumnReaderImpl::new(descriptor, Box::new(pages)), present))
        };
        self.sides = Some([open(self.columns[0])?, open(self.columns[1])?]);
        Ok(true)
    }

    /// Fewer rows than promised means that the file was cut.
    fn close_group(&mut self) -> Result<(), ParquetError> {
        self.sides = None;
        let groups = &self.metadata.row_groups()[..self.group];
        let promised: i64 = groups.iter().fold(0, |sum, g| sum.saturating_add(g.num_rows()));
        if u64::try_from(promised) == Ok(self.row) {
            return Ok(());
        }
        Err(general(format!("{} rows where the footer promises {promised}", self.row)))
    }
}

impl PairReader for ParquetPairs {
    fn read(&mut self, pair: &mut Pair) -> Result<Option<Result<(), Bad>>, CorpusError> {
        if !decode(|| self.fill()).map_err(|e| damaged(&self.name, &e))? {
            return Ok(None);
        }
        self.row += 1;
        let Some([source, target]) = &mut self.sides else { return Ok(None) };
        // Both must move on, whatever the first one holds.
        let source = source.take(self.limit, &mut pair.source);
        let target = target.take(self.limit, &mut pair.target);
        Ok(Some(source.and(target).map_err(|defect| Bad {
            defect,
            line: self.row,
            file: self.name.clone(),
        })))
    }
}

impl Column {
    fn new(reader: ColumnReaderImpl<ByteArrayType>, present: i16) -> Self {
        let (levels, values) = (Vec::new(), Vec::new());
        Self { reader, present, levels, values, next_level: 0, next_value: 0 }
    }

    fn has_next(&self) -> bool {
        self.next_level < self.levels.len()
    }

    /// Decodes a batch and gives its number of rows, 0 at the end.
    fn decode(&mut self) -> Result<usize, ParquetError> {
        self.levels.clear();
        self.values.clear();
        (self.next_level, self.next_value) = (0, 0);
        let (rows, values, _) =
            self.reader.read_records(BATCH, Some(&mut self.levels), None, &mut self.values)?;
        if self.present == 0 {
            // A required column has no levels.
            self.levels.resize(rows, 0);
        }
        let present = self.levels.iter().filter(|&&level| level == self.present).count();
        if present != values || present != self.values.len() || rows != self.levels.len() {
            return Err(general("levels and values do not match".to_owned()));
        }
        Ok(rows)
    }

    /// Moves the next value into `text`.
    fn take(&mut self, limit: usize, text: &mut String) -> Result<(), Defect> {
        text.clear();
        let level = self.levels[self.next_level];
        self.next_level += 1;
        if level != self.present {
            return Err(Defect::Null);
        }
        let value = self.values[self.next_value].data();
        self.next_value += 1;
        text.push_str(sentence(value, limit)?);
        Ok(())
    }
}

/// A value under the rules for lines: a carriage return at the end is no text, a line break
/// inside would make two sentences of one.
fn sentence(value: &[u8], limit: usize) -> Result<&str, Defect> {
    let value = value.strip_suffix(b"\n").unwrap_or(value);
    let value = value.strip_suffix(b"\r").unwrap_or(value);
    if value.len() > limit {
        return Err(Defect::TooLong { limit });
    }
    let text = check(value)?;
    match memchr::memchr(b'\n', value) {
        None => Ok(text),
        Some(at) => Err(Defect::LineBreak { byte: at + 1 }),
    }
}

fn read_metadata(mut file: &File) -> Result<ParquetMetaData, ParquetError> {
    use std::io::{Read, SeekFrom};
    let size = file.seek(SeekFrom::End(0))?;
    if size < 12 {
        return Err(general(format!("{size} bytes are too few")));
    }
    let mut tail = [0; 8];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    match &tail[4..] {
        b"PAR1" => {}
        b"PARE" => return Err(general("it is encrypted".to_owned())),
        _ => return Err(general("it does not end as parquet files do".to_owned())),
    }
    if footer + 12 > size || footer > FOOTER_LIMIT {
        return Err(general(format!("a footer of {footer} bytes cannot be")));
    }
    ParquetMetaDataReader::new().parse_and_finish(&file.try_clone()?)
}

/// Runs code of the `parquet` crate. The state behind a panic is not used again, because
/// [`crate::Pairs`] ends at the first error.
fn decode<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    caught::call(work)
        .unwrap_or_else(|_| Err(general("its bytes contradict each other".to_owned())))
}

fn general(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

fn damaged(file: &str, error: &ParquetError) -> CorpusError {
    let reason = match error {
        ParquetError::General(reason) | ParquetError::EOF(reason) => reason.clone(),
        other => other.to_string(),
    };
    CorpusError::Parquet { file: file.to_owned(), reason }
}

#[cfg(test)]
mod tests;
