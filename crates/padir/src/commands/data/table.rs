//! Plain tables: a label and right-aligned columns.

use std::io::{self, Write};

/// Rows of cells; the first column is aligned left, the others right.
#[derive(Default)]
pub(in crate::commands) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::commands) fn row<const N: usize>(&mut self, cells: [&str; N]) -> &mut Self {
        self.rows.push(cells.iter().map(|&cell| cell.to_owned()).collect());
        self
    }

    pub(in crate::commands) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate();
            let padded: Vec<String> = cells
                .map(|(column, (cell, width))| match column {
                    0 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            let line = padded.join("  ");
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number with a thin grouping that copies well: 1,234,567.
pub(in crate::commands) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of pairs, in words: `1 pair`, `1,000 pairs`.
pub(in crate::commands) fn pairs(n: u64) -> String {
    format!("{} {}", grouped(n), if n == 1 { "pair" } else { "pairs" })
}

/// A share in per cent.
pub(in crate::commands) fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    format!("{share:.2} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_threes() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ];
        for (n, expected) in cases {
            assert_eq!(grouped(n), expected);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(["", "source", "ß"]).row(["pairs", "7", "1234"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "       source     ß\npairs       7  1234\n");
    }
}
