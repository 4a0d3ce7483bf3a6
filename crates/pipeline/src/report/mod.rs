//! Reports: a page of results, made of nothing but what runs left behind.

mod chapter;
mod command;
mod curves;
mod error;
mod figures;
mod groups;
mod inputs;
mod keep;
mod latency;
mod page;
mod paper;
mod samples;
mod training;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use padir_base::file::write_atomically;

pub use chapter::Chapter;
pub use error::ReportError;

use crate::Error;
use crate::progress::Progress;
use command::command;
use figures::Gallery;
use page::Page;

/// What the stages of recipes left behind.
pub struct Report {
    directories: Vec<PathBuf>,
    chapters: Vec<Chapter>,
}

impl Report {
    /// Reads what stages left in directories of recipes. Remarks say what is left out.
    ///
    /// # Errors
    /// If a directory holds no finished stage, two have the same name, or a file is not what a stage wrote.
    pub fn read(directories: &[PathBuf], progress: &dyn Progress) -> Result<Self, Error> {
        let chapters = directories
            .iter()
            .map(|directory| Chapter::read(progress, directory))
            .collect::<Result<Vec<Chapter>, Error>>()?;
        let names: BTreeSet<&str> = chapters.iter().map(|chapter| chapter.name.as_str()).collect();
        if names.len() < chapters.len() {
            return Err(ReportError::SameName.into());
        }
        Ok(Self { directories: directories.to_owned(), chapters })
    }

    /// The recipes, as data.
    pub fn chapters(&self) -> &[Chapter] {
        &self.chapters
    }

    /// All files that were read.
    pub fn sources(&self) -> Vec<PathBuf> {
        let both = self.chapters.iter().zip(&self.directories);
        both.flat_map(|(chapter, dir)| chapter.sources.iter().map(|file| dir.join(file))).collect()
    }

    /// All files that [`Self::keep`] writes.
    pub fn copies(&self, archive: &Path) -> Vec<PathBuf> {
        let copy = |chapter: &Chapter| keep::copies(chapter, archive);
        self.chapters.iter().flat_map(copy).collect()
    }

    /// All files that [`Self::write`] may write.
    pub fn files(&self, page: &Path) -> Vec<PathBuf> {
        let figures = Gallery::files(page, &self.chapters);
        std::iter::once(page.to_owned()).chain(figures).collect()
    }

    /// Copies what the report was made of, without texts and weights, to directories below another one, of which it can be made again.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub fn keep(&self, archive: &Path) -> Result<(), Error> {
        let mut both = self.chapters.iter().zip(&self.directories);
        both.try_for_each(|(chapter, directory)| keep::keep(chapter, directory, archive))
    }

    /// Writes the page, and figures to a directory called like it.
    ///
    /// # Errors
    /// If figures cannot be drawn or files cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let gallery = Gallery::beside(path)?;
        let names: Vec<&str> = self.chapters.iter().map(|chapter| chapter.name.as_str()).collect();
        let mut page = Page::new(&command(&self.directories, &names, path));
        for chapter in &self.chapters {
            page.chapter(chapter, &gallery)?;
        }
        page.paper().map_err(ReportError::from)?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(Error::making(parent))?;
        }
        Ok(write_atomically(path, page.text().as_bytes())?)
    }
}
