//! Writes parquet in the Hugging Face layout: a struct `translation`, which
//! `datasets.load_dataset("parquet", …)` opens. If the two names are in alphabetical order it even
//! knows that it is a translation; else it shows a plain struct, because the order of source and
//! target is kept here. Snappy pages, as pyarrow writes them.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::Languages;
use crate::pair::Pair;

/// A row group ends after so many rows, or so many bytes of text: both are in memory till then.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 64 << 20;

pub(crate) struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    sides: [Vec<ByteArray>; 2],
    bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(crate) fn new(sink: W, languages: &Languages) -> Result<Self, ParquetError> {
        let names = [languages.source.as_str(), languages.target.as_str()];
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("padir version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![features(names)]))
            .build();
        let file = SerializedFileWriter::new(sink, schema(names)?, Arc::new(properties))?;
        Ok(Self { file, sides: [Vec::new(), Vec::new()], bytes: 0 })
    }

    pub(crate) fn write(&mut self, pair: &Pair) -> Result<(), ParquetError> {
        self.sides[0].push(ByteArray::from(pair.source.as_str()));
        self.sides[1].push(ByteArray::from(pair.target.as_str()));
        self.bytes += pair.source.len() + pair.target.len();
        if self.sides[0].len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.flush_group()?;
        }
        Ok(())
    }

    /// Writes the footer and gives the sink back.
    pub(crate) fn finish(mut self) -> Result<W, ParquetError> {
        if !self.sides[0].is_empty() {
            self.flush_group()?;
        }
        self.file.into_inner()
    }

    fn flush_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for side in &mut self.sides {
            let Some(mut column) = group.next_column()? else { break };
            // The struct is there and the field is there: level 2.
            let levels = vec![2; side.len()];
            column.typed::<ByteArrayType>().write_batch(side, Some(&levels), None)?;
            column.close()?;
            side.clear();
        }
        group.close()?;
        self.bytes = 0;
        Ok(())
    }
}

fn schema(names: [&str; 2]) -> Result<TypePtr, ParquetError> {
    let text = |name: &str| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let translation = Type::group_type_builder("translation")
        .with_repetition(Repetition::OPTIONAL)
        .with_fields(vec![text(names[0])?, text(names[1])?])
        .build()?;
    let root = Type::group_type_builder("schema").with_fields(vec![Arc::new(translation)]);
    Ok(Arc::new(root.build()?))
}

/// What `datasets` reads to know that the struct is a translation.
fn features(names: [&str; 2]) -> KeyValue {
    let names = names.map(quote).join(", ");
    let json = format!(
        "{{\"info\": {{\"features\": {{\"translation\": \
         {{\"languages\": [{names}], \"_type\": \"Translation\"}}}}}}}}"
    );
    KeyValue::new("huggingface".to_owned(), json)
}

/// A JSON string. Names come from the command line, so anything may be in them.
fn quote(name: &str) -> String {
    let escape = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", name.chars().map(escape).collect::<String>())
}
