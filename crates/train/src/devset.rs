//! Dev sets: what is watched while a network learns.

use padir_base::random::{Purpose, Seed};
use padir_model::{Network, Pass, Sentences};
use padir_score::{Bleu, Chrf, ExactMatch, Metric, References, Stutter, corpus_score};
use padir_text::vocab::Vocabulary;

use crate::decoding::{Decoding, translate};
use crate::objective::{Objective, Pairs, Tally};

/// Pairs of text and their tokens.
#[derive(Clone, Debug)]
pub struct DevSet {
    /// Its name.
    pub name: String,
    /// The references.
    pub references: Vec<String>,
    /// The sources as tokens with their ends.
    pub sources: Vec<Vec<u32>>,
    /// The targets likewise.
    pub targets: Vec<Vec<u32>>,
    /// The pairs whose losses are measured: those that training would take.
    measured: Vec<usize>,
}

/// The longest sentences, their ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of sources; longer ones are cut off before they are translated.
    pub source: usize,
    /// Of targets.
    pub target: usize,
}

/// What an evaluation found.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// What the objective counted.
    pub tally: Tally,
    /// Scores of real decoding: name and value.
    pub scores: Vec<(&'static str, f64)>,
    /// Translations, in the order of the set.
    pub outputs: Vec<String>,
}

/// Tokens of a batch of evaluation.
const TOKENS: usize = 4096;

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
            ids.iter()
                .map(|token| token.0)
                .chain([padir_base::TokenId::EOS.0])
                .collect::<Vec<u32>>()
        };
        let mut sources: Vec<Vec<u32>> = lines.iter().map(|(source, _)| encode(source)).collect();
        let targets: Vec<Vec<u32>> = lines.iter().map(|(_, target)| encode(target)).collect();
        let fits = |&i: &usize| {
            sources[i].len() <= limits.source && (2..=limits.target).contains(&targets[i].len())
        };
        let measured = (0..sources.len()).filter(fits).collect();
        for source in &mut sources {
            if source.len() > limits.source {
                source.truncate(limits.source);
                if let Some(last) = source.last_mut() {
                    *last = padir_base::TokenId::EOS.0;
                }
            }
        }
        let references = lines.into_iter().map(|(_, target)| target).collect();
        Self { name: name.to_owned(), references, sources, targets, measured }
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// The losses of the whole set, without dropout. The objective's chance is the same every time. Nothing if the work was
    /// stopped.
    pub fn losses(
        &self,
        network: &Network,
        objective: &dyn Objective,
        how: Decoding<'_>,
    ) -> Option<Tally> {
        let mut order = self.measured.clone();
        order.sort_by_key(|&i| (self.targets[i].len(), self.sources[i].len()));
        let mut tally = Tally::default();
        let mut first = 0;
        while first < order.len() {
            if how.is_stopped() {
                return None;
            }
            let mut tokens = 0;
            let mut end = first;
            while end < order.len() && (end == first || tokens < TOKENS) {
                tokens += self.sources[order[end]].len() + self.targets[order[end]].len();
                end += 1;
            }
            let group = &order[first..end];
            let pairs = Pairs {
                sources: Sentences::new(group.iter().map(|&i| self.sources[i].as_slice())),
                targets: Sentences::new(group.iter().map(|&i| self.targets[i].as_slice())),
            };
            let mut chance = Seed(0).stream(Purpose::Corruption, first as u64);
            let pass = Pass::evaluation(how.fused);
            tally.add(&objective.losses(network, &pass, &pairs, &mut chance).tally);
            first = end;
        }
        Some(tally)
    }

    /// Losses and, of the first lines, translations and their scores. Nothing if the work was stopped.
    pub fn evaluate(
        &self,
        network: &Network,
        objective: &dyn Objective,
        decoding: Decoding<'_>,
        vocabulary: &Vocabulary,
    ) -> Option<Evaluation> {
        let tally = self.losses(network, objective, decoding)?;
        let lines = (decoding.settings.lines.min(self.sources.len() as u64)) as usize;
        if lines == 0 {
            return Some(Evaluation { tally, ..Evaluation::default() });
        }
        let found = translate(network, decoding, &self.sources[..lines], &self.targets[..lines])?;
        let text = |ids: &[u32]| {
            let ids: Vec<_> = ids.iter().map(|&id| padir_base::TokenId(id)).collect();
            vocabulary.decode(&ids)
        };
        let outputs: Vec<String> = found.iter().map(|output| text(&output.tokens)).collect();
        let references = &self.references[..lines];
        let quality: [Named<'_>; 3] = [
            ("bleu", &Bleu { tokenizer: decoding.settings.tokenize, ..Bleu::default() }),
            ("chrf", &Chrf::default()),
            ("exact_match", &ExactMatch::default()),
        ];
        let mut scores = score(&outputs, references, &quality);
        // What the decoder stutters, whether or not repetitions are dropped from it afterwards.
        let raw: Vec<String> = found.iter().map(|output| text(&output.raw)).collect();
        scores.extend(score(&raw, references, &[("stutter", &Stutter::default())]));
        if network.config().parallel().is_some() {
            scores.extend(score(&outputs, references, &[("stutter_left", &Stutter::default())]));
        }
        Some(Evaluation { tally, scores, outputs })
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
