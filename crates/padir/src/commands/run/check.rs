//! Whether every command line is one, and what trainings read and make.
//!
//! Command lines are parsed by the parser that will parse them, training configurations are checked by the
//! function that will read them: nothing that can be known now is found out after hours of work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::error::ErrorKind;
use padir_train::config::{Config, ConfigError};

use super::faults::Faults;
use super::names::Names;
use super::recipe::Embedded;
use super::stage::Stage;
use crate::arguments;
use crate::commands::Command;
use crate::commands::train::Train;

/// What command lines are checked against.
pub(super) struct Scene<'a> {
    /// The recipe's own path, which faults name.
    pub(super) recipe: &'a Path,
    pub(super) names: &'a Names,
    pub(super) files: &'a BTreeMap<String, Embedded>,
}

/// Checks all stages, and adds to trainings what their configurations say.
pub(super) fn check(scene: &Scene<'_>, stages: &mut [Stage], faults: &mut Faults) {
    // First those that need nothing of others, then those that name what the first make.
    for refers in [false, true] {
        let made = if refers { outputs(stages) } else { BTreeMap::new() };
        for stage in stages.iter_mut().filter(|stage| stage.refers_to_outputs() == refers) {
            if refers {
                stage.put_in(&made, faults);
            }
            check_stage(scene, stage, faults);
        }
    }
}

/// What is made under each name of the recipe.
fn outputs(stages: &[Stage]) -> BTreeMap<String, Vec<String>> {
    let mut made: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for stage in stages {
        made.entry(stage.family.clone()).or_default().extend(stage.outputs.iter().cloned());
    }
    made
}

fn check_stage(scene: &Scene<'_>, stage: &mut Stage, faults: &mut Faults) {
    let before = faults.count();
    let words = std::iter::once("padir").chain(stage.arguments());
    match arguments::parse(words) {
        Ok(cli) => match cli.command {
            Command::Train(train) => check_training(scene, stage, &train, faults),
            Command::Evaluate(evaluate) => {
                check_decoder(stage, evaluate.check(), faults);
                add_shortlist(scene, stage, evaluate.shortlist());
            }
            Command::Distil(distil) => {
                check_decoder(stage, distil.check(), faults);
                add_shortlist(scene, stage, distil.shortlist());
            }
            Command::Translate(translate) => add_shortlist(scene, stage, translate.shortlist()),
            Command::Run(_) => {
                faults.at(
                    stage.place,
                    format!("stage {:?}: a recipe cannot run a recipe", stage.name),
                );
            }
            _ => {}
        },
        Err(error) => {
            let message = format!("stage {:?}: {}", stage.name, first_words(&error));
            faults.at(stage.place, message);
        }
    }
    // What a faulty training makes is not known.
    if stage.outputs.is_empty() && faults.count() == before {
        let message = format!("stage {:?} makes nothing: name its `outputs`", stage.name);
        faults.at(stage.place, message);
    }
}

/// A shortlist lies in a model's directory, but is no part of what the model's stage made.
fn add_shortlist(scene: &Scene<'_>, stage: &mut Stage, shortlist: Option<PathBuf>) {
    stage.inputs.extend(shortlist.map(|path| scene.names.call(&path.display().to_string())));
}

/// Settings of a decoder are known before its model is.
fn check_decoder(stage: &Stage, checked: Result<()>, faults: &mut Faults) {
    if let Err(error) = checked {
        faults.at(stage.place, format!("stage {:?}: {error}", stage.name));
    }
}

/// What clap says, without the usage and the advice.
fn first_words(error: &clap::Error) -> String {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        return "the command line only asks for help".to_owned();
    }
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    words.strip_prefix("error: ").unwrap_or(&words).to_owned()
}

fn check_training(scene: &Scene<'_>, stage: &mut Stage, train: &Train, faults: &mut Faults) {
    if !train.can_be_repeated() {
        let message = format!(
            "stage {:?}: after an interruption this training could not go on: add \"--resume-or-begin\"",
            stage.name
        );
        faults.at(stage.place, message);
    }
    let Some(path) = train.config() else { return };
    let name = path.display().to_string();
    let Some(file) = scene.files.get(&name) else {
        let message = format!("stage {:?}: there is no {name:?} in [files]", stage.name);
        faults.at(stage.place, message);
        return;
    };
    match Config::preview(scene.recipe, &file.text.full, train.overrides()) {
        Ok(config) => adopt(stage, &config, scene.names, faults),
        Err(ConfigError::Problems { problems, .. }) => {
            for problem in problems {
                faults.embedded(problem, file.first_line, &stage.name);
            }
        }
        Err(error) => faults.at(file.place, error.to_string()),
    }
}

/// What a training reads and makes.
fn adopt(stage: &mut Stage, config: &Config, names: &Names, faults: &mut Faults) {
    let dir = config.run.dir.display().to_string();
    if !super::stage::is_below(&dir) {
        let message = format!("stage {:?}: `run.dir` is {dir:?}, not below `dir`", stage.name);
        faults.at(stage.place, message);
    }
    for path in config.data.all_paths().into_iter().chain(&config.model.start_from) {
        stage.inputs.insert(names.call(&path.display().to_string()));
    }
    let best = config.run.metric.as_ref().map(|_| format!("{dir}/best"));
    stage.outputs.extend(best.into_iter().chain([format!("{dir}/final")]));
    stage.work.push(dir);
}
