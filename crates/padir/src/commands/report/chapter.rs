//! One recipe: everything its stages left behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use padir_train::rundir::find;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::evaluation::Evaluation;
use super::latency::Latencies;
use super::training::Training;
use crate::commands::distil::report::Report as Distillation;
use crate::commands::run::record::{Record, StageRecord, Standing};
use crate::console::Console;
use crate::hint::WithHint;

/// One recipe.
#[derive(Serialize)]
pub(super) struct Chapter {
    /// What its directory is called.
    pub(super) name: String,
    pub(super) trainings: Vec<Training>,
    pub(super) distillations: Vec<Distillation>,
    pub(super) evaluations: Vec<Evaluation>,
    pub(super) latencies: Vec<Latencies>,
}

impl Chapter {
    pub(super) fn read(console: &Console, directory: &Path) -> Result<Self> {
        let record = Record::read(directory)?;
        let done: Vec<(&str, &StageRecord)> =
            record.stages().filter(|(_, stage)| stage.standing == Standing::Done).collect();
        if done.is_empty() {
            return Err(anyhow!("{} holds no finished stage", directory.display()))
                .hint("name directories in which `padir run` worked");
        }
        for (name, stage) in record.stages() {
            if stage.standing != Standing::Done {
                console
                    .note(format!("{}: {name} is not finished and left out", directory.display()));
            }
        }
        let name = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            name: name.unwrap_or_else(|| "results".to_owned()),
            trainings: trainings(directory, &done)?,
            distillations: read_all(directory, &done, &["distil"], distillation)?,
            evaluations: read_all(directory, &done, &["evaluate"], printed)?,
            latencies: read_all(directory, &done, &["bench", "decode"], printed)?,
        })
    }
}

/// The runs that finished stages made, in the order in which they were made.
fn trainings(directory: &Path, done: &[(&str, &StageRecord)]) -> Result<Vec<Training>> {
    let mut stages: Vec<&StageRecord> =
        done.iter().map(|(_, stage)| *stage).filter(|stage| runs(stage, &["train"])).collect();
    stages.sort_by_key(|stage| stage.ended);
    let runs = find(directory).with_context(|| format!("cannot search {}", directory.display()))?;
    let made_by = |stage: &StageRecord, run: &Path| {
        stage.outputs.keys().any(|output| directory.join(output).starts_with(run))
    };
    let mut trainings = Vec::new();
    for stage in stages {
        for run in runs.iter().filter(|run| made_by(stage, run)) {
            trainings.push(Training::read(directory, run)?);
        }
    }
    Ok(trainings)
}

/// Reads what stages of a command made.
fn read_all<T: DeserializeOwned>(
    directory: &Path,
    done: &[(&str, &StageRecord)],
    command: &[&str],
    file: impl Fn(&StageRecord) -> Option<PathBuf>,
) -> Result<Vec<T>> {
    let mut stages: Vec<&(&str, &StageRecord)> =
        done.iter().filter(|(_, stage)| runs(stage, command)).collect();
    stages.sort_by_key(|(_, stage)| stage.ended);
    let mut all = Vec::new();
    for (name, stage) in stages {
        let path = file(stage);
        ensure!(path.is_some(), "stage {name} of {} keeps no JSON", directory.display());
        let path = directory.join(path.unwrap_or_default());
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let value = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not what stage {name} writes", path.display()))
            .hint(format!("`padir run` with --from {name} makes it again"))?;
        all.push(value);
    }
    Ok(all)
}

fn runs(stage: &StageRecord, command: &[&str]) -> bool {
    stage.identity.command.iter().zip(command).filter(|(a, b)| a == b).count() == command.len()
}

/// What a stage printed as JSON.
fn printed(stage: &StageRecord) -> Option<PathBuf> {
    let is_json = |output: &&String| Path::new(output).extension().is_some_and(|e| e == "json");
    stage.outputs.keys().find(is_json).map(PathBuf::from)
}

/// The report that lies beside the last output.
fn distillation(stage: &StageRecord) -> Option<PathBuf> {
    let mut words = stage.identity.command.iter().rev();
    let output = words.by_ref().zip(stage.identity.command.iter().rev().skip(1));
    let (output, _) =
        output.into_iter().find(|(_, option)| *option == "-o" || *option == "--output")?;
    Some(PathBuf::from(format!("{output}.report.json")))
}
