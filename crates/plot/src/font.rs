//! Text as outlines, from the bundled font.

use ttf_parser::{Face, OutlineBuilder};

use crate::scene::{Anchor, Segment};

fn face() -> Option<Face<'static>> {
    Face::parse(dejavu::sans::regular(), 0).ok()
}

/// The width of a line of text.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let Some(face) = face() else { return 0.0 };
    let scale = size / f64::from(face.units_per_em());
    text.chars().map(|c| advance(&face, c) * scale).sum()
}

fn advance(face: &Face<'_>, c: char) -> f64 {
    let glyph = face.glyph_index(c).unwrap_or_default();
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

/// The outlines of a line of text whose baseline passes through a point; `upright` false turns
/// it to read upwards.
pub(crate) fn outline(
    text: &str,
    at: (f64, f64),
    size: f64,
    anchor: Anchor,
    upright: bool,
) -> Vec<Segment> {
    let Some(face) = face() else { return Vec::new() };
    let scale = size / f64::from(face.units_per_em());
    let shift = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width(text, size) / 2.0,
        Anchor::End => width(text, size),
    };
    let mut pen = Pen { at, scale, x: -shift / scale, upright, segments: Vec::new() };
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or_default();
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance(&face, c);
    }
    pen.segments
}

struct Pen {
    at: (f64, f64),
    scale: f64,
    x: f64,
    upright: bool,
    segments: Vec<Segment>,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f64, f64) {
        let along = (self.x + f64::from(x)) * self.scale;
        let above = f64::from(y) * self.scale;
        if self.upright {
            (self.at.0 + along, self.at.1 - above)
        } else {
            (self.at.0 - above, self.at.1 - along)
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.segments.push(Segment::Move(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.segments.push(Segment::Line(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b) = self.place(x1, y1);
        let (x, y) = self.place(x, y);
        self.segments.push(Segment::Quad(a, b, x, y));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b) = self.place(x1, y1);
        let (c, d) = self.place(x2, y2);
        let (x, y) = self.place(x, y);
        self.segments.push(Segment::Cubic(a, b, c, d, x, y));
    }

    fn close(&mut self) {
        self.segments.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sign that figures of the laboratory use is in the font.
    #[test]
    fn the_font_has_our_letters() {
        let face = face().unwrap();
        for c in "ΓΣκχλδεθ²³⁻⁰¹⁴⁵⁶⁷⁸⁹₁₋−–·×≤≥√ⁿᵏᴺ‖".chars()
        {
            assert!(face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn text_stands_where_it_should() {
        let xs = |anchor| -> (f64, f64) {
            let points = outline("HH", (100.0, 50.0), 10.0, anchor, true);
            let x = points.iter().filter_map(|s| match *s {
                Segment::Move(x, _) | Segment::Line(x, _) => Some(x),
                _ => None,
            });
            x.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        };
        assert!(xs(Anchor::Start).0 >= 100.0);
        assert!(xs(Anchor::End).1 <= 100.0);
        let (low, high) = xs(Anchor::Middle);
        assert!((low + high - 200.0).abs() < 0.5);
    }
}
