//! Plain tables: a label and right-aligned columns.

use std::io::{self, Write};

pub(in crate::commands) use padir_pipeline::numbers::{grouped, pairs, percent};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(["", "source", "ß"]).row(["pairs", "7", "1234"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "       source     ß\npairs       7  1234\n");
    }
}
