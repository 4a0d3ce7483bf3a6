//! A configuration as `config.json`.
//!
//! The keys of T5, or of [Marian](super::marian), stand at the top; what only padir knows stands under `padir`, which other
//! programs keep and ignore. A parallel model carries a `model_type` of its own, so that none of
//! them takes it for a plain T5. Other programs may leave keys at the top which we do not know;
//! under `padir` an unknown key is an error.

use padir_base::hash::Sha256;
use padir_base::{ParallelTraining, TokenId};
use serde_json::{Value, json};
use thiserror::Error;

use super::{
    ConfigProblem, Decoder, DecoderKind, Family, InitialTokens, LengthPredictor, ModelConfig,
    ParallelDecoder, PooledLength, Provenance, RelativeBias, Symbols, marian,
};
use crate::keys::Keys;
use crate::languages::{Language, Languages};

/// The version of what stands under `padir`.
const FORMAT: u32 = 1;
pub(super) const COUNT: &str = "a whole number";
pub(super) const REAL: &str = "a number";
pub(super) const SWITCH: &str = "true or false";
pub(super) const ID: &str = "a token id";
const LANGUAGE: &str = "the code of a language, such as \"en\"";
const DIGEST: &str = "a SHA-256 digest of 64 hexadecimal digits";

/// A text is not the configuration of a model.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ConfigError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// A key that must be there.
    #[error("`{key}` is missing")]
    Missing {
        /// The key.
        key: String,
    },
    /// A key nobody knows.
    #[error("`{key}` is not a key of this format")]
    Unknown {
        /// The key.
        key: String,
    },
    /// A value that is not understood.
    #[error("`{key}` is {found}; it must be {wanted}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        found: String,
        /// What is understood.
        wanted: String,
    },
    /// It is well-formed, but no model can be so.
    #[error("{}", list(.0))]
    Problems(Vec<ConfigProblem>),
}

