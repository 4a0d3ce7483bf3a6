//! Before a stage begins anew, what it left is moved out of its way: never removed, because it may have taken a night.
//!
//! One generation is kept, in `replaced/STAGE`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result};

use super::recipe::REPLACED;
use super::stage::Stage;

/// Moves all that a stage owns to `replaced`, and tells where that is if there was anything.
pub(super) fn set_aside(dir: &Path, stage: &Stage) -> Result<Option<PathBuf>> {
    let exists = |path: &&String| fs::symlink_metadata(dir.join(path)).is_ok();
    // Directories of work first: what lies in them moves with them.
    let owned: Vec<&String> = stage.work.iter().chain(&stage.outputs).filter(exists).collect();
    if owned.is_empty() {
        return Ok(None);
    }
    let place = dir.join(REPLACED).join(&stage.name);
    match fs::remove_dir_all(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", place.display()));
        }
        _ => {}
    }
    for path in owned.into_iter().filter(exists) {
        let (from, to) = (dir.join(path), place.join(path));
        make_parent(&to)?;
        fs::rename(&from, &to)
            .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))?;
    }
    Ok(Some(place))
}

/// Makes the directory that a path lies in.
pub(super) fn make_parent(path: &Path) -> Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}
