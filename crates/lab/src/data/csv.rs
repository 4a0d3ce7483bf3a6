//! Comma-separated numbers, with or without a line of names above.

use std::io::Write;
use std::path::Path;

use padir_base::file::AtomicFile;

use super::FileError;

pub(super) fn read(path: &Path) -> Result<Vec<Vec<f64>>, FileError> {
    let text = std::fs::read_to_string(path).map_err(FileError::io(path))?;
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells = line.split(',').map(str::trim);
        let parsed: Result<Vec<f64>, &str> =
            cells.map(|cell| cell.parse().map_err(|_| cell)).collect();
        match parsed {
            Ok(row) => rows.push(row),
            // Names may stand above the numbers.
            Err(_) if rows.is_empty() && index == 0 => {}
            Err(cell) => {
                let fact = format!("{cell:?} is not a number");
                return Err(FileError::Line { path: path.to_owned(), line: index + 1, fact });
            }
        }
    }
    Ok(rows)
}

/// Writes named columns of numbers, atomically. Comment lines (`#`) come first.
///
/// # Errors
/// If the file cannot be written.
pub fn write_csv(
    path: &Path,
    comments: &[String],
    names: &[String],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<(), FileError> {
    let mut file = AtomicFile::create(path)?;
    let mut line = |text: &str| writeln!(file, "{text}").map_err(FileError::io(path));
    for comment in comments {
        line(&format!("# {comment}"))?;
    }
    line(&names.join(","))?;
    for row in rows {
        line(&row.join(","))?;
    }
    Ok(file.commit()?)
}
