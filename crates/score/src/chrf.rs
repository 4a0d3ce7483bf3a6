//! chrF and chrF++: F-score over character n-grams, and over words (Popović, 2015 and 2017).
//!
//! With `P` and `R` the precision and recall of n-grams, averaged over all orders of characters
//! and words for which both sides have n-grams:
//!
//! ```text
//! chrFβ = 100 · (1 + β²) · P · R / (β² · P + R)
//! ```
//!
//! The statistics of a segment are `[hypothesis, reference, matching]` n-grams for every order,
//! characters before words, against the reference with the best segment score.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::corpus::ReferenceCount;
use crate::metric::{Metric, Sample, SegmentScorer};
use crate::ngram::{Lexicon, NgramTrie, ngrams};
use crate::real::Real;
use crate::score::Score;
use crate::signature::Signature;
use crate::unicode::{is_space, split};

/// What a missing precision or recall counts as.
const EPSILON: f64 = 1e-16;

/// The metric and its settings. With `word_order` 2 it is chrF++.
///
/// ```
/// use padir_score::{Chrf, sentence_score};
///
/// let score = sentence_score(&Chrf::plus_plus(), "the cat sat", &["a cat sat"]);
/// assert_eq!(score.name, "chrF2++");
/// assert_eq!(format!("{:.2}", score.value), "65.32");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Chrf {
    /// The longest character n-grams.
    pub char_order: usize,
    /// The longest word n-grams; 0 for chrF, 2 for chrF++.
    pub word_order: usize,
    /// How many times recall weighs as much as precision.
    pub beta: u32,
    /// Whether case counts.
    pub case: Case,
    /// Count white space as a character.
    pub whitespace: bool,
    /// Score orders without n-grams as almost zero instead of leaving them out, and average
    /// F-scores instead of precisions and recalls, as `chrF++.py` does.
    pub eps_smoothing: bool,
}

impl Default for Chrf {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2,
            case: Case::Mixed,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

impl Chrf {
    /// chrF++.
    pub fn plus_plus() -> Self {
        Self { word_order: 2, ..Self::default() }
    }

    fn orders(&self) -> usize {
        self.char_order + self.word_order
    }

    fn compute<T: Real>(&self, statistics: &[T]) -> T {
        let zero = T::of(0.0);
        let factor = f64::from(self.beta).powi(2);
        let (weight, one_and_weight) = (T::of(factor), T::of(1.0 + factor));
        let mut smoothed = zero;
        let (mut precisions, mut recalls, mut orders) = (zero, zero, 0);
        for triple in statistics.chunks_exact(3) {
            let (hypothesis, reference, matching) = (triple[0], triple[1], triple[2]);
            let share = |of: T| if of > zero { matching / of } else { T::of(EPSILON) };
            let (precision, recall) = (share(hypothesis), share(reference));
            let denominator = weight * precision + recall;
            let f_score = if denominator > zero {
                one_and_weight * precision * recall / denominator
            } else {
                T::of(EPSILON)
            };
            smoothed = smoothed + f_score;
            if hypothesis > zero && reference > zero {
                precisions = precisions + precision;
                recalls = recalls + recall;
                orders += 1;
            }
        }
        if self.eps_smoothing {
            return T::of(100.0) * smoothed / T::of(self.orders().max(1) as f64);
        }
        if orders == 0 || precisions + recalls == zero {
            return zero;
        }
        let (precision, recall) =
            (precisions / T::of(f64::from(orders)), recalls / T::of(f64::from(orders)));
        let f_score = one_and_weight * precision * recall / (weight * precision + recall);
        T::of(100.0) * f_score
    }
}

impl Metric for Chrf {
    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order))
    }

    fn width(&self) -> usize {
        3 * self.orders()
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(ChrfScorer {
            chrf: self,
            references: Vec::new(),
            used: 0,
            lexicon: Lexicon::default(),
            chars: Vec::new(),
            words: Vec::new(),
            symbols: Vec::new(),
            trial: vec![0.0; self.width()],
            matches: vec![0.0; self.orders()],
        })
    }

    fn score(&self, totals: &[f64]) -> Score {
        Score::new(self.name(), self.compute(totals))
    }

    fn value(&self, totals: &[f64]) -> f64 {
        self.compute(totals)
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        Sample::Single(self.compute(totals))
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references)
            .with("case", "c", self.case)
            .with_switch("eff", "e", !self.eps_smoothing)
            .with("nc", "nc", self.char_order)
            .with("nw", "nw", self.word_order)
            .with_switch("space", "s", self.whitespace)
    }
}

