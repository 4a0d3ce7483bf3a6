//! A scene as PNG.

use thiserror::Error;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

use crate::scene::{Color, Item, Scene, Segment, Stroke};

/// A picture that cannot be rendered.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RenderError {
    /// Too large or empty.
    #[error("a picture of {0} × {1} pixels cannot be rendered")]
    Size(u32, u32),
    /// The encoder failed.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}

impl Scene {
    /// The scene as a PNG, with this many pixels per point.
    ///
    /// # Errors
    /// If the picture is too large.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, RenderError> {
        let (w, h) = ((self.width * scale) as u32, (self.height * scale) as u32);
        let mut pixels = Pixmap::new(w, h).ok_or(RenderError::Size(w, h))?;
        pixels.fill(tiny_skia::Color::WHITE);
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for item in &self.items {
            draw(&mut pixels, item, transform);
        }
        pixels.encode_png().map_err(|e| RenderError::Encode(e.to_string()))
    }
}

fn draw(pixels: &mut Pixmap, item: &Item, transform: Transform) {
    match item {
        Item::Line { points, stroke } => {
            if let Some(path) = polyline(points, false) {
                stroke_path(pixels, &path, stroke, transform);
            }
        }
        Item::Fill { points, color } => {
            if let Some(path) = polyline(points, true) {
                fill_path(pixels, &path, *color, transform);
            }
        }
        Item::Circle { center, radius, fill, stroke } => {
            let circle = PathBuilder::from_circle(center.0 as f32, center.1 as f32, *radius as f32);
            if let Some(path) = circle {
                fill_path(pixels, &path, *fill, transform);
                if let Some(stroke) = stroke {
                    stroke_path(pixels, &path, stroke, transform);
                }
            }
        }
        Item::Text { outline, color, .. } => {
            if let Some(path) = outline_path(outline) {
                fill_path(pixels, &path, *color, transform);
            }
        }
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [r, g, b] = color.rgb;
    paint.set_color_rgba8(r, g, b, (color.alpha * 255.0) as u8);
    paint
}

fn fill_path(pixels: &mut Pixmap, path: &Path, color: Color, transform: Transform) {
    pixels.fill_path(path, &paint(color), FillRule::Winding, transform, None);
}

fn stroke_path(pixels: &mut Pixmap, path: &Path, stroke: &Stroke, transform: Transform) {
    let dash = stroke.dash.iter().map(|d| *d as f32).collect();
    let style = tiny_skia::Stroke {
        width: stroke.width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: if stroke.dash.is_empty() { None } else { StrokeDash::new(dash, 0.0) },
        ..tiny_skia::Stroke::default()
    };
    pixels.stroke_path(path, &paint(stroke.color), &style, transform, None);
}

fn polyline(points: &[(f64, f64)], close: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        if i == 0 {
            builder.move_to(x as f32, y as f32);
        } else {
            builder.line_to(x as f32, y as f32);
        }
    }
    if close {
        builder.close();
    }
    builder.finish()
}

fn outline_path(outline: &[Segment]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let f = |x: f64| x as f32;
    for segment in outline {
        match *segment {
            Segment::Move(x, y) => builder.move_to(f(x), f(y)),
            Segment::Line(x, y) => builder.line_to(f(x), f(y)),
            Segment::Quad(a, b, x, y) => builder.quad_to(f(a), f(b), f(x), f(y)),
            Segment::Cubic(a, b, c, d, x, y) => {
                builder.cubic_to(f(a), f(b), f(c), f(d), f(x), f(y));
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}
