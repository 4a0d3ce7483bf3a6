//! How to decode: one schema of settings for checkpoints, training, the command line and servers.
//!
//! A [`Decoding`] is a method with its settings. [`stored`] reads and writes it in `generation_config.json`, [`Decoding::with`] changes it
//! by keys, from a table of a configuration or from `key=value`. All of them know the same keys, check the same bounds and
//! report the same errors.

mod ability;
mod change;
mod manual;
mod method;
pub mod stored;

use padir_base::ParallelTraining;
use serde::{Deserialize, Serialize};

pub use ability::{Abilities, Order};
pub use change::{parse_assignments, renamed};
pub use manual::MANUAL;
pub use method::Method;

use crate::autoregression::{Beam, Sample};
use crate::chain::GibbsChain;
use crate::ctc::Ctc;
use crate::easy_first::EasyFirst;
use crate::mask_predict::{MaskPredict, Repredict};
use crate::padir;
use crate::sampling::Sampling;
use crate::settings::SettingsError;
use crate::sundae::Sundae;

/// Candidates of a position that take as much memory as the position itself.
const FEW: usize = 256;

/// How to decode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Decoding {
    /// All positions at once, refined (PaDIR).
    Refine(Box<padir::Settings>),
    /// All positions at once; the least probable ones are masked and predicted again.
    MaskPredict(MaskPredict),
    /// All positions at once, each from those that are easier (`DisCo`).
    EasyFirst(EasyFirst),
    /// Samples of all positions at once (SUNDAE).
    Sundae(Sundae),
    /// One position at a time, by chance.
    Gibbs(GibbsChain),
    /// Autoregressive beam search; a beam of 1 is greedy.
    Beam(Beam),
    /// Autoregressive sampling.
    Sample(Sample),
    /// Latent alignments, collapsed (CTC).
    Ctc(Ctc),
}

impl Decoding {
    /// What a model decodes with if nobody has chosen: beam 5 with α = 0.6, or the paper's four refinement steps of five lengths.
    pub fn default_for(model: &Abilities) -> Self {
        Self::of(model.default_method(), model)
    }

    /// The default settings of a method for a model.
    pub fn of(method: Method, model: &Abilities) -> Self {
        let max_length = model.default_length();
        match method {
            Method::Refine => Self::Refine(Box::new(padir::Settings {
                max_length: max_length.max(2),
                initial: model.initial,
                // What was trained for one pass takes one.
                steps: if model.training == ParallelTraining::Nat { 1 } else { 4 },
                ..padir::Settings::default()
            })),
            Method::MaskPredict => Self::MaskPredict(MaskPredict {
                max_length: max_length.max(2),
                repredict: match model.training {
                    ParallelTraining::Smart => Repredict::All,
                    _ => Repredict::Masked,
                },
                ..MaskPredict::default()
            }),
            Method::EasyFirst => {
                Self::EasyFirst(EasyFirst { max_length: max_length.max(2), ..EasyFirst::default() })
            }
            Method::Sundae => {
                Self::Sundae(Sundae { max_length: max_length.max(2), ..Sundae::default() })
            }
            Method::Gibbs => {
                Self::Gibbs(GibbsChain { max_length: max_length.max(2), ..GibbsChain::default() })
            }
            Method::Beam => Self::Beam(Beam { max_length, ..Beam::default() }),
            Method::Sample => Self::Sample(Sample { max_length, ..Sample::default() }),
            Method::Ctc => Self::Ctc(Ctc { max_length, ..Ctc::default() }),
        }
    }

    /// The method.
    pub fn method(&self) -> Method {
        match self {
            Self::Refine(_) => Method::Refine,
            Self::MaskPredict(_) => Method::MaskPredict,
            Self::EasyFirst(_) => Method::EasyFirst,
            Self::Sundae(_) => Method::Sundae,
            Self::Gibbs(_) => Method::Gibbs,
            Self::Beam(_) => Method::Beam,
            Self::Sample(_) => Method::Sample,
            Self::Ctc(_) => Method::Ctc,
        }
    }

    /// Longest target, its end included.
    pub fn max_length(&self) -> usize {
        match self {
            Self::Refine(how) => how.max_length,
            Self::MaskPredict(how) => how.max_length,
            Self::EasyFirst(how) => how.max_length,
            Self::Sundae(how) => how.max_length,
            Self::Gibbs(how) => how.max_length,
            Self::Beam(how) => how.max_length,
            Self::Sample(how) => how.max_length,
            Self::Ctc(how) => how.max_length,
        }
    }

