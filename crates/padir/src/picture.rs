//! Pictures as files, by their extension.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use padir_base::file::write_atomically;
use padir_plot::Scene;

use crate::hint::WithHint;

/// Forms a picture may have.
const FORMS: [&str; 3] = ["svg", "pdf", "png"];

/// Refuses a path without the extension of a picture, before any work is done.
pub(crate) fn check(path: &Path) -> Result<()> {
    if FORMS.iter().any(|form| path.extension().is_some_and(|own| own == *form)) {
        return Ok(());
    }
    Err(anyhow!("{} is no picture", path.display())).hint("its name ends in .svg, .pdf or .png")
}

/// Writes a scene in the form that its path names.
pub(crate) fn write(path: &Path, scene: &Scene) -> Result<()> {
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("png") => scene.to_png(2.0).context("cannot draw the figure")?,
        Some("pdf") => scene.to_pdf(),
        _ => scene.to_svg().into_bytes(),
    };
    write_atomically(path, &bytes).with_context(|| format!("cannot write {}", path.display()))
}
