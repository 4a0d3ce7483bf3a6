//! Everything that is wrong with a recipe, collected before anything is done about it.

use std::path::{Path, PathBuf};

use padir_train::config::{ConfigError, Origin, Problem};

/// A position in the text of a recipe, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) usize);

/// Faults so far.
pub(super) struct Faults {
    path: PathBuf,
    /// Where lines begin.
    lines: Vec<usize>,
    problems: Vec<Problem>,
}

impl Faults {
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { path: path.to_owned(), lines, problems: Vec::new() }
    }

    /// The line of a position, counted from 1.
    pub(super) fn line(&self, place: Place) -> usize {
        self.lines.partition_point(|&start| start <= place.0)
    }

    pub(super) fn at(&mut self, place: Place, message: impl Into<String>) {
        let origin = Origin::Line { file: self.path.clone(), line: self.line(place) };
        self.problems.push(Problem { origin, message: message.into() });
    }

    pub(super) fn in_flag(&mut self, flag: &str, message: impl Into<String>) {
        let origin = Origin::Flag(flag.to_owned());
        self.problems.push(Problem { origin, message: message.into() });
    }

    /// A problem of a text that stands in the recipe; its first line is `first` of the recipe.
    pub(super) fn embedded(&mut self, mut problem: Problem, first: usize, stage: &str) {
        if let Origin::Line { file, line } = &mut problem.origin
            && *file == self.path
        {
            *line += first - 1;
        }
        problem.message = format!("stage {stage:?}: {}", problem.message);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Fails with all faults in the order of the file, if there are any.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        let mut problems = self.problems;
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| match problem.origin {
            Origin::File(_) => (0, 0),
            Origin::Line { line, .. } => (1, line),
            Origin::Flag(_) => (2, 0),
        });
        Err(ConfigError::Problems { path: self.path, problems })
    }

    pub(super) fn count(&self) -> usize {
        self.problems.len()
    }
}
