//! Keeping what a page is made of: records and figures, without texts and weights.
//!
//! The page can be made of it again, to the letter, when the models are long gone. Absolute paths of configurations and manifests become
//! names; what stages wrote is known by its hash and copied as it is.

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::file::write_atomically;

use super::chapter::Chapter;
use super::page::without_places;
use crate::Error;
use crate::recipe::record::Record;

/// Copies what a chapter was read from to a directory that is called like it.
pub(super) fn keep(chapter: &Chapter, directory: &Path, archive: &Path) -> Result<(), Error> {
    let record = Record::read(directory)?;
    let is_hashed = |file: &Path| {
        let mut stages = record.stages();
        stages.any(|(_, stage)| stage.outputs.keys().any(|output| file == Path::new(output)))
    };
    for (file, to) in chapter.sources.iter().zip(copies(chapter, archive)) {
        let from = directory.join(file);
        let text = fs::read_to_string(&from).map_err(Error::reading(&from))?;
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(Error::making(parent))?;
        }
        let text = if is_hashed(file) { text } else { without_places(&text) };
        write_atomically(&to, text.as_bytes())?;
    }
    Ok(())
}

/// Where the files of a chapter are copied to.
pub(super) fn copies(chapter: &Chapter, archive: &Path) -> Vec<PathBuf> {
    let home = archive.join(&chapter.name);
    chapter.sources.iter().map(|file| home.join(file)).collect()
}
