//! Checkpoints of a run: all that is needed to go on to the bit.
//!
//! ```text
//! checkpoints/step-0000001000/   a whole model (see `padir_checkpoint`), and
//!     optimiser.safetensors      what the optimiser remembers
//!     average.safetensors        moving averages, if they are kept
//!     progress.json              where the run stands
//! best/                          the best model so far, without the rest
//! ```

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use padir_checkpoint::tensors::{TensorFile, TensorWriter};
use padir_checkpoint::{Checkpoint, CheckpointError, CheckpointWriter, Extras, TensorError};
use padir_text::batch::Bookmark;
use padir_text::shortlist::SHORTLIST;
use serde::{Deserialize, Serialize};

use crate::learner::Learner;
use crate::objective::Statistics;

const CHECKPOINTS: &str = "checkpoints";
const OPTIMISER: &str = "optimiser.safetensors";
const AVERAGE: &str = "average.safetensors";
const PROGRESS: &str = "progress.json";

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// Target tokens learnt from.
    pub tokens: u64,
    /// Seconds of training, all sessions together.
    pub seconds: f64,
    /// The next batch.
    pub bookmark: Bookmark,
    /// The best value of the metric so far.
    pub best: Option<f64>,
    /// The step it was reached at.
    pub best_step: u64,
    /// Evaluations since.
    pub waited: u32,
    /// The step that was evaluated last.
    pub evaluated: u64,
    /// What was counted since the last line of the record.
    pub statistics: Statistics,
}

/// A checkpoint of a run cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// What belongs to it.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// Another file.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The progress is not one.
    #[error("{} is not the progress of a run", path.display())]
    Progress {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// An array has another size.
    #[error("{}: {name} has {found} numbers instead of {wanted}", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// The array.
        name: String,
        /// How many it should have.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
}

/// The directory of a step's checkpoint.
fn place(run: &Path, step: u64) -> PathBuf {
    run.join(CHECKPOINTS).join(format!("step-{step:010}"))
}

/// The steps that have checkpoints, the oldest first.
pub fn steps(run: &Path) -> Vec<u64> {
    let entries = fs::read_dir(run.join(CHECKPOINTS)).into_iter().flatten().flatten();
    let mut steps: Vec<u64> = entries
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("step-")?.parse().ok())
        .collect();
    steps.sort_unstable();
    steps
}

/// Writes the checkpoint of this moment and removes all others but the last `keep` at multiples of `every`.
///
/// # Errors
/// If the disk is full; older checkpoints are then intact.
pub fn save(
    run: &Path,
    learner: &Learner,
    progress: &Progress,
    extras: &Extras<'_>,
    keep: u32,
    every: u64,
) -> Result<PathBuf, StateError> {
    let folder = run.join(CHECKPOINTS);
    fs::create_dir_all(&folder)
        .map_err(|source| StateError::File { path: folder.clone(), source })?;
    let directory = place(run, progress.step);
    let writer = begin(&directory, learner, extras, false)?;
    write_optimiser(&writer.path().join(OPTIMISER), learner)?;
    if !learner.average().is_empty() {
        let names = learner.network().config().parameters();
        let plan = names.iter().map(|parameter| (parameter.name.clone(), parameter.shape.clone()));
        let mut file = TensorWriter::create(writer.path().join(AVERAGE), plan, &[])?;
        for numbers in learner.average() {
            file.push(numbers)?;
        }
        file.finish()?;
    }
    let text = serde_json::to_vec_pretty(progress)
        .map_err(|source| StateError::Progress { path: directory.join(PROGRESS), source })?;
    writer.file(PROGRESS, &text)?;
    writer.commit()?;
    // Checkpoints out of turn come from interruptions and the clock: averages over the last must not see them.
    let in_turn = |step: u64| step > 0 && step.is_multiple_of(every);
    let (regular, odd): (Vec<u64>, Vec<u64>) =
        steps(run).into_iter().partition(|&step| in_turn(step) || step == progress.step);
    for &old in regular.iter().rev().skip(keep.max(1) as usize).chain(&odd) {
        // A checkpoint that stays costs room and nothing else.
        let _ = fs::remove_dir_all(place(run, old));
    }
    Ok(directory)
}

/// Writes a model to use: the moving averages if they are kept, else the parameters. A shortlist, which depends on the vocabulary
/// alone, stays with it.
///
/// # Errors
/// If the disk is full; what stood there is then intact.
pub fn export(directory: &Path, learner: &Learner, extras: &Extras<'_>) -> Result<(), StateError> {
    Ok(begin(directory, learner, extras, true)?.keeping(SHORTLIST).commit()?)
}

