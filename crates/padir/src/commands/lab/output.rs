//! Numbers on the screen and in JSON.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use padir_lab::data::{write_csv, write_npy_f64};
use padir_lab::model::ModelSpec;
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use crate::console::Console;

/// A number of any size as JSON: digits stay right beyond 1e308, where readers that only know
/// doubles see infinity.
pub(crate) fn json_number(value: Wide) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_default()
}

/// What every JSON report of the laboratory starts with: enough to run it again.
#[derive(Serialize)]
struct Echo<'a, R> {
    version: &'static str,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelSpec>,
    #[serde(flatten)]
    report: &'a R,
}

/// Prints a report as JSON, after the version, the command and the model it is about.
pub(crate) fn print_report(
    console: &Console,
    model: Option<&ModelArgs>,
    report: &impl Serialize,
) -> Result<()> {
    let model = model.map(ModelArgs::spec).transpose()?;
    let version = env!("CARGO_PKG_VERSION");
    console.print_json(&Echo { version, command: command_line(), model, report })
}

/// The command as it was typed, words with blanks in quotes.
pub(crate) fn command_line() -> String {
    let quoted = |word: String| {
        let plain = !word.is_empty() && !word.contains([' ', '\'', '"', '\t', '\n']);
        if plain { word } else { format!("{word:?}") }
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("padir".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A finite number, or null.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A number for people: up to ten significant digits.
pub(crate) fn human(value: f64) -> String {
    human_within(value, 0.0)
}

/// The same with only the digits that a relative error leaves, at least one.
pub(crate) fn human_within(value: f64, error: f64) -> String {
    let known = if error > 0.0 { (-error.log10()).floor() as i32 } else { 10 };
    let known = known.clamp(1, 10);
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        let digits = known - 1 - (value.abs().max(1e-4).log10().floor() as i32).clamp(-4, 9);
        let text = format!("{value:.*}", digits.max(0) as usize);
        let trimmed = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
    } else {
        format!("{value:.*e}", known as usize - 1)
    }
}

/// The same for numbers of any size.
pub(crate) fn human_wide(value: Wide) -> String {
    let narrow = value.to_f64();
    if narrow.is_finite() { human(narrow) } else { value.to_string() }
}

/// The same for numbers of any size with a relative error.
pub(crate) fn human_wide_within(value: Wide, error: f64) -> String {
    let narrow = value.to_f64();
    if narrow.is_finite() { human_within(narrow, error) } else { value.to_string() }
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
