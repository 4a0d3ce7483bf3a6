//! What a command reads and what it writes, compared before any work is done.
//!
//! Nothing is written over what is read, and nothing twice to one place; what exists is replaced only if the user says `--force`.
//! Files that exist are compared by device and inode, so that links and other spellings of a path do not deceive; others by
//! their real path. One `stat` a path.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use padir_text::input::is_stdin;

use crate::hint::WithHint;

/// Whether existing outputs may be replaced.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct Force {
    /// Replace outputs that exist.
    #[arg(long, help_heading = "Output")]
    force: bool,
}

impl Force {
    /// As if the user had said so: for outputs that a command knows to be its own.
    pub(crate) const GIVEN: Self = Self { force: true };

    /// Whether the user said so.
    pub(crate) fn is_given(self) -> bool {
        self.force
    }
}

/// The inputs and outputs of a command. `-` is stdin among inputs and stdout among outputs.
#[derive(Default)]
pub(crate) struct Places {
    inputs: Vec<PathBuf>,
    outputs: Vec<Output>,
}

struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file that appears in one step.
    File,
    /// A directory that is replaced as a whole.
    Directory,
}

/// What a path leads to.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Something that exists: its device and its inode.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Something that does not exist yet.
    Path(PathBuf),
}

impl Places {
    /// Adds files that are read.
    pub(crate) fn reads<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.inputs.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Adds files that are written.
    pub(crate) fn writes<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let file = |path: P| Output { path: path.as_ref().to_owned(), kind: Kind::File };
        self.outputs.extend(paths.into_iter().map(file));
        self
    }

    /// Adds a directory that is written as a whole; one that is empty counts as absent.
    pub(crate) fn makes_directory(mut self, path: &Path) -> Self {
        self.outputs.push(Output { path: path.to_owned(), kind: Kind::Directory });
        self
    }

    /// Refuses what would lose data.
    pub(crate) fn check(&self, force: Force) -> Result<()> {
        for (at, output) in self.outputs.iter().enumerate() {
            output.check_kind()?;
            self.check_inputs(output)?;
            let identity = Identity::of(&output.path);
            if self.outputs[..at].iter().any(|other| Identity::of(&other.path) == identity) {
                bail!("{} is named twice as an output", output.name());
            }
        }
        if force.is_given() { Ok(()) } else { self.refuse_existing() }
    }

    fn check_inputs(&self, output: &Output) -> Result<()> {
        let identity = Identity::of(&output.path);
        for input in self.inputs.iter().filter(|input| !is_stdin(input)) {
            if !output.is_stdout() && Identity::of(input) == identity {
                bail!("{} is both read and written", output.name());
            }
            if output.kind == Kind::Directory
                && real_path(input).starts_with(real_path(&output.path))
            {
                let (input, output) = (input.display(), output.name());
                bail!("{input} is read, but it lies in {output}, which is written");
            }
        }
        Ok(())
    }

    fn refuse_existing(&self) -> Result<()> {
        let existing: Vec<String> = self
            .outputs
            .iter()
            .filter(|output| output.exists())
            .map(|output| output.path.display().to_string())
            .collect();
        match existing.as_slice() {
            [] => Ok(()),
            [one] => Err(anyhow!("{one} exists")).hint("--force replaces it"),
            [first, second] => {
                Err(anyhow!("{first} and {second} exist")).hint("--force replaces them")
            }
            [first, second, rest @ ..] => {
                Err(anyhow!("{first}, {second} and {} more exist", rest.len()))
                    .hint("--force replaces them")
            }
        }
    }
}

impl Output {
    fn is_stdout(&self) -> bool {
        is_stdin(&self.path)
    }

    fn name(&self) -> String {
        if self.is_stdout() { "stdout".to_owned() } else { self.path.display().to_string() }
    }