/// One reference: its n-grams and its lengths.
struct Reference {
    chars: NgramTrie,
    words: NgramTrie,
    char_count: usize,
    word_count: usize,
}

struct ChrfScorer<'m> {
    chrf: &'m Chrf,
    /// Kept from segment to segment; the first `used` are this segment's.
    references: Vec<Reference>,
    used: usize,
    lexicon: Lexicon,
    chars: Vec<Option<u32>>,
    words: Vec<Option<u32>>,
    symbols: Vec<u32>,
    trial: Vec<f64>,
    matches: Vec<f64>,
}

impl ChrfScorer<'_> {
    fn read_one(&mut self, text: &str) {
        let chrf = self.chrf;
        if self.used == self.references.len() {
            self.references.push(Reference {
                chars: NgramTrie::new(chrf.char_order),
                words: NgramTrie::new(chrf.word_order),
                char_count: 0,
                word_count: 0,
            });
        }
        let reference = &mut self.references[self.used];
        self.used += 1;
        self.symbols.clear();
        self.symbols.extend(characters(text, chrf.whitespace));
        reference.chars.clear();
        reference.chars.add(&self.symbols);
        reference.char_count = self.symbols.len();
        if chrf.word_order > 0 {
            self.symbols.clear();
            visit_words(text, |word| self.symbols.push(self.lexicon.intern(word)));
            reference.words.clear();
            reference.words.add(&self.symbols);
            reference.word_count = self.symbols.len();
        }
    }

    /// Writes the statistics against one reference into `trial`.
    fn try_reference(&mut self, index: usize) {
        let reference = &mut self.references[index];
        let (char_matches, word_matches) = self.matches.split_at_mut(self.chrf.char_order);
        char_matches.fill(0.0);
        word_matches.fill(0.0);
        reference.chars.count_matches(&self.chars, char_matches);
        reference.words.count_matches(&self.words, word_matches);
        let chars = (self.chars.len(), reference.char_count, &*char_matches);
        let words = (self.words.len(), reference.word_count, &*word_matches);
        let mut triples = self.trial.chunks_exact_mut(3);
        for (hypothesis, reference, matches) in [chars, words] {
            for (n, (&matching, triple)) in matches.iter().zip(&mut triples).enumerate() {
                let known = ngrams(reference, n + 1);
                // Without reference n-grams there is nothing to be precise about.
                triple[0] = if known > 0.0 { ngrams(hypothesis, n + 1) } else { 0.0 };
                triple[1] = known;
                triple[2] = matching;
            }
        }
    }
}

impl SegmentScorer for ChrfScorer<'_> {
    fn read(&mut self, references: &[&str]) {
        self.lexicon.clear();
        self.used = 0;
        for reference in references {
            self.read_one(&self.chrf.case.apply(reference));
        }
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        let text = self.chrf.case.apply(hypothesis);
        self.chars.clear();
        self.chars.extend(characters(&text, self.chrf.whitespace).map(Some));
        self.words.clear();
        if self.chrf.word_order > 0 {
            visit_words(&text, |word| self.words.push(self.lexicon.find(word)));
        }
        let mut best = -1.0;
        for index in 0..self.used {
            self.try_reference(index);
            let score = self.chrf.compute(&self.trial);
            if score > best {
                best = score;
                statistics.copy_from_slice(&self.trial);
            }
        }
    }
}

fn characters(text: &str, whitespace: bool) -> impl Iterator<Item = u32> {
    text.chars().filter(move |&c| whitespace || !is_space(c)).map(u32::from)
}

/// Words with one ASCII punctuation mark split off: the last if there is one, else the first.
fn visit_words(text: &str, mut emit: impl FnMut(&str)) {
    let is_mark = |byte: u8| byte.is_ascii_punctuation();
    for word in split(text) {
        let (first, last) = (word.as_bytes()[0], word.as_bytes()[word.len() - 1]);
        let is_single = word.chars().nth(1).is_none();
        let cut = match (is_single, is_mark(first), is_mark(last)) {
            (false, _, true) => word.len() - 1,
            (false, true, false) => 1,
            _ => 0,
        };
        let (head, tail) = word.split_at(cut);
        if !head.is_empty() {
            emit(head);
        }
        emit(tail);
    }
}
