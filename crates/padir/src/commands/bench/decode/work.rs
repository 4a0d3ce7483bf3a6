//! What is translated by what.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{
    Checkpoint, Decoder, DecoderKind, Extras, InitialTokens, LengthPredictor, ModelConfig, Preset,
    save,
};
use padir_text::lines::LINE_LIMIT;
use padir_text::vocab::Vocabulary;

use crate::lines::for_each_line;

/// Models and sentences.
pub(super) struct Work {
    ar: Option<PathBuf>,
    padir: Option<PathBuf>,
    ctc: Option<PathBuf>,
    /// The sentences as ids with their ends.
    pub(super) sources: Vec<Vec<TokenId>>,
    /// Of random models.
    vocabulary: usize,
    pub(super) task: Task,
}

/// What the sentences are.
pub(super) enum Task {
    /// Random ids, to be translated into so many tokens.
    Fixed { length: usize },
    /// Texts.
    Texts(Vec<String>),
}

impl Work {
    /// Random models, random sentences.
    pub(super) fn random(
        directory: &Path,
        preset: Preset,
        vocabulary: usize,
        length: usize,
        sentences: u32,
    ) -> Result<Self> {
        ensure!(vocabulary >= 200, "--vocabulary {vocabulary} is less than 200");
        let model = |config: ModelConfig, name: &str| -> Result<PathBuf> {
            let weights: std::collections::HashMap<String, Vec<f32>> =
                config.initial(Seed(1)).collect();
            let path = directory.join(name);
            save(&path, &config, |p| weights.get(&p.name).map(Into::into), &Extras::default())?;
            Ok(path)
        };
        let config = |kind| ModelConfig::preset(preset, vocabulary, kind);
        let ar = model(config(DecoderKind::Causal), "ar")?;
        let padir = model(config(DecoderKind::Parallel), "padir")?;
        let ctc = model(ctc_config(config(DecoderKind::Parallel), length), "ctc")?;
        let sources = random_sources(vocabulary, length, sentences);
        let task = Task::Fixed { length };
        let (ar, padir, ctc) = (Some(ar), Some(padir), Some(ctc));
        Ok(Self { ar, padir, ctc, sources, vocabulary, task })
    }

    /// The same random models, with so many sentences of another length.
    pub(super) fn with_length(&self, length: usize, sentences: u32) -> Self {
        Self {
            ar: self.ar.clone(),
            padir: self.padir.clone(),
            ctc: self.ctc.clone(),
            sources: random_sources(self.vocabulary, length, sentences),
            vocabulary: self.vocabulary,
            task: Task::Fixed { length },
        }
    }

    /// Real models, real sentences.
    pub(super) fn real(
        ar: Option<PathBuf>,
        padir: Option<PathBuf>,
        ctc: Option<PathBuf>,
        texts: &Path,
        sentences: u32,
    ) -> Result<Self> {
        let mut lines = Vec::new();
        for_each_line(texts, LINE_LIMIT, &mut |line| {
            if lines.len() < sentences as usize && !line.trim().is_empty() {
                lines.push(line.to_owned());
            }
            Ok(())
        })?;
        ensure!(!lines.is_empty(), "{} has no text", texts.display());
        let mut sources = Vec::new();
        if let Some(model) = ar.as_ref().or(padir.as_ref()).or(ctc.as_ref()) {
            let vocabulary = Vocabulary::load(model)?;
            for line in &lines {
                let mut ids = vocabulary.encode(line);
                ids.push(TokenId::EOS);
                sources.push(ids);
            }
        }
        Ok(Self { ar, padir, ctc, sources, vocabulary: 0, task: Task::Texts(lines) })
    }

    pub(super) fn ar(&self) -> Option<&Path> {
        self.ar.as_deref()
    }

    pub(super) fn padir(&self) -> Option<&Path> {
        self.padir.as_deref()
    }

    pub(super) fn ctc(&self) -> Option<&Path> {
        self.ctc.as_deref()
    }

    /// Random tokens that may compete in a sentence.
    pub(super) fn random_list(&self, sentence: usize, count: usize) -> Vec<TokenId> {
        let mut chance = Seed(2).stream(Purpose::Synthesis, sentence as u64);
        (0..count).map(|_| TokenId(chance.below(self.vocabulary as u64) as u32)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }

    /// In a word.
    pub(super) fn describe(&self) -> Result<String> {
        let model = self.ar.as_ref().or(self.padir.as_ref()).or(self.ctc.as_ref());
        let parameters = match model {
            Some(path) => Checkpoint::open(path)?.config().parameter_count(),
            None => 0,
        };
        let mean = self.sources.iter().map(Vec::len).sum::<usize>() as f64 / self.len() as f64;
        let what = match self.task {
            Task::Fixed { length } => format!("random ids into exactly {length} tokens"),
            Task::Texts(_) => "texts".to_owned(),
        };
        Ok(format!(
            "{} {what}, {mean:.1} source tokens on average, {parameters} parameters",
            self.len()
        ))
    }
}

/// Sentences of so many tokens, their ends included.
fn random_sources(vocabulary: usize, length: usize, sentences: u32) -> Vec<Vec<TokenId>> {
    let source = |number: u32| {
        let mut chance = Seed(1).stream(Purpose::Synthesis, u64::from(number));
        let id = |_| TokenId(4 + chance.below(vocabulary as u64 - 110) as u32);
        (1..length).map(id).chain([TokenId::EOS]).collect()
    };
    (0..sentences).map(source).collect()
}

/// Two slots per source token.
const SLOTS: LengthPredictor = LengthPredictor::Upsample { factor: 2, min_slots: 8 };

/// The same model with latent alignments, and positions for sources of a length.
fn ctc_config(mut config: ModelConfig, length: usize) -> ModelConfig {
    config.symbols = config.symbols.with_blank();
    if let Decoder::Parallel(parallel) = &mut config.decoder {
        parallel.initial = InitialTokens::Mask;
        parallel.length = SLOTS;
        parallel.max_positions = parallel.max_positions.max(2 * length);
    }
    config
}
