//! Figures, panels and series, and how they are laid out.

use crate::axis::{Axis, Fitted};
use crate::font;
use crate::scene::{Anchor, Color, Item, Scene, Stroke};

/// How a series looks.
#[derive(Clone, Debug, PartialEq)]
pub enum Style {
    /// A line through the points.
    Line,
    /// A dashed line.
    Dashed,
    /// Points, with bars where they have a spread.
    Points,
    /// Upright bars; `(index, count)` places a series among its neighbours.
    Bars(usize, usize),
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marker {
    /// ●
    #[default]
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
    /// ▼
    Down,
}

impl Marker {
    /// The shape of point set `index`: shapes change faster than colours repeat.
    pub fn of(index: usize) -> Self {
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::Down][index % 5]
    }

    /// Its corners around a point; none for a circle.
    fn corners(self, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
        let at = |corners: &[(f64, f64)]| corners.iter().map(|(a, b)| (x + a, y + b)).collect();
        match self {
            Self::Circle => Vec::new(),
            Self::Square => at(&[(-2.3, -2.3), (2.3, -2.3), (2.3, 2.3), (-2.3, 2.3)]),
            Self::Triangle => at(&[(0.0, -3.1), (2.9, 2.2), (-2.9, 2.2)]),
            Self::Diamond => at(&[(0.0, -3.3), (3.0, 0.0), (0.0, 3.3), (-3.0, 0.0)]),
            Self::Down => at(&[(0.0, 3.1), (2.9, -2.2), (-2.9, -2.2)]),
        }
    }
}

/// Named values.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    name: String,
    style: Style,
    color: Option<Color>,
    marker: Marker,
    /// x, y and half the height of a bar.
    points: Vec<(f64, f64, f64)>,
}

impl Series {
    fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64, f64)>) -> Self {
        Self { name: name.into(), style, color: None, marker: Marker::Circle, points }
    }

    /// A line.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Style::Line, points.into_iter().map(|(x, y)| (x, y, 0.0)).collect())
    }

    /// Points with spreads (half the length of their bar; 0 for none).
    pub fn points(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        Self::new(name, Style::Points, points.into_iter().collect())
    }

    /// The same in another style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same with points of a shape.
    #[must_use]
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = marker;
        self
    }

    /// The same in a colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }
}

/// A corner of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Inside, at the top left.
    TopLeft,
    /// Inside, at the top right.
    TopRight,
    /// Inside, at the bottom left.
    BottomLeft,
    /// Beside the panel, on its right.
    Outside,
    /// No legend: every name at the right end of its line or points, in its colour.
    Direct,
}

/// A pair of axes with series.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    legend: Corner,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, series: Vec::new(), legend: Corner::TopRight }
    }

    /// With a title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With the legend in a corner.
    #[must_use]
    pub fn legend(mut self, corner: Corner) -> Self {
        self.legend = corner;
        self
    }

    /// The same series in panels of at most `most`, all with the same range of values.
    fn divide(self, most: usize) -> Vec<Self> {
        let parts = self.series.len().div_ceil(most);
        if parts < 2 {
            return vec![self];
        }
        let (x, y) = {
            let (x, y) = self.fit();
            (x.fixed(), y.fixed())
        };
        let size = self.series.len().div_ceil(parts);
        let part = |series: &[Series]| Self {
            x: x.clone(),
            y: y.clone(),
            series: series.to_vec(),
            ..self.clone()
        };
        self.series.chunks(size).map(part).collect()
    }

    /// The axes, fitted to all series.
    fn fit(&self) -> (Fitted<'_>, Fitted<'_>) {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let bars = self.series.iter().any(|s| matches!(s.style, Style::Bars(..)));
        let x_values = all().flat_map(|p| if bars { [p.0 - 0.6, p.0 + 0.6] } else { [p.0, p.0] });
        let y_values = all().flat_map(|p| [p.1 - p.2, p.1, p.1 + p.2]);
        let floor = bars.then_some(0.0);
        (self.x.fit(x_values), self.y.fit(y_values.chain(floor)))
    }

    /// With another series. Series without a name are left out of the legend.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

/// Panels side by side, or below each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// From top to bottom.
    rows: Vec<Vec<Panel>>,
}

/// As many series can be told apart in a panel; there are as many colours.
const MOST_SERIES: usize = 8;

