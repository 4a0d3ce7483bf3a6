//! Charts as SVG, PDF and PNG, drawn from one scene. Knows nothing of what it draws.
//!
//! A [`Figure`] holds panels, a [`Panel`] axes and series; [`Figure::draw`] turns them into a
//! [`Scene`] of lines, shapes and text, which is written as SVG ([`Scene::to_svg`]) or PDF ([`Scene::to_pdf`]), or rendered
//! ([`Scene::to_png`]). Text is drawn as outlines of a bundled font (`DejaVu` Sans), so all look
//! the same everywhere and need no fonts installed. A [`Heatmap`] is a matrix of shaded cells.
//!
//! ```
//! use padir_plot::{Axis, Figure, Panel, Series};
//! let squares = Series::line("squares", (0..10).map(|x| (f64::from(x), f64::from(x * x))));
//! let panel = Panel::new(Axis::linear("x"), Axis::linear("x²")).with(squares);
//! let svg = Figure::new().panel(panel).draw().to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```

mod axis;
mod chart;
mod font;
mod heatmap;
mod pdf;
mod png;
mod scene;
mod svg;

pub use axis::{Axis, Scale};
pub use chart::{Corner, Figure, Marker, Panel, Series, Style};
pub use heatmap::Heatmap;
pub use png::RenderError;
pub use scene::{Color, Scene};