fn list(problems: &[ConfigProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

impl ModelConfig {
    /// Reads the content of a `config.json` and validates it.
    ///
    /// # Errors
    /// If it is not the configuration of a model; the key is named.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        Self::try_from(value)
    }

    /// The content of a `config.json`.
    pub fn to_json(&self) -> String {
        format!("{:#}\n", Value::from(self.clone()))
    }

    /// The same for int8 weights, which transformers must not take for numbers of their own: it skips a quantisation whose method it does not
    /// know and loads nonsense, but refuses one without a method.
    pub fn to_quantised_json(&self) -> String {
        let mut json = Value::from(self.clone());
        json["torch_dtype"] = json!("int8");
        json["quantization_config"] = json!({
            "bits": 8,
            "scheme": "a weight is its int8 number times the scale of its row; `padir dequantize` writes f32 weights",
        });
        format!("{json:#}\n")
    }
}

impl TryFrom<Value> for ModelConfig {
    type Error = ConfigError;

    fn try_from(value: Value) -> Result<Self, ConfigError> {
        let mut top = Keys::of("", value)?;
        let mut ours = top.object("padir", "padir.")?;
        let kind = match &mut ours {
            Some(ours) => {
                ours.only("format", "1, the version this program reads", &FORMAT)?;
                ours.take("decoder", r#""causal" or "parallel""#)?
            }
            None => DecoderKind::Causal,
        };
        let mut config =
            if kind == DecoderKind::Causal && top.says("model_type", marian::MODEL_TYPE) {
                marian::read(&mut top)?
            } else {
                check_family(&mut top, kind)?;
                read_top(&mut top)?
            };
        if let Some(mut ours) = ours {
            read_symbols(&mut ours, &mut config.symbols)?;
            config.provenance = Provenance {
                vocabulary: ours.optional::<Sha256>("vocabulary_sha256", DIGEST)?,
                data: ours.optional::<Sha256>("data_sha256", DIGEST)?,
            };
            if kind == DecoderKind::Parallel {
                config.decoder = Decoder::Parallel(read_parallel(&mut ours)?);
            }
            ours.finish()?;
        }
        config.validate().map_err(ConfigError::Problems)?;
        Ok(config)
    }
}

/// `model_type` and `architectures` of a decoder kind.
fn family(kind: DecoderKind) -> (&'static str, &'static str) {
    match kind {
        DecoderKind::Causal => ("t5", "T5ForConditionalGeneration"),
        DecoderKind::Parallel => ("padir", "PadirParallel"),
    }
}

/// Refuses relatives of T5.1.0 whose networks differ.
fn check_family(top: &mut Keys, kind: DecoderKind) -> Result<(), ConfigError> {
    let (model_type, architecture) = family(kind);
    let text = |value: &str| value.to_owned();
    let wanted = format!("{model_type:?} for a {kind} decoder");
    let found: String = top.take("model_type", &wanted)?;
    if found != model_type {
        return Err(top.wrong("model_type", &json!(found), &wanted));
    }
    let wanted = format!("[{architecture:?}] for a {kind} decoder");
    top.only("architectures", &wanted, &vec![text(architecture)])?;
    top.only("feed_forward_proj", "\"relu\", the only one supported", &text("relu"))?;
    top.only("is_encoder_decoder", "true", &true)?;
    top.only("pad_token_id", "0", &TokenId::PAD)?;
    top.only("eos_token_id", "1", &TokenId::EOS)
}

fn read_top(top: &mut Keys) -> Result<ModelConfig, ConfigError> {
    let vocab_size: usize = top.take("vocab_size", COUNT)?;
    let mut symbols = Symbols::of_vocabulary(vocab_size, vocab_size);
    symbols.start = top.or("decoder_start_token_id", ID, TokenId::PAD)?;
    let usual = RelativeBias::default();
    let num_layers = top.take("num_layers", COUNT)?;
    let tie_word_embeddings = top.or("tie_word_embeddings", SWITCH, true)?;
    // transformers ties the weights even where the logits are those of an untied model.
    let wanted = "that of `tie_word_embeddings`";
    top.only("scale_decoder_outputs", wanted, &tie_word_embeddings)?;
    Ok(ModelConfig {
        family: Family::T5,
        symbols,
        d_model: top.take("d_model", COUNT)?,
        d_kv: top.take("d_kv", COUNT)?,
        d_ff: top.take("d_ff", COUNT)?,
        num_layers,
        num_decoder_layers: top.or("num_decoder_layers", COUNT, num_layers)?,
        num_heads: top.take("num_heads", COUNT)?,
        relative_bias: RelativeBias {
            num_buckets: top.or("relative_attention_num_buckets", COUNT, usual.num_buckets)?,
            max_distance: top.or("relative_attention_max_distance", COUNT, usual.max_distance)?,
        },
        dropout_rate: top.or("dropout_rate", REAL, 0.1)?,
        layer_norm_epsilon: top.or("layer_norm_epsilon", REAL, 1e-6)?,
        initializer_factor: top.or("initializer_factor", REAL, 1.0)?,
        tie_word_embeddings,
        decoder: Decoder::Causal,
        provenance: Provenance::default(),
        languages: read_languages(top)?,
    })
}

/// What a model translates, if its file says so.
pub(super) fn read_languages(top: &mut Keys) -> Result<Languages, ConfigError> {
    Ok(Languages {
        source: top.optional::<Language>("source_language", LANGUAGE)?,
        target: top.optional::<Language>("target_language", LANGUAGE)?,
    })
}

fn read_symbols(ours: &mut Keys, symbols: &mut Symbols) -> Result<(), ConfigError> {
    symbols.pieces = ours.take("pieces", COUNT)?;
    symbols.mask = ours.optional("mask_token_id", ID)?;
    symbols.blank = ours.optional("blank_token_id", ID)?;
    symbols.length = ours.optional("length_token_id", ID)?;
    symbols.random = ours.take("random_from", ID)?..ours.take("random_to", ID)?;
    Ok(())
}

fn read_parallel(ours: &mut Keys) -> Result<ParallelDecoder, ConfigError> {
    Ok(ParallelDecoder {
        // Models of before there were others do not speak of it.
        training: ours.or("objective", ParallelTraining::CHOICES, ParallelTraining::Padir)?,
        positional_attention: ours.take("positional_attention", SWITCH)?,
        max_positions: ours.take("max_positions", COUNT)?,
        learned_positions: ours.take("learned_positions", SWITCH)?,
        initial: ours.take::<InitialTokens>("initial", InitialTokens::CHOICES)?,
        length: read_length(ours)?,
        // Old models have no confidence head, or call it a rejecter.
        confidence_head: ours.or("confidence_head", SWITCH, false)?
            | ours.or("rejecter", SWITCH, false)?,
    })
}

fn read_length(ours: &mut Keys) -> Result<LengthPredictor, ConfigError> {
    let missing = || ConfigError::Missing { key: "padir.length".to_owned() };
    let mut keys = ours.object("length", "padir.length.")?.ok_or_else(missing)?;
    let wanted = r#""token", "offset", "affine", "fertility", "pooled", "oracle" or "upsample""#;
    let predictor: String = keys.take("predictor", wanted)?;
    let length = match predictor.as_str() {
        "token" => LengthPredictor::Token { classes: keys.take("classes", COUNT)? },
        "offset" => LengthPredictor::Offset { classes: keys.take("classes", COUNT)? },
        "affine" => LengthPredictor::Affine,
        "fertility" => {
            LengthPredictor::Fertility { max_fertility: keys.take("max_fertility", COUNT)? }
        }
        "pooled" => LengthPredictor::Pooled(PooledLength {
            classes: keys.take("classes", COUNT)?,
            relative: keys.take("relative", SWITCH)?,
            queries: keys.take("queries", COUNT)?,
            hidden: keys.take("hidden", COUNT)?,
            hidden_layers: keys.take("hidden_layers", COUNT)?,
        }),
        "oracle" => LengthPredictor::Oracle,
        "upsample" => LengthPredictor::Upsample {
            factor: keys.take("factor", COUNT)?,
            min_slots: keys.take("min_slots", COUNT)?,
        },
        other => return Err(keys.wrong("predictor", &json!(other), wanted)),
    };
    keys.finish()?;
    Ok(length)
}

impl From<ModelConfig> for Value {
    fn from(config: ModelConfig) -> Self {
        let mut json = match &config.family {
            Family::T5 => t5_of(&config),
            Family::Marian(family) => marian::write(&config, family),
        };
        json["padir"] = ours_of(&config);
        let Languages { source, target } = config.languages;
        for (key, language) in [("source_language", source), ("target_language", target)] {
            if let Some(language) = language {
                json[key] = json!(language);
            }
        }
        json
    }
}

fn t5_of(config: &ModelConfig) -> Value {
    let kind = config.decoder_kind();
    let (model_type, architecture) = family(kind);
    json!({
        "model_type": model_type,
        "architectures": [architecture],
        "is_encoder_decoder": true,
        "use_cache": kind == DecoderKind::Causal,
        "vocab_size": config.symbols.vocab_size,
        "pad_token_id": config.symbols.pad,
        "eos_token_id": config.symbols.eos,
        "unk_token_id": config.symbols.unk,
        "bos_token_id": TokenId::BOS,
        "decoder_start_token_id": config.symbols.start,
        "d_model": config.d_model,
        "d_kv": config.d_kv,
        "d_ff": config.d_ff,
        "num_layers": config.num_layers,
        "num_decoder_layers": config.num_decoder_layers,
        "num_heads": config.num_heads,
        "relative_attention_num_buckets": config.relative_bias.num_buckets,
        "relative_attention_max_distance": config.relative_bias.max_distance,
        "dropout_rate": config.dropout_rate,
        "layer_norm_epsilon": config.layer_norm_epsilon,
        "initializer_factor": config.initializer_factor,
        "feed_forward_proj": "relu",
        "tie_word_embeddings": config.tie_word_embeddings,
        "torch_dtype": "float32",
    })
}

fn ours_of(config: &ModelConfig) -> Value {
    let symbols = &config.symbols;
    let mut ours = json!({
        "format": FORMAT,
        "decoder": config.decoder_kind(),
        "pieces": symbols.pieces,
        "mask_token_id": symbols.mask,
        "length_token_id": symbols.length,
        "random_from": symbols.random.start,
        "random_to": symbols.random.end,
        "vocabulary_sha256": config.provenance.vocabulary,
        "data_sha256": config.provenance.data,
    });
    if let Some(blank) = symbols.blank {
        ours["blank_token_id"] = json!(blank);
    }
    if let Some(parallel) = config.parallel() {
        if parallel.training != ParallelTraining::Padir {
            ours["objective"] = json!(parallel.training);
        }
        ours["positional_attention"] = json!(parallel.positional_attention);
        ours["max_positions"] = json!(parallel.max_positions);
        ours["learned_positions"] = json!(parallel.learned_positions);
        ours["initial"] = json!(parallel.initial);
        if parallel.confidence_head {
            ours["confidence_head"] = json!(true);
        }
        ours["length"] = match parallel.length {
            LengthPredictor::Token { classes } => {
                json!({ "predictor": "token", "classes": classes })
            }
            LengthPredictor::Offset { classes } => {
                json!({ "predictor": "offset", "classes": classes })
            }
            LengthPredictor::Affine => json!({ "predictor": "affine" }),
            LengthPredictor::Fertility { max_fertility } => {
                json!({ "predictor": "fertility", "max_fertility": max_fertility })
            }
            LengthPredictor::Pooled(pooled) => json!({
                "predictor": "pooled",
                "classes": pooled.classes,
                "relative": pooled.relative,
                "queries": pooled.queries,
                "hidden": pooled.hidden,
                "hidden_layers": pooled.hidden_layers,
            }),
            LengthPredictor::Oracle => json!({ "predictor": "oracle" }),
            LengthPredictor::Upsample { factor, min_slots } => {
                json!({ "predictor": "upsample", "factor": factor, "min_slots": min_slots })
            }
        };
    }
    ours
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;

    fn parallel() -> ModelConfig {
        ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Parallel)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut configs = vec![ModelConfig::preset(Preset::Paper, 32_128, DecoderKind::Causal)];
        let lengths = [
            LengthPredictor::Token { classes: 77 },
            LengthPredictor::Offset { classes: 77 },
            LengthPredictor::Affine,
            LengthPredictor::Fertility { max_fertility: 2 },
            LengthPredictor::Pooled(PooledLength { queries: 3, ..PooledLength::default() }),
            LengthPredictor::Oracle,
            LengthPredictor::Upsample { factor: 3, min_slots: 12 },
        ];
        for length in lengths {
            let mut config = parallel();
            config.provenance.vocabulary = Some(padir_base::hash::hash_bytes(b"v"));
            config.symbols.random = 5..250;
            config.languages.source = Language::try_from("pt-BR".to_owned()).ok();
            config.dropout_rate = 0.15;
            config.tie_word_embeddings = false;
            config.decoder = Decoder::Parallel(ParallelDecoder {
                training: ParallelTraining::Sundae,
                positional_attention: false,
                learned_positions: true,
                initial: if length.is_upsampled() {
                    InitialTokens::Mask
                } else {
                    InitialTokens::NumberedMask
                },
                max_positions: 99,
                length,
                confidence_head: length == LengthPredictor::Oracle,
            });
            if length.is_upsampled() {
                config.symbols = config.symbols.with_blank();
                assert_eq!(config.symbols.blank, Some(TokenId(298)));
            }
            configs.push(config);
        }
        for config in configs {
            assert_eq!(ModelConfig::from_json(&config.to_json()), Ok(config));
        }
    }

    /// The keys of the public `t5-small`, some of which nobody needs.
    #[test]
    fn a_public_t5_config_is_a_causal_model() {
        let text = r#"{
            "architectures": ["T5ForConditionalGeneration"], "d_ff": 2048, "d_kv": 64,
            "d_model": 512, "decoder_start_token_id": 0, "dropout_rate": 0.1, "eos_token_id": 1,
            "initializer_factor": 1.0, "is_encoder_decoder": true, "layer_norm_epsilon": 1e-06,
            "model_type": "t5", "n_positions": 512, "num_heads": 8, "num_layers": 6,
            "output_past": true, "pad_token_id": 0, "relative_attention_num_buckets": 32,
            "task_specific_params": {"translation_en_to_de": {"num_beams": 4}}, "vocab_size": 32128
        }"#;
        let config = ModelConfig::from_json(text).unwrap();
        assert_eq!(config.decoder, Decoder::Causal);
        assert!(config.tie_word_embeddings);
        assert_eq!(config.num_decoder_layers, 6);
        // "t5-small has 60 million parameters": 60,506,624 as transformers counts them.
        assert_eq!(config.parameter_count(), 60_506_624);
    }

    #[test]
    fn faults_are_told_by_their_key() {
        let cases = [
            ("/d_model", json!(-1), "`d_model` is -1; it must be a whole number"),
            ("/d_model", json!("512"), "`d_model` is \"512\"; it must be a whole number"),
            ("/d_model", json!(0), "`d_model` is 0; it must be between 1 and 1048576"),
            ("/feed_forward_proj", json!("gated-gelu"), "`feed_forward_proj` is \"gated-gelu\""),
            ("/model_type", json!("t5"), "`model_type` is \"t5\"; it must be \"padir\""),
            ("/architectures", json!(["T5Model"]), "`architectures` is [\"T5Model\"]"),
            ("/pad_token_id", json!(7), "`pad_token_id` is 7; it must be 0"),
            ("/source_language", json!("e n"), "`source_language` is \"e n\"; it must be the code"),
            ("/padir/format", json!(2), "`padir.format` is 2; it must be 1"),
            ("/padir/decoder", json!("diagonal"), "`padir.decoder` is \"diagonal\""),
            (
                "/padir/initial",
                json!("zeros"),
                "`padir.initial` is \"zeros\"; it must be \"random\"",
            ),
            ("/padir/length/predictor", json!("tarot"), "`padir.length.predictor` is \"tarot\""),
            ("/padir/length", json!({ "predictor": "token" }), "`padir.length.classes` is missing"),
            (
                "/padir/length",
                json!({ "predictor": "oracle", "classes": 3 }),
                "`padir.length.classes` is not a key",
            ),
            (
                "/padir/length",
                json!({ "predictor": "pooled", "classes": 9, "relative": 1 }),
                "`padir.length.relative` is 1; it must be true or false",
            ),
            ("/padir/mask_token_id", json!(1.5), "`padir.mask_token_id` is 1.5"),
            ("/padir/data_sha256", json!("abc"), "`padir.data_sha256` is \"abc\""),
            (
                "/padir/objective",
                json!("gan"),
                "`padir.objective` is \"gan\"; it must be \"padir\"",
            ),
        ];
        for (pointer, value, expected) in cases {
            let mut json = Value::from(parallel());
            // Not every key is always there.
            json["source_language"] = Value::Null;
            json["padir"]["objective"] = json!("padir");
            *json.pointer_mut(pointer).unwrap() = value;
            let error = ModelConfig::try_from(json).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{pointer}: {error}");
        }
    }

    #[test]
    fn missing_and_misspelt_keys_are_named() {
        let mut json = Value::from(parallel());
        json["padir"]["positional_atention"] = json!(true);
        let error = ModelConfig::try_from(json.clone()).unwrap_err().to_string();
        assert_eq!(error, "`padir.positional_atention` is not a key of this format");
        json.as_object_mut().unwrap().remove("d_kv");
        let error = ModelConfig::try_from(json).unwrap_err().to_string();
        assert_eq!(error, "`d_kv` is missing");
        assert!(ModelConfig::from_json("[]").is_err());
        assert!(ModelConfig::from_json("{").unwrap_err().to_string().starts_with("not JSON"));
    }
}