/// How lines of the same colour are told apart, should there be more of them in a panel.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 2.5], &[1.5, 2.0], &[7.0, 2.0, 1.5, 2.0]];

const PANEL: (f64, f64) = (270.0, 200.0);
const MARGIN: Margin = Margin { left: 62.0, right: 14.0, top: 26.0, bottom: 42.0 };
const TEXT: f64 = 9.0;
const SMALL: f64 = 8.0;

struct Margin {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Figure {
    /// An empty figure.
    pub fn new() -> Self {
        Self::default()
    }

    /// With another panel on the right.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        match self.rows.last_mut() {
            Some(row) => row.push(panel),
            None => self.rows.push(vec![panel]),
        }
        self
    }

    /// One panel; or, if it has more series than can be told apart, several below each other, on the same axes and with as
    /// many series each.
    pub fn divided(panel: Panel) -> Self {
        Self { rows: panel.divide(MOST_SERIES).into_iter().map(|panel| vec![panel]).collect() }
    }

    /// Lays everything out.
    pub fn draw(&self) -> Scene {
        let widths = self.rows.iter().map(|row| row.iter().map(outer_width).sum::<f64>());
        let height = MARGIN.top + PANEL.1 + MARGIN.bottom;
        let rows = self.rows.len().max(1) as f64;
        let mut scene = Scene::new(widths.fold(1.0, f64::max), height * rows);
        for (number, row) in self.rows.iter().enumerate() {
            let first = scene.items.len();
            let mut left = 0.0;
            for panel in row {
                draw_panel(&mut scene, panel, left + MARGIN.left);
                left += outer_width(panel);
            }
            scene.lower(first, height * number as f64);
        }
        scene
    }
}

fn outer_width(panel: &Panel) -> f64 {
    let legend = match panel.legend {
        Corner::Outside => legend_size(panel).0 + 10.0,
        Corner::Direct => (legend_size(panel).0 - 16.0).max(0.0),
        _ => 0.0,
    };
    MARGIN.left + PANEL.0 + MARGIN.right + legend
}

/// Maps values to places on the page.
struct Frame<'a> {
    left: f64,
    x: Fitted<'a>,
    y: Fitted<'a>,
}

impl Frame<'_> {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.x.at(x) * PANEL.0, MARGIN.top + (1.0 - self.y.at(y)) * PANEL.1)
    }
}

fn draw_panel(scene: &mut Scene, panel: &Panel, left: f64) {
    let (x, y) = panel.fit();
    let frame = Frame { left, x, y };
    draw_axes(scene, panel, &frame);
    for (index, series) in panel.series.iter().enumerate() {
        draw_series(scene, panel, &frame, series, &stroke_of(series, index));
    }
    if panel.legend == Corner::Direct {
        draw_names(scene, panel, &frame);
    } else {
        draw_legend(scene, panel, left);
    }
}

/// The height of a name beside its line.
const NAME: f64 = 9.5;

/// Writes every name beside the right end of its series, moved apart where they would cover each other.
fn draw_names(scene: &mut Scene, panel: &Panel, frame: &Frame<'_>) {
    let (top, bottom) = (MARGIN.top, MARGIN.top + PANEL.1);
    let mut names: Vec<(f64, usize)> = named(panel)
        .map(|(index, series)| {
            let shown = series.points.iter().filter(|p| panel.x.shows(p.0) && panel.y.shows(p.1));
            let last = shown.max_by(|a, b| a.0.total_cmp(&b.0));
            let y = last.map_or(bottom, |p| frame.at(p.0, p.1).1);
            (y.clamp(top, bottom), index)
        })
        .collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = names.iter().map(|name| name.0).collect();
    for ((_, index), y) in names.iter().zip(spread(&wanted, top + NAME / 2.0, bottom)) {
        let series = &panel.series[*index];
        let color = stroke_of(series, *index).color;
        let x = frame.left + PANEL.0 + 6.0;
        scene.text((x, y + 3.0), SMALL, Anchor::Start, true, color, &series.name);
    }
}

