//! BLEU: n-gram precision with a brevity penalty (Papineni et al., 2002).
//!
//! With `c_n` the n-grams of the hypothesis that the references have (each counted at most as
//! often as in the richest reference), `t_n` all its n-grams, `h` its length and `r` the length of
//! the nearest reference, summed over segments:
//!
//! ```text
//! BLEU = 100 · min(1, exp(1 − r/h)) · exp(1/N · Σ_{n=1..N} log(c_n / t_n))
//! ```
//!
//! The statistics of a segment are `[h, r, c_1..c_N, t_1..t_N]`.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::corpus::ReferenceCount;
use crate::metric::{Metric, Sample, SegmentScorer};
use crate::ngram::{Lexicon, NgramTrie, ngrams};
use crate::real::Real;
use crate::score::Score;
use crate::signature::Signature;
use crate::tokenize::Tokenizer;

/// What replaces a precision of zero, whose logarithm is not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Smoothing {
    /// Nothing: one zero makes the score zero.
    None,
    /// Zero matches count as `value`.
    Floor {
        /// Usually 0.1.
        value: f64,
    },
    /// `value` is added to matches and totals of all orders above one.
    AddK {
        /// Usually 1.
        value: f64,
    },
    /// The k-th zero counts as 1/2^k matches, as in `mteval-v13a.pl`.
    #[default]
    Exp,
}

impl Smoothing {
    /// `floor` with its usual value.
    pub const FLOOR: Self = Self::Floor { value: 0.1 };
    /// `add-k` with its usual value.
    pub const ADD_K: Self = Self::AddK { value: 1.0 };

    fn signature(self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Floor { value } => format!("floor[{value:.2}]"),
            Self::AddK { value } => format!("add-k[{value:.2}]"),
            Self::Exp => "exp".to_owned(),
        }
    }
}

/// The metric and its settings.
///
/// ```
/// use padir_score::{Bleu, References, corpus_score};
///
/// let references = References::new(&[["the cat sat on the mat", "a dog barked"]])?;
/// let score = corpus_score(&Bleu::default(), &["the cat sat on a mat", "a dog barked"], &references)?;
/// assert_eq!(format!("{:.2}", score.value), "59.69");
/// # Ok::<(), padir_score::CorpusError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bleu {
    /// How segments become tokens.
    pub tokenizer: Tokenizer,
    /// Whether case counts.
    pub case: Case,
    /// What replaces zeros.
    pub smoothing: Smoothing,
    /// The longest n-grams, `N`; at least 1.
    pub max_order: usize,
    /// Leave out orders for which the hypothesis has no n-grams. For single sentences.
    pub effective_order: bool,
}

impl Default for Bleu {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::default(),
            case: Case::Mixed,
            smoothing: Smoothing::Exp,
            max_order: 4,
            effective_order: false,
        }
    }
}

/// Everything BLEU is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct BleuParts {
    /// The score, 0 to 100.
    pub score: f64,
    /// Precisions in percent, after smoothing.
    pub precisions: Vec<f64>,
    /// The factor for being too short.
    pub brevity_penalty: f64,
    /// Tokens of the hypotheses.
    pub hypothesis_length: u64,
    /// Tokens of the nearest references.
    pub reference_length: u64,
}

impl BleuParts {
    /// Hypothesis length over reference length; zero without references.
    pub fn ratio(&self) -> f64 {
        if self.reference_length == 0 {
            return 0.0;
        }
        self.hypothesis_length as f64 / self.reference_length as f64
    }

    fn verbose(&self) -> String {
        let precisions: Vec<String> = self.precisions.iter().map(|p| format!("{p:.1}")).collect();
        format!(
            "{} (BP = {:.3} ratio = {:.3} hyp_len = {} ref_len = {})",
            precisions.join("/"),
            self.brevity_penalty,
            self.ratio(),
            self.hypothesis_length,
            self.reference_length
        )
    }
}

impl Bleu {
    /// The parts of the score of summed statistics.
    pub fn parts(&self, totals: &[f64]) -> BleuParts {
        self.compute(totals)
    }

    fn compute<T: Real>(&self, totals: &[T]) -> BleuParts {
        let hypothesis_length = totals[0].wide();
        let reference_length = totals[1].wide();
        let (correct, total) = totals[2..].split_at(self.max_order);
        let brevity_penalty = brevity_penalty(hypothesis_length, reference_length);
        let zero = T::of(0.0);
        let (precisions, order) = if correct.iter().all(|&c| c == zero) {
            (vec![0.0; self.max_order], None)
        } else {
            let (precisions, order) = self.precisions(correct, total);
            (precisions, Some(order))
        };
        let score = order.map_or(0.0, |order| {
            // A zero stands for a logarithm so low that the score vanishes.
            let log = |&p: &f64| if p == 0.0 { -9_999_999_999.0 } else { p.ln() };
            let sum: f64 = precisions[..order].iter().map(log).fold(0.0, |sum, p| sum + p);
            brevity_penalty * (sum / order as f64).exp()
        });
        BleuParts {
            score,
            precisions,
            brevity_penalty,
            hypothesis_length: hypothesis_length as u64,
            reference_length: reference_length as u64,
        }
    }

