//! Before a stage begins anew, what it left is moved out of its way: never removed, because it may have taken a night.
//!
//! It stays in `replaced/STAGE.1`, the next in `replaced/STAGE.2` and so on, until the user removes it.

use std::fs;
use std::path::{Path, PathBuf};

use super::RecipeError;
use super::recipe::REPLACED;
use super::stage::Stage;
use crate::Error;

/// Moves all that a stage owns to `replaced`, and tells where that is if there was anything.
pub(super) fn set_aside(dir: &Path, stage: &Stage) -> Result<Option<PathBuf>, Error> {
    let exists = |path: &&String| fs::symlink_metadata(dir.join(path)).is_ok();
    // Directories of work first: what lies in them moves with them.
    let owned: Vec<&String> = stage.work.iter().chain(&stage.outputs).filter(exists).collect();
    if owned.is_empty() {
        return Ok(None);
    }
    let place = free_place(&dir.join(REPLACED), &stage.name);
    for path in owned.into_iter().filter(exists) {
        let (from, to) = (dir.join(path), place.join(path));
        make_parent(&to)?;
        fs::rename(&from, &to).map_err(|source| RecipeError::Move { from, to, source })?;
    }
    Ok(Some(place))
}

/// The first number that is not taken.
fn free_place(replaced: &Path, stage: &str) -> PathBuf {
    let mut number = 1_u64;
    loop {
        let place = replaced.join(format!("{stage}.{number}"));
        if fs::symlink_metadata(&place).is_err() {
            return place;
        }
        number += 1;
    }
}

/// Makes the directory that a path lies in.
pub(super) fn make_parent(path: &Path) -> Result<(), Error> {
    let Some(parent) = path.parent() else { return Ok(()) };
    fs::create_dir_all(parent).map_err(Error::making(parent))
}
