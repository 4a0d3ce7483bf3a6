//! A translated text.

use std::collections::HashSet;

use padir_base::TokenId;
use padir_decode::Hypothesis;
use padir_text::vocab::Vocabulary;
use serde::Serialize;

use crate::split::Part;

/// A translated text: its alternatives, best first. An empty text has one, which is empty; a text that was cancelled has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Translation {
    /// The alternatives.
    pub alternatives: Vec<Alternative>,
    /// How many parts the text was split into.
    pub parts: usize,
    /// How many of its sentences were too long for the model and split further.
    pub too_long: usize,
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
    /// ln p, by the model or its reranker.
    pub log_prob: f64,
    /// Tokens, ends not counted.
    pub tokens: usize,
    /// The most steps that a part took.
    pub steps: usize,
    /// For each part the number of its hypothesis, as in events.
    pub hypotheses: Vec<usize>,
    /// Whether a part did not end by itself, but at the longest that was allowed.
    pub cut: bool,
    /// The tokens themselves, part after part, without ends.
    #[serde(skip)]
    pub token_ids: Vec<TokenId>,
    /// ln p of each of them when it was last predicted, or by the reranker; 0 for a forced one.
    #[serde(skip)]
    pub log_probs: Vec<f64>,
}

impl Translation {
    /// The best text.
    pub fn text(&self) -> &str {
        self.alternatives.first().map_or("", |best| &best.text)
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.alternatives.is_empty()
    }
}

/// Joins the parts of a text. Alternatives are made of each part's number i, or of its last if it has fewer, and of
/// those that read alike the best is kept: tokens may differ where texts do not.
pub(crate) fn join(
    vocabulary: &Vocabulary,
    parts: &[(Part<'_>, &[Hypothesis])],
    most: usize,
) -> Vec<Alternative> {
    let count = parts.iter().map(|(_, list)| list.len()).max().unwrap_or(0).max(1);
    let mut seen = HashSet::new();
    (0..count)
        .map(|i| alternative(vocabulary, parts, i))
        .filter(|alternative| seen.insert(alternative.text.clone()))
        .take(most.max(1))
        .collect()
}

fn alternative(
    vocabulary: &Vocabulary,
    parts: &[(Part<'_>, &[Hypothesis])],
    number: usize,
) -> Alternative {
    let mut whole = Alternative::default();
    let mut before: Option<Part<'_>> = None;
    for &(part, list) in parts {
        let hypothesis = list.get(number).or_else(|| list.last());
        let text = hypothesis.map(|hypothesis| vocabulary.decode(&hypothesis.tokens));
        let text = text.as_deref().map_or("", str::trim);
        if let Some(before) = before.replace(part) {
            whole.text.push_str(seam(before, &whole.text, text));
        }
        whole.text.push_str(text);
        if let Some(hypothesis) = hypothesis {
            whole.score += hypothesis.score;
            whole.log_prob += hypothesis.log_prob;
            whole.tokens += hypothesis.tokens.len();
            whole.steps = whole.steps.max(hypothesis.steps);
            whole.hypotheses.push(hypothesis.number);
            whole.cut |= hypothesis.cut;
            whole.token_ids.extend(&hypothesis.tokens);
            whole.log_probs.extend(&hypothesis.log_probs);
        }
    }
    // Emoji after the last sentence: texts end without white space.
    whole.text.push_str(before.map_or("", |last| last.gap));
    whole
}

/// What stands between the translations of two parts: what stood between the parts, or a space where they were cut after a stop that
/// needs none and the translations' script does.
pub fn seam<'t>(part: Part<'t>, before: &str, after: &str) -> &'t str {
    let stops = part.text.ends_with(['。', '！', '？', '、', '，', '；', '：']);
    let spaced = |c: Option<char>| c.is_some_and(|c| !is_unspaced(c));
    if stops && part.gap.is_empty() && spaced(before.chars().last()) && spaced(after.chars().next())
    {
        " "
    } else {
        part.gap
    }
}

/// Ideographs, kana, and the marks that go with them.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_as_their_scripts_are_written() {
        let cases = [
            ("spaces stay", ("One.", " "), "Eins.", "Zwei.", " "),
            ("as they are", ("One.", "\t \u{a0}"), "Eins.", "Zwei.", "\t \u{a0}"),
            ("into words", ("一。", ""), "One.", "Two.", " "),
            ("into a script without spaces", ("一。", ""), "いち。", "に。", ""),
            ("inside of a word", ("abc", ""), "abc", "def", ""),
            ("nothing before", ("一。", ""), "", "Two.", ""),
            ("nothing after", ("一。", ""), "One.", "", ""),
        ];
        for (name, (text, gap), before, after, expected) in cases {
            assert_eq!(seam(Part { text, gap }, before, after), expected, "{name}");
        }
    }
}
