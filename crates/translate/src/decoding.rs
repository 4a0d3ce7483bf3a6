//! How a model decodes: what travels with it, and what the user changes.

use padir_checkpoint::{GenerationConfig, InitialTokens, Method, ModelConfig, Refinement};
use padir_decode::autoregression::{Beam, Sample};
use padir_decode::{Sampling, SettingsError, padir};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::DecodingError;

/// Candidates of a position that take as much room as the position itself.
const FEW: usize = 256;

/// How to decode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Decoding {
    /// All positions at once, refined.
    Refine(Box<padir::Settings>),
    /// From left to right, the best of a beam.
    Beam(Beam),
    /// From left to right, by chance.
    Sample(Sample),
}

impl From<&GenerationConfig> for Decoding {
    fn from(config: &GenerationConfig) -> Self {
        match config.method {
            Method::Beam(beam) => Self::Beam(Beam {
                num_beams: beam.num_beams,
                length_penalty: beam.length_penalty,
                ..Beam::default()
            }),
            Method::Refine(refinement) => {
                Self::Refine(Box::new(settings(refinement, config.max_length)))
            }
        }
    }
}

/// The symbols of a model, as refinement knows them.
pub fn symbols_of(config: &ModelConfig) -> padir::Symbols {
    let symbols = &config.symbols;
    let numbered = symbols.numbered_masks();
    padir::Symbols { numbered, ..padir::Symbols::new(symbols.random.clone(), symbols.mask) }
}

/// The settings that a model's configuration names.
fn settings(from: Refinement, max_length: usize) -> padir::Settings {
    use padir_checkpoint::{RemaskRule, Replacement};
    padir::Settings {
        steps: from.steps,
        lengths: from.lengths,
        beam_length: from.beam_length,
        parallel_decodes: from.parallel_decodes,
        max_length: max_length.max(2),
        initial: match from.initial {
            InitialTokens::Random => padir::Initial::Random,
            InitialTokens::Mask => padir::Initial::Mask,
            InitialTokens::NumberedMask => padir::Initial::NumberedMask,
        },
        rejecter: match from.rejecter {
            RemaskRule::Nothing => padir::RemaskRule::Nothing,
            RemaskRule::Linear => padir::RemaskRule::Linear,
            RemaskRule::Count { count } => padir::RemaskRule::Count { count },
            RemaskRule::Share { share } => padir::RemaskRule::Share { share },
            RemaskRule::Learned { below } => padir::RemaskRule::Learned { below },
        },
        replacement: match from.replacement {
            Replacement::Initial => padir::Replacement::Initial,
            Replacement::Previous => padir::Replacement::Previous,
            Replacement::Accumulated => padir::Replacement::Accumulated,
        },
        remask_stutter: from.remask_stutter,
        stutter_phrase: from.stutter_phrase,
        drop_unchanged: from.drop_unchanged,
        temperature: from.temperature,
        length_penalty: from.length_penalty,
        length_weight: from.length_weight,
        length_tilt: from.length_tilt,
        ..padir::Settings::default()
    }
}

impl Decoding {
    /// Changes a setting by its name, as in `halt.rule=confident` or `steps=2`. A value that is not JSON is a string.
    ///
    /// # Errors
    /// If there is no such setting, or not with such a value.
    pub fn set(&mut self, assignment: &str) -> Result<(), DecodingError> {
        self.set_all(&[assignment])
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        match self {
            Self::Refine(how) => how.check(),
            Self::Beam(beam) => beam.check(),
            Self::Sample(sample) => sample.check(),
        }
    }

    /// Whether what the model believes to be wrong is rejected.
    pub(crate) fn doubts(&self) -> bool {
        let Self::Refine(how) = self else { return false };
        matches!(how.rejecter, padir::RemaskRule::Learned { .. })
    }

    /// How much room a source token takes, if one of a single hypothesis and few candidates takes 1.
    pub(crate) fn cost(&self, vocabulary: usize) -> usize {
        // Sampling looks at all tokens unless it is limited, and so do sums over steps.
        let all = |sampling: Sampling| !sampling.is_cold() && sampling.top_k.is_none();
        let (hypotheses, all) = match self {
            Self::Refine(how) => {
                let tried = how.lengths.saturating_mul(how.beam_length);
                let all = all(how.sampling()) || how.replacement == padir::Replacement::Accumulated;
                // Candidates have rows of the output layer of their own.
                let kept = if how.candidates.is_some() { 2 } else { 1 };
                (tried.saturating_mul(how.parallel_decodes).saturating_mul(kept), all)
            }
            Self::Beam(beam) => (beam.num_beams, false),
            Self::Sample(sample) => (sample.samples, all(sample.sampling)),
        };
        let candidates = if all { vocabulary.div_ceil(FEW) } else { 1 };
        hypotheses.max(1).saturating_mul(candidates.max(1))
    }

