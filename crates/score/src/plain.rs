//! Three plain measures: length ratio, exact match, token repetition.

use serde::{Deserialize, Serialize};

use crate::bleu::nearest_length;
use crate::case::Case;
use crate::corpus::ReferenceCount;
use crate::metric::{Metric, Sample, SegmentScorer};
use crate::ngram::Lexicon;
use crate::score::Score;
use crate::signature::Signature;
use crate::tokenize::Tokenizer;
use crate::unicode::split;

/// `100 · numerator / denominator`, zero where nothing was counted.
fn percent(totals: &[f64]) -> f64 {
    if totals[1] > 0.0 { 100.0 * totals[0] / totals[1] } else { 0.0 }
}

fn percent_of_sample(totals: &[f32]) -> Sample {
    Sample::Double(percent(&[f64::from(totals[0]), f64::from(totals[1])]))
}

/// Length ratio: tokens of the hypotheses in percent of the tokens of the nearest references.
///
/// 100 is the right length; BLEU calls the same number `ratio` and prints it as 1.000. The
/// statistics of a segment are `[tokens, reference tokens]`.
///
/// ```
/// use padir_score::{LengthRatio, sentence_score};
///
/// let score = sentence_score(&LengthRatio::default(), "one two three", &["one two three four"]);
/// assert_eq!(score.value, 75.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LengthRatio {
    /// What a token is.
    pub tokenizer: Tokenizer,
}

impl Metric for LengthRatio {
    fn name(&self) -> String {
        "length".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(LengthScorer { tokenizer: self.tokenizer, lengths: Vec::new() })
    }

    fn score(&self, totals: &[f64]) -> Score {
        let value = percent(totals);
        let ratio = value / 100.0;
        let verbose =
            format!("(ratio = {ratio:.3} hyp_len = {} ref_len = {})", totals[0], totals[1]);
        let extra = vec![("ratio", ratio), ("hyp_len", totals[0]), ("ref_len", totals[1])];
        Score { verbose, extra, ..Score::new(self.name(), value) }
    }

    fn value(&self, totals: &[f64]) -> f64 {
        percent(totals)
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        percent_of_sample(totals)
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references).with("tok", "tok", self.tokenizer)
    }
}

struct LengthScorer {
    tokenizer: Tokenizer,
    lengths: Vec<usize>,
}

impl LengthScorer {
    fn length(&self, text: &str) -> usize {
        let mut length = 0;
        self.tokenizer.visit(text, |_| length += 1);
        length
    }
}

impl SegmentScorer for LengthScorer {
    fn read(&mut self, references: &[&str]) {
        let lengths = references.iter().map(|reference| self.length(reference)).collect();
        self.lengths = lengths;
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        let length = self.length(hypothesis);
        statistics[0] = length as f64;
        statistics[1] = nearest_length(length, &self.lengths) as f64;
    }
}

/// Exact match: the percentage of hypotheses equal to one of their references.
///
/// White space at the ends does not count, and inside any amount of it counts as one space. The
/// statistics of a segment are `[1 if equal, 1]`.
///
/// ```
/// use padir_score::{ExactMatch, sentence_score};
///
/// let score = sentence_score(&ExactMatch::default(), "half  past two ", &["half past two"]);
/// assert_eq!(score.value, 100.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExactMatch {
    /// Whether case counts.
    pub case: Case,
}

impl Metric for ExactMatch {
    fn name(&self) -> String {
        "exact".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(ExactScorer { case: self.case, references: Vec::new() })
    }

    fn score(&self, totals: &[f64]) -> Score {
        let verbose = format!("({} of {})", totals[0], totals[1]);
        let extra = vec![("matches", totals[0]), ("segments", totals[1])];
        Score { verbose, extra, ..Score::new(self.name(), percent(totals)) }
    }

    fn value(&self, totals: &[f64]) -> f64 {
        percent(totals)
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        percent_of_sample(totals)
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references).with("case", "c", self.case)
    }
}

struct ExactScorer {
    case: Case,
    references: Vec<String>,
}

impl SegmentScorer for ExactScorer {
    fn read(&mut self, references: &[&str]) {
        self.references.clear();
        self.references.extend(references.iter().map(|r| self.case.apply(r).into_owned()));
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        let hypothesis = self.case.apply(hypothesis);
        let is_match = self.references.iter().any(|r| split(r).eq(split(&hypothesis)));
        statistics[0] = f64::from(u32::from(is_match));
        statistics[1] = 1.0;
    }
}

/// Token repetition: the percentage of tokens equal to the token before them.
///
/// The references are not looked at, punctuation counts and so does case: the plain measure that
/// other work reports. The statistics of a segment are `[repeated tokens, tokens]`.
///
/// ```
/// use padir_score::{Repetition, sentence_score};
///
/// assert_eq!(sentence_score(&Repetition::default(), "so so good .", &[""]).value, 25.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Repetition {
    /// What a token is.
    pub tokenizer: Tokenizer,
}

impl Metric for Repetition {
    fn name(&self) -> String {
        "repetition".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(RepetitionScorer { tokenizer: self.tokenizer, lexicon: Lexicon::default() })
    }

    fn score(&self, totals: &[f64]) -> Score {
        let verbose = format!("({} of {} tokens)", totals[0], totals[1]);
        let extra = vec![("repeated", totals[0]), ("tokens", totals[1])];
        Score { verbose, extra, ..Score::new(self.name(), percent(totals)) }
    }

    fn value(&self, totals: &[f64]) -> f64 {
        percent(totals)
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        percent_of_sample(totals)
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references).with("tok", "tok", self.tokenizer)
    }
}

struct RepetitionScorer {
    tokenizer: Tokenizer,
    lexicon: Lexicon,
}

impl SegmentScorer for RepetitionScorer {
    fn read(&mut self, _references: &[&str]) {}

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        self.lexicon.clear();
        let mut previous = None;
        self.tokenizer.visit(hypothesis, |token| {
            let token = self.lexicon.intern(token);
            statistics[0] += f64::from(u32::from(previous == Some(token)));
            statistics[1] += 1.0;
            previous = Some(token);
        });
    }
}