/// Places near the wanted ones, in their order and at least a name apart: runs that touch are merged and centred.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    // Each run: its first place and how many names it holds.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    let fit = |first: f64, count: usize| {
        let length = NAME * (count - 1) as f64;
        first.min(bottom - length).max(top)
    };
    for &place in wanted {
        runs.push((fit(place, 1), 1));
        while let [.., (a, m), (b, n)] = runs[..] {
            if a + NAME * m as f64 <= b {
                break;
            }
            // The mean of what the names of both would like.
            let ends = NAME * m as f64;
            let first = (a * m as f64 + (b - ends) * n as f64) / (m + n) as f64;
            runs.truncate(runs.len() - 2);
            runs.push((fit(first, m + n), m + n));
        }
    }
    let places = runs
        .iter()
        .flat_map(|&(first, count)| (0..count).map(move |i| NAME.mul_add(i as f64, first)));
    places.collect()
}

/// Colour and dashes of a series: no two in a panel have both in common, up to four times eight.
fn stroke_of(series: &Series, index: usize) -> Stroke {
    let color = series.color.unwrap_or_else(|| Color::of(index));
    let dash = match series.style {
        Style::Dashed => &[4.0, 3.5],
        // Whoever chose the colour tells lines apart by it.
        _ if series.color.is_some() => DASHES[0],
        _ => DASHES[index / MOST_SERIES % DASHES.len()],
    };
    Stroke { color, width: 1.5, dash: dash.to_vec() }
}

fn solid(color: Color, width: f64) -> Stroke {
    Stroke { color, width, dash: Vec::new() }
}

fn draw_axes(scene: &mut Scene, panel: &Panel, frame: &Frame<'_>) {
    let (left, right) = (frame.left, frame.left + PANEL.0);
    let (top, bottom) = (MARGIN.top, MARGIN.top + PANEL.1);
    for (value, label) in frame.x.ticks() {
        let x = left + frame.x.at(value) * PANEL.0;
        if panel.x.names.is_empty() {
            scene.line(vec![(x, top), (x, bottom)], solid(Color::GRID, 0.6));
        }
        scene.line(vec![(x, bottom), (x, bottom + 3.0)], solid(Color::INK, 0.7));
        scene.text((x, bottom + 13.0), SMALL, Anchor::Middle, true, Color::INK, &label);
    }
    for (value, label) in frame.y.ticks() {
        let y = top + (1.0 - frame.y.at(value)) * PANEL.1;
        scene.line(vec![(left, y), (right, y)], solid(Color::GRID, 0.6));
        scene.line(vec![(left - 3.0, y), (left, y)], solid(Color::INK, 0.7));
        scene.text((left - 6.0, y + 3.0), SMALL, Anchor::End, true, Color::INK, &label);
    }
    for value in frame.x.minor_ticks() {
        let x = left + frame.x.at(value) * PANEL.0;
        scene.line(vec![(x, bottom), (x, bottom + 1.8)], solid(Color::INK, 0.5));
    }
    for value in frame.y.minor_ticks() {
        let y = top + (1.0 - frame.y.at(value)) * PANEL.1;
        scene.line(vec![(left - 1.8, y), (left, y)], solid(Color::INK, 0.5));
    }
    let border = vec![(left, top), (left, bottom), (right, bottom)];
    scene.line(border, solid(Color::INK, 0.8));
    let middle = f64::midpoint(left, right);
    scene.text((middle, bottom + 30.0), TEXT, Anchor::Middle, true, Color::INK, &panel.x.label);
    let up = (left - 46.0, f64::midpoint(top, bottom));
    scene.text(up, TEXT, Anchor::Middle, false, Color::INK, &panel.y.label);
    scene.text((left, top - 10.0), TEXT + 1.0, Anchor::Start, true, Color::INK, &panel.title);
}

fn draw_series(
    scene: &mut Scene,
    panel: &Panel,
    frame: &Frame<'_>,
    series: &Series,
    stroke: &Stroke,
) {
    let color = stroke.color;
    let shown: Vec<(f64, f64, f64)> = series
        .points
        .iter()
        .copied()
        .filter(|p| panel.x.shows(p.0) && panel.y.shows(p.1))
        .collect();
    match series.style {
        Style::Line | Style::Dashed => {
            let points: Vec<_> = shown.iter().map(|p| frame.at(p.0, p.1)).collect();
            for part in clip(&points, frame.left) {
                scene.line(part, stroke.clone());
            }
        }
        Style::Points => {
            for &point in &shown {
                draw_point(scene, panel, frame, point, (series.marker, color));
            }
        }
        Style::Bars(index, count) => {
            let width = 0.8 / count as f64;
            for (x, y, _) in shown {
                let start = x - 0.4 + width * index as f64;
                let (a, b) = (frame.at(start, 0.0), frame.at(start + width, y));
                let points = vec![(a.0, a.1), (a.0, b.1), (b.0, b.1), (b.0, a.1)];
                scene.items.push(Item::Fill { points, color });
            }
        }
    }
}

