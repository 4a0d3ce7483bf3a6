//! Marian models (OPUS-MT) as `config.json`, in the layout of `transformers`.
//!
//! Keys that are missing have the defaults of its `MarianConfig`. What would make another network of it is refused.

use padir_base::TokenId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::json::{COUNT, ID, REAL, SWITCH, read_languages};
use super::{ConfigError, Decoder, Family, ModelConfig, Provenance, RelativeBias, Symbols};
use crate::keys::Keys;
use crate::layers::Activation;

/// `model_type` of a Marian model.
pub(super) const MODEL_TYPE: &str = "marian";
const ARCHITECTURE: &str = "MarianMTModel";
/// ε of all norms; no configuration can say another.
pub(super) const EPSILON: f64 = 1e-5;
/// The unknown token of the vocabularies that Marian makes.
const UNKNOWN: TokenId = TokenId(1);

/// What a Marian model has and a T5 has not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marian {
    /// Of the feed-forward layers.
    pub activation: Activation,
    /// Whether embeddings are multiplied by √d.
    pub scale_embedding: bool,
    /// The longest sentence.
    pub max_positions: usize,
    /// Heads of the decoder's attentions; those of the encoder are [`ModelConfig::num_heads`].
    pub decoder_heads: usize,
    /// Width of the decoder's feed-forward layers; that of the encoder's is [`ModelConfig::d_ff`].
    pub decoder_d_ff: usize,
    /// Tokens of the source, if it has a vocabulary and embeddings of its own.
    pub source_vocab_size: Option<usize>,
    /// Dropout of attention weights: 0, or [`ModelConfig::dropout_rate`].
    pub attention_dropout: f64,
    /// Dropout of hidden layers: 0, or [`ModelConfig::dropout_rate`].
    pub activation_dropout: f64,
    /// Deviation of initial matrices.
    pub init_std: f64,
}

/// Reads what stands at the top.
pub(super) fn read(top: &mut Keys) -> Result<ModelConfig, ConfigError> {
    check(top)?;
    let source: usize = top.or("vocab_size", COUNT, 58_101)?;
    let shared = top.or("share_encoder_decoder_embeddings", SWITCH, true)?;
    let target = if shared { source } else { top.or("decoder_vocab_size", COUNT, source)? };
    let pad = top.or("pad_token_id", ID, TokenId(58_100))?;
    let symbols = Symbols {
        start: top.or("decoder_start_token_id", ID, pad)?,
        eos: top.or("eos_token_id", ID, TokenId(0))?,
        unk: top.or("unk_token_id", ID, UNKNOWN)?,
        pad,
        ..Symbols::of_vocabulary(target, target)
    };
    let d_model = top.or("d_model", COUNT, 1024)?;
    let num_heads: usize = top.or("encoder_attention_heads", COUNT, 16)?;
    let dropout_rate = top.or("dropout", REAL, 0.1)?;
    Ok(ModelConfig {
        family: Family::Marian(Marian {
            activation: top.or("activation_function", Activation::CHOICES, Activation::Gelu)?,
            scale_embedding: top.or("scale_embedding", SWITCH, false)?,
            max_positions: top.or("max_position_embeddings", COUNT, 1024)?,
            decoder_heads: top.or("decoder_attention_heads", COUNT, 16)?,
            decoder_d_ff: top.or("decoder_ffn_dim", COUNT, 4096)?,
            source_vocab_size: (!shared).then_some(source),
            attention_dropout: top.or("attention_dropout", REAL, 0.0)?,
            activation_dropout: top.or("activation_dropout", REAL, 0.0)?,
            init_std: top.or("init_std", REAL, 0.02)?,
        }),
        symbols,
        d_model,
        d_kv: d_model / num_heads.max(1),
        d_ff: top.or("encoder_ffn_dim", COUNT, 4096)?,
        num_layers: top.or("encoder_layers", COUNT, 12)?,
        num_decoder_layers: top.or("decoder_layers", COUNT, 12)?,
        num_heads,
        relative_bias: RelativeBias::default(),
        dropout_rate,
        layer_norm_epsilon: EPSILON,
        initializer_factor: 1.0,
        tie_word_embeddings: top.or("tie_word_embeddings", SWITCH, true)?,
        decoder: Decoder::Causal,
        languages: read_languages(top)?,
        provenance: Provenance::default(),
    })
}

/// Refuses relatives whose networks differ.
fn check(top: &mut Keys) -> Result<(), ConfigError> {
    let wanted = format!("[{ARCHITECTURE:?}]");
    top.only("architectures", &wanted, &vec![ARCHITECTURE.to_owned()])?;
    top.only("is_encoder_decoder", "true", &true)?;
    top.only("static_position_embeddings", "true, the only one supported", &true)?;
    for key in
        ["normalize_before", "normalize_embedding", "add_final_layer_norm", "add_bias_logits"]
    {
        top.only(key, "false, the only one supported", &false)?;
    }
    for key in ["encoder_layerdrop", "decoder_layerdrop"] {
        top.only(key, "0, the only one supported", &0.0)?;
    }
    Ok(())
}

