//! Models that are at hand: found by their languages, so that nobody needs to know where they lie.
//!
//! A shelf is a directory of models called `something-FROM-TO`, such as `tatoeba-en-de`. It is the one that `PADIR_MODELS` names, or
//! `models` in the working directory, or `models` beside the program or in a directory above it, whichever has a model that fits first.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use padir_checkpoint::CONFIG;

use crate::hint::WithHint;

/// The variable that names a shelf.
const VARIABLE: &str = "PADIR_MODELS";
/// What shelves are called otherwise.
const NAME: &str = "models";

/// The model that translates from one language into another: on the first shelf that has one, the first by name.
pub(super) fn find(from: &str, to: &str) -> Result<PathBuf> {
    let suffix = format!("-{from}-{to}");
    let name = |model: &Path| model.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut searched = Vec::new();
    for shelf in shelves() {
        let models = models(&shelf)?;
        let fits = |model: &&PathBuf| name(model).is_some_and(|name| name.ends_with(&suffix));
        if let Some(model) = models.iter().find(fits) {
            return Ok(model.clone());
        }
        let names: Vec<String> = models.iter().filter_map(|model| name(model)).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        searched.push(format!("{} has {names}", shelf.display()));
    }
    if searched.is_empty() {
        searched.push("there is no directory of models".to_owned());
    }
    let there = searched.join("; ");
    Err(anyhow!("no model translates from {from} into {to}"))
        .hint(format!("{there}; name one with --model DIR, or a directory of them with {VARIABLE}"))
}

/// All shelves there are, the nearest first; only one if it is named.
fn shelves() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let here = PathBuf::from(NAME);
    let program = env::current_exe().and_then(|program| program.canonicalize()).ok();
    let above = program.iter().flat_map(|program| program.ancestors().skip(1));
    let above = above.map(|place| place.join(NAME));
    std::iter::once(here).chain(above).filter(|place| place.is_dir()).collect()
}

/// The models on a shelf, by name.
fn models(shelf: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(shelf).with_context(|| format!("cannot search {}", shelf.display()))?;
    let mut models: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_model).collect();
    models.sort();
    Ok(models)
}

#[expect(clippy::ptr_arg, reason = "a filter of an iterator")]
fn is_model(path: &PathBuf) -> bool {
    path.join(CONFIG).is_file()
}
