//! How a model decodes unless told otherwise: `generation_config.json`.
//!
//! Keys that `transformers` knows are called as there; the refinement of a parallel decoder
//! stands under `padir`. One of the shared keys has another meaning: our `length_penalty` is the
//! α of score / ((5 + n)/6)^α (Wu et al. 2016), theirs divides by n^α.

use padir_base::TokenId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::{ConfigError, DecoderKind, InitialTokens, LengthPredictor, ModelConfig};
use crate::keys::Keys;

/// Most candidates of a sentence, in whatever way they come about.
pub const MAX_CANDIDATES: usize = 1024;
/// The longest phrase that may stutter; longer than any target.
pub const MAX_PHRASE: usize = 1 << 16;
/// Most refinement steps.
pub const MAX_STEPS: usize = 10_000;
/// Temperatures below this one mean the most probable token.
pub const COLD: f64 = 1e-4;

const COUNT: &str = "a whole number of at least 1";
const REAL: &str = "a number of at least 0";
const SWITCH: &str = "true or false";

/// Decoding defaults that travel with a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub struct GenerationConfig {
    /// Longest target, its end included.
    pub max_length: usize,
    /// The way of decoding.
    pub method: Method,
}

/// The way of decoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// From left to right.
    Beam(BeamSearch),
    /// All positions at once, again and again.
    Refine(Refinement),
}

/// Beam search; a width of 1 is greedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSearch {
    /// Width of the beam.
    pub num_beams: usize,
    /// α.
    pub length_penalty: f64,
}

/// Iterative refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Most steps; a sentence that no longer changes ends earlier.
    pub steps: usize,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// How many neighbouring lengths each of them is widened to; odd.
    pub beam_length: usize,
    /// How many random starts each length gets.
    pub parallel_decodes: usize,
    /// What the first step reads.
    pub initial: InitialTokens,
    /// What a rejected position becomes.
    pub replacement: Replacement,
    /// Which predictions are rejected.
    pub rejecter: Rejecter,
    /// Whether a token that equals its left neighbour is rejected, after the last step too.
    pub remask_stutter: bool,
    /// The longest phrase that stutters when it is said twice in a row; 1 for single tokens.
    pub stutter_phrase: usize,
    /// Whether a position that ends as its initial token is dropped.
    pub drop_unchanged: bool,
    /// Below [`COLD`] the most probable token is taken, else one is sampled.
    pub temperature: f64,
    /// α; none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// λ: how much ln p of a length counts in the score of its hypothesis.
    pub length_weight: f64,
    /// β: how much longer lengths are tried than are most probable.
    pub length_tilt: f64,
}

/// What a rejected position becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// Its initial token.
    Initial,
    /// What it was before this step.
    Previous,
    /// The arg-max of its logits summed over all steps.
    Accumulated,
}

/// Which predictions are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rejecter {
    /// None.
    Nothing,
    /// After step t of T the ⌊n(T − t)/T⌋ least probable, at least one.
    Linear,
    /// The least probable ones, always as many.
    Count {
        /// How many.
        count: usize,
    },
    /// The least probable ones, always the same share of the sentence.
    Share {
        /// Between 0 and 1.
        share: f64,
    },
    /// Those that the model believes to be wrong, if it has learnt to tell.
    Learned {
        /// Rejected is what is right with a lower probability than this.
        #[serde(default = "half")]
        below: f64,
    },
}

fn half() -> f64 {
    0.5
}

impl GenerationConfig {
    /// What a model decodes with if nobody has chosen: beam 5 with α = 0.6, or the paper's four
    /// refinement steps of five lengths, stutter dropped.
    pub fn default_of(config: &ModelConfig) -> Self {
        let method = match config.parallel() {
            None => Method::Beam(BeamSearch::default()),
            Some(parallel) => {
                Method::Refine(Refinement { initial: parallel.initial, ..Refinement::default() })
            }
        };
        let limit = config.parallel().map_or(256, |parallel| match parallel.length {
            LengthPredictor::Token { classes } => classes.min(parallel.max_positions),
            _ => parallel.max_positions,
        });
        Self { max_length: limit, method }
    }

