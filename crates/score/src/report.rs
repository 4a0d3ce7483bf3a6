//! Scores of several metrics and systems on a page: aligned lines, a table, JSON.
//!
//! Shapes and keys are those of sacrebleu; the explanations are our own.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::significance::Verdict;

/// Lines of the form `left = right`, with the equals signs below each other.
///
/// ```
/// use padir_score::report::align;
///
/// assert_eq!(align(&["a = 1".into(), "abc = 2".into()]), ["  a = 1", "abc = 2"]);
/// ```
pub fn align(lines: &[String]) -> Vec<String> {
    let left = |line: &str| line.split_once(" = ").map_or(0, |(left, _)| left.chars().count());
    let width = lines.iter().map(|line| left(line)).max().unwrap_or(0);
    lines.iter().map(|line| format!("{}{line}", " ".repeat(width - left(line)))).collect()
}

/// A table of systems and metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    systems: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    title: String,
    /// A cell may have several lines.
    cells: Vec<Vec<String>>,
}

impl Table {
    /// A table with a row for each system.
    pub fn new(systems: Vec<String>) -> Self {
        Self { systems, columns: Vec::new() }
    }

    /// Adds a metric, with a cell for each system.
    pub fn push(&mut self, title: impl Into<String>, cells: &[String]) {
        let cells = cells.iter().map(|c| c.lines().map(str::to_owned).collect()).collect();
        self.columns.push(Column { title: title.into(), cells });
    }

    /// Adds a metric with the verdicts on each system.
    pub fn push_verdicts(&mut self, name: &str, verdicts: &[Verdict], decimals: usize) {
        let has_intervals = verdicts.iter().any(|v| v.confidence.is_some());
        let title = if has_intervals { format!("{name} (μ ± 95% CI)") } else { name.to_owned() };
        let cells: Vec<String> = verdicts.iter().map(|v| verdict_cell(v, decimals)).collect();
        self.push(title, &cells);
    }

    /// The table in box-drawing characters, without a final line break.
    pub fn draw(&self) -> String {
        let mut widths =
            vec![self.systems.iter().map(|s| width(s)).fold("System".len() + 2, usize::max)];
        for column in &self.columns {
            let cells = column.cells.iter().flatten().map(|line| width(line));
            widths.push(cells.fold(width(&column.title) + 2, usize::max));
        }
        let rule = |left: &str, line: &str, cross: &str, right: &str| {
            let bars: Vec<String> = widths.iter().map(|w| line.repeat(w + 2)).collect();
            format!("{left}{}{right}", bars.join(cross))
        };
        let row = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).enumerate();
            let cells: Vec<String> = cells
                .map(
                    |(at, (cell, &width))| {
                        if at == 0 { right(cell, width) } else { centre(cell, width) }
                    },
                )
                .collect();
            format!("│ {} │", cells.join(" │ "))
        };
        let titles = self.columns.iter().map(|c| c.title.as_str());
        let mut lines =
            vec![rule("╒", "═", "╤", "╕"), row(std::iter::once("System").chain(titles).collect())];
        for (index, system) in self.systems.iter().enumerate() {
            lines.push(if index == 0 {
                rule("╞", "═", "╪", "╡")
            } else {
                rule("├", "─", "┼", "┤")
            });
            let height = self.columns.iter().map(|c| c.cells[index].len()).fold(1, usize::max);
            for line in 0..height {
                let cells = self.columns.iter();
                let cells = cells.map(|c| c.cells[index].get(line).map_or("", String::as_str));
                let name = if line == 0 { system.as_str() } else { "" };
                lines.push(row(std::iter::once(name).chain(cells).collect()));
            }
        }
        lines.push(rule("╘", "═", "╧", "╛"));
        lines.join("\n")
    }
}

fn verdict_cell(verdict: &Verdict, decimals: usize) -> String {
    let interval = verdict.confidence.map_or_else(String::new, |interval| {
        format!(" ({:.decimals$} ± {:.decimals$})", interval.mean, interval.half_width)
    });
    let p_value = verdict
        .p_value
        .map_or_else(String::new, |p| format!("\n(p = {p:.4}){}", if p > 0.05 { "" } else { "*" }));
    format!("{:.decimals$}{interval}{p_value}", verdict.score)
}

/// A verdict as a JSON object with sacrebleu's keys.
pub fn verdict_json(verdict: &Verdict) -> Value {
    json!({
        "score": verdict.score,
        "p_value": verdict.p_value,
        "mean": verdict.confidence.map(|c| c.mean),
        "ci": verdict.confidence.map(|c| c.half_width),
    })
}

/// One JSON object for each system: its name and what each metric says.
pub fn systems_json(systems: &[String], columns: &[(String, Vec<Value>)]) -> Value {
    let object = |(index, system): (usize, &String)| {
        let mut object = Map::new();
        object.insert("system".into(), system.as_str().into());
        for (name, values) in columns {
            object.insert(name.clone(), values[index].clone());
        }
        Value::Object(object)
    };
    Value::Array(systems.iter().enumerate().map(object).collect())
}

/// JSON text with the given indentation.
pub fn json_text(value: &Value, indent: usize) -> String {
    let indent = b" ".repeat(indent);
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(&indent);
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    // Writing a value into memory cannot fail: all keys are strings.
    if value.serialize(&mut serializer).is_err() {
        return value.to_string();
    }
    String::from_utf8(text).unwrap_or_else(|_| value.to_string())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

fn centre(text: &str, width: usize) -> String {
    format!("{text:^width$}")
}
