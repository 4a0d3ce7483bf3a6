//! Taking settings out of a table one by one. Faults are noted, not returned, so that reading goes
//! on and all of them are reported together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use padir_text::vocab::Vocabulary;
use serde::de::DeserializeOwned;

use super::document::{Entries, Entry, Node};
use super::problem::{Origin, Problem};

/// Whether files that a configuration names must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    Required,
    Ignored,
}

/// All faults so far, and where every setting was written.
pub(super) struct Report {
    file: PathBuf,
    pub(super) files: Files,
    origins: RefCell<BTreeMap<String, Origin>>,
    problems: RefCell<Vec<Problem>>,
    notes: RefCell<Vec<String>>,
}

/// A table of which settings are taken.
pub(super) struct Section<'r> {
    report: &'r Report,
    /// The dotted key of this table with a final dot, or nothing.
    prefix: String,
    entries: Entries,
    known: Vec<&'static str>,
}

impl Report {
    pub(super) fn new(file: &Path, files: Files, problems: Vec<Problem>) -> Self {
        Self {
            file: file.to_owned(),
            files,
            origins: RefCell::default(),
            problems: RefCell::new(problems),
            notes: RefCell::default(),
        }
    }

    /// Notes a fault of a setting given by its dotted key. A setting that was not written has the
    /// line of its table, or none.
    pub(super) fn complain(&self, key: &str, message: impl Display) {
        let origins = self.origins.borrow();
        let mut name = key;
        let origin = loop {
            if let Some(origin) = origins.get(name) {
                break origin.clone();
            }
            match name.rsplit_once('.') {
                Some((table, _)) => name = table,
                None => break Origin::File(self.file.clone()),
            }
        };
        self.problems.borrow_mut().push(Problem { origin, message: message.to_string() });
    }

    /// All faults in the order of the file; flags come last.
    pub(super) fn finish(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| match problem.origin {
            Origin::File(_) => (0, 0),
            Origin::Line { line, .. } => (1, line),
            Origin::Flag(_) => (2, 0),
        });
        problems
    }
}

impl<'r> Section<'r> {
    /// The outermost table.
    pub(super) fn root(report: &'r Report, entries: Entries) -> Self {
        Self { report, prefix: String::new(), entries, known: Vec::new() }
    }

    /// The dotted key of a setting of this table.
    pub(super) fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    pub(super) fn complain(&self, key: &str, message: impl Display) {
        self.report.complain(&self.name(key), message);
    }

    fn take(&mut self, key: &'static str) -> Option<Node> {
        self.known.push(key);
        let Entry { origin, node } = self.entries.remove(key)?;
        self.report.origins.borrow_mut().insert(self.name(key), origin);
        Some(node)
    }

    fn wrong(&self, key: &str, found: impl Display, wanted: impl Display) {
        self.complain(key, format!("`{}` is {found}; it must be {wanted}", self.name(key)));
    }

    fn missing(&self, key: &str) {
        self.complain(key, format!("`{}` is missing", self.name(key)));
    }

    fn value(&mut self, key: &'static str, wanted: &str) -> Option<toml::Value> {
        match self.take(key)? {
            Node::Value(value) => Some(value),
            Node::Table(_) => {
                self.wrong(key, "a table", wanted);
                None
            }
        }
    }

    /// A table within this one; an absent table is an empty one.
    pub(super) fn section(&mut self, key: &'static str) -> Self {
        let entries = match self.take(key) {
            Some(Node::Table(entries)) => entries,
            None => Entries::new(),
            Some(Node::Value(value)) => {
                self.wrong(key, value, "a table");
                Entries::new()
            }
        };
        Self {
            report: self.report,
            prefix: format!("{}{key}.", self.prefix),
            entries,
            known: Vec::new(),
        }
    }

    /// All tables within this one, whatever their names.
    pub(super) fn sections(mut self) -> Vec<(String, Self)> {
        let mut sections = Vec::new();
        for (key, entry) in std::mem::take(&mut self.entries) {
            self.report.origins.borrow_mut().insert(self.name(&key), entry.origin);
            match entry.node {
                Node::Table(entries) => {
                    let prefix = format!("{}{key}.", self.prefix);
                    let section = Self { report: self.report, prefix, entries, known: Vec::new() };
                    sections.push((key, section));
                }
                Node::Value(value) => self.wrong(&key, value, "a table"),
            }
        }
        sections
    }

