//! Whether a stage must run, and why.

use std::fmt;
use std::path::Path;

use padir_base::hash::hash_bytes;

use super::digest::Digests;
use super::recipe::Recipe;
use super::record::{Hashes, Identity, StageRecord, StageState};
use super::stage::Stage;
use crate::Error;

/// What is to be done about a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing: all is as it was.
    Unchanged,
    /// It cannot run: these inputs are not there.
    Missing(Vec<String>),
    /// It runs.
    Run(Why),
}

/// Why a stage runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    New,
    Asked,
    Interrupted,
    Failed,
    Command,
    File(String),
    Input(String),
    /// An output is gone.
    Lost(String),
    /// An output is not what was made.
    Touched(String),
}

impl Why {
    /// Whether the stage goes on with what it left, rather than beginning anew. Many commands would refuse to write where something
    /// lies; those that go on have a place for their work.
    pub(super) fn goes_on(&self, stage: &Stage) -> bool {
        let can = !stage.work.is_empty() || stage.resumes;
        can && matches!(self, Self::Interrupted | Self::Failed | Self::Lost(_))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => f.write_str("not run yet"),
            Self::Asked => f.write_str("asked for"),
            Self::Interrupted => f.write_str("was interrupted"),
            Self::Failed => f.write_str("failed, is tried again"),
            Self::Command => f.write_str("its command changed"),
            Self::File(name) | Self::Input(name) => write!(f, "{name} changed"),
            Self::Lost(name) => write!(f, "{name} is gone"),
            Self::Touched(name) => write!(f, "{name} is not what it made"),
        }
    }
}

/// What a stage is now; or the inputs that are not there.
pub(super) fn identify(
    recipe: &Recipe,
    stage: &Stage,
    digests: &mut Digests,
) -> Result<Result<Identity, Vec<String>>, Error> {
    let mut inputs = Hashes::new();
    let mut missing = Vec::new();
    for input in &stage.inputs {
        match hash(digests, &recipe.dir.join(&input.full))? {
            Some(digest) => {
                inputs.insert(input.shown.clone(), digest);
            }
            None => missing.push(input.full.clone()),
        }
    }
    if !missing.is_empty() {
        return Ok(Err(missing));
    }
    let text = |name: &String| {
        let content = recipe.files.get(name).map_or("", |text| text.shown.as_str());
        (name.clone(), hash_bytes(essence(content).as_bytes()))
    };
    let files = stage.files.iter().map(text).collect();
    Ok(Ok(Identity { command: stage.shown(), files, inputs }))
}

/// What matters of a file of the recipe: of TOML what it says, whatever its comments and its layout. Others are as they are.
fn essence(content: &str) -> String {
    let meaning = content.parse::<toml::Table>().ok();
    let meaning = meaning.and_then(|table| toml::to_string(&table).ok());
    meaning.unwrap_or_else(|| content.to_owned())
}

/// The hashes of what a stage makes, as far as it is there.
pub(super) fn outputs(
    recipe: &Recipe,
    stage: &Stage,
    digests: &mut Digests,
) -> Result<Hashes, Error> {
    let mut outputs = Hashes::new();
    for output in &stage.outputs {
        if let Some(digest) = hash(digests, &recipe.dir.join(output))? {
            outputs.insert(output.clone(), digest);
        }
    }
    Ok(outputs)
}

fn hash(digests: &mut Digests, path: &Path) -> Result<Option<padir_base::hash::Sha256>, Error> {
    digests.of(path).map_err(Error::reading(path))
}

/// Compares what a stage is with what it was.
pub(super) fn decide(
    stage: &Stage,
    now: &Identity,
    outputs: &Hashes,
    before: Option<&StageRecord>,
    is_asked: bool,
) -> Option<Why> {
    let Some(before) = before else { return Some(Why::New) };
    let was = &before.identity;
    if was.command != now.command {
        return Some(Why::Command);
    }
    if let Some(name) = difference(&was.files, &now.files) {
        return Some(Why::File(name));
    }
    if let Some(name) = difference(&was.inputs, &now.inputs) {
        return Some(Why::Input(name));
    }
    match before.state {
        // Asked for or not, what was interrupted must not be lost.
        StageState::Begun => return Some(Why::Interrupted),
        StageState::Failed if !is_asked => return Some(Why::Failed),
        StageState::Failed | StageState::Done if is_asked => return Some(Why::Asked),
        StageState::Failed | StageState::Done => {}
    }
    let touched = stage.outputs.iter().find(|output| {
        outputs.get(*output).is_some_and(|digest| before.outputs.get(*output) != Some(digest))
    });
    if let Some(name) = touched {
        return Some(Why::Touched(name.clone()));
    }
    let lost = stage.outputs.iter().find(|output| !outputs.contains_key(*output));
    lost.map(|name| Why::Lost(name.clone()))
}

/// The first name whose hashes differ, or that only one side has.
fn difference(was: &Hashes, now: &Hashes) -> Option<String> {
    let mut names = now.keys().chain(was.keys());
    names.find(|name| was.get(*name) != now.get(*name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_toml_only_what_it_says_matters() {
        let said = "[run]\nsteps = 3 # few\nseed = 1\n";
        for (case, text, is_same) in [
            ("another comment", "# new\n[run]\nsteps = 3\nseed = 1\n", true),
            ("another layout", "[run]\nseed=1\nsteps   = 3", true),
            ("another value", "[run]\nsteps = 4 # few\nseed = 1\n", false),
            ("another section", "[runs]\nsteps = 3 # few\nseed = 1\n", false),
            ("no TOML", "steps are 3", false),
        ] {
            assert_eq!(essence(said) == essence(text), is_same, "{case}");
        }
        assert_eq!(essence("a text # of no form"), "a text # of no form");
    }
}
