//! What a test set says about translations.

use std::collections::BTreeMap;

use padir_base::hash::{Sha256, hash_bytes};
use padir_score::{
    Bleu, Chrf, CorpusError, ExactMatch, LengthRatio, Metric, References, Stutter, Tokenizer,
    corpus_score,
};
use padir_text::Pair;
use serde::{Deserialize, Serialize};

use super::Trial;

/// The figures of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// BLEU.
    pub bleu: f64,
    /// chrF2.
    pub chrf: f64,
    /// Tokens in per cent of the reference's.
    pub length: f64,
    /// Per cent of translations that equal their reference.
    pub exact: f64,
    /// Words per thousand that repeat the one before.
    pub stutter: f64,
    /// The mean number of steps that the chosen hypotheses took; for an autoregressive model, tokens.
    pub steps: f64,
    /// Per cent of texts whose likeliest length is the reference's; none if lengths are not predicted.
    #[serde(alias = "foretold")]
    pub length_accuracy: Option<f64>,
    /// The same for any of the lengths that were tried.
    #[serde(alias = "among")]
    pub length_accuracy_at_k: Option<f64>,
    /// Seconds of translating.
    pub seconds: f64,
}

/// The references, ready to be compared with.
pub(super) struct Scores<'p> {
    pairs: &'p [Pair],
    references: References<'p>,
    bleu: Bleu,
    length: LengthRatio,
}

impl<'p> Scores<'p> {
    pub(super) fn new(pairs: &'p [Pair], tokenizer: Tokenizer) -> Result<Self, CorpusError> {
        let texts: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
        Ok(Self {
            pairs,
            references: References::new(&[texts])?,
            bleu: Bleu { tokenizer, ..Bleu::default() },
            length: LengthRatio { tokenizer },
        })
    }

    pub(super) fn figures(&self, texts: &[String], trial: &Trial) -> Result<Figures, CorpusError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let score = |metric: &dyn Metric| -> Result<f64, CorpusError> {
            Ok(corpus_score(metric, &texts, &self.references)?.value)
        };
        let refines = trial.length_accuracy.shares();
        Ok(Figures {
            bleu: score(&self.bleu)?,
            chrf: score(&Chrf::default())?,
            length: score(&self.length)?,
            exact: score(&ExactMatch::default())?,
            stutter: score(&Stutter::default())?,
            steps: trial.steps as f64 / texts.len() as f64,
            length_accuracy: refines.map(|(likeliest, _)| likeliest),
            length_accuracy_at_k: refines.map(|(_, any)| any),
            seconds: trial.seconds,
        })
    }

    /// How the scores are computed.
    pub(super) fn signatures(&self) -> BTreeMap<String, String> {
        let metrics: [&dyn Metric; 3] = [&self.bleu, &Chrf::default(), &Stutter::default()];
        let count = self.references.count();
        metrics.into_iter().map(|m| (m.name(), m.signature(count).to_string())).collect()
    }

    /// The hash of all pairs.
    pub(super) fn hash(&self) -> Sha256 {
        let lines = self.pairs.iter().flat_map(|pair| [&pair.source, "\t", &pair.target, "\n"]);
        hash_bytes(lines.collect::<String>().as_bytes())
    }
}
