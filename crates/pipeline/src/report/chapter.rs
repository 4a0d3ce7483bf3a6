//! One recipe: everything its stages left behind.

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::hash::hash_bytes;
use padir_train::rundir::CONFIG;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ReportError;
use super::groups::Scored;
use super::inputs::{Change, Inputs};
use super::latency::Latencies;
use super::samples::Samples;
use super::training::Training;
use crate::Error;
use crate::distil::Report as Distillation;
use crate::progress::Progress;
use crate::recipe::RECORD;
use crate::recipe::record::{Record, StageRecord, StageState};

/// A stage that is done, and its name.
type Finished<'a> = (&'a str, &'a StageRecord);

/// Commands whose stages leave figures.
const DISTIL: &[&str] = &["distil"];
const EVALUATE: &[&str] = &["evaluate"];
const LATENCY: &[&str] = &["bench", "decode"];
const SAMPLES: &[&str] = &["translate"];
/// Where recipes put what settings are chosen by.
const CHOICES: &str = "dev";

/// One recipe.
#[derive(Serialize)]
pub struct Chapter {
    /// What its directory is called.
    pub(super) name: String,
    pub(super) trainings: Vec<Training>,
    pub(super) distillations: Vec<Distillation>,
    pub(super) evaluations: Vec<Scored>,
    pub(super) latencies: Vec<Latencies>,
    pub(super) samples: Vec<Samples>,
    /// The files all that was read from, below the directory.
    #[serde(skip)]
    pub(super) sources: Vec<PathBuf>,
}

impl Chapter {
    pub(super) fn read(progress: &dyn Progress, directory: &Path) -> Result<Self, Error> {
        let record = Record::read(directory)?;
        let done: Vec<Finished<'_>> =
            record.stages().filter(|(_, stage)| stage.state == StageState::Done).collect();
        if done.is_empty() {
            return Err(ReportError::NoStage(directory.to_owned()).into());
        }
        for (name, stage) in record.stages() {
            if stage.state != StageState::Done {
                let directory = directory.display();
                progress.note(&format!("{directory}: {name} is not finished and left out"));
            }
        }
        let valid = valid(progress, directory, &record, &done)?;
        let name = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut sources = vec![PathBuf::from(RECORD)];
        let mut evaluations = Vec::new();
        for (file, evaluation) in read_files(directory, &valid, EVALUATE, printed, json)? {
            evaluations.push(Scored { evaluation, is_choice: file.starts_with(CHOICES) });
            sources.push(file);
        }
        evaluations.sort_by_key(|scored: &Scored| scored.is_choice);
        Ok(Self {
            name: name.unwrap_or_else(|| "results".to_owned()),
            trainings: trainings(directory, &done, &mut sources)?,
            distillations: read_all(directory, &valid, DISTIL, distillation, json, &mut sources)?,
            evaluations,
            latencies: read_all(directory, &valid, LATENCY, printed, json, &mut sources)?,
            samples: read_all(
                directory,
                &valid,
                SAMPLES,
                Samples::file,
                Samples::parse,
                &mut sources,
            )?,
            sources,
        })
    }
}

/// Stages that leave figures, without those that read something else than what is there now: beside a model that has been trained
/// again, its predecessor's scores would be taken for its own.
fn valid<'a>(
    progress: &dyn Progress,
    directory: &Path,
    record: &Record,
    done: &[Finished<'a>],
) -> Result<Vec<Finished<'a>>, Error> {
    let mut inputs = Inputs::new(directory, record);
    let mut valid = Vec::new();
    for &(name, stage) in done {
        let (is_distillation, is_table) =
            (runs(stage, DISTIL), runs(stage, EVALUATE) || runs(stage, LATENCY));
        if !is_distillation && !is_table && Samples::file(stage).is_none() {
            continue;
        }
        if is_distillation && distillation(stage).is_none() || is_table && printed(stage).is_none()
        {
            let directory = directory.display();
            progress.note(&format!("{directory}: {name} is left out: it keeps no JSON"));
            continue;
        }
        let why = match inputs.change(stage)? {
            None => {
                valid.push((name, stage));
                continue;
            }
            Some(Change::Other(input)) => format!(
                "{input} is not what it read; `padir run` with --only {name} makes it again"
            ),
            Some(Change::Gone(input)) => format!("{input} is gone; `padir run` makes both again"),
        };
        progress.note(&format!("{}: {name} is left out: {why}", directory.display()));
    }
    Ok(valid)
}

