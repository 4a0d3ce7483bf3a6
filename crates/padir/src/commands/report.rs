//! `padir report`: a page of results, made of nothing but what runs left behind.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use padir_pipeline::report::Report as Results;

use crate::advice::advise;
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

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
        let results = Results::read(&self.directories, console).map_err(advise)?;
        self.check(&results, console.wants_json())?;
        if let Some(archive) = &self.keep {
            results.keep(archive).map_err(advise)?;
        }
        if console.wants_json() {
            return console.print_json(&results.chapters());
        }
        results.write(&self.output).map_err(advise)?;
        console.note(format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// Refuses to overwrite records that are read, and pages, figures and copies that exist.
    fn check(&self, results: &Results, is_json: bool) -> Result<()> {
        let mut places = Places::default().reads(results.sources());
        if let Some(archive) = &self.keep {
            places = places.writes(results.copies(archive));
        }
        if !is_json {
            places = places.writes(results.files(&self.output));
        }
        places.check(self.force)
    }
}
