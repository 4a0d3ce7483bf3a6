//! The command that makes the page again.

use std::path::{Path, PathBuf};

use crate::recipe::quote;

/// The command as it was given; if a path is absolute, as it is given beside the directories, by their names: where they lie on some
/// machine is nobody's business.
pub(super) fn command(directories: &[PathBuf], names: &[&str], output: &Path) -> String {
    let places: Vec<String> = if directories.iter().map(PathBuf::as_path).all(Path::is_relative) {
        directories.iter().map(|directory| directory.display().to_string()).collect()
    } else {
        names.iter().map(|&name| name.to_owned()).collect()
    };
    let page = match output.file_name() {
        Some(name) if output.is_absolute() => name.to_string_lossy().into_owned(),
        _ => output.display().to_string(),
    };
    let words = places.into_iter().chain(["--output".to_owned(), page]);
    let words: Vec<String> = words.map(|word| quote(&word)).collect();
    format!("padir report {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_given_again_and_tell_no_places() {
        let cases = [
            ("relative", "runs/a", "docs/page.md", "runs/a runs/b --output docs/page.md"),
            ("far", "/home/me/a", "docs/page.md", "a b --output docs/page.md"),
            ("a far page", "runs/a", "/home/me/page.md", "runs/a runs/b --output page.md"),
            ("a blank", "my runs/a", "page.md", "'my runs/a' runs/b --output page.md"),
        ];
        for (case, first, output, expected) in cases {
            let directories = [PathBuf::from(first), PathBuf::from("runs/b")];
            let made = command(&directories, &["a", "b"], Path::new(output));
            assert_eq!(made, format!("padir report {expected}"), "{case}");
        }
    }
}