    /// The settings of refinement, if it is a method that refines.
    pub fn refinement(&self) -> Option<padir::Settings> {
        match self {
            Self::Refine(how) => Some((**how).clone()),
            Self::MaskPredict(how) => Some(how.settings()),
            Self::Sundae(how) => Some(how.settings()),
            Self::EasyFirst(_)
            | Self::Gibbs(_)
            | Self::Beam(_)
            | Self::Sample(_)
            | Self::Ctc(_) => None,
        }
    }

    /// Whether the settings make sense by themselves.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        match self {
            Self::Refine(how) => how.check(),
            Self::MaskPredict(how) => how.check(),
            Self::EasyFirst(how) => how.check(),
            Self::Sundae(how) => how.check(),
            Self::Gibbs(how) => how.check(),
            Self::Beam(how) => how.check(),
            Self::Sample(how) => how.check(),
            Self::Ctc(how) => how.check(),
        }
    }

    /// Whether the settings make sense for a model.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check_for(&self, model: &Abilities) -> Result<(), SettingsError> {
        let (method, needed, found) = (self.method(), self.method().order(), model.order);
        if needed != found {
            return Err(SettingsError::Order { method, needed, found });
        }
        if needed == Order::Parallel && !method.fits(model.training) {
            return Err(SettingsError::Training { method, training: model.training });
        }
        self.check()?;
        let value = self.max_length();
        if let Some(longest) = model.positions.filter(|&longest| value > longest) {
            return Err(SettingsError::TooLong { value, longest });
        }
        if matches!(self, Self::Gibbs(_) | Self::EasyFirst(_)) && !model.mask {
            return Err(SettingsError::NoMask);
        }
        let Some(how) = self.refinement() else { return Ok(()) };
        if model.training == ParallelTraining::Nat && how.steps > 1 {
            return Err(SettingsError::OnePass { steps: how.steps });
        }
        if matches!(how.remask, padir::RemaskRule::Confidence { .. }) && !model.confidence_head {
            return Err(SettingsError::NoConfidenceHead);
        }
        match how.initial {
            padir::Initial::Mask if !model.mask => Err(SettingsError::NoMask),
            padir::Initial::NumberedMask if !model.numbered_masks => {
                Err(SettingsError::NoNumberedMask)
            }
            _ => Ok(()),
        }
    }

    /// How much memory a source token takes, if one of a single hypothesis and few candidates takes 1.
    pub fn cost(&self, vocabulary: usize) -> usize {
        // Sampling looks at all tokens unless it is limited, and so do sums over steps.
        let all = |sampling: Sampling| !sampling.is_cold() && sampling.top_k.is_none();
        let (hypotheses, all) = match self {
            Self::Refine(how) => refinement_cost(how),
            Self::MaskPredict(how) => refinement_cost(&how.settings()),
            Self::EasyFirst(how) => (how.lengths, false),
            Self::Sundae(how) => refinement_cost(&how.settings()),
            // One position at a time, whose candidates are few beside the states.
            Self::Gibbs(how) => (how.lengths.saturating_mul(how.samples), false),
            Self::Beam(beam) => (beam.num_beams, false),
            Self::Sample(sample) => (sample.samples, all(sample.sampling)),
            // Slots are a few times the source tokens.
            Self::Ctc(how) if how.num_beams == 1 => (4, false),
            Self::Ctc(how) => (4 * how.slot_candidates.div_ceil(FEW), false),
        };
        let candidates = if all { vocabulary.div_ceil(FEW) } else { 1 };
        hypotheses.max(1).saturating_mul(candidates.max(1))
    }
}

