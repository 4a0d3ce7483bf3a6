//! `[objective]`: what is learnt from a pair.

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
}

/// The settings of the multi-stage objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Padir {
    /// S, how often the decoder is unrolled; between stages stands an argmax.
    pub stages: u32,
    /// How the losses of stages become one.
    pub reduce: Reduce,
    /// Multiplies the loss of the length, which counts once, whatever the stages.
    pub length_weight: f64,
    /// Which positions the first stage is judged on; later ones are judged on all.
    pub first_stage: FirstStage,
    /// Whether a guess that equals its left neighbour's is taken back between stages, as it is when translating: the next stage reads
    /// what the first one read there.
    pub remask_stutter: bool,
    /// How the first input is made of the target.
    pub corruption: Corruption,
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
}

const PADIR_KEYS: [&str; 6] =
    ["stages", "reduce", "length_weight", "first_stage", "remask_stutter", "corruption"];

impl ObjectiveConfig {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let kind = match section.choice("kind", r#""ar" or "padir""#).unwrap_or(Kind::Padir) {
            Kind::Ar => {
                section.refuse(&PADIR_KEYS, "the objective \"ar\" has no such setting");
                Objective::Ar
            }
            Kind::Padir => Objective::Padir(Padir::read(&mut section)),
        };
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
        match self.kind {
            Objective::Ar => DecoderKind::Causal,
            Objective::Padir(_) => DecoderKind::Parallel,
        }
    }
}

impl Padir {
    fn read(section: &mut Section<'_>) -> Self {
        Self {
            stages: section.count("stages", 1..=64).unwrap_or(2),
            reduce: section.choice("reduce", r#""sum" or "mean""#).unwrap_or(Reduce::Sum),
            length_weight: section
                .real("length_weight", "a number, at least 0", |x| x >= 0.0)
                .unwrap_or(1.0),
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
