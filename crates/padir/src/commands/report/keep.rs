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
use crate::commands::run::record::Record;

/// Copies what a chapter was read from to a directory that is called like it.
pub(super) fn keep(chapter: &Chapter, directory: &Path, shelf: &Path) -> Result<()> {
    let record = Record::read(directory)?;
    let is_hashed = |file: &Path| {
        let mut stages = record.stages();
        stages.any(|(_, stage)| stage.outputs.keys().any(|output| file == Path::new(output)))
    };
    for file in &chapter.sources {
        let (from, to) = (directory.join(file), shelf.join(&chapter.name).join(file));
        let text =
            fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let text = if is_hashed(file) { text } else { without_places(&text) };
        write_atomically(&to, text.as_bytes())?;
    }
    Ok(())
}