/// The hypotheses of a sentence, counted by what they keep, and whether they look at all tokens.
fn refinement_cost(how: &padir::Settings) -> (usize, bool) {
    let sampling = how.sampling();
    let all = !sampling.is_cold() && sampling.top_k.is_none()
        || how.replacement == padir::Replacement::Accumulated;
    // Candidates have rows of the output layer of their own.
    let kept = if how.candidates.is_some() { 2 } else { 1 };
    let tried = how.lengths.saturating_mul(how.beam_length);
    (tried.saturating_mul(how.parallel_decodes).saturating_mul(kept), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_papers() {
        let Decoding::Refine(settings) = Decoding::default_for(&Abilities::parallel()) else {
            panic!("a parallel model refines")
        };
        assert_eq!(*settings, padir::Settings::default());
        let causal = Decoding::default_for(&Abilities::autoregressive());
        assert_eq!(causal, Decoding::Beam(Beam::default()));
        let ctc = Decoding::default_for(&Abilities::alignment());
        assert_eq!(ctc, Decoding::Ctc(Ctc::default()), "one pass, best path");
    }

    #[test]
    fn larger_searches_cost_more() {
        let refine = |settings| Decoding::Refine(Box::new(settings));
        let three =
            padir::Settings { lengths: 3, parallel_decodes: 2, ..padir::Settings::default() };
        assert_eq!(refine(three.clone()).cost(32_000), 6);
        let candidates = padir::Settings { candidates: Some(16), ..three.clone() };
        assert_eq!(refine(candidates).cost(32_000), 12, "rows of the output layer of their own");
        let warm = padir::Settings { temperature: 1.0, ..three };
        assert_eq!(refine(warm.clone()).cost(32_000), 6 * 125);
        assert_eq!(refine(padir::Settings { top_k: Some(10), ..warm }).cost(32_000), 6);
        assert_eq!(Decoding::Beam(Beam::default()).cost(32_000), 5);
        let sample = Sample { samples: 4, ..Sample::default() };
        assert_eq!(Decoding::Sample(sample).cost(100), 4);
    }

    #[test]
    fn what_a_model_cannot_do_is_refused() {
        let parallel = Abilities { positions: Some(200), ..Abilities::parallel() };
        let causal = Abilities::autoregressive();
        let alignment = Abilities::alignment();
        let refine = |settings| Decoding::Refine(Box::new(settings));
        let default = padir::Settings::default;
        let confidence = padir::RemaskRule::Confidence { below: 0.5 };
        let cases = [
            (
                &causal,
                refine(default()),
                "refine needs a parallel model; this is an autoregressive",
            ),
            (&parallel, Decoding::Beam(Beam::default()), "beam needs an autoregressive model"),
            (&parallel, Decoding::Ctc(Ctc::default()), "ctc needs a CTC model; this is a parallel"),
            (&alignment, refine(default()), "refine needs a parallel model; this is a CTC model"),
            (&alignment, Decoding::Ctc(Ctc { steps: 0, ..Ctc::default() }), "`steps` is 0"),
            (
                &parallel,
                refine(padir::Settings { remask: confidence, ..default() }),
                "`remask.rule` is \"confidence\"",
            ),
            (
                &parallel,
                refine(padir::Settings { initial: padir::Initial::NumberedMask, ..default() }),
                "the first step is to read a mask for each position",
            ),
            (
                &parallel,
                Decoding::MaskPredict(MaskPredict::default()),
                "the first step is to read masks",
            ),
            (
                &parallel,
                refine(padir::Settings { max_length: 201, ..default() }),
                "`max_length` is 201; the model has 200 positions",
            ),
            (&parallel, refine(padir::Settings { steps: 0, ..default() }), "`steps` is 0"),
        ];
        for (model, decoding, expected) in cases {
            let error = decoding.check_for(model).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let trained = |training| Abilities {
            training,
            mask: true,
            initial: padir::Initial::Mask,
            ..Abilities::parallel()
        };
        let cases = [
            (
                ParallelTraining::Cmlm,
                refine(default()),
                "refine does not fit a model that was trained with the objective \"cmlm\"; mask-predict and gibbs do",
            ),
            (
                ParallelTraining::Sundae,
                Decoding::MaskPredict(MaskPredict::default()),
                "mask-predict does not fit a model that was trained with the objective \"sundae\"; refine and sundae do",
            ),
            (
                ParallelTraining::Cmlm,
                Decoding::EasyFirst(EasyFirst::default()),
                "easy-first does not fit a model that was trained with the objective \"cmlm\"; mask-predict and gibbs do",
            ),
            (
                ParallelTraining::Nat,
                refine(default()),
                "`steps` is 4; a model that was trained with the objective \"nat\" takes one",
            ),
        ];
        for (training, decoding, expected) in cases {
            let error = decoding.check_for(&trained(training)).expect_err(expected).to_string();
            assert_eq!(error, expected);
        }
        for training in ParallelTraining::ALL {
            let model = match training {
                ParallelTraining::Ctc => Abilities { training, ..Abilities::alignment() },
                _ => trained(training),
            };
            let usual = Decoding::default_for(&model);
            assert_eq!(usual.check_for(&model), Ok(()), "{training}");
        }
        let able =
            Abilities { mask: true, numbered_masks: true, confidence_head: true, ..parallel };
        assert_eq!(Decoding::MaskPredict(MaskPredict::default()).check_for(&able), Ok(()));
    }
}
