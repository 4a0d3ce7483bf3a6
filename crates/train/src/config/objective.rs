//! `[objective]`: what is learnt from a pair.

use padir_base::ParallelTraining;
use padir_checkpoint::DecoderKind;
use serde::{Deserialize, Serialize};

use super::noise::Noise;
use super::section::Section;

/// `[objective]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectiveConfig {
    /// Which objective.
    #[serde(flatten)]
    pub kind: Objective,
    /// ε of label smoothing: the target of cross-entropy is 1 − ε on the right token, plus ε spread
    /// evenly over all tokens.
    pub label_smoothing: f64,
    /// Multiplies (log Z)², Z being the normaliser of the softmax.
    pub z_loss: f64,
}

/// Which objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Objective {
    /// `ar`: every token given the right ones before it.
    Ar,
    /// `padir`: all tokens given a corrupted target, again given the guesses, and so on.
    Padir(Padir),
    /// `cmlm`: masked tokens given the others.
    Cmlm(Cmlm),
    /// `smart`: all tokens given partly masked predictions.
    Smart(Cmlm),
    /// `sundae`: all tokens given uniform noise, again given samples, and so on.
    Sundae(Sundae),
    /// `nat`: all tokens given masks.
    Nat(Cmlm),
    /// `inat`: all tokens given masks, again given predictions or poisoned targets, and so on.
    Inat(Inat),
    /// `disco`: every token given a random set of others.
    Disco(Cmlm),
    /// `ctc`: the sum over all alignments with the slots of an upsampled source.
    Ctc(Ctc),
}

/// The settings of objectives that have no others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cmlm {
    /// How lengths are learnt.
    #[serde(flatten)]
    pub length: LengthObjective,
}

/// The settings of step-unrolled denoising.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sundae {
    /// How often the decoder is unrolled.
    pub stages: u32,
    /// Of the samples between stages.
    pub temperature: f64,
    /// How lengths are learnt.
    #[serde(flatten)]
    pub length: LengthObjective,
}

/// The settings of iterative NAT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Inat {
    /// How often the decoder is unrolled.
    pub stages: u32,
    /// The probability that a later pass reads a poisoned target.
    pub denoise_prob: f64,
    /// β: the share of tokens that are poisoned in it.
    pub poison_prob: f64,
    /// How lengths are learnt.
    #[serde(flatten)]
    pub length: LengthObjective,
}

/// The settings of the multi-stage objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Padir {
    /// S, how often the decoder is unrolled; between stages stands an argmax.
    pub stages: u32,
    /// How the losses of stages become one.
    pub reduce: Reduce,
    /// How lengths are learnt; their loss counts once, whatever the stages.
    #[serde(flatten)]
    pub length: LengthObjective,
    /// Which positions the first stage is judged on; later ones are judged on all.
    pub first_stage: FirstStage,
    /// Whether a guess that equals its left neighbour's is taken back between stages, as it is when translating: the next stage reads
    /// what the first one read there.
    pub remask_stutter: bool,
    /// How the first input is made of the target.
    pub corruption: Corruption,
}

/// How lengths are learnt. All objectives of parallel models have these settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LengthObjective {
    /// `length_weight`: multiplies the loss.
    #[serde(rename = "length_weight")]
    pub weight: f64,
    /// `length_sigma`: σ of a soft target, a discretised Gaussian around the true length; 0 for the true length alone.
    #[serde(rename = "length_sigma")]
    pub sigma: f64,
    /// `length_trains_encoder`: whether the encoder learns from lengths, too.
    #[serde(rename = "length_trains_encoder")]
    pub trains_encoder: bool,
}

impl Default for LengthObjective {
    /// The paper's.
    fn default() -> Self {
        Self { weight: 1.0, sigma: 0.0, trains_encoder: true }
    }
}

impl LengthObjective {
    pub(super) const KEYS: [&str; 3] = ["length_weight", "length_sigma", "length_trains_encoder"];

    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let usual = Self::default();
        let [weight, sigma, trains_encoder] = Self::KEYS;
        let wanted = "a number, at least 0";
        Self {
            weight: section.real(weight, wanted, |x| x >= 0.0).unwrap_or(usual.weight),
            sigma: section.real(sigma, wanted, |x| x >= 0.0).unwrap_or(usual.sigma),
            trains_encoder: section.switch(trains_encoder, usual.trains_encoder),
        }
    }
}

/// How the losses of stages become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Their sum, as the published code has it.
    Sum,
    /// Their mean, as the paper has it.
    Mean,
}

/// The settings of latent alignments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ctc {
    /// S, how often the decoder is unrolled: later stages read the best path of the stage before.
    pub stages: u32,
    /// Whether the losses of stages are added or averaged.
    pub reduce: Reduce,
    /// ρ at the first step: of the slots at which the best path differs from the likeliest alignment of the target, the share that is
    /// revealed to the decoder. 0 reveals nothing.
    pub glancing_start: f64,
    /// ρ at the end.
    pub glancing_end: f64,
    /// The steps that ρ takes to its end.
    pub glancing_steps: u64,
    /// Whether every decoder layer predicts.
    pub deep_supervision: bool,
}

