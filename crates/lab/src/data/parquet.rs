//! Parquet: one column of numbers per site, in the order of the schema.

use std::fs::File;
use std::path::Path;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;

use super::FileError;

pub(super) fn read(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
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
