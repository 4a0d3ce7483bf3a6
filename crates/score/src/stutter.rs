//! Word-level stutter: how often a word is repeated at once, though no reference repeats it.
//!
//! Parallel decoders choose neighbouring words without seeing each other's choice, and so say
//! things twice. The metric counts that, and nothing else:
//!
//! 1. A segment becomes words: pieces between white space without the punctuation and symbols at
//!    their ends; every Han, kana or bopomofo character is a word. Words are lowercased.
//! 2. A *repetition* is a word equal to the word right before it, with nothing but white space
//!    between the two. A run of `m` equal words holds `m − 1` repetitions.
//! 3. With `R_h(w)` the repetitions of word `w` in the hypothesis and `R_r(w)` those in reference
//!    `r`, the segment stutters `s = Σ_w max(0, R_h(w) − max_r R_r(w))` times.
//!
//! ```text
//! score        = 1000 · Σ s / Σ words of the hypotheses
//! per sentence = Σ s / segments
//! ```
//!
//! | hypothesis | reference | stutter | why |
//! |---|---|---|---|
//! | `the the cat` | `the cat` | 1 | |
//! | `The the the cat` | `the cat` | 2 | a run of three counts twice; case does not matter |
//! | `very very good` | `very very good` | 0 | the reference says it too |
//! | `very very very good` | `very very good` | 1 | but only once |
//! | `no, no` | `no` | 0 | a comma lies between |
//! | `go go. Go go` | `go go` | 1 | two repetitions, one of them granted |
//! | `看看看` | `看看` | 1 | characters are words in Chinese |
//! | `the cat the cat` | `the cat` | 0 | repeated phrases are not repeated words |
//!
//! The statistics of a segment are `[s, words, 1 if s > 0, 1, Σ_w R_h(w)]`.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::corpus::ReferenceCount;
use crate::metric::{Metric, Sample, SegmentScorer};
use crate::ngram::Lexicon;
use crate::score::Score;
use crate::signature::Signature;
use crate::words::{self, Link};

/// The metric and its settings.
///
/// ```
/// use padir_score::{Stutter, sentence_score};
///
/// let stutter = |hypothesis, references: &[&str]| {
///     let score = sentence_score(&Stutter::default(), hypothesis, references);
///     score.extra.iter().find(|(key, _)| *key == "per_sentence").unwrap().1
/// };
/// assert_eq!(stutter("the the cat", &["the cat"]), 1.0);
/// assert_eq!(stutter("The the the cat", &["the cat"]), 2.0);
/// assert_eq!(stutter("very very very good", &["good", "very very good"]), 1.0);
/// assert_eq!(stutter("no, no", &["no"]), 0.0);
/// assert_eq!(stutter("go go. Go go", &["go go"]), 1.0);
/// assert_eq!(stutter("看看看", &["看看"]), 1.0);
///
/// // One stutter in four words is 250 in a thousand.
/// assert_eq!(sentence_score(&Stutter::default(), "a b b c", &["a b c"]).value, 250.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stutter {
    /// Whether `The the` is a repetition; with [`Case::Lower`], the default, it is.
    pub case: Case,
}

impl Default for Stutter {
    fn default() -> Self {
        Self { case: Case::Lower }
    }
}

/// `numerator / denominator`, zero where nothing was counted.
fn rate(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}

impl Metric for Stutter {
    fn name(&self) -> String {
        "stutter".to_owned()
    }

    fn width(&self) -> usize {
        5
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(StutterScorer {
            stutter: self,
            lexicon: Lexicon::default(),
            granted: FxHashMap::default(),
            repeated: FxHashMap::default(),
        })
    }

    fn score(&self, totals: &[f64]) -> Score {
        let (stutters, words, stuttering, segments, repetitions) =
            (totals[0], totals[1], totals[2], totals[3], totals[4]);
        let per_sentence = rate(stutters, segments);
        let share = 100.0 * rate(stuttering, segments);
        let verbose = format!(
            "per 1000 words (per_sentence = {per_sentence:.4} sentences = {share:.2}% \
             stutters = {stutters} repetitions = {repetitions} words = {words})"
        );
        let extra = vec![
            ("per_sentence", per_sentence),
            ("sentences", share),
            ("stutters", stutters),
            ("repetitions", repetitions),
            ("words", words),
        ];
        Score { verbose, extra, ..Score::new(self.name(), self.value(totals)) }
    }

    fn value(&self, totals: &[f64]) -> f64 {
        1000.0 * rate(totals[0], totals[1])
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        Sample::Double(1000.0 * rate(f64::from(totals[0]), f64::from(totals[1])))
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references).with("case", "c", self.case)
    }
}

struct StutterScorer<'m> {
    stutter: &'m Stutter,
    lexicon: Lexicon,
    /// Word to the most repetitions of it in any reference.
    granted: FxHashMap<u32, u32>,
    /// Word to its repetitions in the text being read.
    repeated: FxHashMap<u32, u32>,
}

impl StutterScorer<'_> {
    /// Counts the repetitions of each word into `repeated`; returns the number of words.
    fn count(&mut self, text: &str) -> usize {
        self.repeated.clear();
        let mut previous = None;
        let mut words = 0;
        let text = self.stutter.case.apply(text);
        words::visit(&text, |word, link| {
            let word = self.lexicon.intern(word);
            if link == Link::Adjacent && previous == Some(word) {
                *self.repeated.entry(word).or_default() += 1;
            }
            previous = Some(word);
            words += 1;
        });
        words
    }
}

impl SegmentScorer for StutterScorer<'_> {
    fn read(&mut self, references: &[&str]) {
        self.lexicon.clear();
        self.granted.clear();
        for reference in references {
            self.count(reference);
            for (&word, &count) in &self.repeated {
                let granted = self.granted.entry(word).or_default();
                *granted = count.max(*granted);
            }
        }
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        let words = self.count(hypothesis);
        let mut stutters = 0;
        let mut repetitions = 0;
        for (word, &count) in &self.repeated {
            repetitions += count;
            stutters += count.saturating_sub(self.granted.get(word).copied().unwrap_or(0));
        }
        statistics[0] = f64::from(stutters);
        statistics[1] = words as f64;
        statistics[2] = f64::from(u32::from(stutters > 0));
        statistics[3] = 1.0;
        statistics[4] = f64::from(repetitions);
    }
}