    /// Reads the content of a `generation_config.json`. Keys that are missing have the defaults of
    /// the model.
    ///
    /// # Errors
    /// If a value is not understood; its key is named.
    pub fn from_json(text: &str, config: &ModelConfig) -> Result<Self, ConfigError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        let found = Self::read(value, Self::default_of(config))?;
        found.check_against(config)?;
        Ok(found)
    }

    /// Refuses what the model has not learnt.
    fn check_against(&self, config: &ModelConfig) -> Result<(), ConfigError> {
        let (Method::Refine(refinement), Some(parallel)) = (self.method, config.parallel()) else {
            return Ok(());
        };
        let refuse = |key: &str, found: &str, wanted: &str| {
            let (key, found) = (format!("padir.{key}"), format!("{found:?}"));
            Err(ConfigError::Value { key, found, wanted: wanted.to_owned() })
        };
        if matches!(refinement.rejecter, Rejecter::Learned { .. }) && !parallel.rejecter {
            return refuse("rejecter.rule", "learned", "another one: the model has no rejecter");
        }
        let numbered = refinement.initial == InitialTokens::NumberedMask;
        if numbered && config.symbols.numbered_masks().is_empty() {
            return refuse("initial", "numbered-mask", "another: there are no masks by position");
        }
        Ok(())
    }

    /// The content of the `generation_config.json` of a model.
    pub fn to_json(&self, config: &ModelConfig) -> String {
        let mut json = Value::from(*self);
        // transformers looks for it here and not in config.json.
        json["decoder_start_token_id"] = json!(config.symbols.start);
        json["pad_token_id"] = json!(config.symbols.pad);
        json["eos_token_id"] = json!(config.symbols.eos);
        format!("{json:#}\n")
    }

    fn read(value: Value, default: Self) -> Result<Self, ConfigError> {
        let mut top = Keys::of("", value)?;
        let max_length = top.or("max_length", COUNT, default.max_length)?;
        check(&top, "max_length", max_length, (1..=1 << 20).contains(&max_length))?;
        let method = match default.method {
            Method::Beam(default) => Method::Beam(read_beam(&mut top, default)?),
            Method::Refine(default) => match top.object("padir", "padir.")? {
                Some(ours) => Method::Refine(read_refinement(ours, default)?),
                None => Method::Refine(default),
            },
        };
        Ok(Self { max_length, method })
    }
}

impl Default for BeamSearch {
    fn default() -> Self {
        Self { num_beams: 5, length_penalty: 0.6 }
    }
}

impl Default for Refinement {
    fn default() -> Self {
        Self {
            steps: 4,
            lengths: 5,
            beam_length: 1,
            parallel_decodes: 1,
            initial: InitialTokens::Random,
            replacement: Replacement::Initial,
            rejecter: Rejecter::Nothing,
            remask_stutter: true,
            stutter_phrase: 1,
            drop_unchanged: true,
            temperature: 0.0,
            length_penalty: None,
            length_weight: 0.0,
            length_tilt: 0.0,
        }
    }
}

fn read_beam(top: &mut Keys, default: BeamSearch) -> Result<BeamSearch, ConfigError> {
    let num_beams = top.or("num_beams", COUNT, default.num_beams)?;
    check(top, "num_beams", num_beams, (1..=MAX_CANDIDATES).contains(&num_beams))?;
    let length_penalty = top.or("length_penalty", "a number", default.length_penalty)?;
    check(top, "length_penalty", length_penalty, length_penalty.is_finite())?;
    Ok(BeamSearch { num_beams, length_penalty })
}

