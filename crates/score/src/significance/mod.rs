//! How sure is a score, and is one system really different from another?
//!
//! - [`Bootstrap`]: a 95 % interval around one system's score (Koehn, 2004).
//! - [`Comparison`]: the p-value of the difference between a baseline and other systems, by paired
//!   bootstrap or by approximate randomisation (Riezler and Maxwell, 2005).
//!
//! Both draw the same segments as sacrebleu with the same seed, and compute with its precision,
//! so that the numbers agree.

mod numpy;
mod randomize;
mod resample;

use crate::metric::{Metric, Statistics};
use crate::score::Confidence;
use numpy::Generator;
use resample::{Samples, resample};

/// The seed that everybody uses.
pub const DEFAULT_SEED: u64 = 12345;

/// Bootstrap resampling of one system.
///
/// ```
/// use padir_score::{Bleu, Bootstrap, Metric, References, measure};
///
/// let references = References::new(&[["a b c d e", "f g h i j", "k l m n o"]])?;
/// let system = measure(&Bleu::default(), &references, &[["a b c d e", "f g x i j", "k l m n"]])?;
/// let confidence = Bootstrap::default().confidence(&Bleu::default(), &system[0]);
/// assert!(confidence.mean > 50.0 && confidence.half_width > 0.0);
/// # Ok::<(), padir_score::CorpusError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// How often the corpus is drawn.
    pub samples: u32,
    /// Same seed, same draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { samples: 1000, seed: DEFAULT_SEED }
    }
}

impl Bootstrap {
    /// The mean score over all draws and half the width of the interval that holds 95 % of them.
    /// Both are zero without samples.
    pub fn confidence(&self, metric: &dyn Metric, statistics: &Statistics) -> Confidence {
        if self.samples == 0 {
            return Confidence { mean: 0.0, half_width: 0.0 };
        }
        self.samples(metric, statistics).exact_confidence()
    }
}

impl Bootstrap {
    fn samples(&self, metric: &dyn Metric, statistics: &Statistics) -> Samples {
        let generator = &mut Generator::new(self.seed);
        resample(metric, &[statistics], self.samples, generator).remove(0)
    }
}

/// How two systems are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedTest {
    /// Draw segments with replacement; how far does the difference stray from its mean?
    Bootstrap,
    /// Swap the two outputs at random; how often is the difference as large as the real one?
    Randomization,
}

impl PairedTest {
    /// How many samples or trials are usual.
    pub const fn usual_samples(self) -> u32 {
        match self {
            Self::Bootstrap => 1000,
            Self::Randomization => 10_000,
        }
    }
}

/// A comparison of systems with a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The test.
    pub test: PairedTest,
    /// Bootstrap samples or randomisation trials; at least 1.
    pub samples: u32,
    /// Same seed, same result.
    pub seed: u64,
    /// For randomisation, which gives no intervals: bootstrap samples to estimate them from.
    pub interval_samples: Option<u32>,
}

impl Comparison {
    /// A test with its usual number of samples and seed.
    pub fn new(test: PairedTest) -> Self {
        let samples = test.usual_samples();
        Self { test, samples, seed: DEFAULT_SEED, interval_samples: None }
    }

    /// Compares every system with the first.
    pub fn run(&self, metric: &dyn Metric, systems: &[Statistics]) -> Vec<Verdict> {
        let scores: Vec<f64> = systems.iter().map(|s| metric.value(&s.totals())).collect();
        let verdicts: Vec<(Option<f64>, Option<Confidence>)> = match self.test {
            PairedTest::Bootstrap => self.bootstrap(metric, systems, &scores),
            PairedTest::Randomization => self.randomize(metric, systems),
        };
        scores
            .into_iter()
            .zip(verdicts)
            .map(|(score, (p_value, confidence))| Verdict { score, p_value, confidence })
            .collect()
    }

    fn bootstrap(
        &self,
        metric: &dyn Metric,
        systems: &[Statistics],
        scores: &[f64],
    ) -> Vec<(Option<f64>, Option<Confidence>)> {
        let generator = &mut Generator::new(self.seed);
        let all: Vec<&Statistics> = systems.iter().collect();
        let samples = resample(metric, &all, self.samples.max(1), generator);
        let verdict = |(index, own): (usize, &Samples)| {
            let p_value = (index > 0).then(|| {
                let difference = (scores[0] - scores[index]).abs();
                self.p_value(own.exceedances(&samples[0], difference))
            });
            (p_value, Some(own.confidence()))
        };
        samples.iter().enumerate().map(verdict).collect()
    }

    fn randomize(
        &self,
        metric: &dyn Metric,
        systems: &[Statistics],
    ) -> Vec<(Option<f64>, Option<Confidence>)> {
        let generator = &mut Generator::new(self.seed);
        let counts = randomize::exceedances(metric, systems, self.samples.max(1), generator);
        let p_values =
            std::iter::once(None).chain(counts.into_iter().map(|c| Some(self.p_value(c))));
        // The baseline's interval comes from a fresh generator, the others' from the one that
        // has made the swaps.
        let intervals: Vec<Option<Confidence>> = match (self.interval_samples, systems) {
            (Some(samples), [baseline, others @ ..]) if samples > 0 => {
                let others: Vec<&Statistics> = others.iter().collect();
                let bootstrap = Bootstrap { samples, seed: self.seed };
                let first = bootstrap.samples(metric, baseline).confidence();
                let rest = resample(metric, &others, samples, generator);
                std::iter::once(first)
                    .chain(rest.iter().map(Samples::confidence))
                    .map(Some)
                    .collect()
            }
            _ => vec![None; systems.len()],
        };
        p_values.zip(intervals).collect()
    }

    /// The share of samples at least as extreme, the real one included.
    fn p_value(&self, exceedances: usize) -> f64 {
        (exceedances + 1) as f64 / (f64::from(self.samples.max(1)) + 1.0)
    }
}

/// What a comparison says about one system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The score.
    pub score: f64,
    /// The probability of so large a difference from the baseline by chance; none for the
    /// baseline itself.
    pub p_value: Option<f64>,
    /// The interval, if there is one.
    pub confidence: Option<Confidence>,
}
