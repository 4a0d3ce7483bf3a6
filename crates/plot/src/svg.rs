//! A scene as SVG.

use std::fmt::Write;

use crate::scene::{Color, Item, Scene, Segment, Stroke};

impl Scene {
    /// The scene as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        let (w, h) = (number(self.width), number(self.height));
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}pt\" height=\"{h}pt\" viewBox=\"0 0 {w} {h}\" role=\"img\">"
        );
        if !self.description.is_empty() {
            let _ = writeln!(svg, "<desc>{}</desc>", escaped(&self.description));
        }
        let _ = writeln!(svg, "<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>");
        for item in &self.items {
            write_item(&mut svg, item);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn write_item(svg: &mut String, item: &Item) {
    let _ = match item {
        Item::Line { points, stroke } => writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\"{}/>",
            list(points),
            stroke_attributes(stroke)
        ),
        Item::Fill { points, color } => {
            writeln!(svg, "<polygon points=\"{}\"{}/>", list(points), fill(*color))
        }
        Item::Circle { center, radius, fill: color, stroke } => writeln!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>",
            number(center.0),
            number(center.1),
            number(*radius),
            fill(*color),
            stroke.as_ref().map(stroke_attributes).unwrap_or_default()
        ),
        Item::Text { outline, color, label } => writeln!(
            svg,
            "<path aria-label=\"{}\"{} d=\"{}\"/>",
            escaped(label),
            fill(*color),
            path(outline)
        ),
    };
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let mut text = format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
        hex(stroke.color),
        number(stroke.width)
    );
    if stroke.color.alpha < 1.0 {
        let _ = write!(text, " stroke-opacity=\"{}\"", stroke.color.alpha);
    }
    if !stroke.dash.is_empty() {
        let dashes: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
        let _ = write!(text, " stroke-dasharray=\"{}\"", dashes.join(" "));
    }
    text
}

fn fill(color: Color) -> String {
    let mut text = format!(" fill=\"{}\"", hex(color));
    if color.alpha < 1.0 {
        let _ = write!(text, " fill-opacity=\"{}\"", color.alpha);
    }
    text
}

fn hex(color: Color) -> String {
    let [r, g, b] = color.rgb;
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn list(points: &[(f64, f64)]) -> String {
    let pairs: Vec<String> =
        points.iter().map(|p| format!("{},{}", number(p.0), number(p.1))).collect();
    pairs.join(" ")
}

fn path(outline: &[Segment]) -> String {
    let mut d = String::new();
    for segment in outline {
        let n = number;
        let _ = match *segment {
            Segment::Move(x, y) => write!(d, "M{} {}", n(x), n(y)),
            Segment::Line(x, y) => write!(d, "L{} {}", n(x), n(y)),
            Segment::Quad(a, b, x, y) => write!(d, "Q{} {} {} {}", n(a), n(b), n(x), n(y)),
            Segment::Cubic(a, b, c, e, x, y) => {
                write!(d, "C{} {} {} {} {} {}", n(a), n(b), n(c), n(e), n(x), n(y))
            }
            Segment::Close => write!(d, "Z"),
        };
    }
    d
}

/// Two decimals, without trailing zeros.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