fn read_refinement(mut ours: Keys, default: Refinement) -> Result<Refinement, ConfigError> {
    let found = Refinement {
        steps: ours.or("steps", COUNT, default.steps)?,
        lengths: ours.or("lengths", COUNT, default.lengths)?,
        beam_length: ours.or("beam_length", COUNT, default.beam_length)?,
        parallel_decodes: ours.or("parallel_decodes", COUNT, default.parallel_decodes)?,
        initial: ours.or("initial", InitialTokens::CHOICES, default.initial)?,
        replacement: ours.or(
            "replacement",
            r#""initial", "previous" or "accumulated""#,
            default.replacement,
        )?,
        rejecter: ours.or(
            "rejecter",
            r#"an object whose "rule" is "nothing", "linear", "count", "share" or "learned""#,
            default.rejecter,
        )?,
        remask_stutter: ours.or("remask_stutter", SWITCH, default.remask_stutter)?,
        stutter_phrase: ours.or("stutter_phrase", COUNT, default.stutter_phrase)?,
        drop_unchanged: ours.or("drop_unchanged", SWITCH, default.drop_unchanged)?,
        temperature: ours.or("temperature", REAL, default.temperature)?,
        length_penalty: ours.optional("length_penalty", "a number")?,
        length_weight: ours.or("length_weight", REAL, default.length_weight)?,
        length_tilt: ours.or("length_tilt", "a number", default.length_tilt)?,
    };
    check(&ours, "steps", found.steps, (1..=MAX_STEPS).contains(&found.steps))?;
    let counts = [
        ("lengths", found.lengths),
        ("beam_length", found.beam_length),
        ("parallel_decodes", found.parallel_decodes),
    ];
    for (key, count) in counts {
        check(&ours, key, count, (1..=MAX_CANDIDATES).contains(&count))?;
    }
    if found.beam_length.is_multiple_of(2) {
        return Err(ours.wrong("beam_length", &json!(found.beam_length), "odd"));
    }
    let phrase = found.stutter_phrase;
    check(&ours, "stutter_phrase", phrase, (1..=MAX_PHRASE).contains(&phrase))?;
    let temperature = found.temperature;
    check(&ours, "temperature", temperature, (0.0..=1e6).contains(&temperature))?;
    let weight = found.length_weight;
    check(&ours, "length_weight", weight, weight.is_finite() && weight >= 0.0)?;
    check(&ours, "length_tilt", found.length_tilt, found.length_tilt.is_finite())?;
    if let Rejecter::Share { share } = found.rejecter {
        check(&ours, "rejecter.share", share, (0.0..=1.0).contains(&share))?;
    }
    if let Rejecter::Learned { below } = found.rejecter {
        check(&ours, "rejecter.below", below, (0.0..=1.0).contains(&below))?;
    }
    ours.finish()?;
    Ok(found)
}

fn check(keys: &Keys, key: &str, value: impl Serialize, good: bool) -> Result<(), ConfigError> {
    if good { Ok(()) } else { Err(keys.wrong(key, &json!(value), "within its bounds")) }
}

impl TryFrom<Value> for GenerationConfig {
    type Error = ConfigError;

    /// Without the model at hand, `padir` says that it refines.
    fn try_from(value: Value) -> Result<Self, ConfigError> {
        let method = match value.get("padir") {
            Some(_) => Method::Refine(Refinement::default()),
            None => Method::Beam(BeamSearch::default()),
        };
        Self::read(value, Self { max_length: 256, method })
    }
}

impl From<GenerationConfig> for Value {
    fn from(config: GenerationConfig) -> Self {
        let mut json = json!({
            "max_length": config.max_length,
            "pad_token_id": TokenId::PAD,
            "eos_token_id": TokenId::EOS,
        });
        match config.method {
            Method::Beam(beam) => {
                json["num_beams"] = json!(beam.num_beams);
                json["length_penalty"] = json!(beam.length_penalty);
            }
            Method::Refine(refinement) => {
                json["padir"] = json!({
                    "steps": refinement.steps,
                    "lengths": refinement.lengths,
                    "beam_length": refinement.beam_length,
                    "parallel_decodes": refinement.parallel_decodes,
                    "initial": refinement.initial,
                    "replacement": refinement.replacement,
                    "rejecter": refinement.rejecter,
                    "remask_stutter": refinement.remask_stutter,
                    "stutter_phrase": refinement.stutter_phrase,
                    "drop_unchanged": refinement.drop_unchanged,
                    "temperature": refinement.temperature,
                    "length_penalty": refinement.length_penalty,
                    "length_weight": refinement.length_weight,
                    "length_tilt": refinement.length_tilt,
                });
            }
        }
        json
    }
}

