//! `[run]` and `[device]`: where, how long, and what is watched meanwhile.

use std::fmt;
use std::path::PathBuf;

use padir_base::random::Seed;
use padir_decode::Abilities;
use serde::{Deserialize, Serialize};

use super::decode::DecodeConfig;
use super::section::Section;

/// `[run]`. The run ends with whichever limit comes first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunConfig {
    /// The directory of the run, made if it does not exist.
    pub dir: PathBuf,
    /// The seed of all randomness.
    pub seed: Seed,
    /// Most steps; 0 means any number.
    pub max_steps: u64,
    /// Most minutes of training, those before a resumption included; 0 means any number.
    pub max_minutes: f64,
    /// Most passes over the training data; 0 means any number.
    pub max_epochs: u64,
    /// Steps between evaluations.
    pub eval_every: u64,
    /// Steps between checkpoints.
    pub save_every: u64,
    /// Minutes after which a checkpoint is made in any case; 0 means never. It changes no result: such checkpoints are removed by
    /// the next one and are not averaged.
    pub save_minutes: f64,
    /// How many of the last checkpoints are kept, besides the best.
    pub keep: u32,
    /// Steps between lines of the record.
    pub log_every: u64,
    /// What the best checkpoint is best in: the name of a dev set, a dot, and `loss`, `bleu`,
    /// `chrf`, `exact_match`, `length_accuracy` or `length_accuracy_at_5`. Left out: the loss of the first dev set.
    pub metric: Option<Metric>,
    /// The run ends after this many evaluations without a new best; 0 means never.
    pub patience: u32,
    /// Threads; 0 means one per core.
    pub threads: usize,
    /// `[run.decode]`: how dev sets are translated for BLEU.
    pub decode: DecodeConfig,
}

/// A number of an evaluation, such as `dev.bleu`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Metric {
    /// The dev set.
    pub set: String,
    /// What is measured on it.
    pub measure: Measure,
}

/// What is measured on a dev set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The objective per token; less is better.
    Loss,
    /// BLEU of translations.
    Bleu,
    /// chrF of translations.
    Chrf,
    /// The share of translations equal to their references.
    ExactMatch,
    /// The share of lengths predicted right.
    LengthAccuracy,
    /// The share of lengths among the five most probable.
    LengthAccuracyAt5,
}

/// `[device]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceConfig {
    /// What computes.
    pub kind: DeviceKind,
    /// Whether whole layers run as single operations; only `cpu` has them.
    pub fused: bool,
    /// Which of several devices.
    pub index: usize,
}

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// Any graphics processor, through WebGPU.
    Wgpu,
    /// NVIDIA's.
    Cuda,
}

const MINUTES: &str = "a number, at least 0";

impl RunConfig {
    pub(super) fn read(mut section: Section<'_>, model: &Abilities) -> Self {
        let metric = section.text("metric").and_then(|name| {
            let metric = Metric::parse(&name);
            if metric.is_none() {
                section.complain(
                    "metric",
                    format!(
                        "`run.metric` is {name:?}; it must be the name of a dev set, a dot, and \
                         loss, bleu, chrf, exact_match, length_accuracy or length_accuracy_at_5"
                    ),
                );
            }
            metric
        });
        let s = &mut section;
        let config = Self {
            dir: s.path("dir"),
            seed: Seed(s.count("seed", 0..=u64::MAX).unwrap_or(1)),
            max_steps: s.count("max_steps", 0..=u64::MAX).unwrap_or(100_000),
            max_minutes: s.real("max_minutes", MINUTES, |x| x >= 0.0).unwrap_or(0.0),
            max_epochs: s.count("max_epochs", 0..=u64::MAX).unwrap_or(0),
            eval_every: s.count("eval_every", 1..=u64::MAX).unwrap_or(1000),
            save_every: s.count("save_every", 1..=u64::MAX).unwrap_or(1000),
            save_minutes: s.real("save_minutes", MINUTES, |x| x >= 0.0).unwrap_or(10.0),
            keep: s.count("keep", 1..=u32::MAX).unwrap_or(2),
            log_every: s.count("log_every", 1..=u64::MAX).unwrap_or(50),
            metric,
            patience: s.count("patience", 0..=u32::MAX).unwrap_or(0),
            threads: s.count("threads", 0..=1024).unwrap_or(0),
            decode: DecodeConfig::read(s.section("decode"), model),
        };
        section.finish();
        config
    }

    /// The limit of steps, if there is one.
    pub fn step_limit(&self) -> Option<u64> {
        (self.max_steps > 0).then_some(self.max_steps)
    }
}

impl DeviceConfig {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let kind = section.choice("kind", r#""cpu", "wgpu" or "cuda""#);
        let kind = kind.unwrap_or(DeviceKind::Cpu);
        let config = Self {
            kind,
            fused: section.switch("fused", kind == DeviceKind::Cpu),
            index: section.count("index", 0..=1023).unwrap_or(0),
        };
        if config.fused && kind != DeviceKind::Cpu {
            section.complain("fused", "`device.fused` is true; only the cpu has fused layers");
        }
        section.finish();
        config
    }
}

impl Metric {
    /// Reads `dev.bleu`. The name of the set may contain dots.
    pub fn parse(name: &str) -> Option<Self> {
        let (set, measure) = name.rsplit_once('.')?;
        let measure = Measure::ALL.into_iter().find(|m| m.name() == measure)?;
        (!set.is_empty()).then(|| Self { set: set.to_owned(), measure })
    }

    /// Whether `new` is better than `old`. Nothing is better than a number that is none.
    pub fn improves(&self, old: f64, new: f64) -> bool {
        match self.measure {
            _ if new.is_nan() => false,
            _ if old.is_nan() => true,
            Measure::Loss => new < old,
            _ => new > old,
        }
    }
}

impl Measure {
    const ALL: [Self; 6] = [
        Self::Loss,
        Self::Bleu,
        Self::Chrf,
        Self::ExactMatch,
        Self::LengthAccuracy,
        Self::LengthAccuracyAt5,
    ];

    /// How metrics call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Bleu => "bleu",
            Self::Chrf => "chrf",
            Self::ExactMatch => "exact_match",
            Self::LengthAccuracy => "length_accuracy",
            Self::LengthAccuracyAt5 => "length_accuracy_at_5",
        }
    }

    /// Whether the model must predict lengths for it.
    pub fn needs_lengths(self) -> bool {
        matches!(self, Self::LengthAccuracy | Self::LengthAccuracyAt5)
    }

    /// Whether translations are needed for it.
    pub fn needs_decoding(self) -> bool {
        matches!(self, Self::Bleu | Self::Chrf | Self::ExactMatch)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.set, self.measure.name())
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}
