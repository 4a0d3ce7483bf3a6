//! `[optimiser]`: how parameters move.

use padir_kernels::optimiser::{Adafactor, AdamW, Optimiser};
use serde::{Deserialize, Serialize};

use super::section::Section;
use crate::schedule::{Decay, Schedule};

/// `[optimiser]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OptimiserConfig {
    /// Which optimiser.
    #[serde(flatten)]
    pub algorithm: Algorithm,
    /// `[optimiser.schedule]`: the learning rate.
    pub schedule: Schedule,
    /// The largest norm of all gradients together; 0 means any.
    pub clip_norm: f64,
    /// Batches whose gradients are added up before a step.
    pub accumulate: u32,
    /// The memory of an exponential moving average of the parameters, which is then evaluated and
    /// kept beside them; 0 means none.
    pub ema: f64,
    /// How many of the last checkpoints are averaged at the end of the run; 0 means none.
    pub average_last: u32,
}

/// Which optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Algorithm {
    /// `adafactor`, with the constants of T5X unless others are given.
    Adafactor {
        /// β₂ = 1 − t^−exponent.
        exponent: f64,
        /// The largest root mean square of an update; 0 means any.
        clip_threshold: f64,
        /// ε₁, added to squared gradients.
        epsilon1: f64,
        /// ε₂, the least size that a parameter counts as.
        epsilon2: f64,
        /// Whether steps are relative to the size of the parameter.
        relative: bool,
        /// Matrices with fewer rows or columns than this are not factored.
        min_factored: usize,
    },
    /// `adamw`.
    Adamw {
        /// The memory of the mean.
        beta1: f64,
        /// The memory of the squares.
        beta2: f64,
        /// Added to the root of the squares.
        epsilon: f64,
        /// Multiplied with the learning rate and the parameter.
        weight_decay: f64,
    },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Adafactor,
    Adamw,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    Constant,
    InverseSqrt,
    Cosine,
}

const POSITIVE: &str = "a number above 0";
const NOT_NEGATIVE: &str = "a number, at least 0";
const SHARE: &str = "a number, at least 0 and below 1";

fn positive(x: f64) -> bool {
    x > 0.0
}

fn not_negative(x: f64) -> bool {
    x >= 0.0
}

fn share(x: f64) -> bool {
    (0.0..1.0).contains(&x)
}

impl OptimiserConfig {
    /// `max_steps` is the length of the run, if it is known.
    pub(super) fn read(mut section: Section<'_>, max_steps: Option<u64>) -> Self {
        let algorithm = Algorithm::read(&mut section);
        let peak = match algorithm {
            Algorithm::Adafactor { .. } => Schedule::PAPER.peak,
            Algorithm::Adamw { .. } => 5e-4,
        };
        let config = Self {
            algorithm,
            schedule: read_schedule(section.section("schedule"), peak, max_steps),
            clip_norm: section.real("clip_norm", NOT_NEGATIVE, not_negative).unwrap_or(0.0),
            accumulate: section.count("accumulate", 1..=1 << 20).unwrap_or(1),
            ema: section.real("ema", SHARE, share).unwrap_or(0.0),
            average_last: section.count("average_last", 0..=1000).unwrap_or(0),
        };
        section.finish();
        config
    }

    /// The optimiser with its constants.
    pub fn optimiser(&self) -> Optimiser {
        match self.algorithm {
            Algorithm::Adafactor {
                exponent,
                clip_threshold,
                epsilon1,
                epsilon2,
                relative,
                min_factored,
            } => {
                let clip = if clip_threshold == 0.0 { f64::INFINITY } else { clip_threshold };
                let adafactor =
                    Adafactor { exponent, clip, epsilon1, epsilon2, relative, min_factored };
                Optimiser::Adafactor(adafactor)
            }
            Algorithm::Adamw { beta1, beta2, epsilon, weight_decay } => {
                Optimiser::AdamW(AdamW { beta1, beta2, epsilon, decay: weight_decay })
            }
        }
    }
}

impl Algorithm {
    fn read(section: &mut Section<'_>) -> Self {
        let kind = section.choice("kind", r#""adafactor" or "adamw""#);
        match kind.unwrap_or(Kind::Adafactor) {
            Kind::Adafactor => {
                let usual = Adafactor::default();
                Self::Adafactor {
                    exponent: section
                        .real("exponent", "a number above 0 and at most 1", |x| x > 0.0 && x <= 1.0)
                        .unwrap_or(usual.exponent),
                    clip_threshold: section
                        .real("clip_threshold", NOT_NEGATIVE, not_negative)
                        .unwrap_or(usual.clip),
                    // Below this, single precision knows no normal numbers.
                    epsilon1: section
                        .real("epsilon1", "a number, at least 1e-37", |x| x >= 1e-37)
                        .unwrap_or(usual.epsilon1),
                    epsilon2: section
                        .real("epsilon2", POSITIVE, positive)
                        .unwrap_or(usual.epsilon2),
                    relative: section.switch("relative", usual.relative),
                    min_factored: section
                        .count("min_factored", 1..=usize::MAX)
                        .unwrap_or(usual.min_factored),
                }
            }
            Kind::Adamw => {
                let usual = AdamW::default();
                Self::Adamw {
                    beta1: section.real("beta1", SHARE, share).unwrap_or(usual.beta1),
                    beta2: section.real("beta2", SHARE, share).unwrap_or(usual.beta2),
                    epsilon: section.real("epsilon", POSITIVE, positive).unwrap_or(usual.epsilon),
                    weight_decay: section
                        .real("weight_decay", NOT_NEGATIVE, not_negative)
                        .unwrap_or(usual.decay),
                }
            }
        }
    }
}

fn read_schedule(mut section: Section<'_>, peak: f64, max_steps: Option<u64>) -> Schedule {
    let kind = section.choice("kind", r#""constant", "inverse-sqrt" or "cosine""#);
    let kind = kind.unwrap_or(Shape::Cosine);
    let steps = max_steps.unwrap_or(100_000);
    let steps = match kind {
        Shape::Cosine => section.count("steps", 1..=u64::MAX).unwrap_or(steps),
        _ => steps,
    };
    let peak = section.real("peak", POSITIVE, positive).unwrap_or(peak);
    let low = Schedule::PAPER.start.min(peak);
    let warmup = section.count("warmup", 0..=u64::MAX);
    let warmup = warmup.unwrap_or(Schedule::PAPER.warmup.min(steps / 10));
    let start = section.real("start", NOT_NEGATIVE, not_negative).unwrap_or(low);
    let decay = match kind {
        Shape::Constant => Decay::Constant,
        Shape::InverseSqrt => Decay::InverseSqrt,
        Shape::Cosine => {
            let end = section.real("end", NOT_NEGATIVE, not_negative).unwrap_or(low);
            if warmup > steps {
                let name = section.name("warmup");
                section.complain(
                    "warmup",
                    format!("`{name}` is {warmup}; it must be at most `steps`, {steps}"),
                );
            }
            Decay::Cosine { end, steps }
        }
    };
    section.finish();
    Schedule { decay, peak, warmup, start }
}
