//! A translated text.

use std::collections::HashSet;

use padir_decode::Hypothesis;
use padir_text::vocab::Vocabulary;
use serde::Serialize;

use crate::split::Part;

/// A translated text: its alternatives, best first. An empty text has one, which is empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Translation {
    /// The alternatives.
    pub alternatives: Vec<Alternative>,
    /// How many parts the text was cut into.
    pub parts: usize,
    /// Tokens of the source, ends included.
    pub source_tokens: usize,
}

/// One way to say it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Alternative {
    /// The text.
    pub text: String,
    /// The sum of its parts' scores.
    pub score: f64,
    /// ln p, by the model.
    pub log_prob: f64,
    /// Tokens, ends not counted.
    pub tokens: usize,
    /// The most steps that a part took.
    pub steps: usize,
    /// For each part the number of its hypothesis, as in events.
    pub hypotheses: Vec<usize>,
}

impl Translation {
    /// The best text.
    pub fn text(&self) -> &str {
        self.alternatives.first().map_or("", |best| &best.text)
    }

    /// Puts the parts of a text together. Alternatives are made of each part's number i, or of its last if it has fewer, and of
    /// those that read alike the best is kept: tokens may differ where texts do not.
    pub(crate) fn join(
        vocabulary: &Vocabulary,
        parts: &[(Part<'_>, &[Hypothesis])],
        most: usize,
        source_tokens: usize,
    ) -> Self {
        let count = parts.iter().map(|(_, list)| list.len()).max().unwrap_or(0).max(1);
        let mut seen = HashSet::new();
        let alternatives = (0..count)
            .map(|i| alternative(vocabulary, parts, i))
            .filter(|alternative| seen.insert(alternative.text.clone()))
            .take(most.max(1))
            .collect();
        Self { alternatives, parts: parts.len(), source_tokens }
    }
}

fn alternative(
    vocabulary: &Vocabulary,
    parts: &[(Part<'_>, &[Hypothesis])],
    number: usize,
) -> Alternative {
    let mut whole = Alternative::default();
    for (at, (part, list)) in parts.iter().enumerate() {
        if let Some(hypothesis) = list.get(number).or_else(|| list.last()) {
            whole.text.push_str(vocabulary.decode(&hypothesis.tokens).trim());
            whole.score += hypothesis.score;
            whole.log_prob += hypothesis.log_prob;
            whole.tokens += hypothesis.tokens.len();
            whole.steps = whole.steps.max(hypothesis.steps);
            whole.hypotheses.push(hypothesis.number);
        }
        if at + 1 < parts.len() {
            whole.text.push_str(part.gap);
        }
    }
    whole
}
