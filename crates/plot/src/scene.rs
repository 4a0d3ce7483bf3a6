//! What is drawn: lines, filled shapes, text; in points, y pointing down.

/// A colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red, green, blue.
    pub rgb: [u8; 3],
    /// 1 is opaque.
    pub alpha: f32,
}

impl Color {
    /// An opaque colour.
    pub const fn new(r: u8, g: u8, b: u8) -> Self {
        Self { rgb: [r, g, b], alpha: 1.0 }
    }

    /// The same, translucent.
    #[must_use]
    pub const fn faded(self, alpha: f32) -> Self {
        Self { alpha, ..self }
    }

    /// Nearly black: axes and text.
    pub const INK: Self = Self::new(0x22, 0x22, 0x22);
    /// The grid.
    pub const GRID: Self = Self::new(0xe3, 0xe3, 0xe3);

    /// Eight colours that colour-blind readers can tell apart (Okabe and Ito 2008, with the
    /// yellow darkened for lines on white).
    pub fn of(index: usize) -> Self {
        const PALETTE: [Color; 8] = [
            Color::new(0x00, 0x72, 0xb2),
            Color::new(0xd5, 0x5e, 0x00),
            Color::new(0x00, 0x9e, 0x73),
            Color::new(0xcc, 0x79, 0xa7),
            Color::new(0xe6, 0x9f, 0x00),
            Color::new(0x56, 0xb4, 0xe9),
            Color::new(0x8c, 0x6d, 0x1f),
            Color::new(0x44, 0x44, 0x44),
        ];
        PALETTE[index % PALETTE.len()]
    }

    /// A colour of an ordered scale (a condensed viridis), t from 0 to 1.
    pub fn ordered(t: f64) -> Self {
        const STOPS: [[f64; 3]; 5] = [
            [68.0, 1.0, 84.0],
            [59.0, 82.0, 139.0],
            [33.0, 145.0, 140.0],
            [94.0, 190.0, 90.0],
            [212.0, 200.0, 30.0],
        ];
        let place = t.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
        let low = (place as usize).min(STOPS.len() - 2);
        let mix = |i: usize| {
            let (a, b) = (STOPS[low][i], STOPS[low + 1][i]);
            (a + (b - a) * (place - low as f64)).round() as u8
        };
        Self::new(mix(0), mix(1), mix(2))
    }
}

/// A stroke.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Color,
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; empty is solid.
    pub(crate) dash: Vec<f64>,
}

/// Where text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A part of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Segment {
    Move(f64, f64),
    Line(f64, f64),
    Quad(f64, f64, f64, f64),
    Cubic(f64, f64, f64, f64, f64, f64),
    Close,
}

impl Segment {
    fn lower(&mut self, by: f64) {
        match self {
            Self::Move(_, y) | Self::Line(_, y) => *y += by,
            Self::Quad(_, y1, _, y) => {
                *y1 += by;
                *y += by;
            }
            Self::Cubic(_, y1, _, y2, _, y) => {
                *y1 += by;
                *y2 += by;
                *y += by;
            }
            Self::Close => {}
        }
    }
}

/// One thing in a scene.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Line {
        points: Vec<(f64, f64)>,
        stroke: Stroke,
    },
    Fill {
        points: Vec<(f64, f64)>,
        color: Color,
    },
    Circle {
        center: (f64, f64),
        radius: f64,
        fill: Color,
        stroke: Option<Stroke>,
    },
    /// Text, as outlines; `label` is what it says.
    Text {
        outline: Vec<Segment>,
        color: Color,
        label: String,
    },
}

/// Everything on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Item>,
    pub(crate) description: String,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, items: Vec::new(), description: String::new() }
    }

    /// Adds a description, for readers who cannot see the picture and for provenance.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Moves the items from the `first` on down.
    pub(crate) fn lower(&mut self, first: usize, by: f64) {
        for item in &mut self.items[first..] {
            match item {
                Item::Line { points, .. } | Item::Fill { points, .. } => {
                    for point in points {
                        point.1 += by;
                    }
                }
                Item::Circle { center, .. } => center.1 += by,
                Item::Text { outline, .. } => {
                    for segment in outline {
                        segment.lower(by);
                    }
                }
            }
        }
    }

    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, stroke });
        }
    }

    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        upright: bool,
        color: Color,
        label: &str,
    ) {
        let outline = crate::font::outline(label, at, size, anchor, upright);
        self.items.push(Item::Text { outline, color, label: label.to_owned() });
    }
}
