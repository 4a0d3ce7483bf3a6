//! A stage as it is run: one command line, what it reads, what it makes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::faults::{Faults, Place};
use super::template::Text;

/// What a stage does.
pub(super) struct Stage {
    /// Its own name; of a repeated stage, with the values of its combination.
    pub(super) name: String,
    /// Its name in the recipe.
    pub(super) family: String,
    pub(super) place: Place,
    pub(super) command: Vec<Argument>,
    pub(super) stdout: Option<String>,
    /// What it reads, found or listed. Paths are relative to the directory of the recipe.
    pub(super) inputs: BTreeSet<Text>,
    pub(super) outputs: Vec<String>,
    pub(super) work: Vec<String>,
    /// Files of the recipe that it reads.
    pub(super) files: BTreeSet<String>,
    /// Whether the same command line goes on with what an interruption left.
    pub(super) resumes: bool,
}

/// A part of a command line.
pub(super) enum Argument {
    Text(Text),
    /// All that the stages of a name make.
    Outputs {
        of: String,
        place: Place,
    },
}

impl Stage {
    /// The command line as it is run. Outputs of others must have been put in.
    pub(super) fn arguments(&self) -> Vec<&str> {
        self.texts().map(|text| text.full.as_str()).collect()
    }

    /// What decides whether the command line is another one. Where data lies is not part of it.
    pub(super) fn shown(&self) -> Vec<String> {
        let redirection = self.stdout.iter().flat_map(|file| [">".to_owned(), file.clone()]);
        self.texts().map(|text| text.shown.clone()).chain(redirection).collect()
    }

    /// The command line for people.
    pub(super) fn line(&self) -> String {
        let quoted = self.shown().into_iter().map(|word| quote(&word));
        std::iter::once("padir".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.command.iter().filter_map(|argument| match argument {
            Argument::Text(text) => Some(text),
            Argument::Outputs { .. } => None,
        })
    }

    pub(super) fn refers_to_outputs(&self) -> bool {
        self.command.iter().any(|argument| matches!(argument, Argument::Outputs { .. }))
    }

    /// Puts in what others make. `outputs` knows it by the names of stages.
    pub(super) fn put_in(&mut self, outputs: &BTreeMap<String, Vec<String>>, faults: &mut Faults) {
        for argument in std::mem::take(&mut self.command) {
            match argument {
                Argument::Outputs { of, place } => match outputs.get(&of) {
                    Some(_) if of == self.family => {
                        faults
                            .at(place, format!("stage {:?} cannot read what it makes", self.name));
                    }
                    Some(paths) => {
                        self.command.extend(paths.iter().map(|p| Argument::Text(Text::plain(p))));
                    }
                    None => faults.at(place, format!("there is no stage {of:?}")),
                },
                text @ Argument::Text(_) => self.command.push(text),
            }
        }
    }

    /// What must not be of two stages.
    pub(super) fn owned(&self) -> impl Iterator<Item = &String> {
        self.outputs.iter().chain(&self.work)
    }
}

/// A word as a shell would read it. Braces of placeholders are left alone.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%{}>".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A path without `.` and, as far as the text tells, without `..`.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(clean.components().next_back(), Some(Component::Normal(_))) =>
            {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Whether a path is another one or lies in it.
pub(super) fn lies_in(path: &str, other: &str) -> bool {
    clean(Path::new(path)).starts_with(clean(Path::new(other)))
}

/// Whether a path names something below the directory, by its text alone.
pub fn is_below(path: &str) -> bool {
    let clean = clean(Path::new(path));
    let is_normal = |component| matches!(component, Component::Normal(_));
    clean.components().next().is_some() && clean.components().all(is_normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_directory_are_its_own() {
        let cases = [
            ("a", true),
            ("./a/b", true),
            ("a/../b", true),
            ("", false),
            (".", false),
            ("..", false),
            ("a/../..", false),
            ("../a", false),
            ("/a", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_below(path), expected, "{path:?}");
        }
    }

    #[test]
    fn parts_of_names_are_not_directories() {
        assert!(lies_in("teacher/best", "teacher"));
        assert!(lies_in("./teacher", "teacher/"));
        assert!(!lies_in("teacher2/best", "teacher"));
    }

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let cases = [("a", "a"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'")];
        for (word, expected) in cases {
            assert_eq!(quote(word), expected);
        }
    }
}
