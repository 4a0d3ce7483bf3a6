//! Numbers on the screen and in JSON.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use padir_lab::data::{write_csv, write_npy_f64};
use padir_lab::wide::Wide;
use serde_json::value::RawValue;

use crate::console::Console;

/// A number of any size as JSON: digits stay right beyond 1e308, where readers that only know
/// doubles see infinity.
pub(crate) fn json_number(value: Wide) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_default()
}

/// A finite number, or null.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A number for people: up to ten significant digits.
pub(crate) fn human(value: f64) -> String {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        let digits = 9 - (value.abs().max(1e-4).log10().floor() as i32).clamp(-4, 9);
        let text = format!("{value:.*}", digits.max(0) as usize);
        let trimmed = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
    } else {
        format!("{value:.9e}")
    }
}

/// The same for numbers of any size.
pub(crate) fn human_wide(value: Wide) -> String {
    let narrow = value.to_f64();
    if narrow.is_finite() { human(narrow) } else { value.to_string() }
}

/// Or a dash where there is nothing.
pub(crate) fn human_option(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), human)
}

/// A table with columns aligned to the right.
pub(crate) fn print_table(console: &Console, head: &[&str], rows: &[Vec<String>]) -> Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let mut text = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let gap = widths[column] - cell.chars().count() + if column == 0 { 0 } else { 2 };
            let _ = write!(text, "{}{cell}", " ".repeat(gap));
        }
        text
    };
    let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
    let mut out = console.out();
    writeln!(out, "{}", line(&head))?;
    for row in rows {
        writeln!(out, "{}", line(row))?;
    }
    Ok(out.flush()?)
}

/// Writes columns of numbers to a .csv or .npy file.
pub(crate) fn write_columns(path: &Path, names: &[&str], rows: &[Vec<f64>]) -> Result<()> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            let cells = rows.iter().map(|row| row.iter().map(|v| format!("{v:?}")).collect());
            write_csv(path, &[], &names, cells)?;
        }
        Some("npy") => write_npy_f64(path, rows)?,
        _ => bail!("{} is neither .csv nor .npy", path.display()),
    }
    Ok(())
}
