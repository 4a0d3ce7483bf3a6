//! The data of a run: shards to learn from, dev sets to watch.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use padir_text::corpus::{Corpus, Reading};
use padir_text::origin::Origin;
use padir_text::pair::CorpusError;
use padir_text::portion::Portion;
use padir_text::shard::{Extent, Lexicon, MAX_LENGTH, ShardError, ShardSet, ShardWriter};
use padir_text::vocab::Vocabulary;

use crate::config::{Config, TextFiles, TrainData};
use crate::devset::{DevSet, Limits};

/// The data cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The text.
    #[error("cannot read {corpus}")]
    Corpus {
        /// Which files.
        corpus: String,
        /// Why.
        source: CorpusError,
    },
    /// There is nothing to learn from.
    #[error("{0}: the training data is empty")]
    NoPairs(String),
    /// There is nothing to evaluate.
    #[error("the dev set {0:?} is empty")]
    NoLines(String),
    /// A dev set has nothing to evaluate.
    #[error("the dev set {0:?} has no pair that is short enough")]
    Empty(String),
    /// The shards.
    #[error(transparent)]
    Shards(#[from] ShardError),
    /// Somebody stopped the work; nothing of it is left.
    #[error("stopped while the training data was encoded")]
    Stopped,
}

/// The shards to learn from. Text is encoded once, into the directory of the run; `note` hears how many pairs are left out.
///
/// # Errors
/// If text or shards cannot be read, the shards were made with another vocabulary, or `stop` was set meanwhile.
pub fn shards(
    config: &Config,
    vocabulary: &Vocabulary,
    directory: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<ShardSet, DataError> {
    let place = match &config.data.train {
        TrainData::Shards { shards } => shards.clone(),
        TrainData::Files(files) => {
            let place = directory.join("data");
            if !place.is_dir() {
                let too_long = encode(files, vocabulary, &place, stop)?;
                if too_long > 0 {
                    note(&format!(
                        "left out {too_long} pairs with more than {MAX_LENGTH} tokens on a side"
                    ));
                }
            }
            place
        }
    };
    let shards = ShardSet::open(place)?;
    if shards.pairs() == 0 {
        return Err(DataError::NoPairs(name_of(&config.data.train)));
    }
    shards.require_vocabulary(vocabulary)?;
    Ok(shards)
}

fn name_of(train: &TrainData) -> String {
    match train {
        TrainData::Shards { shards } => shards.display().to_string(),
        TrainData::Files(files) => {
            let names = files.source.iter().chain(&files.target);
            names.map(|file| file.display().to_string()).collect::<Vec<_>>().join(" + ")
        }
    }
}

/// Encodes text into shards; tells how many pairs no shard can hold, which are too long to learn from, too.
fn encode(
    files: &TextFiles,
    vocabulary: &Vocabulary,
    place: &Path,
    stop: &AtomicBool,
) -> Result<u64, DataError> {
    let lexicon = Lexicon { hash: vocabulary.hash(), size: vocabulary.size() as u32 };
    let mut writer = ShardWriter::create(place, lexicon, Extent::default())?;
    let mut too_long = 0;
    for_portions(files, |portion| {
        if stop.load(Ordering::Relaxed) {
            return Err(DataError::Stopped);
        }
        for (source, target) in portion.encode(vocabulary) {
            if source.len().max(target.len()) < MAX_LENGTH {
                writer.push(source, target)?;
            } else {
                too_long += 1;
            }
        }
        Ok(())
    })?;
    writer.finish(None)?;
    Ok(too_long)
}

/// Reads all pairs, some thousand at a time.
fn for_portions(
    files: &TextFiles,
    mut take: impl FnMut(&mut Portion) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut portion = Portion::default();
    for (source, target) in files.source.iter().zip(&files.target) {
        let corpus = Corpus::Aligned { source: Origin::new(source), target: Origin::new(target) };
        let name = || format!("{} and {}", source.display(), target.display());
        let broken = |source| DataError::Corpus { corpus: name(), source };
        let mut pairs = corpus.open(Reading::default()).map_err(broken)?;
        while portion.read(&mut pairs).map_err(broken)? {
            take(&mut portion)?;
        }
    }
    Ok(())
}

/// The dev sets, by name.
///
/// # Errors
/// If one cannot be read.
pub fn dev_sets(config: &Config, vocabulary: &Vocabulary) -> Result<Vec<DevSet>, DataError> {
    let mut sets = Vec::new();
    for (name, files) in &config.data.dev {
        let mut lines = Vec::new();
        for_portions(files, |portion| {
            lines.extend(portion.pairs().map(|pair| (pair.source.clone(), pair.target.clone())));
            Ok(())
        })?;
        if lines.is_empty() {
            return Err(DataError::NoLines(name.clone()));
        }
        let limits = Limits {
            source: usize::from(config.batch.max_source),
            target: usize::from(config.batch.max_target),
        };
        let set = DevSet::new(name, lines, vocabulary, limits);
        if set.is_empty() {
            return Err(DataError::Empty(name.clone()));
        }
        sets.push(set);
    }
    Ok(sets)
}