    /// Changes settings one after the other; only the whole must make sense.
    ///
    /// # Errors
    /// If there is no such setting, or not with such a value.
    pub fn set_all(&mut self, assignments: &[impl AsRef<str>]) -> Result<(), DecodingError> {
        if assignments.is_empty() {
            return Ok(());
        }
        let mut json = serde_json::to_value(&*self).map_err(|e| DecodingError::bad(&"", &e))?;
        for assignment in assignments.iter().map(AsRef::as_ref) {
            let (key, value) = assignment
                .split_once('=')
                .ok_or_else(|| DecodingError::NotAnAssignment(assignment.to_owned()))?;
            assign(&mut json, key.trim(), value.trim())?;
        }
        let all = assignments.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
        *self = serde_json::from_value(json).map_err(|e| DecodingError::bad(&all, &e))?;
        Ok(())
    }
}

/// Puts a value where a dotted key points to.
///
/// # Errors
/// If there is no such place.
pub fn assign(json: &mut Value, key: &str, value: &str) -> Result<(), DecodingError> {
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let mut place = json;
    let mut names = key.split('.').peekable();
    while let Some(name) = names.next() {
        if name.is_empty() || key == "method" {
            return Err(DecodingError::Unknown(key.to_owned()));
        }
        // A rule is named first and given its numbers then; another rule has other numbers.
        if name == "rule" && names.peek().is_none() {
            *place = serde_json::json!({ "rule": value });
            return Ok(());
        }
        if !place.is_object() {
            return Err(DecodingError::Unknown(key.to_owned()));
        }
        if names.peek().is_none() {
            place[name] = value;
            return Ok(());
        }
        place = place.get_mut(name).ok_or_else(|| DecodingError::Unknown(key.to_owned()))?;
    }
    Err(DecodingError::Unknown(key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use padir_checkpoint::{DecoderKind, Preset};

    fn default_of(kind: DecoderKind) -> Decoding {
        let model = ModelConfig::preset(Preset::Tiny, 300, kind);
        Decoding::from(&GenerationConfig::default_of(&model))
    }

    #[test]
    fn what_travels_with_a_model_is_the_papers() {
        let Decoding::Refine(settings) = default_of(DecoderKind::Parallel) else { panic!() };
        assert_eq!(*settings, padir::Settings::default());
        assert_eq!(default_of(DecoderKind::Causal), Decoding::Beam(Beam::default()));
    }

    #[test]
    fn what_takes_more_room_costs_more() {
        let mut refined = default_of(DecoderKind::Parallel);
        refined.set_all(&["lengths=3", "parallel_decodes=2"]).unwrap();
        assert_eq!(refined.cost(32_000), 6);
        refined.set("candidates=16").unwrap();
        assert_eq!(refined.cost(32_000), 12, "rows of the output layer of their own");
        refined.set("candidates=null").unwrap();
        refined.set("temperature=1").unwrap();
        assert_eq!(refined.cost(32_000), 6 * 125);
        refined.set("top_k=10").unwrap();
        assert_eq!(refined.cost(32_000), 6);
        assert_eq!(default_of(DecoderKind::Causal).cost(32_000), 5);
        let sample = Sample { samples: 4, ..Sample::default() };
        assert_eq!(Decoding::Sample(sample).cost(100), 4);
    }

    #[test]
    fn settings_are_changed_by_name() {
        let mut decoding = default_of(DecoderKind::Parallel);
        let changes = ["steps=2", "halt.rule=confident", "halt.min_log_prob=-0.1", "top_k=4"];
        decoding.set_all(&changes).unwrap();
        let Decoding::Refine(settings) = &decoding else { panic!() };
        assert_eq!(settings.steps, 2);
        assert_eq!(settings.halt, padir::StopRule::Confident { min_log_prob: -0.1 });
        assert_eq!(settings.top_k, Some(4));
        let mut beam = default_of(DecoderKind::Causal);
        beam.set("num_beams=3").unwrap();
        assert_eq!(beam, Decoding::Beam(Beam { num_beams: 3, ..Beam::default() }));
    }

    #[test]
    fn what_cannot_be_set_is_said() {
        let cases = [
            ("steps", "`steps` is not of the form key=value"),
            ("stepps=4", "`stepps=4`: unknown field `stepps`"),
            ("steps=four", "`steps=four`: invalid type: string \"four\""),
            ("halt.rule=never.x", "`halt.rule=never.x`: unknown variant"),
            ("method=beam", "there is no setting `method`"),
            ("steps.x=4", "there is no setting `steps.x`"),
            ("=4", "there is no setting ``"),
        ];
        for (change, expected) in cases {
            let error =
                default_of(DecoderKind::Parallel).set(change).expect_err(change).to_string();
            assert!(error.starts_with(expected), "{change}: {error}");
        }
    }
}
