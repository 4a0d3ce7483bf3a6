//! Texts and how their translations came about: what `padir translate --watch --json` prints.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::recipe::record::StageRecord;

/// What a model made of some texts.
#[derive(Serialize)]
pub(super) struct Samples {
    pub(super) model: String,
    pub(super) texts: Vec<Sample>,
}

/// A text.
#[derive(Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) source: String,
    pub(super) text: String,
    /// The text after each step.
    pub(super) refinement: Vec<String>,
}

impl Samples {
    /// The file of JSON lines that a stage printed samples to, if it did.
    pub(super) fn file(stage: &StageRecord) -> Option<String> {
        let command = &stage.identity.command;
        let says = |word: &str| command.iter().any(|other| other == word);
        let samples = command.first().is_some_and(|verb| verb == "translate")
            && says("--watch")
            && says("--json");
        let is_lines =
            |output: &&String| Path::new(output).extension().is_some_and(|e| e == "jsonl");
        stage.outputs.keys().find(is_lines).filter(|_| samples).cloned()
    }

    /// Reads what a stage printed, a line a text.
    pub(super) fn parse(stage: &StageRecord, printed: &[u8]) -> serde_json::Result<Self> {
        let words = &stage.identity.command;
        let named = words.windows(2).find(|two| two[0] == "--model").map(|two| two[1].clone());
        let lines = serde_json::Deserializer::from_slice(printed).into_iter();
        let texts = lines.collect::<serde_json::Result<Vec<Sample>>>()?;
        Ok(Self { model: named.unwrap_or_else(|| "the model at hand".to_owned()), texts })
    }
}