fn draw_point(
    scene: &mut Scene,
    panel: &Panel,
    frame: &Frame<'_>,
    (x, y, spread): (f64, f64, f64),
    (marker, color): (Marker, Color),
) {
    let center = frame.at(x, y);
    let bottom = MARGIN.top + PANEL.1;
    if center.1 < MARGIN.top - 0.5 || center.1 > bottom + 0.5 {
        return;
    }
    if spread > 0.0 {
        let high = frame.at(x, y + spread).1.max(MARGIN.top);
        // On a logarithmic axis a bar may reach below everything.
        let low =
            if panel.y.shows(y - spread) { frame.at(x, y - spread).1.min(bottom) } else { bottom };
        scene.line(vec![(center.0, low), (center.0, high)], solid(color, 0.9));
        for end in [low, high] {
            let cap = vec![(center.0 - 2.2, end), (center.0 + 2.2, end)];
            scene.line(cap, solid(color, 0.9));
        }
    }
    draw_marker(scene, center, marker, color);
}

fn draw_marker(scene: &mut Scene, center: (f64, f64), marker: Marker, color: Color) {
    let white = solid(Color::new(255, 255, 255), 0.6);
    let mut corners = marker.corners(center);
    if corners.is_empty() {
        scene.items.push(Item::Circle { center, radius: 2.5, fill: color, stroke: Some(white) });
        return;
    }
    scene.items.push(Item::Fill { points: corners.clone(), color });
    corners.push(corners[0]);
    scene.line(corners, white);
}

/// Cuts a line at the upper and lower border.
fn clip(points: &[(f64, f64)], left: f64) -> Vec<Vec<(f64, f64)>> {
    let (top, bottom) = (MARGIN.top, MARGIN.top + PANEL.1);
    let inside = |p: &(f64, f64)| {
        (top - 1e-6..=bottom + 1e-6).contains(&p.1)
            && (left - 1e-6..=left + PANEL.0 + 1e-6).contains(&p.0)
    };
    let mut parts = vec![Vec::new()];
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if inside(&a)
            && let Some(last) = parts.last_mut()
        {
            last.push(a);
        }
        if inside(&a) != inside(&b) {
            let (from, to) = if inside(&a) { (a, b) } else { (b, a) };
            let edge = if to.1 < top { top } else { bottom };
            if (to.1 - from.1).abs() > 1e-9 && !(top..=bottom).contains(&to.1) {
                let t = (edge - from.1) / (to.1 - from.1);
                let cut = (from.0 + t * (to.0 - from.0), edge);
                if let Some(last) = parts.last_mut() {
                    last.push(cut);
                }
            }
            if inside(&a) {
                parts.push(Vec::new());
            }
        }
    }
    if let (Some(last), Some(end)) = (parts.last_mut(), points.last())
        && inside(end)
    {
        last.push(*end);
    }
    parts
}

fn named(panel: &Panel) -> impl Iterator<Item = (usize, &Series)> {
    panel.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty())
}

fn legend_size(panel: &Panel) -> (f64, f64) {
    let width = named(panel).map(|(_, s)| font::width(&s.name, SMALL)).fold(0.0, f64::max);
    (width + 30.0, 12.0 * named(panel).count() as f64 + 6.0)
}