impl Method {
    /// The decoder that can do this.
    pub fn decoder_kind(&self) -> DecoderKind {
        match self {
            Self::Beam(_) => DecoderKind::Causal,
            Self::Refine(_) => DecoderKind::Parallel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Decoder, Preset};

    /// Of the parallel ones, some that have learnt all there is to learn.
    fn model(kind: DecoderKind) -> ModelConfig {
        let mut config = ModelConfig::preset(Preset::Tiny, 300, kind);
        if let Decoder::Parallel(parallel) = &mut config.decoder {
            parallel.rejecter = true;
        }
        config
    }

    #[test]
    fn what_a_model_has_not_learnt_is_refused() {
        let mut plain = ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Parallel);
        plain.symbols.mask = None;
        let cases = [
            (r#"{"rejecter": {"rule": "learned"}}"#, "`padir.rejecter.rule` is \"learned\""),
            (r#"{"initial": "numbered-mask"}"#, "`padir.initial` is \"numbered-mask\""),
        ];
        for (ours, expected) in cases {
            let text = format!(r#"{{"padir": {ours}}}"#);
            let error = GenerationConfig::from_json(&text, &plain).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            let learnt = model(DecoderKind::Parallel);
            assert!(GenerationConfig::from_json(&text, &learnt).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in [DecoderKind::Causal, DecoderKind::Parallel] {
            let model = model(kind);
            let config = GenerationConfig::default_of(&model);
            assert_eq!(config.method.decoder_kind(), kind);
            let json = config.to_json(&model);
            assert_eq!(GenerationConfig::from_json(&json, &model), Ok(config));
            assert_eq!(serde_json::from_str::<GenerationConfig>(&json).unwrap(), config);
        }
        let rejecters = [
            Rejecter::Nothing,
            Rejecter::Linear,
            Rejecter::Count { count: 3 },
            Rejecter::Share { share: 0.25 },
            Rejecter::Learned { below: 0.3 },
        ];
        for rejecter in rejecters {
            let refinement = Refinement {
                rejecter,
                replacement: Replacement::Accumulated,
                length_penalty: Some(1.5),
                length_weight: 0.25,
                length_tilt: -0.5,
                initial: InitialTokens::Mask,
                stutter_phrase: 3,
                ..Refinement::default()
            };
            let config = GenerationConfig { max_length: 77, method: Method::Refine(refinement) };
            let model = model(DecoderKind::Parallel);
            let json = config.to_json(&model);
            assert_eq!(GenerationConfig::from_json(&json, &model), Ok(config));
        }
    }

    #[test]
    fn missing_keys_have_the_defaults_of_the_model() {
        let config =
            GenerationConfig::from_json(r#"{"eos_token_id": 1}"#, &model(DecoderKind::Causal));
        let beam = BeamSearch { num_beams: 5, length_penalty: 0.6 };
        assert_eq!(config, Ok(GenerationConfig { max_length: 256, method: Method::Beam(beam) }));
        let config = GenerationConfig::from_json("{}", &model(DecoderKind::Parallel)).unwrap();
        assert_eq!(config.max_length, 128);
    }

    #[test]
    fn faults_are_told_by_their_key() {
        let cases = [
            (r#"{"max_length": 0}"#, "`max_length` is 0"),
            (r#"{"padir": {"stutter_phrase": 0}}"#, "`padir.stutter_phrase` is 0"),
            (r#"{"padir": {"steps": 0}}"#, "`padir.steps` is 0"),
            (r#"{"padir": {"steps": -4}}"#, "`padir.steps` is -4; it must be a whole number"),
            (r#"{"padir": {"stepps": 4}}"#, "`padir.stepps` is not a key"),
            (r#"{"padir": {"beam_length": 2}}"#, "`padir.beam_length` is 2; it must be odd"),
            (r#"{"padir": {"replacement": "gold"}}"#, "`padir.replacement` is \"gold\""),
            (
                r#"{"padir": {"rejecter": {"rule": "dice"}}}"#,
                "`padir.rejecter` is {\"rule\":\"dice\"}",
            ),
            (r#"{"padir": {"rejecter": {"rule": "share", "share": 2}}}"#, "`padir.rejecter.share`"),
            (
                r#"{"padir": {"rejecter": {"rule": "learned", "below": -1}}}"#,
                "`padir.rejecter.below`",
            ),
            (r#"{"padir": {"temperature": -1}}"#, "`padir.temperature` is -1"),
            (r#"{"padir": []}"#, "`padir` is []; it must be an object"),
        ];
        for (text, expected) in cases {
            let error = GenerationConfig::from_json(text, &model(DecoderKind::Parallel));
            let error = error.expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let text = r#"{"num_beams": 0}"#;
        assert!(GenerationConfig::from_json(text, &model(DecoderKind::Causal)).is_err());
    }
}
