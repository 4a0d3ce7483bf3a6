//! A scene as PDF: one page of paths, written by hand.
//!
//! Text is drawn as outlines, as everywhere, and repeated invisibly in a standard font so that it can be found
//! and copied. Nothing is compressed and nothing depends on time, so equal scenes are equal files.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::scene::{Color, Item, Scene, Segment, Stroke};

impl Scene {
    /// The scene as a PDF document of one page.
    pub fn to_pdf(&self) -> Vec<u8> {
        let content = self.content();
        let (w, h) = (number(self.width), number(self.height));
        let mut states = String::new();
        for alpha in self.alphas() {
            let value = f64::from(alpha) / 100.0;
            let _ = write!(states, "/A{alpha} << /ca {0} /CA {0} >> ", number(value));
        }
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {w} {h}] /Contents 4 0 R \
                 /Resources << /ExtGState << {states}>> /Font << /F 5 0 R >> >> >>"
            ),
            format!("<< /Length {} >>\nstream\n{content}endstream", content.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
            format!("<< /Title {} /Producer (padir) >>", utf16(&self.description)),
        ];
        document(&objects)
    }

    /// Opacities in hundredths.
    fn alphas(&self) -> BTreeSet<u32> {
        let colors = self.items.iter().flat_map(|item| match item {
            Item::Line { stroke, .. } => vec![stroke.color],
            Item::Fill { color, .. } | Item::Text { color, .. } => vec![*color],
            Item::Circle { fill, stroke, .. } => {
                std::iter::once(*fill).chain(stroke.iter().map(|s| s.color)).collect()
            }
        });
        colors.map(hundredths).collect()
    }

    fn content(&self) -> String {
        // White paper, and the y axis turned to point down.
        let mut page = format!(
            "1 1 1 rg 0 0 {} {} re f\n1 0 0 -1 0 {} cm\n1 J 1 j\n",
            number(self.width),
            number(self.height),
            number(self.height)
        );
        for item in &self.items {
            write_item(&mut page, item);
        }
        page
    }
}

/// Objects, their table and the trailer.
fn document(objects: &[String]) -> Vec<u8> {
    // The comment's high bytes tell programs that transfer files that this is not text.
    let mut bytes = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let table = bytes.len();
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(end, "{place:010} 00000 n ");
    }
    let _ = write!(
        end,
        "trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1,
        objects.len()
    );
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

fn write_item(page: &mut String, item: &Item) {
    match item {
        Item::Line { points, stroke } => {
            set_stroke(page, stroke);
            polyline(page, points);
            page.push_str("S\n");
        }
        Item::Fill { points, color } => {
            set_fill(page, *color);
            polyline(page, points);
            page.push_str("h f\n");
        }
        Item::Circle { center, radius, fill, stroke } => {
            set_fill(page, *fill);
            circle(page, *center, *radius);
            page.push_str("f\n");
            if let Some(stroke) = stroke {
                set_stroke(page, stroke);
                circle(page, *center, *radius);
                page.push_str("S\n");
            }
        }
        Item::Text { outline, color, label } => {
            set_fill(page, *color);
            path(page, outline);
            page.push_str("f\n");
            hidden_text(page, outline, label);
        }
    }
}

fn hundredths(color: Color) -> u32 {
    (color.alpha.clamp(0.0, 1.0) * 100.0).round() as u32
}

fn rgb(color: Color) -> String {
    let [r, g, b] = color.rgb.map(|c| number(f64::from(c) / 255.0));
    format!("{r} {g} {b}")
}

fn set_fill(page: &mut String, color: Color) {
    let _ = write!(page, "/A{} gs {} rg ", hundredths(color), rgb(color));
}

fn set_stroke(page: &mut String, stroke: &Stroke) {
    let dashes: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
    let _ = write!(
        page,
        "/A{} gs {} RG {} w [{}] 0 d ",
        hundredths(stroke.color),
        rgb(stroke.color),
        number(stroke.width),
        dashes.join(" ")
    );
}

fn polyline(page: &mut String, points: &[(f64, f64)]) {
    for (i, &(x, y)) in points.iter().enumerate() {
        let _ = write!(page, "{} {} {} ", number(x), number(y), if i == 0 { "m" } else { "l" });
    }
}

/// Four cubic arcs.
fn circle(page: &mut String, (x, y): (f64, f64), r: f64) {
    const HANDLE: f64 = 0.552_284_749_8;
    let k = HANDLE * r;
    let arcs = [
        [(x + r, y + k), (x + k, y + r), (x, y + r)],
        [(x - k, y + r), (x - r, y + k), (x - r, y)],
        [(x - r, y - k), (x - k, y - r), (x, y - r)],
        [(x + k, y - r), (x + r, y - k), (x + r, y)],
    ];
    let _ = write!(page, "{} {} m ", number(x + r), number(y));
    for arc in arcs {
        for (a, b) in arc {
            let _ = write!(page, "{} {} ", number(a), number(b));
        }
        page.push_str("c ");
    }
    page.push_str("h ");
}

