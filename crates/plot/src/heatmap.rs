//! A matrix as a grid of shaded cells, with names at its rows and columns. O(rows·columns).

use crate::scene::{Anchor, Color, Item, Scene, Stroke};

const CELL: f64 = 18.0;
const TEXT: f64 = 9.0;
const TITLE: f64 = 24.0;
const PAD: f64 = 8.0;
/// What a letter of [`TEXT`] size takes at most, roughly.
const LETTER: f64 = 6.2;

/// A matrix of numbers from 0 (white) to 1 (dark).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heatmap {
    title: String,
    rows: Vec<String>,
    columns: Vec<String>,
    /// Row after row.
    values: Vec<f64>,
    marks: Vec<(usize, usize)>,
}

impl Heatmap {
    /// A matrix, row after row; numbers that are missing count as 0, those that are too many are ignored.
    pub fn new(rows: Vec<String>, columns: Vec<String>, mut values: Vec<f64>) -> Self {
        values.resize(rows.len() * columns.len(), 0.0);
        Self { title: String::new(), rows, columns, values, marks: Vec::new() }
    }

    /// With a title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With cells (row, column) that are framed.
    #[must_use]
    pub fn marks(mut self, marks: Vec<(usize, usize)>) -> Self {
        self.marks = marks;
        self
    }

    /// Lays everything out: columns are named above, rows on the left.
    pub fn draw(&self) -> Scene {
        let longest = |names: &[String]| names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
        let left = PAD + LETTER * longest(&self.rows) as f64 + PAD;
        let top = TITLE + LETTER * longest(&self.columns) as f64 + PAD;
        let (across, down) = (self.columns.len() as f64 * CELL, self.rows.len() as f64 * CELL);
        let titled = PAD * 2.0 + LETTER * self.title.chars().count() as f64;
        let mut scene = Scene::new((left + across + PAD).max(titled), top + down + PAD);
        scene.text((PAD, 15.0), 10.0, Anchor::Start, true, Color::INK, &self.title);
        let corners = |row: usize, column: usize| {
            let (x, y) = (left + column as f64 * CELL, top + row as f64 * CELL);
            vec![(x, y), (x + CELL, y), (x + CELL, y + CELL), (x, y + CELL), (x, y)]
        };
        for (row, name) in self.rows.iter().enumerate() {
            let at = (left - 4.0, top + (row as f64 + 0.5) * CELL + TEXT * 0.35);
            scene.text(at, TEXT, Anchor::End, true, Color::INK, name);
            for column in 0..self.columns.len() {
                let value = self.values[row * self.columns.len() + column];
                let strength = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
                let color = Color::of(0).faded(strength as f32);
                let points = corners(row, column);
                scene.items.push(Item::Fill { points: points.clone(), color });
                let stroke = Stroke { color: Color::GRID, width: 0.5, dash: Vec::new() };
                scene.line(points, stroke);
            }
        }
        for (column, name) in self.columns.iter().enumerate() {
            let at = (left + (column as f64 + 0.5) * CELL + TEXT * 0.35, top - 4.0);
            scene.text(at, TEXT, Anchor::Start, false, Color::INK, name);
        }
        for &(row, column) in &self.marks {
            if row < self.rows.len() && column < self.columns.len() {
                let stroke = Stroke { color: Color::of(1), width: 1.5, dash: Vec::new() };
                scene.line(corners(row, column), stroke);
            }
        }
        scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_and_name_is_drawn() {
        let names = |all: &[&str]| all.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let map =
            Heatmap::new(names(&["a", "b"]), names(&["x", "y", "z"]), vec![0.5, f64::NAN, 2.0])
                .title("t")
                .marks(vec![(0, 1), (9, 9)]);
        let scene = map.draw();
        let fills = scene.items.iter().filter(|item| matches!(item, Item::Fill { .. })).count();
        let texts = scene.items.iter().filter(|item| matches!(item, Item::Text { .. })).count();
        let lines = scene.items.iter().filter(|item| matches!(item, Item::Line { .. })).count();
        assert_eq!((fills, texts, lines), (6, 6, 7), "a mark outside is no mark");
        assert!(scene.to_svg().starts_with("<svg"));
        assert!(Heatmap::default().draw().to_png(1.0).is_ok());
    }
}