/// What stands at the top.
pub(super) fn write(config: &ModelConfig, family: &Marian) -> Value {
    let symbols = &config.symbols;
    json!({
        "model_type": MODEL_TYPE,
        "architectures": [ARCHITECTURE],
        "is_encoder_decoder": true,
        "use_cache": true,
        "vocab_size": family.source_vocab_size.unwrap_or(symbols.vocab_size),
        "decoder_vocab_size": symbols.vocab_size,
        "share_encoder_decoder_embeddings": family.source_vocab_size.is_none(),
        "tie_word_embeddings": config.tie_word_embeddings,
        "pad_token_id": symbols.pad,
        "eos_token_id": symbols.eos,
        "forced_eos_token_id": symbols.eos,
        "unk_token_id": symbols.unk,
        "decoder_start_token_id": symbols.start,
        "d_model": config.d_model,
        "encoder_layers": config.num_layers,
        "decoder_layers": config.num_decoder_layers,
        "encoder_attention_heads": config.num_heads,
        "decoder_attention_heads": family.decoder_heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": family.decoder_d_ff,
        "activation_function": family.activation,
        "scale_embedding": family.scale_embedding,
        "static_position_embeddings": true,
        "max_position_embeddings": family.max_positions,
        "dropout": config.dropout_rate,
        "attention_dropout": family.attention_dropout,
        "activation_dropout": family.activation_dropout,
        "encoder_layerdrop": 0.0,
        "decoder_layerdrop": 0.0,
        "init_std": family.init_std,
        "torch_dtype": "float32",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of the public `opus-mt-en-de`, some of which nobody needs.
    const OPUS: &str = r#"{
        "activation_dropout": 0.0, "activation_function": "swish", "add_bias_logits": false,
        "add_final_layer_norm": false, "architectures": ["MarianMTModel"], "attention_dropout": 0.0,
        "bad_words_ids": [[58100]], "bos_token_id": 0, "classif_dropout": 0.0, "d_model": 512,
        "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "decoder_layerdrop": 0.0,
        "decoder_layers": 6, "decoder_start_token_id": 58100, "dropout": 0.1,
        "encoder_attention_heads": 8, "encoder_ffn_dim": 2048, "encoder_layerdrop": 0.0,
        "encoder_layers": 6, "eos_token_id": 0, "init_std": 0.02, "is_encoder_decoder": true,
        "max_length": 512, "max_position_embeddings": 512, "model_type": "marian",
        "normalize_before": false, "normalize_embedding": false, "num_beams": 6,
        "num_hidden_layers": 6, "pad_token_id": 58100, "scale_embedding": true,
        "static_position_embeddings": true, "vocab_size": 58101
    }"#;

    #[test]
    fn a_public_config_is_a_causal_model() {
        let config = ModelConfig::from_json(OPUS).unwrap();
        assert_eq!(config.decoder, Decoder::Causal);
        assert_eq!((config.d_kv, config.num_decoder_layers), (64, 6));
        let symbols = &config.symbols;
        assert_eq!((symbols.eos.0, symbols.pad.0, symbols.start.0), (0, 58_100, 58_100));
        // 73,886,208 as transformers counts, and the bias of the logits, which it does not count.
        assert_eq!(config.parameter_count(), 73_886_208 + 58_101);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut config = ModelConfig::from_json(OPUS).unwrap();
        assert_eq!(ModelConfig::from_json(&config.to_json()), Ok(config.clone()));
        let Family::Marian(family) = &mut config.family else { panic!("not Marian") };
        family.source_vocab_size = Some(60_000);
        family.activation = Activation::GeluTanh;
        family.decoder_heads = 4;
        family.decoder_d_ff = 100;
        family.attention_dropout = 0.1;
        config.tie_word_embeddings = false;
        config.provenance.data = Some(padir_base::hash::hash_bytes(b"d"));
        assert_eq!(ModelConfig::from_json(&config.to_json()), Ok(config));
    }

    #[test]
    fn other_networks_and_impossible_ones_are_refused_by_their_key() {
        let cases = [
            ("normalize_before", json!(true), "`normalize_before` is true; it must be false"),
            ("static_position_embeddings", json!(false), "`static_position_embeddings` is false"),
            ("decoder_layerdrop", json!(0.1), "`decoder_layerdrop` is 0.1; it must be 0"),
            ("activation_function", json!("tanh"), "`activation_function` is \"tanh\"; it must be"),
            ("architectures", json!(["MarianModel"]), "`architectures` is [\"MarianModel\"]"),
            ("encoder_attention_heads", json!(7), "`encoder_attention_heads` is 7; it must divide"),
            ("decoder_attention_heads", json!(0), "`decoder_attention_heads` is 0; it must be"),
            ("pad_token_id", json!(58_101), "`pad_token_id` is 58101, but"),
            ("attention_dropout", json!(0.3), "`attention_dropout` is 0.3; it must be 0 or"),
            ("max_position_embeddings", json!(0), "`max_position_embeddings` is 0"),
            ("decoder_ffn_dim", json!(1 << 21), "`decoder_ffn_dim` is 2097152"),
            ("init_std", json!(-1.0), "`init_std` is -1"),
        ];
        for (key, value, expected) in cases {
            let mut json: Value = serde_json::from_str(OPUS).unwrap();
            json[key] = value;
            let error = ModelConfig::try_from(json).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{key}: {error}");
        }
    }
}