/// The runs that finished stages made, in the order in which they were made.
fn trainings(
    directory: &Path,
    done: &[Finished<'_>],
    sources: &mut Vec<PathBuf>,
) -> Result<Vec<Training>, Error> {
    let mut stages: Vec<&StageRecord> =
        done.iter().map(|(_, stage)| *stage).filter(|stage| runs(stage, &["train"])).collect();
    stages.sort_by_key(|stage| stage.ended);
    let mut trainings = Vec::new();
    for stage in stages {
        let run = stage.outputs.keys().find_map(|output| output.strip_suffix("/final"));
        let run = run.map(|run| directory.join(run)).filter(|run| run.join(CONFIG).is_file());
        if let Some(run) = run {
            let training = Training::read(directory, &run)?;
            sources.extend(training.sources());
            trainings.push(training);
        }
    }
    Ok(trainings)
}

/// JSON, whichever stage wrote it.
fn json<T: DeserializeOwned>(_: &StageRecord, text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text)
}

/// Reads what stages of a command made, and notes the files.
fn read_all<T>(
    directory: &Path,
    finished: &[Finished<'_>],
    command: &[&str],
    file: impl Fn(&StageRecord) -> Option<String>,
    parse: impl Fn(&StageRecord, &[u8]) -> serde_json::Result<T>,
    sources: &mut Vec<PathBuf>,
) -> Result<Vec<T>, Error> {
    let (files, all): (Vec<PathBuf>, Vec<T>) =
        read_files(directory, finished, command, file, parse)?.into_iter().unzip();
    sources.extend(files);
    Ok(all)
}

/// Reads what stages of a command made, with the files' names.
fn read_files<T>(
    directory: &Path,
    finished: &[Finished<'_>],
    command: &[&str],
    file: impl Fn(&StageRecord) -> Option<String>,
    parse: impl Fn(&StageRecord, &[u8]) -> serde_json::Result<T>,
) -> Result<Vec<(PathBuf, T)>, Error> {
    let mut stages: Vec<&Finished<'_>> =
        finished.iter().filter(|(_, stage)| runs(stage, command)).collect();
    stages.sort_by_key(|(_, stage)| stage.ended);
    let mut all = Vec::new();
    for (name, stage) in stages {
        let stage_name = || (*name).to_owned();
        let no_json =
            || ReportError::NoJson { stage: stage_name(), directory: directory.to_owned() };
        let file = file(stage).ok_or_else(no_json)?;
        let path = directory.join(&file);
        let text = fs::read(&path).map_err(Error::reading(&path))?;
        // A report that the recipe counts as work, not as an output, is not in the record.
        if stage.outputs.get(&file).is_some_and(|written| *written != hash_bytes(&text)) {
            return Err(ReportError::Altered { path, stage: stage_name() }.into());
        }
        let value = parse(stage, &text).map_err(|source| ReportError::Form {
            path,
            stage: stage_name(),
            source,
        })?;
        all.push((file.into(), value));
    }
    Ok(all)
}

fn runs(stage: &StageRecord, command: &[&str]) -> bool {
    stage.identity.command.iter().zip(command).filter(|(a, b)| a == b).count() == command.len()
}

/// What a stage printed as JSON.
fn printed(stage: &StageRecord) -> Option<String> {
    let is_json = |output: &&String| Path::new(output).extension().is_some_and(|e| e == "json");
    stage.outputs.keys().find(is_json).cloned()
}

/// The report that lies beside the last output.
fn distillation(stage: &StageRecord) -> Option<String> {
    let words = stage.identity.command.iter().map(String::as_str);
    let before = std::iter::once("").chain(words.clone());
    let output = before.zip(words).filter_map(|(before, word)| match before {
        "-o" | "--output" => Some(word),
        _ => word.strip_prefix("--output="),
    });
    Some(format!("{}.report.json", output.last()?))
}