    /// Devices and pipes would be replaced by a file, not written to.
    fn check_kind(&self) -> Result<()> {
        let Ok(metadata) = fs::metadata(&self.path) else { return Ok(()) };
        let name = self.name();
        match self.kind {
            _ if self.is_stdout() => Ok(()),
            Kind::Directory if metadata.is_dir() => Ok(()),
            Kind::Directory => Err(anyhow!("{name} is not a directory")),
            Kind::File if metadata.is_dir() => Err(anyhow!("{name} is a directory")),
            Kind::File if metadata.is_file() => Ok(()),
            Kind::File => Err(anyhow!("{name} is not a regular file"))
                .hint("outputs are written beside their place and renamed, which pipes and devices cannot be"),
        }
    }

    fn exists(&self) -> bool {
        if self.is_stdout() {
            return false;
        }
        match (self.kind, fs::read_dir(&self.path)) {
            (Kind::Directory, Ok(mut entries)) => entries.next().is_some(),
            // A link counts, wherever it leads.
            _ => fs::symlink_metadata(&self.path).is_ok(),
        }
    }
}

impl Identity {
    fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if !is_stdin(path)
            && let Ok(metadata) = fs::metadata(path)
        {
            use std::os::unix::fs::MetadataExt;
            return Self::Inode(metadata.dev(), metadata.ino());
        }
        Self::Path(real_path(path))
    }
}

/// A path without links, also if its last parts do not exist.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => {
            real_path(Path::new(".")).join(name)
        }
        (Some(parent), Some(name)) => real_path(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(places: &Places, force: Force) -> String {
        places.check(force).err().map_or_else(String::new, |error| error.root_cause().to_string())
    }

    #[test]
    fn one_place_is_found_under_all_its_names() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("a"), "precious").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("sub"), at("link")).unwrap();
        let cases: [(&str, &str, &str, &str); 6] = [
            ("itself", "a", "a", "is both read and written"),
            ("another spelling", "a", "sub/../a", "is both read and written"),
            ("a hard link", "a", "hard", "is both read and written"),
            ("another file", "a", "new", ""),
            ("a new file twice", "new", "./new", "is named twice as an output"),
            ("behind a link", "sub/new", "link/new", "is named twice as an output"),
        ];
        for (case, first, second, expected) in cases {
            let places = if at(first).exists() {
                Places::default().reads([at(first)]).writes([at(second)])
            } else {
                Places::default().writes([at(first), at(second)])
            };
            let said = refusal(&places, Force::GIVEN);
            let fits = if expected.is_empty() { said.is_empty() } else { said.ends_with(expected) };
            assert!(fits, "{case}: {said:?}");
        }
    }

    #[test]
    fn what_exists_needs_force() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("full/inner")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::write(at("file"), "").unwrap();
        let file = |name: &str| Places::default().writes([at(name)]);
        let directory = |name: &str| Places::default().makes_directory(&at(name));
        let inside = || directory("full").reads([at("full/inner")]);
        let cases = [
            ("a new file", file("new"), "", ""),
            ("a file", file("file"), "exists", ""),
            ("a directory for a file", file("empty"), "is a directory", "is a directory"),
            ("a new directory", directory("new"), "", ""),
            ("an empty directory", directory("empty"), "", ""),
            ("a full directory", directory("full"), "exists", ""),
            ("a file for a directory", directory("file"), "not a directory", "not a directory"),
            ("around an input", inside(), "which is written", "which is written"),
            ("stdout", Places::default().reads(["-"]).writes(["-"]), "", ""),
            (
                "stdout twice",
                Places::default().writes(["-", "-"]),
                "stdout is named",
                "stdout is named",
            ),
        ];
        for (case, places, careful, forced) in cases {
            for (force, expected) in [(Force::default(), careful), (Force::GIVEN, forced)] {
                let said = refusal(&places, force);
                let fits = said.contains(expected) && said.is_empty() == expected.is_empty();
                assert!(fits, "{case}, {}: {said:?}", force.is_given());
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_replaced_by_files() {
        let said = refusal(&Places::default().writes(["/dev/null"]), Force::GIVEN);
        assert_eq!(said, "/dev/null is not a regular file");
    }
}
