//! Why a run cannot go on.

use std::path::PathBuf;

use padir_checkpoint::CheckpointError;
use padir_model::NetworkError;
use padir_text::batch::BatchError;
use padir_text::vocab::VocabError;

use crate::data::DataError;
use crate::learner::NotFinite;
use crate::record::RecordError;
use crate::rundir::RunDirError;
use crate::state::StateError;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Its directory.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// Its vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabError),
    /// Its data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its batches.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// Its network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The model of `model.start_from`.
    #[error(transparent)]
    StartFrom(#[from] CheckpointError),
    /// Its ids mean something else.
    #[error("{} was trained with another vocabulary: its parameters mean something else", model.display())]
    OtherVocabulary {
        /// Its directory.
        model: PathBuf,
    },
    /// None of its parameters fits.
    #[error("{} has no parameter of the name and shape of one of the network's", model.display())]
    NothingInCommon {
        /// Its directory.
        model: PathBuf,
    },
    /// A checkpoint to go on from.
    #[error(transparent)]
    Load(StateError),
    /// A checkpoint or model to be left; what stood in its place stands there still.
    #[error(transparent)]
    Save(StateError),
    /// The record.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A dev set cannot be translated.
    #[error("cannot translate a dev set")]
    Decode(#[from] padir_translate::TranslateError),
    /// The device is not there.
    #[error("this build has no {0}")]
    Device(&'static str),
    /// The loss is not a number any more.
    #[error("{found}; the batch is in {}", batch.display())]
    NotFinite {
        /// What was found.
        found: NotFinite,
        /// Where the batch was written.
        batch: PathBuf,
    },
    /// No pair can be learnt from.
    #[error(
        "no pair of the training data is within batch.max_source and batch.max_target, or a batch is too small for one"
    )]
    Nothing,
    /// The best model cannot be told: an evaluation did not measure what it is best in.
    #[error("the evaluation of step {step} has no {metric}")]
    Unmeasured {
        /// The step.
        step: u64,
        /// What `run.metric` asks for.
        metric: String,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}