fn begin(
    directory: &Path,
    learner: &Learner,
    extras: &Extras<'_>,
    averaged: bool,
) -> Result<CheckpointWriter, StateError> {
    let network = learner.network();
    let writer = CheckpointWriter::create(directory, network.config(), extras)?;
    let weights = network.weights();
    let mut index = 0;
    writer.tensors(|_| {
        let average = learner.average().get(index).filter(|_| averaged);
        let numbers = average
            .map_or_else(|| Cow::Owned(weights[index].numbers()), |a| Cow::Borrowed(a.as_slice()));
        index += 1;
        Some(numbers)
    })?;
    Ok(writer)
}

fn write_optimiser(path: &Path, learner: &Learner) -> Result<(), StateError> {
    let parameters = learner.network().config().parameters();
    let mut plan = Vec::new();
    for (parameter, state) in parameters.iter().zip(&learner.states) {
        for tensor in state.tensors() {
            plan.push((format!("{}{}", parameter.name, tensor.suffix), vec![tensor.values.len()]));
        }
    }
    let mut file = TensorWriter::create(path, plan, &[])?;
    for state in &learner.states {
        for tensor in state.tensors() {
            file.push(tensor.values)?;
        }
    }
    Ok(file.finish()?)
}

/// Brings a learner to where the newest checkpoint of a run stands; `None` if there is none.
///
/// # Errors
/// If the checkpoint is damaged or of another model.
pub fn load_last(run: &Path, learner: &mut Learner) -> Result<Option<Progress>, StateError> {
    match steps(run).last() {
        Some(&step) => load(&place(run, step), learner).map(Some),
        None => Ok(None),
    }
}

fn load(directory: &Path, learner: &mut Learner) -> Result<Progress, StateError> {
    let checkpoint = Checkpoint::open(directory)?;
    let parameters = learner.network().config().parameters();
    let model = directory.join("model.safetensors");
    for (parameter, weight) in parameters.iter().zip(learner.network_mut().weights_mut()) {
        let numbers = checkpoint.tensor(&parameter.name)?;
        check_size(&model, &parameter.name, parameter.len(), numbers.len())?;
        weight.update(|into| into.copy_from_slice(&numbers));
    }
    let path = directory.join(OPTIMISER);
    let file = TensorFile::open(&path)?;
    for (parameter, state) in parameters.iter().zip(&mut learner.states) {
        for (suffix, into) in state.tensors_mut() {
            let name = format!("{}{suffix}", parameter.name);
            let numbers = file.read(&name)?;
            check_size(&path, &name, into.len(), numbers.len())?;
            into.copy_from_slice(&numbers);
        }
    }
    if !learner.average.is_empty() {
        let path = directory.join(AVERAGE);
        let file = TensorFile::open(&path)?;
        for (parameter, into) in parameters.iter().zip(&mut learner.average) {
            let numbers = file.read(&parameter.name)?;
            check_size(&path, &parameter.name, into.len(), numbers.len())?;
            into.copy_from_slice(&numbers);
        }
    }
    let path = directory.join(PROGRESS);
    let text = fs::read(&path).map_err(|source| StateError::File { path: path.clone(), source })?;
    let progress: Progress =
        serde_json::from_slice(&text).map_err(|source| StateError::Progress { path, source })?;
    learner.step = progress.step;
    Ok(progress)
}

fn check_size(path: &Path, name: &str, wanted: usize, found: usize) -> Result<(), StateError> {
    if wanted == found {
        return Ok(());
    }
    Err(StateError::Size { path: path.to_owned(), name: name.to_owned(), wanted, found })
}

/// Writes the mean of the last checkpoints' parameters as a model.
///
/// # Errors
/// If a checkpoint cannot be read, or the disk is full.
pub fn export_average(
    run: &Path,
    directory: &Path,
    learner: &Learner,
    extras: &Extras<'_>,
    last: u32,
) -> Result<(), StateError> {
    let steps = steps(run);
    let chosen = steps.iter().rev().take(last as usize);
    let checkpoints: Vec<Checkpoint> =
        chosen.map(|&step| Checkpoint::open(place(run, step))).collect::<Result<_, _>>()?;
    let config = learner.network().config();
    let mut means = Vec::new();
    for parameter in config.parameters() {
        let mut mean = vec![0.0; parameter.len()];
        for (n, checkpoint) in (1..).zip(&checkpoints) {
            padir_kernels::optimiser::running_average(
                &mut mean,
                &checkpoint.tensor(&parameter.name)?,
                n,
            );
        }
        means.push(mean);
    }
    let writer = CheckpointWriter::create(directory, config, extras)?;
    let mut means = means.into_iter();
    writer.tensors(|_| means.next().map(Cow::Owned))?;
    Ok(writer.keeping(SHORTLIST).commit()?)
}
