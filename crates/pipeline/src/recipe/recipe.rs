//! From what is written to what is run: names filled in, stages repeated for their combinations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::check::Checker;
use super::command::{Commands, RecipeFiles};
use super::faults::{Faults, Place};
use super::names::Names;
use super::source::{At, Source, SourceStage, place};
use super::stage::{Argument, Stage, is_below};
use super::template::{Text, only_name};
use super::{RecipeError, graph};

/// Names that `padir run` keeps for itself.
pub(crate) const RECORD: &str = "stages.json";
pub(super) const LOCK: &str = "stages.lock";
pub(super) const REPLACED: &str = "replaced";

/// A recipe that can be run.
pub struct Recipe {
    /// Where everything goes and all commands run.
    pub(super) dir: PathBuf,
    pub(super) needs_data: Option<String>,
    pub(super) files: BTreeMap<String, Text>,
    /// In an order in which nothing is read before it is made.
    pub(super) stages: Vec<Stage>,
    /// For each stage, the stages whose outputs it reads.
    pub(super) needs: Vec<BTreeSet<usize>>,
}

/// A file of the recipe, and the line of the recipe that is its first.
pub(super) struct Embedded {
    pub(super) text: Text,
    pub(super) place: Place,
    pub(super) first_line: usize,
}

impl Recipe {
    /// Reads and checks a recipe: its form, its command lines and what they read of it. Data need not be there. `flags` are changes
    /// of `dir`, data and values, each as `key=value`.
    ///
    /// # Errors
    /// With all faults there are.
    pub fn read(
        path: &Path,
        flags: &[String],
        commands: &dyn Commands,
    ) -> Result<Self, RecipeError> {
        let text = fs::read_to_string(path)
            .map_err(|source| RecipeError::Read { path: path.to_owned(), source })?;
        let mut faults = Faults::new(path, &text);
        let recipe = Self::assemble(path, &text, flags, commands, &mut faults);
        faults.finish().map_err(RecipeError::Faults)?;
        recipe.ok_or(RecipeError::Unreadable)
    }

    /// Where everything goes and all commands run.
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// The stages in order: their names and command lines.
    pub fn lines(&self) -> impl Iterator<Item = (&str, String)> {
        self.stages.iter().map(|stage| (stage.name.as_str(), stage.line()))
    }

    fn assemble(
        path: &Path,
        text: &str,
        flags: &[String],
        commands: &dyn Commands,
        faults: &mut Faults,
    ) -> Option<Self> {
        let source = Source::parse(text, flags, faults)?;
        if source.dir.is_empty() {
            faults.at(Place(0), "`dir` is empty");
        }
        let names = Names::of(&source, faults);
        let files = embedded_files(&source, text, &names, faults);
        let mut stages = Vec::new();
        for stage in &source.stage {
            expand(stage, &names, &mut stages, faults);
        }
        if source.stage.is_empty() {
            faults.at(Place(0), "there is no [[stage]]");
        }
        let embedded = RecipeFiles { recipe: path, files: &files };
        let checker = Checker { commands, names: &names, files: embedded };
        checker.check(&mut stages, faults);
        let needs_data = source.needs_data.map(|text| names.fill(&text, &[], faults).full);
        // Faults so far would only be repeated in other words.
        if faults.count() > 0 {
            return None;
        }
        let (stages, needs) = graph::connect(stages, &names, &files, faults)?;
        let files = files.into_iter().map(|(name, file)| (name, file.text)).collect();
        Some(Self { dir: PathBuf::from(source.dir), needs_data, files, stages, needs })
    }

    /// The stages with a name, or with a name in the recipe.
    pub(super) fn named(&self, name: &str) -> Result<Vec<usize>, RecipeError> {
        let is_meant = |stage: &Stage| stage.name == name || stage.family == name;
        let found: Vec<usize> =
            (0..self.stages.len()).filter(|&index| is_meant(&self.stages[index])).collect();
        if found.is_empty() {
            let known = self.stages.iter().map(|stage| stage.name.clone()).collect();
            return Err(RecipeError::NoStage { name: name.to_owned(), known });
        }
        Ok(found)
    }
}