impl Ctc {
    fn read(section: &mut Section<'_>) -> Self {
        let mut share = |key, usual| {
            let wanted = "a number between 0 and 1";
            section.real(key, wanted, |x| (0.0..=1.0).contains(&x)).unwrap_or(usual)
        };
        let glancing_start = share("glancing_start", 0.5);
        let glancing_end = share("glancing_end", f64::min(0.3, glancing_start));
        Self {
            stages: section.count("stages", 1..=64).unwrap_or(1),
            reduce: section.choice("reduce", r#""sum" or "mean""#).unwrap_or(Reduce::Sum),
            glancing_start,
            glancing_end,
            glancing_steps: section
                .count("glancing_steps", 0..=1_000_000_000_usize)
                .map_or(20_000, |steps| steps as u64),
            deep_supervision: section.switch("deep_supervision", false),
        }
    }

    /// ρ after so many steps.
    pub fn glancing_rate(&self, step: u64) -> f64 {
        let done = if step >= self.glancing_steps {
            1.0
        } else {
            step as f64 / self.glancing_steps as f64
        };
        self.glancing_start + done * (self.glancing_end - self.glancing_start)
    }
}

/// Which positions the first stage is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstStage {
    /// All.
    All,
    /// Those drawn for noise, whether the token changed or not.
    Noise,
    /// Those that read MASK.
    Mask,
}

/// Noise falls on some tokens; each of them, independently, stays with probability `correct_prob`,
/// becomes a random one with probability `random_prob`, and MASK otherwise. The end of a sentence
/// never changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Corruption {
    /// The tokens under noise.
    #[serde(flatten)]
    pub noise: Noise,
    /// The share of them that stay; `"uniform"` draws it from [0, ½) for every sequence.
    pub correct_prob: Rate,
    /// The share of them that become random; `"uniform"` draws it from [0, ½) for every sequence.
    pub random_prob: Rate,
}

/// A probability, or one drawn for every sequence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "RateText")]
pub enum Rate {
    /// Always the same.
    Fixed(f64),
    /// Uniform.
    Uniform,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RateText {
    Number(f64),
    Word(&'static str),
}

impl From<Rate> for RateText {
    fn from(rate: Rate) -> Self {
        match rate {
            Rate::Fixed(rate) => Self::Number(rate),
            Rate::Uniform => Self::Word(UNIFORM),
        }
    }
}

const UNIFORM: &str = "uniform";

/// The name of an objective.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Ar,
    Padir,
    Cmlm,
    Smart,
    Sundae,
    Nat,
    Inat,
    Disco,
    Ctc,
}

const KINDS: &str = r#""ar", "padir", "cmlm", "smart", "sundae", "nat", "inat", "disco" or "ctc""#;

/// The keys that some objectives have and others do not.
const OWN_KEYS: [&str; 15] = [
    "stages",
    "reduce",
    "first_stage",
    "remask_stutter",
    "corruption",
    "temperature",
    "denoise_prob",
    "poison_prob",
    "length_weight",
    "length_sigma",
    "length_trains_encoder",
    "glancing_start",
    "glancing_end",
    "glancing_steps",
    "deep_supervision",
];

impl ObjectiveConfig {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let s = &mut section;
        let kind = match s.choice("kind", KINDS).unwrap_or(Kind::Padir) {
            Kind::Ar => Objective::Ar,
            Kind::Padir => Objective::Padir(Padir::read(s)),
            Kind::Cmlm => Objective::Cmlm(Cmlm::read(s)),
            Kind::Smart => Objective::Smart(Cmlm::read(s)),
            Kind::Sundae => Objective::Sundae(Sundae::read(s)),
            Kind::Nat => Objective::Nat(Cmlm::read(s)),
            Kind::Inat => Objective::Inat(Inat::read(s)),
            Kind::Disco => Objective::Disco(Cmlm::read(s)),
            Kind::Ctc => Objective::Ctc(Ctc::read(s)),
        };
        let none = format!("the objective \"{}\" has no such setting", kind.name());
        // What it has was taken.
        section.refuse(&OWN_KEYS, &none);
        let share = |x: f64| (0.0..1.0).contains(&x);
        let label_smoothing =
            section.real("label_smoothing", "a number, at least 0 and below 1", share);
        let z_loss = section.real("z_loss", "a number, at least 0", |x| x >= 0.0);
        section.finish();
        Self {
            kind,
            label_smoothing: label_smoothing.unwrap_or(0.0),
            z_loss: z_loss.unwrap_or(1e-4),
        }
    }

    /// The decoder it needs.
    pub fn decoder(&self) -> DecoderKind {
        match self.kind.training() {
            None => DecoderKind::Causal,
            Some(_) => DecoderKind::Parallel,
        }
    }
}

