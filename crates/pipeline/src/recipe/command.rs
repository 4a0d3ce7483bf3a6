//! What a runner wants to know of a command line, without knowing any command.
//!
//! Whoever knows the commands describes each command line: what it reads and makes beyond what the recipe says, and whether it goes
//! on with what an interruption left. A new command that recipes should understand describes itself, and nothing here changes.

use std::collections::BTreeMap;
use std::path::Path;

use padir_train::config::Problem;

use super::recipe::Embedded;

/// Somebody who knows command lines.
pub trait Commands {
    /// Describes a command line; `words` are what stands behind the program's name. What is wrong with it goes into
    /// [`Description::faults`], so that all faults of a recipe are told at once.
    fn describe(&self, words: &[&str], files: &RecipeFiles<'_>) -> Description;
}

/// What a command line reads and makes. Paths are relative to the recipe's directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// What it reads besides what stands on it.
    pub reads: Vec<String>,
    /// What it makes besides the outputs that the stage lists.
    pub makes: Vec<String>,
    /// Directories it works in: kept to go on with, moved away when the stage begins anew.
    pub work: Vec<String>,
    /// Whether the same command line goes on with what an interruption left.
    pub resumes: bool,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

/// Something wrong with a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The command line itself.
    Command(String),
    /// A file of the recipe that it names, as a whole.
    File {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// A place in a file of the recipe that it names.
    InFile {
        /// Its name.
        name: String,
        /// What is wrong; a line of [`RecipeFiles::recipe`] counts from the first of the file.
        problem: Problem,
    },
}

impl Description {
    /// A command line that cannot be used, because of what the message says.
    pub fn faulty(message: impl Into<String>) -> Self {
        Self { faults: vec![Fault::Command(message.into())], ..Self::default() }
    }
}

/// The files that stand in a recipe.
pub struct RecipeFiles<'a> {
    pub(super) recipe: &'a Path,
    pub(super) files: &'a BTreeMap<String, Embedded>,
}

impl RecipeFiles<'_> {
    /// The recipe's own path, which faults name.
    pub fn recipe(&self) -> &Path {
        self.recipe
    }

    /// The text of a file, placeholders filled in.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(|file| file.text.full.as_str())
    }
}
