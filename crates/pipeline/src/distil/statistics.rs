//! A corpus before and after, counted part by part.
//!
//! Everything is a sum over pairs, so memory does not grow with the corpus, except for the entropies', which are therefore
//! estimated on the first pairs only.

use padir_base::TokenId;
use padir_score::{Bleu, Chrf, CorpusError, Metric, ReferenceCount, References, Stutter, measure};
use padir_text::Pair;
use padir_text::vocab::{Encoder, Vocabulary};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::entropy::{Counts, Entropy};
use super::words::WordNumbers;

/// A pair and what has become of it.
pub(super) struct Row<'a> {
    pub(super) pair: &'a Pair,
    /// The teacher's best translation, empty if there is none.
    pub(super) best: &'a str,
    /// The first target written for it, if any.
    pub(super) written: Option<&'a str>,
}

impl Row<'_> {
    /// The source, the reference and what was written.
    fn texts(&self) -> [&str; 3] {
        [&self.pair.source, &self.pair.target, self.written.unwrap_or_default()]
    }
}

/// All there is to count.
#[derive(Default)]
pub(super) struct Statistics {
    /// Used without a vocabulary.
    words: WordNumbers,
    pairs: u64,
    changed: u64,
    empty_sources: u64,
    empty_translations: u64,
    reference: Side,
    distilled: Side,
    bleu: Sum<Bleu>,
    chrf: Sum<Chrf>,
}

/// One kind of target.
#[derive(Default)]
struct Side {
    pairs: u64,
    source_tokens: u64,
    target_tokens: u64,
    stutter: Sum<Stutter>,
    counts: Counts,
}

/// The statistics of a metric, added up.
#[derive(Default)]
struct Sum<M> {
    metric: M,
    totals: Vec<f64>,
}

/// What is known about one kind of target. Tokens are the teacher's, without ends; those of a program are words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Pairs; of several targets for a source only the first counts.
    pub pairs: u64,
    /// Tokens of the targets.
    pub target_tokens: u64,
    /// Tokens of the targets for one of the sources.
    pub length_ratio: f64,
    /// Immediate repetitions per 1000 words, none of them granted.
    pub stutter: f64,
    /// Bits per token.
    pub entropy: Entropy,
}

/// A score and how it was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// The score.
    pub score: f64,
    /// How it was computed.
    pub signature: String,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Sources without a token.
    pub empty_sources: u64,
    /// Other sources without a translation.
    pub empty_translations: u64,
    /// Best translations that did not end by themselves, but at the longest that was allowed; older reports do not say.
    #[serde(default)]
    pub cut_translations: Option<u64>,
    /// Pairs whose first target is another than before.
    pub changed: u64,
    /// Before.
    pub reference: Profile,
    /// After.
    pub distilled: Profile,
    /// BLEU of the teacher's translations.
    pub bleu: Graded,
    /// chrF of the teacher's translations.
    pub chrf: Graded,
}

impl Statistics {
    /// Adds some pairs.
    pub(super) fn add(
        &mut self,
        vocabulary: Option<&Vocabulary>,
        rows: &[Row<'_>],
    ) -> Result<(), CorpusError> {
        let encoded = if let Some(vocabulary) = vocabulary {
            encode(vocabulary, rows)
        } else {
            let words = &mut self.words;
            rows.iter().map(|row| row.texts().map(|text| words.encode(text))).collect()
        };
        for (row, [source, reference, written]) in rows.iter().zip(&encoded) {
            self.reference.add(self.pairs, source, reference);
            if let Some(text) = row.written {
                self.distilled.add(self.pairs, source, written);
                self.changed += u64::from(text != row.pair.target);
            }
            self.pairs += 1;
            self.empty_sources += u64::from(source.is_empty());
            self.empty_translations += u64::from(!source.is_empty() && row.best.is_empty());
        }
        let references: Vec<&str> = rows.iter().map(|row| row.pair.target.as_str()).collect();
        let best: Vec<&str> = rows.iter().map(|row| row.best).collect();
        self.bleu.add(&best, &references)?;
        self.chrf.add(&best, &references)?;
        let written: Vec<&str> = rows.iter().filter_map(|row| row.written).collect();
        self.reference.stutter.add(&references, &vec![""; references.len()])?;
        self.distilled.stutter.add(&written, &vec![""; written.len()])
    }

    /// What was found, and how many translations were cut.
    pub(super) fn findings(&self, cut_translations: Option<u64>) -> Findings {
        Findings {
            empty_sources: self.empty_sources,
            empty_translations: self.empty_translations,
            cut_translations,
            changed: self.changed,
            reference: self.reference.profile(),
            distilled: self.distilled.profile(),
            bleu: self.bleu.graded(),
            chrf: self.chrf.graded(),
        }
    }
}

fn encode(vocabulary: &Vocabulary, rows: &[Row<'_>]) -> Vec<[Vec<TokenId>; 3]> {
    let encode = |encoder: &mut Encoder<'_>, row: &Row<'_>| {
        row.texts().map(|text| {
            let mut ids = Vec::new();
            encoder.append(text, &mut ids);
            ids
        })
    };
    rows.par_iter().with_min_len(64).map_init(|| vocabulary.encoder(), encode).collect()
}

impl Side {
    fn add(&mut self, number: u64, source: &[TokenId], target: &[TokenId]) {
        self.pairs += 1;
        self.source_tokens += source.len() as u64;
        self.target_tokens += target.len() as u64;
        self.counts.add(number, source, target);
    }

    fn profile(&self) -> Profile {
        Profile {
            pairs: self.pairs,
            target_tokens: self.target_tokens,
            length_ratio: self.target_tokens as f64 / self.source_tokens.max(1) as f64,
            stutter: self.stutter.value(),
            entropy: self.counts.entropy(),
        }
    }
}

impl<M: Metric> Sum<M> {
    fn add(&mut self, hypotheses: &[&str], references: &[&str]) -> Result<(), CorpusError> {
        if hypotheses.is_empty() {
            return Ok(());
        }
        let references = References::new(&[references])?;
        let statistics = measure(&self.metric, &references, &[hypotheses])?;
        self.totals.resize(self.metric.width(), 0.0);
        for totals in statistics.iter().map(padir_score::Statistics::totals) {
            self.totals.iter_mut().zip(totals).for_each(|(sum, value)| *sum += value);
        }
        Ok(())
    }

    fn value(&self) -> f64 {
        if self.totals.is_empty() { 0.0 } else { self.metric.value(&self.totals) }
    }

    fn graded(&self) -> Graded {
        let signature = self.metric.signature(ReferenceCount::Fixed(1)).to_string();
        Graded { score: self.value(), signature }
    }
}
