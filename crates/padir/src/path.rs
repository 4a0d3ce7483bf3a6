//! Paths, by what they lead to.

use std::path::Path;

/// Whether two names mean the same file or directory, as far as both exist.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
