//! Keeping what a page is made of: records and figures, without texts and weights.
//!
//! The page can be made of it again, to the letter, when the models are long gone. Absolute paths of configurations and manifests become
//! names; what stages wrote is known by its hash and copied as it is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use padir_base::file::write_atomically;

use super::chapter::Chapter;
use super::page::without_places;

/// Copies what a chapter was read from to a directory that is called like it.
pub(super) fn keep(chapter: &Chapter, directory: &Path, shelf: &Path) -> Result<()> {
    for file in &chapter.sources {
        let (from, to) = (directory.join(file), shelf.join(&chapter.name).join(file));
        let text =
            fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let is_figures = to.extension().is_some_and(|e| e == "json") && !is_manifest(&to);
        let text = if is_figures { text } else { without_places(&text) };
        write_atomically(&to, text.as_bytes())?;
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == padir_base::manifest::FILE_NAME)
}
