//! `padir report`: a page of results, made of nothing but what runs left behind.

mod chapter;
mod command;
mod curves;
pub(super) mod evaluation;
mod figures;
mod inputs;
mod keep;
mod latency;
mod page;
mod paper;
mod samples;
mod training;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use padir_base::file::write_atomically;

use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};
use chapter::Chapter;
use command::command;
use figures::Gallery;
use page::Page;

/// Write a page of results from the directories of recipes.
///
/// Every number comes from a file that a stage wrote: what was trained, on what and how long, what distillation changed, the scores of
/// each model under each setting, latencies, texts step by step (`translate --watch --json`), the configurations. Models whose names differ only in a `-seedN` at the end are
/// put together as mean ± standard deviation. What was measured of a model that has been trained again since is left out. Figures go
/// to a directory called like the page.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir report runs/multi30k-en-de
  padir report runs/multi30k-en-de runs/tatoeba-en-de --output docs/results.md
  padir report runs/multi30k-en-de --keep results && padir report results/multi30k-en-de    # the same page")]
pub(crate) struct Report {
    /// Directories in which `padir run` worked.
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    /// The page.
    #[arg(long, short, value_name = "FILE", default_value = "results.md")]
    output: PathBuf,

    /// Also copy what the page is made of, without texts and weights, to directories below this one, of which it can be made again.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

impl Report {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if self.output.extension().is_none() {
            return Err(anyhow!("{} has no extension", self.output.display())).hint(
                "figures go to a directory called like the page without it; results.md would do",
            );
        }
        let chapters = self
            .directories
            .iter()
            .map(|directory| Chapter::read(console, directory))
            .collect::<Result<Vec<Chapter>>>()?;
        let names: Vec<&str> = chapters.iter().map(|chapter| chapter.name.as_str()).collect();
        let different: BTreeSet<&&str> = names.iter().collect();
        ensure!(different.len() == names.len(), "two directories have the same name");
        self.check(&chapters, console.wants_json())?;
        if let Some(shelf) = &self.keep {
            for (chapter, directory) in chapters.iter().zip(&self.directories) {
                keep::keep(chapter, directory, shelf)?;
            }
        }
        if console.wants_json() {
            return console.print_json(&chapters);
        }
        let gallery = Gallery::beside(&self.output)?;
        let mut page = Page::new(&command(&self.directories, &names, &self.output));
        for chapter in &chapters {
            page.chapter(chapter, &gallery)?;
        }
        page.paper();
        if let Some(parent) = self.output.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
        }
        write_atomically(&self.output, page.text().as_bytes())?;
        console.note(format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// Refuses to overwrite records that are read, and pages, figures and copies that exist.
    fn check(&self, chapters: &[Chapter], is_json: bool) -> Result<()> {
        let mut places = Places::default();
        for (chapter, directory) in chapters.iter().zip(&self.directories) {
            places = places.reads(chapter.sources.iter().map(|file| directory.join(file)));
            if let Some(shelf) = &self.keep {
                let copies = chapter.sources.iter();
                places = places.writes(copies.map(|file| shelf.join(&chapter.name).join(file)));
            }
        }
        if !is_json {
            places = places.writes([&self.output]).writes(Gallery::files(&self.output, chapters));
        }
        places.check(self.force)
    }
}
