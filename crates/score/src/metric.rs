//! What a metric is: segments become numbers that add up, and the sum becomes a score.
//!
//! Because statistics add up, a corpus score is one sum, a bootstrap sample is another, and the
//! work per segment is done once for all of them, in parallel.

use rayon::prelude::*;

use crate::corpus::{CorpusError, ReferenceCount, References};
use crate::score::Score;
use crate::signature::Signature;

/// A way to compare hypotheses with references.
pub trait Metric: Send + Sync {
    /// What the score is called: `BLEU`, `chrF2++`.
    fn name(&self) -> String;

    /// How many statistics a segment has.
    fn width(&self) -> usize;

    /// A worker that measures segments, one after another, and reuses its memory.
    fn scorer(&self) -> Box<dyn SegmentScorer + '_>;

    /// The score of summed statistics.
    fn score(&self, totals: &[f64]) -> Score;

    /// The bare number of [`Metric::score`].
    fn value(&self, totals: &[f64]) -> f64;

    /// The number for a bootstrap sample, whose statistics sacrebleu sums in single precision.
    fn sample(&self, totals: &[f32]) -> Sample;

    /// How the score was computed.
    fn signature(&self, references: ReferenceCount) -> Signature;
}

/// Measures segments for a [`Metric`].
pub trait SegmentScorer {
    /// Takes up the references of the next segment.
    fn read(&mut self, references: &[&str]);

    /// Writes the statistics of a hypothesis for that segment over `statistics`, which has the
    /// metric's width and holds zeros.
    fn compare(&mut self, hypothesis: &str, statistics: &mut [f64]);
}

/// A score computed from single-precision sums, in the precision NumPy ends up with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// The last operation was a float32 one.
    Single(f32),
    /// The last operation was a float64 one.
    Double(f64),
}

/// The statistics of a system: one row per segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    width: usize,
    rows: Vec<f64>,
}

impl Statistics {
    /// The number of segments.
    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One row per segment.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width)
    }

    /// The statistics of one segment.
    pub fn row(&self, segment: usize) -> &[f64] {
        &self.rows[segment * self.width..][..self.width]
    }

    /// The sum over all segments, from first to last.
    pub fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.width];
        for row in self.rows() {
            totals.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        totals
    }
}

/// Measures every segment of every system, in parallel. The result does not depend on the number
/// of threads.
///
/// # Errors
/// If a system has not as many segments as the references.
pub fn measure<'a, S: AsRef<[&'a str]> + Sync>(
    metric: &dyn Metric,
    references: &References<'_>,
    systems: &[S],
) -> Result<Vec<Statistics>, CorpusError> {
    let expected = references.len();
    for (index, system) in systems.iter().enumerate() {
        let found = system.as_ref().len();
        if found != expected {
            return Err(CorpusError::UnequalSystem { system: index + 1, expected, found });
        }
    }
    let width = metric.width();
    // A segment's references are read once for all systems, so the systems lie side by side.
    let mut rows = vec![0.0; expected * systems.len() * width];
    if !systems.is_empty() {
        rows.par_chunks_mut(width * systems.len()).enumerate().with_min_len(32).for_each_init(
            || metric.scorer(),
            |scorer, (segment, rows)| {
                scorer.read(references.segment(segment));
                for (system, row) in systems.iter().zip(rows.chunks_exact_mut(width)) {
                    scorer.compare(system.as_ref()[segment], row);
                }
            },
        );
    }
    let of_system = |index: usize| {
        let rows = rows.chunks_exact(width).skip(index).step_by(systems.len()).flatten().copied();
        Statistics { width, rows: rows.collect() }
    };
    Ok((0..systems.len()).map(of_system).collect())
}

/// The score of one hypothesis.
///
/// For BLEU, set [`Bleu::effective_order`](crate::Bleu::effective_order): a short sentence has no
/// 4-grams.
pub fn sentence_score(metric: &dyn Metric, hypothesis: &str, references: &[&str]) -> Score {
    let mut statistics = vec![0.0; metric.width()];
    let mut scorer = metric.scorer();
    scorer.read(references);
    scorer.compare(hypothesis, &mut statistics);
    metric.score(&statistics)
}

/// The score of a corpus.
///
/// # Errors
/// If the hypotheses are not as many as the references.
pub fn corpus_score(
    metric: &dyn Metric,
    hypotheses: &[&str],
    references: &References<'_>,
) -> Result<Score, CorpusError> {
    let statistics = measure(metric, references, &[hypotheses])?;
    Ok(metric.score(&statistics[0].totals()))
}
