//! Parquet: one column of numbers per site, in the order of the schema.
//!
//! The `parquet` crate panics on some damaged files and on some types of columns; [`caught`] makes an error of it.

use std::fs::File;
use std::path::Path;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use padir_base::caught;

use super::FileError;

pub(super) fn read(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
    let unreadable = "it is damaged, or a column is of a type that cannot be read";
    caught::call(|| read_rows(path)).unwrap_or_else(|_| Err(FileError::content(path, unreadable)))
}

fn read_rows(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
    let file = File::open(path).map_err(FileError::io(path))?;
    let broken =
        |error: ::parquet::errors::ParquetError| FileError::content(path, error.to_string());
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let mut rows = Vec::new();
    for (index, row) in reader.get_row_iter(None).map_err(broken)?.enumerate() {
        let row = row.map_err(broken)?;
        let values: Result<Vec<f64>, FileError> = row
            .get_column_iter()
            .map(|(name, field)| {
                number(field).ok_or_else(|| {
                    let fact = format!("row {index} of column {name:?} is {field}, not a number");
                    FileError::content(path, fact)
                })
            })
            .collect();
        rows.push(values?);
    }
    Ok(rows)
}

fn number(field: &Field) -> Option<f64> {
    match *field {
        Field::Bool(v) => Some(f64::from(u8::from(v))),
        Field::Byte(v) => Some(f64::from(v)),
        Field::Short(v) => Some(f64::from(v)),
        Field::Int(v) => Some(f64::from(v)),
        Field::Long(v) => Some(v as f64),
        Field::UByte(v) => Some(f64::from(v)),
        Field::UShort(v) => Some(f64::from(v)),
        Field::UInt(v) => Some(f64::from(v)),
        Field::ULong(v) => Some(v as f64),
        Field::Float(v) => Some(f64::from(v)),
        Field::Double(v) => Some(v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
        Int32Type,
    };
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;

    use super::*;

    /// Writes a file of three columns: whole numbers, real numbers, and what `last` writes.
    fn write(
        path: &Path,
        kind: &str,
        meaning: &str,
        last: impl FnOnce(&mut SerializedFileWriter<File>),
    ) {
        let schema = format!(
            "message s {{ required int32 a (INTEGER(8,true)); required double b; required {kind} c{meaning}; }}"
        );
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let file = File::create(path).unwrap();
        let properties = Arc::new(WriterProperties::default());
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        last(&mut writer);
        writer.close().unwrap();
    }

    macro_rules! columns {
        ($writer:expr, $($kind:ty: $values:expr),+) => {{
            let mut group = $writer.next_row_group().unwrap();
            $(
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$kind>().write_batch(&$values, None, None).unwrap();
                column.close().unwrap();
            )+
            group.close().unwrap();
        }};
    }

    #[test]
    fn columns_of_any_number_type_become_sites() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        write(&path, "boolean", "", |writer| {
            columns!(writer, Int32Type: [1, -1], DoubleType: [-1.0, 0.5], BoolType: [true, false]);
        });
        assert_eq!(read(&path).unwrap(), [[1.0, -1.0, 1.0], [-1.0, 0.5, 0.0]]);
    }

    #[test]
    fn words_and_torn_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        write(&path, "binary", "", |writer| {
            let words = [ByteArray::from("up"), ByteArray::from("down")];
            columns!(writer, Int32Type: [1, -1], DoubleType: [-1.0, 0.5], ByteArrayType: words);
        });
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("row 0 of column \"c\""), "{error}");

        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("samples.parquet"), "{error}");
    }
    #[test]
    fn panics_of_the_decoder_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        let interval = "fixed_len_byte_array(12)";
        write(&path, interval, " (INTERVAL)", |writer| {
            let spans =
                [FixedLenByteArray::from(vec![0; 12]), FixedLenByteArray::from(vec![1; 12])];
            columns!(writer, Int32Type: [1, -1], DoubleType: [-1.0, 0.5], FixedLenByteArrayType: spans);
        });
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("samples.parquet: it is damaged, or a column"), "{error}");
    }

    #[test]
    fn any_byte_may_be_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        write(&path, "boolean", "", |writer| {
            columns!(writer, Int32Type: [1, -1], DoubleType: [-1.0, 0.5], BoolType: [true, false]);
        });
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] = 0xff;
            std::fs::write(&path, damaged).unwrap();
            // It is an error, or what was damaged does not matter.
            drop(read(&path));
        }
    }
}