    /// Whether anything was written for a key that was not taken yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// One of several words.
    pub(super) fn choice<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        wanted: &str,
    ) -> Option<T> {
        let value = self.value(key, wanted)?;
        let shown = value.to_string();
        let choice = value.try_into().ok();
        if choice.is_none() {
            self.wrong(key, shown, wanted);
        }
        choice
    }

    /// A table as a whole; serde says what is wrong with it.
    pub(super) fn table<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        wanted: &str,
    ) -> Option<T> {
        match self.take(key)?.into_value() {
            table @ toml::Value::Table(_) => match table.try_into() {
                Ok(value) => return Some(value),
                Err(error) => {
                    let name = self.name(key);
                    self.complain(key, format!("`{name}` is not {wanted}: {}", error.message()));
                }
            },
            other => self.wrong(key, other, wanted),
        }
        None
    }

    /// A key that exists, though it is not read now: whoever misspells it is told.
    pub(super) fn mention(&mut self, key: &'static str) {
        self.known.push(key);
    }

    /// `true` or `false`.
    pub(super) fn switch(&mut self, key: &'static str, default: bool) -> bool {
        self.choice(key, "true or false").unwrap_or(default)
    }

    /// A whole number. `1e6` is one, too.
    pub(super) fn count<N>(&mut self, key: &'static str, range: RangeInclusive<N>) -> Option<N>
    where
        N: Copy + Display + TryFrom<u64> + PartialOrd + Bounded,
    {
        let (low, high) = (*range.start(), *range.end());
        let wanted = if N::UNLIMITED == Some(high) {
            format!("a whole number, at least {low}")
        } else {
            format!("a whole number between {low} and {high}")
        };
        let value = self.value(key, &wanted)?;
        let whole = match value {
            toml::Value::Integer(n) => u64::try_from(n).ok(),
            // Whole numbers above 2⁵³ are not all there among the floats.
            toml::Value::Float(x) if x >= 0.0 && x <= 2_f64.powi(53) && x.fract() == 0.0 => {
                Some(x as u64)
            }
            _ => None,
        };
        let count = whole.and_then(|n| N::try_from(n).ok()).filter(|n| range.contains(n));
        if count.is_none() {
            self.wrong(key, value, wanted);
        }
        count
    }

    /// A number.
    pub(super) fn real(
        &mut self,
        key: &'static str,
        wanted: &str,
        good: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let value = self.value(key, wanted)?;
        let number = match value {
            toml::Value::Integer(n) => Some(n as f64),
            toml::Value::Float(x) => Some(x),
            _ => None,
        };
        let number = number.filter(|&x| x.is_finite() && good(x));
        if number.is_none() {
            self.wrong(key, value, wanted);
        }
        number
    }

    /// A number or a word.
    pub(super) fn real_or_word(
        &mut self,
        key: &'static str,
        word: &str,
        wanted: &str,
        good: impl Fn(f64) -> bool,
    ) -> Option<Result<f64, ()>> {
        if let Some(Entry { node: Node::Value(toml::Value::String(text)), .. }) =
            self.entries.get(key)
            && text == word
        {
            self.take(key);
            return Some(Err(()));
        }
        self.real(key, wanted, good).map(Ok)
    }

    /// Text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        self.choice(key, "text")
    }

    /// A path, of which [`Section::require_file`] or [`Section::require_directory`] asks more.
    pub(super) fn path(&mut self, key: &'static str) -> PathBuf {
        let path = self.optional_path(key);
        if path.is_none() && !self.report.origins.borrow().contains_key(&self.name(key)) {
            self.missing(key);
        }
        path.unwrap_or_default()
    }

    /// A path that may be left out.
    pub(super) fn optional_path(&mut self, key: &'static str) -> Option<PathBuf> {
        let path: PathBuf = self.choice(key, "a path")?;
        if path.as_os_str().is_empty() {
            self.wrong(key, "empty", "a path");
            return None;
        }
        Some(path)
    }

    /// A file, or a list of files.
    pub(super) fn files(&mut self, key: &'static str) -> Vec<PathBuf> {
        const WANTED: &str = "a path or a list of paths";
        if !self.has(key) {
            self.known.push(key);
            self.missing(key);
            return Vec::new();
        }
        let Some(value) = self.value(key, WANTED) else { return Vec::new() };
        let shown = value.to_string();
        let paths: Option<Vec<PathBuf>> = match value {
            toml::Value::String(path) => Some(vec![path.into()]),
            other => other.try_into().ok(),
        };
        let paths = paths.filter(|paths| {
            !paths.is_empty() && paths.iter().all(|path| !path.as_os_str().is_empty())
        });
        if paths.is_none() {
            self.wrong(key, shown, WANTED);
        }
        let paths = paths.unwrap_or_default();
        for path in &paths {
            self.require_file(key, path);
        }
        paths
    }

    /// Notes that a file is absent.
    pub(super) fn require_file(&self, key: &str, path: &Path) {
        let expected = self.report.files == Files::Required && !path.as_os_str().is_empty();
        if expected && !path.is_file() {
            let what = if path.is_dir() { "is a directory" } else { "does not exist" };
            self.complain(key, format!("the file {} {what}", path.display()));
        }
    }

    /// The file of a vocabulary: a directory stands for the one in it, as on the command line. Notes that it is absent.
    pub(super) fn vocabulary_file(&self, key: &str, path: PathBuf) -> PathBuf {
        if self.report.files == Files::Ignored {
            return path;
        }
        match Vocabulary::file(&path) {
            Ok(file) => {
                self.require_file(key, &file);
                file
            }
            Err(error) => {
                self.complain(key, error.to_string());
                path
            }
        }
    }

    /// Notes that a directory is absent.
    pub(super) fn require_directory(&self, key: &str, path: &Path) {
        if self.report.files == Files::Required && !path.is_dir() {
            self.complain(key, format!("the directory {} does not exist", path.display()));
        }
    }

    /// Everything that was not taken yet.
    pub(super) fn rest(&mut self) -> Vec<(String, serde_json::Value)> {
        let mut rest = Vec::new();
        for (key, entry) in std::mem::take(&mut self.entries) {
            self.report.origins.borrow_mut().insert(self.name(&key), entry.origin);
            rest.push((key, plain(entry.node)));
        }
        rest
    }

    /// Remarks that a key is read otherwise than it is written.
    pub(super) fn note(&self, key: &str, remark: &str) {
        self.report.notes.borrow_mut().push(format!("`{}`: {remark}", self.name(key)));
    }

    /// All such remarks so far.
    pub(super) fn notes(&self) -> Vec<String> {
        self.report.notes.borrow().clone()
    }

    /// Notes settings that make no sense beside others, and takes them.
    pub(super) fn refuse(&mut self, keys: &[&str], why: &str) {
        for key in keys {
            if let Some(entry) = self.entries.remove(*key) {
                let name = self.name(key);
                self.report.origins.borrow_mut().insert(name.clone(), entry.origin);
                self.report.complain(&name, format!("`{name}` is set; {why}"));
            }
        }
    }

    /// Notes what was written and nobody took.
    pub(super) fn finish(self) {
        for (key, entry) in &self.entries {
            let name = self.name(key);
            let near = self.known.iter().min_by_key(|known| distance(known, key));
            let near = near.filter(|known| distance(known, key) <= 1 + key.len() / 4);
            let advice = near.map_or(String::new(), |known| format!("; is `{known}` meant?"));
            self.report.origins.borrow_mut().insert(name.clone(), entry.origin.clone());
            self.report.complain(&name, format!("`{name}` is not a key{advice}"));
        }
    }
}

/// A table or value without its lines.
fn plain(node: Node) -> serde_json::Value {
    match node {
        Node::Table(entries) => {
            entries.into_iter().map(|(key, entry)| (key, plain(entry.node))).collect()
        }
        Node::Value(toml::Value::Float(x)) if x.fract() == 0.0 && x.abs() < 2_f64.powi(53) => {
            // `1e3` is a whole number, too; where a real one is meant, either will do.
            serde_json::Value::from(x as i64)
        }
        Node::Value(value) => serde_json::to_value(value).unwrap_or_default(),
    }
}

/// Numbers whose largest is either a limit worth telling, or as good as none.
pub(super) trait Bounded: Sized {
    const UNLIMITED: Option<Self>;
}

impl Bounded for u16 {
    const UNLIMITED: Option<Self> = None;
}

impl Bounded for u32 {
    const UNLIMITED: Option<Self> = Some(Self::MAX);
}

impl Bounded for u64 {
    const UNLIMITED: Option<Self> = Some(Self::MAX);
}

impl Bounded for usize {
    const UNLIMITED: Option<Self> = Some(Self::MAX);
}

/// Levenshtein's: the least number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
