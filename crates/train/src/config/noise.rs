//! `objective.corruption.noise`: which tokens of a target noise falls on.
//!
//! Any [mask law](MaskLaw) will do that makes sense for text: `noise = { law = "uniform-count" }`. It sees the target without its end.
//! `noise_density` is short for the law `rate`, and can also draw a rate for every sequence.

use padir_base::TokenId;
use padir_base::mask::{LawError, MaskContext, MaskLaw};
use serde::Serialize;

use super::objective::{Rate, probability_or_uniform};
use super::section::Section;

/// Which tokens of a target noise falls on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Noise {
    /// `noise_density`: each with the same probability; `"uniform"` draws it from \[0, 1) for every sequence.
    #[serde(rename = "noise_density")]
    Density(Rate),
    /// `noise`: those that a law hides. A target that is too short for its law is hidden altogether.
    #[serde(rename = "noise")]
    Law(MaskLaw),
}

const LAW: &str = "noise";
const DENSITY: &str = "noise_density";

impl Noise {
    /// The paper's: it falls on every token.
    pub const EVERYWHERE: Self = Self::Density(Rate::Fixed(1.0));

    pub(super) fn read(section: &mut Section<'_>) -> Self {
        if section.has(LAW) {
            section.refuse(&[DENSITY], "`noise` says already where noise falls");
            let wanted = "a mask law, such as { law = \"rate\", rate = 0.5 }";
            return section.table(LAW, wanted).map_or(Self::EVERYWHERE, Self::Law);
        }
        section.mention(LAW);
        probability_or_uniform(section, DENSITY).map_or(Self::EVERYWHERE, Self::Density)
    }

    /// Whether it falls on any token of any target.
    pub(super) fn falls(&self) -> bool {
        match self {
            Self::Density(rate) => *rate != Rate::Fixed(0.0),
            Self::Law(law) => hides(law),
        }
    }

    /// Whether the law makes sense for targets of up to `longest` tokens.
    pub(super) fn check(&self, longest: usize) -> Result<(), LawError> {
        match self {
            Self::Density(_) => Ok(()),
            Self::Law(law) => check(law, &vec![TokenId::UNK; longest]),
        }
    }
}

/// Whether a law hides anything in any sequence.
fn hides(law: &MaskLaw) -> bool {
    match law {
        MaskLaw::Rate { rate } => *rate > 0.0,
        MaskLaw::Exactly { k } => *k > 0,
        MaskLaw::Blocks { blocks } => {
            blocks.iter().any(|block| block.weight > 0.0 && !block.positions.is_empty())
        }
        MaskLaw::Adaptive { cases, otherwise } => {
            cases.iter().any(|case| hides(&case.then)) || hides(otherwise)
        }
        MaskLaw::All
        | MaskLaw::UniformCount { .. }
        | MaskLaw::Repeats { .. }
        | MaskLaw::Linear { .. }
        | MaskLaw::Unsure { .. } => true,
    }
}

/// Checks a law on a sequence, and every case of it on the sequence of that case.
fn check(law: &MaskLaw, tokens: &[TokenId]) -> Result<(), LawError> {
    match law {
        MaskLaw::Adaptive { cases, otherwise } => {
            cases.iter().try_for_each(|case| check(&case.then, &case.when))?;
            check(otherwise, tokens)
        }
        law => law.check(&MaskContext::of_tokens(tokens)),
    }
}