    /// Smoothed precisions in percent, and how many orders count.
    fn precisions<T: Real>(&self, correct: &[T], total: &[T]) -> (Vec<f64>, usize) {
        let zero = T::of(0.0);
        let mut precisions = vec![0.0; self.max_order];
        let mut order = self.max_order;
        let mut halving = 1.0;
        for (n, (&correct, &total)) in correct.iter().zip(total).enumerate() {
            let added = match self.smoothing {
                Smoothing::AddK { value } if n > 0 => T::of(value),
                _ => zero,
            };
            let (correct, total) = (correct + added, total + added);
            if total == zero {
                break;
            }
            if self.effective_order {
                order = n + 1;
            }
            let precision = if correct == zero {
                match self.smoothing {
                    Smoothing::Exp => {
                        halving *= 2.0;
                        T::of(100.0) / (T::of(halving) * total)
                    }
                    Smoothing::Floor { value } => T::of(100.0 * value) / total,
                    Smoothing::None | Smoothing::AddK { .. } => zero,
                }
            } else {
                T::of(100.0) * correct / total
            };
            precisions[n] = precision.wide();
        }
        (precisions, order)
    }
}

fn brevity_penalty(hypothesis_length: f64, reference_length: f64) -> f64 {
    if hypothesis_length >= reference_length {
        1.0
    } else if hypothesis_length > 0.0 {
        (1.0 - reference_length / hypothesis_length).exp()
    } else {
        0.0
    }
}

impl Metric for Bleu {
    fn name(&self) -> String {
        "BLEU".to_owned()
    }

    fn width(&self) -> usize {
        2 + 2 * self.max_order
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(BleuScorer {
            bleu: self,
            lexicon: Lexicon::default(),
            trie: NgramTrie::new(self.max_order),
            reference: Vec::new(),
            hypothesis: Vec::new(),
            lengths: Vec::new(),
        })
    }

    fn score(&self, totals: &[f64]) -> Score {
        let parts = self.parts(totals);
        Score { verbose: parts.verbose(), ..Score::new(self.name(), parts.score) }
    }

    fn value(&self, totals: &[f64]) -> f64 {
        self.compute(totals).score
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        Sample::Double(self.compute(totals).score)
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        Signature::new(references)
            .with("case", "c", self.case)
            .with_switch("eff", "e", self.effective_order)
            .with("tok", "tok", self.tokenizer)
            .with("smooth", "s", self.smoothing.signature())
    }
}

struct BleuScorer<'m> {
    bleu: &'m Bleu,
    lexicon: Lexicon,
    trie: NgramTrie,
    reference: Vec<u32>,
    hypothesis: Vec<Option<u32>>,
    lengths: Vec<usize>,
}

impl SegmentScorer for BleuScorer<'_> {
    fn read(&mut self, references: &[&str]) {
        self.lexicon.clear();
        self.trie.clear();
        self.lengths.clear();
        for reference in references {
            self.reference.clear();
            let text = self.bleu.case.apply(reference);
            self.bleu
                .tokenizer
                .visit(&text, |token| self.reference.push(self.lexicon.intern(token)));
            self.trie.add(&self.reference);
            self.lengths.push(self.reference.len());
        }
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        self.hypothesis.clear();
        let text = self.bleu.case.apply(hypothesis);
        self.bleu.tokenizer.visit(&text, |token| self.hypothesis.push(self.lexicon.find(token)));
        let length = self.hypothesis.len();
        let (lengths, counts) = statistics.split_at_mut(2);
        lengths[0] = length as f64;
        lengths[1] = nearest_length(length, &self.lengths) as f64;
        let (matches, totals) = counts.split_at_mut(self.bleu.max_order);
        self.trie.count_matches(&self.hypothesis, matches);
        for (n, total) in totals.iter_mut().enumerate() {
            *total = ngrams(length, n + 1);
        }
    }
}

/// The reference length nearest to the hypothesis length; of two equally near, the shorter.
pub(crate) fn nearest_length(length: usize, references: &[usize]) -> usize {
    references.iter().copied().min_by_key(|&r| (r.abs_diff(length), r)).unwrap_or(0)
}
