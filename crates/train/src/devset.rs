//! Dev sets: what is watched while a network learns.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_decode::Event;
use padir_model::{Network, Pass, Sentences};
use padir_score::{Bleu, Chrf, ExactMatch, Metric, References, Stutter, corpus_score};
use padir_text::vocab::Vocabulary;
use padir_translate::{Place, Segmentation, Text, TranslateError, Translator, Watcher};

use crate::config::DecodeConfig;
use crate::network_model::NetworkModel;
use crate::objective::{Objective, Pairs, Statistics};

/// Pairs of text and their tokens.
#[derive(Clone, Debug)]
pub struct DevSet {
    /// Its name.
    pub name: String,
    /// The source texts.
    pub texts: Vec<String>,
    /// The references.
    pub references: Vec<String>,
    /// The sources as tokens with their ends.
    sources: Vec<Vec<u32>>,
    /// The targets likewise.
    targets: Vec<Vec<u32>>,
    /// The pairs whose losses are measured: those that training would take.
    measured: Vec<usize>,
}

/// The longest sentences, their ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of sources.
    pub source: usize,
    /// Of targets.
    pub target: usize,
}

/// What an evaluation found.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// What the objective counted.
    pub statistics: Statistics,
    /// Scores of real decoding: name and value.
    pub scores: Vec<(&'static str, f64)>,
    /// Translations, in the order of the set.
    pub outputs: Vec<String>,
    /// Some of them beside what they translate, always the same.
    pub samples: Vec<Sample>,
}

/// A translation beside what it translates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// What was translated.
    pub source: String,
    /// How people translated it.
    pub reference: String,
    /// How the network did.
    pub hypothesis: String,
}

/// Samples of an evaluation.
const SAMPLES: usize = 3;

/// Tokens of a batch of evaluation.
const TOKENS: usize = 4096;
/// Sentences that are translated together.
const TOGETHER: usize = 64;

impl DevSet {
    /// Encodes lines.
    pub fn new(
        name: &str,
        lines: Vec<(String, String)>,
        vocabulary: &Vocabulary,
        limits: Limits,
    ) -> Self {
        let mut encoder = vocabulary.encoder();
        let mut encode = |text: &str| {
            let mut ids = Vec::new();
            encoder.encode_into(text, &mut ids);
            ids.iter().map(|token| token.0).chain([TokenId::EOS.0]).collect::<Vec<u32>>()
        };
        let sources: Vec<Vec<u32>> = lines.iter().map(|(source, _)| encode(source)).collect();
        let targets: Vec<Vec<u32>> = lines.iter().map(|(_, target)| encode(target)).collect();
        let fits = |&i: &usize| {
            sources[i].len() <= limits.source && (2..=limits.target).contains(&targets[i].len())
        };
        let measured = (0..sources.len()).filter(fits).collect();
        let (texts, references) = lines.into_iter().unzip();
        Self { name: name.to_owned(), texts, references, sources, targets, measured }
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }
}

/// Measures a network on dev sets.
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    /// The network.
    pub network: &'a Network,
    /// What is learnt.
    pub objective: &'a dyn Objective,
    /// How sets are translated.
    pub decode: &'a DecodeConfig,
    /// What texts are made of.
    pub vocabulary: &'a Arc<Vocabulary>,
    /// Whether layers are single operations.
    pub fused: bool,
    /// Ends the work when it is set.
    pub stop: &'a AtomicBool,
}