impl Objective {
    /// What it trains a parallel model for; none for the objective of autoregressive ones.
    pub fn training(&self) -> Option<ParallelTraining> {
        match self {
            Self::Ar => None,
            Self::Padir(_) => Some(ParallelTraining::Padir),
            Self::Cmlm(_) => Some(ParallelTraining::Cmlm),
            Self::Smart(_) => Some(ParallelTraining::Smart),
            Self::Sundae(_) => Some(ParallelTraining::Sundae),
            Self::Nat(_) => Some(ParallelTraining::Nat),
            Self::Inat(_) => Some(ParallelTraining::Inat),
            Self::Disco(_) => Some(ParallelTraining::Disco),
            Self::Ctc(_) => Some(ParallelTraining::Ctc),
        }
    }

    /// How configurations call it.
    pub fn name(&self) -> &'static str {
        self.training().map_or("ar", ParallelTraining::name)
    }

    /// Whether some tokens of targets become MASK.
    pub(super) fn masks(&self) -> bool {
        match self {
            Self::Padir(padir) => padir.corruption.masks(),
            other => other.training().is_some_and(ParallelTraining::starts_from_masks),
        }
    }
}

/// How often a decoder is unrolled.
const STAGES: std::ops::RangeInclusive<u32> = 1..=64;

fn probability(section: &mut Section<'_>, key: &'static str, usual: f64) -> f64 {
    let wanted = "a number between 0 and 1";
    section.real(key, wanted, |x| (0.0..=1.0).contains(&x)).unwrap_or(usual)
}

impl Cmlm {
    fn read(section: &mut Section<'_>) -> Self {
        Self { length: LengthObjective::read(section) }
    }
}

impl Sundae {
    fn read(section: &mut Section<'_>) -> Self {
        Self {
            stages: section.count("stages", STAGES).unwrap_or(2),
            temperature: section
                .real("temperature", "a number above 0", |x| x > 0.0)
                .unwrap_or(1.0),
            length: LengthObjective::read(section),
        }
    }
}

impl Inat {
    fn read(section: &mut Section<'_>) -> Self {
        Self {
            stages: section.count("stages", STAGES).unwrap_or(4),
            denoise_prob: probability(section, "denoise_prob", 0.5),
            poison_prob: probability(section, "poison_prob", 0.33),
            length: LengthObjective::read(section),
        }
    }
}

impl Padir {
    fn read(section: &mut Section<'_>) -> Self {
        Self {
            stages: section.count("stages", STAGES).unwrap_or(2),
            reduce: section.choice("reduce", r#""sum" or "mean""#).unwrap_or(Reduce::Sum),
            length: LengthObjective::read(section),
            first_stage: section
                .choice("first_stage", r#""all", "noise" or "mask""#)
                .unwrap_or(FirstStage::All),
            remask_stutter: section.switch("remask_stutter", false),
            corruption: Corruption::read(section.section("corruption")),
        }
    }
}

impl Corruption {
    /// The paper's: every token under noise, 15 % of which stay; the others become random.
    pub const PAPER: Self = Self {
        noise: Noise::EVERYWHERE,
        correct_prob: Rate::Fixed(0.15),
        random_prob: Rate::Fixed(0.85),
    };

    fn read(mut section: Section<'_>) -> Self {
        let noise = Noise::read(&mut section);
        let mut rate = |key| probability_or_uniform(&mut section, key);
        let paper = Self::PAPER;
        let corruption = Self {
            noise,
            correct_prob: rate("correct_prob").unwrap_or(paper.correct_prob),
            random_prob: rate("random_prob").unwrap_or(paper.random_prob),
        };
        let most = corruption.correct_prob.largest() + corruption.random_prob.largest();
        if most > 1.0 + 1e-9 {
            section.complain(
                "random_prob",
                format!("`correct_prob` and `random_prob` add up to {most}; at most 1 is possible"),
            );
        }
        section.finish();
        corruption
    }

    /// Whether some tokens become MASK.
    pub fn masks(&self) -> bool {
        let least = self.correct_prob.least() + self.random_prob.least();
        self.noise.falls() && least < 1.0 - 1e-9
    }
}

/// A probability, or the word for one that is drawn.
pub(super) fn probability_or_uniform(section: &mut Section<'_>, key: &'static str) -> Option<Rate> {
    let wanted = r#"a number between 0 and 1, or "uniform""#;
    let probability = |x: f64| (0.0..=1.0).contains(&x);
    let found = section.real_or_word(key, UNIFORM, wanted, probability)?;
    Some(found.map_or(Rate::Uniform, Rate::Fixed))
}

impl Rate {
    /// The largest it may be as a share of what stays or becomes random.
    fn largest(self) -> f64 {
        match self {
            Self::Fixed(rate) => rate,
            Self::Uniform => 0.5,
        }
    }

    fn least(self) -> f64 {
        match self {
            Self::Fixed(rate) => rate,
            Self::Uniform => 0.0,
        }
    }
}