fn path(page: &mut String, outline: &[Segment]) {
    let n = number;
    let mut at = (0.0, 0.0);
    for segment in outline {
        match *segment {
            Segment::Move(x, y) => {
                let _ = write!(page, "{} {} m ", n(x), n(y));
                at = (x, y);
            }
            Segment::Line(x, y) => {
                let _ = write!(page, "{} {} l ", n(x), n(y));
                at = (x, y);
            }
            Segment::Quad(a, b, x, y) => {
                // The same curve with two handles, at two thirds.
                let toward = |p: f64, q: f64| p + 2.0 / 3.0 * (q - p);
                let (first, second) =
                    ((toward(at.0, a), toward(at.1, b)), (toward(x, a), toward(y, b)));
                let handles = [first.0, first.1, second.0, second.1].map(n).join(" ");
                let _ = write!(page, "{handles} {} {} c ", n(x), n(y));
                at = (x, y);
            }
            Segment::Cubic(a, b, c, d, x, y) => {
                let _ = write!(page, "{} c ", [a, b, c, d, x, y].map(n).join(" "));
                at = (x, y);
            }
            Segment::Close => page.push_str("h "),
        }
    }
}

/// What a text says, invisible, at its lower left corner; letters that the font lacks are left out.
fn hidden_text(page: &mut String, outline: &[Segment], label: &str) {
    let corner = outline.iter().filter_map(|segment| match *segment {
        Segment::Move(x, y) | Segment::Line(x, y) => Some((x, y)),
        _ => None,
    });
    let (x, y) =
        corner.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (x, y)| (a.min(x), b.max(y)));
    let plain: String = label
        .chars()
        .map(|c| if c == '−' { '-' } else { c })
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .flat_map(|c| if matches!(c, '(' | ')' | '\\') { vec!['\\', c] } else { vec![c] })
        .collect();
    if x.is_finite() && !plain.is_empty() {
        let _ = writeln!(
            page,
            "BT 3 Tr /F 8 Tf 1 0 0 -1 {} {} Tm ({plain}) Tj ET",
            number(x),
            number(y)
        );
    }
}

/// A string of any letters.
fn utf16(text: &str) -> String {
    let mut hex = "<FEFF".to_owned();
    for unit in text.encode_utf16() {
        let _ = write!(hex, "{unit:04X}");
    }
    hex.push('>');
    hex
}

/// Three decimals, without trailing zeros.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::{Axis, Figure, Panel, Series, Style};

    fn figure() -> Vec<u8> {
        let line = Series::line("a (curve)", (0..20).map(|x| (f64::from(x), f64::from(x * x))));
        let dots = Series::points("dots", (1..5).map(|x| (f64::from(x), 90.0, 4.0)));
        let bars = Series::line("bars", [(1.0, 100.0), (2.0, 50.0)]).style(Style::Bars(0, 1));
        let panel =
            Panel::new(Axis::linear("x"), Axis::linear("x²")).with(line).with(dots).with(bars);
        Figure::new().panel(panel).draw().described("a “test”").to_pdf()
    }

    /// One character per byte, so that places are places.
    fn ascii(bytes: &[u8]) -> String {
        bytes.iter().map(|&b| if b.is_ascii() { char::from(b) } else { '?' }).collect()
    }

    /// Every object stands where the table says, and the stream is as long as it says.
    #[test]
    fn the_table_points_at_the_objects() {
        let bytes = figure();
        let text = ascii(&bytes);
        let place = |text: &str| -> usize { text.trim().parse().unwrap() };
        let table = place(text.split("startxref\n").nth(1).unwrap().split('\n').next().unwrap());
        assert!(text[table..].starts_with("xref\n0 7\n"));
        for (index, line) in text[table..].lines().skip(3).take(6).enumerate() {
            assert_eq!(line.len(), 19, "{line:?}");
            let start = place(&line[..10]);
            assert!(text[start..].starts_with(&format!("{} 0 obj\n", index + 1)), "object {index}");
        }
        let length = place(text.split("/Length ").nth(1).unwrap().split(' ').next().unwrap());
        let stream = text.split("stream\n").nth(1).unwrap();
        assert!(
            stream[length..].starts_with("endstream") || stream.len() == length + 3,
            "{length}"
        );
    }

    #[test]
    fn text_can_be_found_and_equal_scenes_are_equal_files() {
        let bytes = figure();
        let text = ascii(&bytes);
        assert!(text.contains("(a \\(curve\\)) Tj"));
        // U+201C in the title.
        assert!(text.contains("/Title <FEFF0061") && text.contains("201C"));
        assert_eq!(bytes, figure());
    }
}