impl Evaluator<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Losses and, of the first lines, translations and their scores. Nothing if the work was stopped.
    ///
    /// # Errors
    /// If the network cannot be decoded as it should be.
    pub fn evaluate(&self, set: &DevSet) -> Result<Option<Evaluation>, TranslateError> {
        let Some(statistics) = self.losses(set) else { return Ok(None) };
        let lines = self.decode.lines.min(set.texts.len() as u64) as usize;
        if lines == 0 {
            return Ok(Some(Evaluation { statistics, ..Evaluation::default() }));
        }
        let Some(outputs) = self.translate(set, lines)? else { return Ok(None) };
        let bleu = Bleu { tokenizer: self.decode.tokenize, ..Bleu::default() };
        let metrics: [Named<'_>; 4] = [
            ("bleu", &bleu),
            ("chrf", &Chrf::default()),
            ("exact_match", &ExactMatch::default()),
            ("stutter", &Stutter::default()),
        ];
        let scores = score(&outputs, &set.references[..lines], &metrics);
        let samples = samples(set, &outputs);
        Ok(Some(Evaluation { statistics, scores, outputs, samples }))
    }

    /// The losses of the whole set, without dropout. The objective's chance is the same every time. Nothing if the work was
    /// stopped.
    pub fn losses(&self, set: &DevSet) -> Option<Statistics> {
        let mut order = set.measured.clone();
        order.sort_by_key(|&i| (set.targets[i].len(), set.sources[i].len()));
        let mut statistics = Statistics::default();
        let mut first = 0;
        while first < order.len() {
            if self.is_stopped() {
                return None;
            }
            let mut tokens = 0;
            let mut end = first;
            while end < order.len() && (end == first || tokens < TOKENS) {
                tokens += set.sources[order[end]].len() + set.targets[order[end]].len();
                end += 1;
            }
            let group = &order[first..end];
            let pairs = Pairs {
                sources: Sentences::new(group.iter().map(|&i| set.sources[i].as_slice())),
                targets: Sentences::new(group.iter().map(|&i| set.targets[i].as_slice())),
            };
            let mut chance = Seed(0).stream(Purpose::Corruption, first as u64);
            let pass = Pass::evaluation(self.fused);
            statistics
                .add(&self.objective.losses(self.network, &pass, &pairs, &mut chance).statistics);
            first = end;
        }
        Some(statistics)
    }

    /// Translations of the first lines, by the very code that `padir translate` runs. Nothing if the work was stopped.
    fn translate(&self, set: &DevSet, lines: usize) -> Result<Option<Vec<String>>, TranslateError> {
        let model = NetworkModel::new(self.network, self.fused).with_lengths(known_lengths(set));
        let decoding = self.decode.decoding.clone();
        let mut translator = Translator::new(model, Arc::clone(self.vocabulary), decoding)?;
        translator.set_segmentation(Segmentation::Lines);
        // Like lengths together; the results return to their places.
        let mut order: Vec<usize> = (0..lines).collect();
        order.sort_by_key(|&i| set.sources[i].len());
        let mut outputs = vec![String::new(); lines];
        for group in order.chunks(TOGETHER) {
            let text = |&i: &usize| Text::new(i as u64, &set.texts[i]);
            let texts: Vec<Text<'_>> = group.iter().map(text).collect();
            let translations = translator.translate(&texts, 1, &mut Stopped(self.stop))?;
            if self.is_stopped() {
                return Ok(None);
            }
            for (&i, translation) in group.iter().zip(&translations) {
                translation.text().clone_into(&mut outputs[i]);
            }
        }
        Ok(Some(outputs))
    }
}

/// Translations from the beginning, the middle and the end of those that were made.
fn samples(set: &DevSet, outputs: &[String]) -> Vec<Sample> {
    let count = SAMPLES.min(outputs.len());
    let sample = |number: usize| {
        let at = number * outputs.len() / count;
        Sample {
            source: set.texts[at].clone(),
            reference: set.references[at].clone(),
            hypothesis: outputs[at].clone(),
        }
    };
    (0..count).map(sample).collect()
}

/// How long the targets of sources are, for models that do not predict it.
fn known_lengths(set: &DevSet) -> HashMap<Vec<TokenId>, usize> {
    let ids = |source: &Vec<u32>| source.iter().copied().map(TokenId).collect();
    let pairs = set.sources.iter().zip(&set.targets);
    pairs.map(|(source, target)| (ids(source), target.len())).collect()
}

/// Wants nothing any more once the work is stopped.
struct Stopped<'a>(&'a AtomicBool);

impl Watcher for Stopped<'_> {
    fn watches(&self) -> bool {
        false
    }

    fn watch(&mut self, _: Place, _: Event) {}

    fn wants(&self, _: u64) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// A metric and how records call it.
type Named<'a> = (&'static str, &'a dyn Metric);

fn score(
    outputs: &[String],
    references: &[String],
    metrics: &[Named<'_>],
) -> Vec<(&'static str, f64)> {
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let Ok(references) = References::new(&[references]) else { return Vec::new() };
    let value = |metric: &dyn Metric| {
        corpus_score(metric, &outputs, &references).ok().map(|score| score.value)
    };
    metrics.iter().filter_map(|(name, metric)| Some((*name, value(*metric)?))).collect()
}
