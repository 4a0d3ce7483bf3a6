//! TER: edits per reference word (Snover et al., 2006), with Tercom's greedy block shifts.
//!
//! An edit inserts, deletes or replaces a word, or moves a block of words. With `e` the fewest
//! edits that turn the hypothesis into one of its references, and `r` the mean length of the
//! references:
//!
//! ```text
//! TER = 100 · Σ e / Σ r
//! ```
//!
//! The statistics of a segment are `[e, r]`.

mod distance;
mod shift;

use serde::{Deserialize, Serialize};

use crate::corpus::ReferenceCount;
use crate::metric::{Metric, Sample, SegmentScorer};
use crate::ngram::Lexicon;
use crate::real::Real;
use crate::score::Score;
use crate::signature::Signature;
pub use crate::tokenize::tercom::TercomOptions;
use shift::Workspace;

/// The metric and its settings.
///
/// ```
/// use padir_score::{Ter, sentence_score};
///
/// // One block moves: one edit for five words.
/// let score = sentence_score(&Ter::default(), "d e a b c", &["a b c d e"]);
/// assert_eq!(score.value, 20.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ter {
    /// What happens to a segment before edits are counted.
    pub options: TercomOptions,
}

fn compute<T: Real>(totals: &[T]) -> T {
    let zero = T::of(0.0);
    let (edits, length) = (totals[0], totals[1]);
    let rate = if length > zero {
        edits / length
    } else if edits > zero {
        T::of(1.0)
    } else {
        zero
    };
    T::of(100.0) * rate
}

impl Metric for Ter {
    fn name(&self) -> String {
        "TER".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn scorer(&self) -> Box<dyn SegmentScorer + '_> {
        Box::new(TerScorer {
            ter: self,
            lexicon: Lexicon::default(),
            references: Vec::new(),
            hypothesis: Vec::new(),
            workspace: Workspace::default(),
        })
    }

    fn score(&self, totals: &[f64]) -> Score {
        Score::new(self.name(), compute(totals))
    }

    fn value(&self, totals: &[f64]) -> f64 {
        compute(totals)
    }

    fn sample(&self, totals: &[f32]) -> Sample {
        Sample::Single(compute(totals))
    }

    fn signature(&self, references: ReferenceCount) -> Signature {
        let case = crate::case::Case::lower_if(!self.options.case_sensitive);
        Signature::new(references)
            .with("case", "c", case)
            .with("tok", "t", "tercom")
            .with_switch("norm", "nr", self.options.normalized)
            .with_switch("punct", "pn", !self.options.no_punct)
            .with_switch("asian", "as", self.options.asian_support)
    }
}

struct TerScorer<'m> {
    ter: &'m Ter,
    lexicon: Lexicon,
    references: Vec<Vec<u32>>,
    hypothesis: Vec<u32>,
    workspace: Workspace,
}

impl SegmentScorer for TerScorer<'_> {
    fn read(&mut self, references: &[&str]) {
        self.lexicon.clear();
        self.references.clear();
        for reference in references {
            let mut words = Vec::new();
            let lexicon = &mut self.lexicon;
            self.ter.options.visit_twice(reference, |word| words.push(lexicon.intern(word)));
            self.references.push(words);
        }
    }

    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]) {
        self.hypothesis.clear();
        let (words, lexicon) = (&mut self.hypothesis, &mut self.lexicon);
        self.ter.options.visit(hypothesis, |word| words.push(lexicon.intern(word)));
        let workspace = &mut self.workspace;
        let edits = |reference: &Vec<u32>| shift::edits(workspace, &self.hypothesis, reference);
        let fewest = self.references.iter().map(edits).min().unwrap_or(0);
        let length: usize = self.references.iter().map(Vec::len).sum();
        statistics[0] = f64::from(fewest);
        statistics[1] = length as f64 / self.references.len().max(1) as f64;
    }
}
