//! NumPy's `.npy` format, versions 1 to 3: two-dimensional arrays of numbers.

use std::io::Write;
use std::path::Path;

use padir_base::file::AtomicFile;

use super::FileError;

pub(super) fn read(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
    let bytes = std::fs::read(path).map_err(FileError::io(path))?;
    parse(&bytes).map_err(|fact| FileError::content(path, fact))
}

fn parse(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it is not a NumPy array")?;
    let version = *rest.first().ok_or("the header is cut off")?;
    let (length, start): (usize, usize) = match version {
        1 => {
            let raw = rest.get(2..4).ok_or("the header is cut off")?;
            (usize::from(u16::from_le_bytes([raw[0], raw[1]])), 4)
        }
        2 | 3 => {
            let raw = rest.get(2..6).ok_or("the header is cut off")?;
            (u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]) as usize, 6)
        }
        _ => return Err(format!("format version {version} is unknown")),
    };
    let end = start.checked_add(length).filter(|&e| e <= rest.len());
    let end = end.ok_or("the header is cut off")?;
    let header = std::str::from_utf8(&rest[start..end]).map_err(|_| "the header is not text")?;
    let kind = quoted(header, "'descr':").ok_or("the header names no element type")?;
    let (rows, columns) = shape(header)?;
    let fortran = header.contains("'fortran_order': True");
    let width = width_of(kind)?;
    let needed = rows.checked_mul(columns).and_then(|n| n.checked_mul(width));
    let data = &rest[end..];
    if needed != Some(data.len()) {
        return Err(format!(
            "{rows} × {columns} elements of {width} bytes do not make {} bytes of data",
            data.len()
        ));
    }
    let value = |row: usize, column: usize| {
        let index = if fortran { column * rows + row } else { row * columns + column };
        element(kind, &data[index * width..(index + 1) * width])
    };
    Ok((0..rows).map(|r| (0..columns).map(|c| value(r, c)).collect()).collect())
}

/// The text between quotes after a key.
fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(key)?.1.trim_start().strip_prefix('\'')?;
    rest.split_once('\'').map(|(text, _)| text)
}

fn shape(header: &str) -> Result<(usize, usize), String> {
    let list = header
        .split_once("'shape':")
        .and_then(|(_, rest)| rest.split_once('('))
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(list, _)| list)
        .ok_or("the header names no shape")?;
    let sizes: Vec<usize> = list
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().map_err(|_| format!("{s:?} is not a length")))
        .collect::<Result<_, _>>()?;
    match sizes[..] {
        [rows, columns] => Ok((rows, columns)),
        _ => Err(format!("it has {} dimensions, not samples × sites", sizes.len())),
    }
}

fn width_of(kind: &str) -> Result<usize, String> {
    match kind {
        "|i1" | "|u1" | "|b1" => Ok(1),
        "<i2" | "<u2" => Ok(2),
        "<i4" | "<u4" | "<f4" => Ok(4),
        "<i8" | "<u8" | "<f8" => Ok(8),
        _ => Err(format!("elements of type {kind:?} are not little-endian numbers")),
    }
}

fn element(kind: &str, bytes: &[u8]) -> f64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    let raw = u64::from_le_bytes(eight);
    match kind {
        "|i1" => f64::from(raw as u8 as i8),
        "<i2" => f64::from(raw as u16 as i16),
        "<i4" => f64::from(raw as u32 as i32),
        "<i8" => raw as i64 as f64,
        "<f4" => f64::from(f32::from_bits(raw as u32)),
        "<f8" => f64::from_bits(raw),
        _ => raw as f64,
    }
}

fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let mut lengths = String::new();
    for length in shape {
        lengths.push_str(&length.to_string());
        lengths.push_str(", ");
    }
    let text = format!(
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}",
        lengths.trim_end()
    );
    // The data start at a multiple of 64.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = padded - 1).bytes());
    bytes
}

fn write(
    path: &Path,
    kind: &str,
    shape: &[usize],
    data: impl Iterator<Item = Vec<u8>>,
) -> Result<(), FileError> {
    let mut file = AtomicFile::create(path)?;
    let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(FileError::io(path));
    put(&header(kind, shape))?;
    for chunk in data {
        put(&chunk)?;
    }
    Ok(file.commit()?)
}

/// Writes rows of small integers as an `int8` array.
///
/// # Errors
/// If the file cannot be written.
pub fn write_npy_i8(path: &Path, rows: &[Vec<i8>]) -> Result<(), FileError> {
    let columns = rows.first().map_or(0, Vec::len);
    let data = rows.iter().map(|row| row.iter().map(|&v| v as u8).collect());
    write(path, "|i1", &[rows.len(), columns], data)
}

/// Writes numbers, the last index counting fastest, as a `float64` array of any shape.
///
/// # Errors
/// If the file cannot be written.
pub fn write_npy_array(
    path: &Path,
    shape: &[usize],
    data: impl Iterator<Item = f64>,
) -> Result<(), FileError> {
    write(path, "<f8", shape, data.map(|value| value.to_le_bytes().to_vec()))
}

/// Writes rows of floats as a `float64` array.
///
/// # Errors
/// If the file cannot be written.
pub fn write_npy_f64(path: &Path, rows: &[Vec<f64>]) -> Result<(), FileError> {
    let columns = rows.first().map_or(0, Vec::len);
    let data = rows.iter().map(|row| row.iter().flat_map(|v| v.to_le_bytes()).collect());
    write(path, "<f8", &[rows.len(), columns], data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npy");
        write_npy_i8(&path, &[vec![1, -1, 1], vec![-1, -1, 1]]).unwrap();
        assert_eq!(read(&path).unwrap(), [[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]]);
        write_npy_f64(&path, &[vec![0.5, 1e300]]).unwrap();
        assert_eq!(read(&path).unwrap(), [[0.5, 1e300]]);
        assert_eq!(std::fs::read(&path).unwrap().len() % 64, 16);
    }

    #[test]
    fn broken_arrays_are_refused() {
        let good = |shape: &str, kind: &str, data: &[u8]| {
            let text =
                format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.bytes());
            bytes.extend(data);
            bytes
        };
        let huge = good("(99999999999, 99999999999)", "<f8", &[]);
        let cases: [(Vec<u8>, &str); 6] = [
            (b"PK".to_vec(), "it is not a NumPy array"),
            (b"\x93NUMPY\x01\x00\xff\xff".to_vec(), "the header is cut off"),
            (good("(3,)", "|i1", &[0; 3]), "it has 1 dimensions, not samples × sites"),
            (
                good("(1, 3)", "|i1", &[0; 2]),
                "1 × 3 elements of 1 bytes do not make 2 bytes of data",
            ),
            (
                good("(1, 1)", ">f8", &[0; 8]),
                "elements of type \">f8\" are not little-endian numbers",
            ),
            (huge, "99999999999 × 99999999999 elements of 8 bytes do not make 0 bytes of data"),
        ];
        for (bytes, message) in cases {
            assert_eq!(parse(&bytes).unwrap_err(), message);
        }
    }

    #[test]
    fn columns_may_come_first() {
        let text = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }\n";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend([1, 0, 2, 0, 3, 0, 255, 255]);
        assert_eq!(parse(&bytes).unwrap(), [[1.0, 3.0], [2.0, -1.0]]);
    }
}
