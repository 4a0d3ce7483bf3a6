//! `[data]`: what to learn from and what to watch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use padir_checkpoint::{Language, Languages};
use serde::Serialize;

use super::section::Section;

/// `[data]`. Paths are relative to the working directory, as on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataConfig {
    /// `train`: the pairs to learn from.
    pub train: TrainData,
    /// `dev.NAME`: sets of pairs to evaluate on; NAME is how metrics call them, as `NAME.loss`.
    pub dev: BTreeMap<String, TextFiles>,
    /// The vocabulary: a SentencePiece `.model` or a `tokenizer.json`, or a directory with one of them, as `padir vocab train` writes it.
    pub vocabulary: PathBuf,
    /// The language of the sources, such as `en`; the model remembers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_language: Option<Language>,
    /// The language of the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_language: Option<Language>,
}

/// The pairs to learn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TrainData {
    /// Text.
    Files(TextFiles),
    /// A directory of encoded pairs as `padir data shards` writes it.
    Shards {
        /// The directory.
        shards: PathBuf,
    },
}

/// Text, one sentence a line, the n-th line of the sources belonging to the n-th of the targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextFiles {
    /// The sources: a file, or several to be read one after the other.
    pub source: Vec<PathBuf>,
    /// The targets, as many files.
    pub target: Vec<PathBuf>,
}

impl DataConfig {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let train = TrainData::read(section.section("train"));
        let sets = section.section("dev").sections();
        let dev = sets.into_iter().map(|(name, set)| (name, TextFiles::read(set))).collect();
        let vocabulary = section.path("vocabulary");
        let vocabulary = section.vocabulary_file("vocabulary", vocabulary);
        let wanted = "the code of a language, such as \"en\"";
        let source_language = section.choice("source_language", wanted);
        let target_language = section.choice("target_language", wanted);
        section.finish();
        Self { train, dev, vocabulary, source_language, target_language }
    }

    /// What a model of these data translates.
    pub fn languages(&self) -> Languages {
        Languages { source: self.source_language.clone(), target: self.target_language.clone() }
    }

    /// The text files to learn from; none if the pairs come as shards.
    pub fn train_files(&self) -> Vec<&PathBuf> {
        match &self.train {
            TrainData::Files(files) => files.all(),
            TrainData::Shards { .. } => Vec::new(),
        }
    }

    /// All that is read: text or shards, dev sets and the vocabulary.
    pub fn all_paths(&self) -> Vec<&PathBuf> {
        let shards = match &self.train {
            TrainData::Shards { shards } => Some(shards),
            TrainData::Files(_) => None,
        };
        let texts = self.train_files().into_iter().chain(self.dev_files());
        texts.chain(shards).chain([&self.vocabulary]).collect()
    }

    /// The files of all dev sets.
    pub fn dev_files(&self) -> Vec<&PathBuf> {
        self.dev.values().flat_map(TextFiles::all).collect()
    }
}

impl TrainData {
    fn read(mut section: Section<'_>) -> Self {
        if !section.has("shards") {
            return Self::Files(TextFiles::read(section));
        }
        let shards = section.path("shards");
        section.require_directory("shards", &shards);
        section.refuse(&["source", "target"], "the pairs come from `shards`");
        section.finish();
        Self::Shards { shards }
    }
}

impl TextFiles {
    fn read(mut section: Section<'_>) -> Self {
        let (source, target) = (section.files("source"), section.files("target"));
        if !source.is_empty() && !target.is_empty() && source.len() != target.len() {
            let (name, n, m) = (section.name("target"), target.len(), source.len());
            section
                .complain("target", format!("`{name}` has {n} files, but there are {m} sources"));
        }
        section.finish();
        Self { source, target }
    }

    fn all(&self) -> Vec<&PathBuf> {
        self.source.iter().chain(&self.target).collect()
    }
}
