//! Evaluation: a test set translated under several settings of the decoder, and scored.

mod figures;
mod lengths;
mod record;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use padir_base::file::write_atomically;
use padir_score::Tokenizer;
use padir_text::corpus::Reading;
use padir_text::origin::Origin;
use padir_text::{Corpus, Pair};
use padir_translate::{Decoding, Text, Translator};

pub use figures::Figures;
pub use record::{Evaluation, Row};

use crate::Error;
use crate::batches::{batches, source_lengths};
use crate::corpora::{for_each_pair, require_pairs};
use crate::line::one_line;
use crate::model::{ModelRecord, RerankerRecord};
use crate::progress::Progress;
use figures::Scores;
use lengths::LengthAccuracy;

/// A way to decode, and its name.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What it is called, also in the names of files.
    pub name: String,
    /// All settings.
    pub decoding: Decoding,
}

/// Sources and references.
#[derive(Clone, Debug)]
pub struct TestSet {
    pairs: Vec<Pair>,
    /// The files' names.
    texts: Vec<String>,
}

impl TestSet {
    /// Reads all pairs of corpora.
    ///
    /// # Errors
    /// If they cannot be read, or there is none.
    pub fn read(
        corpora: &[Corpus],
        reading: Reading,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut pairs: Vec<Pair> = Vec::new();
        for_each_pair::<Error>(progress, corpora, reading, |pair| {
            pairs.push(pair.clone());
            Ok(())
        })?;
        require_pairs(corpora, pairs.len() as u64)?;
        Ok(Self { pairs, texts: corpora.iter().flat_map(Corpus::files).map(name_of).collect() })
    }

    /// The references.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.target.as_str())
    }
}

/// The models as they were when the work began: a training may replace them meanwhile.
#[derive(Clone, Debug)]
pub struct Models {
    /// The model.
    pub model: ModelRecord,
    /// Whether it uses its shortlist.
    pub shortlist: bool,
    /// What orders its hypotheses, if not it itself.
    pub reranker: Option<RerankerRecord>,
}

/// How to evaluate.
#[derive(Clone, Debug)]
pub struct Evaluator {
    /// What BLEU and the length count.
    pub tokenizer: Tokenizer,
    /// Most texts that are translated together. It changes the speed, not the result.
    pub batch: usize,
    /// Where the translations of each variant are written, if anywhere.
    pub outputs: Option<PathBuf>,
}

/// What translating a test set gave.
struct Trial {
    texts: Vec<String>,
    /// Of all translations together.
    steps: usize,
    seconds: f64,
    length_accuracy: LengthAccuracy,
}

impl Evaluator {
    /// The file that the translations of a variant are written to, if they are.
    pub fn file_of(&self, variant: &Variant) -> Option<PathBuf> {
        Some(self.outputs.as_ref()?.join(format!("{}.txt", variant.name)))
    }

    /// Translates a test set under each setting and scores it.
    ///
    /// # Errors
    /// If a setting is not for this model, or files cannot be written.
    pub fn evaluate(
        &self,
        translator: &mut Translator,
        models: Models,
        variants: &[Variant],
        set: &TestSet,
        progress: &dyn Progress,
    ) -> Result<Evaluation, Error> {
        let scores = Scores::new(&set.pairs, self.tokenizer)?;
        if let Some(directory) = &self.outputs {
            fs::create_dir_all(directory).map_err(Error::making(directory))?;
        }
        let precision = translator.engine().precision().to_string();
        let mut rows = Vec::new();
        for variant in variants {
            let Variant { name, decoding } = variant;
            translator.set_decoding(decoding.clone())?;
            let trial = self.translate(translator, &set.pairs, progress)?;
            let figures = scores.figures(&trial.texts, &trial)?;
            if let Some(path) = self.file_of(variant) {
                write_lines(&path, &trial.texts)?;
            }
            let (bleu, seconds) = (figures.bleu, figures.seconds);
            progress.note(&format!("{name}: BLEU {bleu:.2} in {seconds:.1} s"));
            let decoding = serde_json::to_value(decoding)?;
            rows.push(Row { name: name.clone(), decoding, figures });
        }
        let Models { model, shortlist, reranker } = models;
        Ok(Evaluation {
            model,
            precision,
            shortlist,
            reranker,
            pairs: set.pairs.len(),
            texts: set.texts.clone(),
            corpus: scores.hash(),
            signatures: scores.signatures(),
            rows,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        })
    }

    fn translate(
        &self,
        translator: &mut Translator,
        pairs: &[Pair],
        progress: &dyn Progress,
    ) -> Result<Trial, Error> {
        let lengths = source_lengths(translator.vocabulary(), pairs);
        let predicts_lengths = translator.decoding().refinement().is_some();
        let mut length_accuracy =
            LengthAccuracy::new(translator.vocabulary(), pairs, predicts_lengths);
        let task = progress.task("translating", pairs.len() as u64);
        let mut texts = vec![String::new(); pairs.len()];
        let mut steps = 0;
        let started = Instant::now();
        for batch in batches(&lengths, self.batch) {
            let text = |&at: &usize| Text::new(at as u64, &pairs[at].source);
            let sources: Vec<Text<'_>> = batch.iter().map(text).collect();
            let translations = translator.translate(&sources, 1, &mut length_accuracy)?;
            for (&at, translation) in batch.iter().zip(&translations) {
                texts[at] = one_line(translation.text());
                steps += translation.alternatives.first().map_or(0, |best| best.steps);
            }
            task.advance(batch.len() as u64);
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(Trial { texts, steps, seconds, length_accuracy })
    }
}

/// A file's name without its place.
fn name_of(file: &Origin) -> String {
    let path = file.path();
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn write_lines(path: &Path, lines: &[String]) -> Result<(), Error> {
    let mut text = lines.join("\n");
    text.push('\n');
    Ok(write_atomically(path, text.as_bytes())?)
}