fn draw_legend(scene: &mut Scene, panel: &Panel, left: f64) {
    let (width, height) = legend_size(panel);
    if named(panel).next().is_none() {
        return;
    }
    let (top, bottom, right) = (MARGIN.top, MARGIN.top + PANEL.1, left + PANEL.0);
    let (x, y) = match panel.legend {
        Corner::TopLeft => (left + 6.0, top + 4.0),
        Corner::TopRight => (right - width - 4.0, top + 4.0),
        Corner::BottomLeft => (left + 6.0, bottom - height - 4.0),
        Corner::Outside | Corner::Direct => (right + 8.0, top),
    };
    if panel.legend != Corner::Outside {
        let points = vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        scene.items.push(Item::Fill { points, color: Color::new(255, 255, 255).faded(0.85) });
    }
    for (row, (index, series)) in named(panel).enumerate() {
        let line = y + 9.0 + 12.0 * row as f64;
        let stroke = stroke_of(series, index);
        let color = stroke.color;
        let (a, b) = ((x + 4.0, line), (x + 20.0, line));
        match series.style {
            Style::Line | Style::Dashed => scene.line(vec![a, b], stroke),
            Style::Points => draw_marker(scene, (x + 12.0, line), series.marker, color),
            Style::Bars(..) => {
                let (p, q) = ((x + 7.0, line - 3.5), (x + 17.0, line + 3.5));
                let points = vec![p, (q.0, p.1), q, (p.0, q.1)];
                scene.items.push(Item::Fill { points, color });
            }
        }
        scene.text((x + 25.0, line + 3.0), SMALL, Anchor::Start, true, Color::INK, &series.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_their_distance() {
        let found = spread(&[50.0, 51.0, 52.0, 120.0, 226.0, 226.0], 30.0, 226.0);
        assert_eq!(found.len(), 6);
        assert!(found.windows(2).all(|w| w[1] - w[0] >= NAME - 1e-9), "{found:?}");
        assert!((found[1] - 51.0).abs() < 1e-9, "a run is centred: {found:?}");
        assert!((found[3] - 120.0).abs() < 1e-9 && found[5] <= 226.0 + 1e-9, "{found:?}");
        let crowded = spread(&[30.0; 12], 30.0, 226.0);
        assert!(crowded[0] >= 30.0 && crowded[11] <= 226.0, "{crowded:?}");
    }

    #[test]
    fn lines_are_cut_at_the_border() {
        let bottom = MARGIN.top + PANEL.1;
        let points = vec![(70.0, bottom - 10.0), (80.0, bottom + 10.0), (90.0, bottom - 10.0)];
        let parts = clip(&points, 62.0);
        let flat: Vec<(f64, f64)> = parts.into_iter().flatten().collect();
        assert!(flat.iter().all(|p| p.1 <= bottom + 1e-6), "{flat:?}");
        assert!(flat.contains(&(75.0, bottom)));
    }

    fn lines(count: usize) -> Panel {
        let line = |i: usize| Series::line(format!("s{i}"), [(0.0, 0.0), (1.0, i as f64)]);
        (0..count).map(line).fold(Panel::new(Axis::linear("x"), Axis::log("y")), Panel::with)
    }

    #[test]
    fn no_two_series_of_a_panel_look_alike() {
        let panel = lines(32);
        let looks: Vec<Stroke> =
            panel.series.iter().enumerate().map(|(i, s)| stroke_of(s, i)).collect();
        for (i, look) in looks.iter().enumerate() {
            assert!(!looks[..i].contains(look), "series {i}");
        }
    }

    #[test]
    fn many_series_are_divided_among_panels_with_the_same_axes() {
        for (count, expected) in [(0, &[0][..]), (8, &[8]), (9, &[5, 4]), (23, &[8, 8, 7])] {
            let figure = Figure::divided(lines(count));
            let sizes: Vec<usize> = figure.rows.iter().map(|row| row[0].series.len()).collect();
            assert_eq!(sizes, expected, "{count} series");
            let scene = figure.draw();
            assert!((scene.height / sizes.len() as f64 - 268.0).abs() < 1e-9, "{count} series");
        }
        let whole = lines(23);
        let ticks = |panel: &Panel| panel.fit().1.ticks();
        for part in whole.clone().divide(MOST_SERIES) {
            assert_eq!(ticks(&part), ticks(&whole));
            assert!((part.fit().1.at(7.0) - whole.fit().1.at(7.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_figure_becomes_svg_and_png() {
        let panel = Panel::new(Axis::log("J"), Axis::log("steps"))
            .title("hitting times")
            .with(Series::line("exact", [(1.0, 10.0), (2.0, 1e5), (3.0, f64::INFINITY)]))
            .with(Series::points("simulated", [(1.0, 9.0, 20.0), (2.0, 0.0, 1.0)]));
        let scene = Figure::new().panel(panel).draw().described("made by a <test>");
        let svg = scene.to_svg();
        assert!(svg.contains("aria-label=\"hitting times\""));
        assert!(svg.contains("made by a &lt;test&gt;"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let png = scene.to_png(2.0).unwrap();
        assert_eq!(&png[1..4], b"PNG");
    }
}