fn embedded_files(
    source: &Source,
    text: &str,
    names: &Names,
    faults: &mut Faults,
) -> BTreeMap<String, Embedded> {
    let mut files = BTreeMap::new();
    for (key, content) in &source.files {
        let name = key.get_ref();
        if !is_below(name) {
            faults.at(place(key), format!("the file {name:?} is not below `dir`"));
        }
        // A text in three quotes begins on the next line if there is nothing behind them.
        let written = &text[content.span()];
        let is_below_quotes = written.get(3..).is_some_and(|t| t.starts_with(['\n', '\r']));
        let first_line = faults.line(place(content)) + usize::from(is_below_quotes);
        let text = names.fill(content, &[], faults);
        files.insert(name.clone(), Embedded { text, place: place(key), first_line });
    }
    files
}

/// All combinations of the values of `each`, in the order they are written.
fn combinations(stage: &SourceStage) -> Vec<Vec<(String, String)>> {
    let mut axes: Vec<_> = stage.each.iter().collect();
    axes.sort_by_key(|(key, _)| key.span().start);
    let mut all = vec![Vec::new()];
    for (key, values) in axes {
        let mut longer = Vec::with_capacity(all.len() * values.len());
        for combination in &all {
            for value in values {
                let mut next: Vec<(String, String)> = combination.clone();
                next.push((key.get_ref().clone(), value.0.clone()));
                longer.push(next);
            }
        }
        all = longer;
    }
    all
}

/// More stages than anybody means.
const MOST_COMBINATIONS: usize = 10_000;

fn expand(stage: &SourceStage, names: &Names, stages: &mut Vec<Stage>, faults: &mut Faults) {
    let sizes = stage.each.values().map(Vec::len);
    let number = sizes.fold(1_usize, usize::saturating_mul);
    if number == 0 || number > MOST_COMBINATIONS {
        let name = stage.name.get_ref();
        faults.at(place(&stage.name), format!("`each` of {name:?} has {number} combinations"));
        return;
    }
    for key in stage.each.keys().filter(|key| key.get_ref().contains('.')) {
        faults.at(place(key), format!("the name {:?} has a dot", key.get_ref()));
    }
    if stage.run.get_ref().is_empty() {
        faults.at(place(&stage.run), "`run` is empty");
    }
    for combination in combinations(stage) {
        let values = combination.iter().map(|(_, value)| value.as_str());
        let name: Vec<&str> =
            std::iter::once(stage.name.get_ref().as_str()).chain(values).collect();
        let name = name.join("-");
        if !is_word(&name) {
            let message = format!("{name:?} is no name of a stage: letters, digits and `-_.` are");
            faults.at(place(&stage.name), message);
        }
        let earlier = stages.iter().any(|other| other.name == name);
        if earlier {
            faults.at(place(&stage.name), format!("there are two stages {name:?}"));
        }
        stages.push(combine(stage, name, &combination, names, faults));
    }
}

fn combine(
    stage: &SourceStage,
    name: String,
    combination: &[(String, String)],
    names: &Names,
    faults: &mut Faults,
) -> Stage {
    let command = stage.run.get_ref().iter().map(|word| match only_name(word.get_ref()) {
        Some(name) if name.starts_with("outputs.") => {
            let of = name["outputs.".len()..].to_owned();
            Argument::Outputs { of, place: place(word) }
        }
        _ => Argument::Text(names.fill(word, combination, faults)),
    });
    let command = command.collect();
    let mut own = |paths: &[At<String>]| -> Vec<String> {
        paths.iter().map(|path| own_path(path, combination, names, faults)).collect()
    };
    let stdout = stage.stdout.as_ref().map(|path| own(std::slice::from_ref(path)).remove(0));
    let mut outputs = own(&stage.outputs);
    outputs.extend(stdout.clone());
    let work = own(&stage.work);
    let inputs = stage.inputs.iter().map(|path| names.fill(path, combination, faults)).collect();
    Stage {
        name,
        family: stage.name.get_ref().clone(),
        place: place(&stage.name),
        command,
        stdout,
        inputs,
        outputs,
        work,
        files: BTreeSet::new(),
        resumes: false,
    }
}

/// A path that a stage writes, which must be in the directory: it will be moved away some day.
fn own_path(
    path: &At<String>,
    combination: &[(String, String)],
    names: &Names,
    faults: &mut Faults,
) -> String {
    let filled = names.fill(path, combination, faults).full;
    if !is_below(&filled) {
        faults.at(place(path), format!("{filled:?} is not below `dir`"));
    } else if [RECORD, LOCK, REPLACED].iter().any(|kept| super::stage::lies_in(&filled, kept)) {
        faults.at(place(path), format!("{filled:?} is a name that `padir run` keeps for itself"));
    }
    filled
}

fn is_word(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_part)
}
