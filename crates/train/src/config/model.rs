//! `[model]`: a size with a name, and what differs from it. Keys are those of `config.json`.

use std::path::PathBuf;

use padir_checkpoint::config::{
    MAX_BUCKETS, MAX_CLASSES, MAX_HEADS, MAX_LAYERS, MAX_POSITIONS, MAX_VOCABULARY, MAX_WIDTH,
};
use padir_checkpoint::{
    Decoder, DecoderKind, Family, InitialTokens, Languages, LengthPredictor, MODEL, ModelConfig,
    ParallelDecoder, Preset, Provenance, RelativeBias, Symbols,
};
use serde::Serialize;

use super::section::Section;

/// `[model]`. Whatever is not written is that of the preset. Which decoder it has follows from
/// the objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSettings {
    /// The size to start from: `paper`, `small` or `tiny`.
    pub preset: Preset,
    /// A model whose parameters of the same name and shape are the initial ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_from: Option<PathBuf>,
    /// Rows of the embedding table; 0 means as many as the vocabulary has ids.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of a head.
    pub d_kv: usize,
    /// Width inside the feed-forward layers.
    pub d_ff: usize,
    /// Layers of the encoder.
    pub num_layers: usize,
    /// Layers of the decoder.
    pub num_decoder_layers: usize,
    /// Heads of every attention.
    pub num_heads: usize,
    /// Buckets of the relative position bias.
    pub relative_attention_num_buckets: usize,
    /// The distance from which on relative positions are all alike.
    pub relative_attention_max_distance: usize,
    /// Probability of dropout.
    pub dropout_rate: f64,
    /// ε of the norms.
    pub layer_norm_epsilon: f64,
    /// Multiplies the standard deviation of initial parameters.
    pub initializer_factor: f64,
    /// Whether the output layer is the embedding table.
    pub tie_word_embeddings: bool,
    /// What only a parallel decoder has.
    #[serde(flatten)]
    pub parallel: Option<ParallelSettings>,
}

/// The keys of `[model]` that only a parallel decoder understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ParallelSettings {
    /// Whether each decoder layer attends by position alone, too.
    pub positional_attention: bool,
    /// Rows of the position table.
    pub max_positions: usize,
    /// Whether positions are added to the token embeddings.
    pub learned_positions: bool,
    /// What the first decoding step reads: `random`, `mask` or `numbered-mask`.
    pub initial: InitialTokens,
    /// Whether the model learns which of its predictions are right, too.
    pub confidence_head: bool,
    /// How lengths are foretold.
    pub length: LengthSettings,
}

/// `[model.length]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "predictor", rename_all = "kebab-case")]
pub enum LengthSettings {
    /// `token`: from a LENGTH token before the source.
    Token {
        /// The longest length foretold.
        classes: usize,
    },
    /// `offset`: the same, relative to the length of the source.
    Offset {
        /// How many lengths around that of the source can be foretold.
        classes: usize,
    },
    /// `affine`: from the length of the source.
    Affine,
    /// `fertility`: the sum of what every source token adds.
    Fertility {
        /// The most that one adds.
        max_fertility: usize,
    },
    /// `oracle`: that of the reference.
    Oracle,
}

impl ModelSettings {
    /// Whether the model says how long a target will be, rather than being told or ending it by itself.
    pub fn foretells_lengths(&self) -> bool {
        self.parallel.is_some_and(|parallel| parallel.length != LengthSettings::Oracle)
    }
}

const WIDTH: std::ops::RangeInclusive<usize> = 1..=MAX_WIDTH;

impl ModelSettings {
    pub(super) fn read(mut section: Section<'_>, decoder: DecoderKind) -> Self {
        let preset = section.choice("preset", r#""paper", "small" or "tiny""#);
        let preset = preset.unwrap_or(Preset::Small);
        // The vocabulary is irrelevant to what is taken from the preset.
        let usual = ModelConfig::preset(preset, 32_128, decoder);
        let bias = usual.relative_bias;
        let start_from = section.optional_path("start_from");
        if let Some(directory) = &start_from {
            section.require_file("start_from", &directory.join(MODEL));
        }
        let s = &mut section;
        let settings = Self {
            preset,
            start_from,
            vocab_size: s.count("vocab_size", 0..=MAX_VOCABULARY).unwrap_or(0),
            d_model: s.count("d_model", WIDTH).unwrap_or(usual.d_model),
            d_kv: s.count("d_kv", WIDTH).unwrap_or(usual.d_kv),
            d_ff: s.count("d_ff", WIDTH).unwrap_or(usual.d_ff),
            num_layers: s.count("num_layers", 1..=MAX_LAYERS).unwrap_or(usual.num_layers),
            num_decoder_layers: s
                .count("num_decoder_layers", 1..=MAX_LAYERS)
                .unwrap_or(usual.num_decoder_layers),
            num_heads: s.count("num_heads", 1..=MAX_HEADS).unwrap_or(usual.num_heads),
            relative_attention_num_buckets: s
                .count("relative_attention_num_buckets", 4..=MAX_BUCKETS)
                .unwrap_or(bias.num_buckets),
            relative_attention_max_distance: s
                .count("relative_attention_max_distance", 1..=MAX_POSITIONS)
                .unwrap_or(bias.max_distance),
            dropout_rate: s
                .real("dropout_rate", "a number, at least 0 and below 1", |x| {
                    (0.0..1.0).contains(&x)
                })
                .unwrap_or(usual.dropout_rate),
            layer_norm_epsilon: s
                .real("layer_norm_epsilon", "a number above 0 and below 1", |x| x > 0.0 && x < 1.0)
                .unwrap_or(usual.layer_norm_epsilon),
            initializer_factor: s
                .real("initializer_factor", "a number above 0 and at most 1000", |x| {
                    x > 0.0 && x <= 1000.0
                })
                .unwrap_or(usual.initializer_factor),
            tie_word_embeddings: s.switch("tie_word_embeddings", usual.tie_word_embeddings),
            parallel: usual.parallel().map(|usual| ParallelSettings::read(s, usual)),
        };
        if decoder == DecoderKind::Causal {
            section.refuse(&PARALLEL_KEYS, "an autoregressive model has no such setting");
        }
        section.finish();
        settings
    }

    /// The model for a vocabulary of `size` ids, of which `pieces` stand for text.
    pub fn to_config(&self, size: usize, pieces: usize) -> ModelConfig {
        let mut symbols = Symbols::of_vocabulary(size, pieces);
        if self.vocab_size != 0 {
            symbols.vocab_size = self.vocab_size;
        }
        ModelConfig {
            family: Family::T5,
            symbols,
            d_model: self.d_model,
            d_kv: self.d_kv,
            d_ff: self.d_ff,
            num_layers: self.num_layers,
            num_decoder_layers: self.num_decoder_layers,
            num_heads: self.num_heads,
            relative_bias: RelativeBias {
                num_buckets: self.relative_attention_num_buckets,
                max_distance: self.relative_attention_max_distance,
            },
            dropout_rate: self.dropout_rate,
            layer_norm_epsilon: self.layer_norm_epsilon,
            initializer_factor: self.initializer_factor,
            tie_word_embeddings: self.tie_word_embeddings,
            decoder: self
                .parallel
                .map_or(Decoder::Causal, |parallel| Decoder::Parallel(parallel.to_decoder())),
            provenance: Provenance::default(),
            languages: Languages::default(),
        }
    }
}

const PARALLEL_KEYS: [&str; 7] = [
    "positional_attention",
    "max_positions",
    "learned_positions",
    "initial",
    "confidence_head",
    "rejecter",
    "length",
];

/// The key had another name once.
fn confidence_head(section: &mut Section<'_>, usual: bool) -> bool {
    if section.has("rejecter") {
        section.note("rejecter", "it is called `confidence_head` today");
        return section.switch("rejecter", usual);
    }
    section.switch("confidence_head", usual)
}

impl ParallelSettings {
    fn read(section: &mut Section<'_>, usual: &ParallelDecoder) -> Self {
        Self {
            positional_attention: section
                .switch("positional_attention", usual.positional_attention),
            max_positions: section
                .count("max_positions", 1..=MAX_POSITIONS)
                .unwrap_or(usual.max_positions),
            learned_positions: section.switch("learned_positions", usual.learned_positions),
            initial: section.choice("initial", InitialTokens::CHOICES).unwrap_or(usual.initial),
            confidence_head: confidence_head(section, usual.rejecter),
            length: LengthSettings::read(section.section("length")),
        }
    }

    fn to_decoder(self) -> ParallelDecoder {
        ParallelDecoder {
            positional_attention: self.positional_attention,
            max_positions: self.max_positions,
            learned_positions: self.learned_positions,
            initial: self.initial,
            rejecter: self.confidence_head,
            length: match self.length {
                LengthSettings::Token { classes } => LengthPredictor::Token { classes },
                LengthSettings::Offset { classes } => LengthPredictor::Offset { classes },
                LengthSettings::Affine => LengthPredictor::Affine,
                LengthSettings::Fertility { max_fertility } => {
                    LengthPredictor::Fertility { max_fertility }
                }
                LengthSettings::Oracle => LengthPredictor::Oracle,
            },
        }
    }
}

/// The name of a length predictor.
#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Predictor {
    Token,
    Offset,
    Affine,
    Fertility,
    Oracle,
}

impl LengthSettings {
    fn read(mut section: Section<'_>) -> Self {
        let wanted = r#""token", "offset", "affine", "fertility" or "oracle""#;
        let length = match section.choice("predictor", wanted).unwrap_or(Predictor::Token) {
            Predictor::Token => {
                Self::Token { classes: section.count("classes", 1..=MAX_CLASSES).unwrap_or(128) }
            }
            Predictor::Offset => {
                Self::Offset { classes: section.count("classes", 1..=MAX_CLASSES).unwrap_or(64) }
            }
            Predictor::Affine => Self::Affine,
            Predictor::Fertility => Self::Fertility {
                max_fertility: section.count("max_fertility", 1..=MAX_CLASSES / 4).unwrap_or(2),
            },
            Predictor::Oracle => Self::Oracle,
        };
        section.finish();
        length
    }

    /// The longest length that can be foretold, if there is one.
    pub fn longest(self) -> Option<usize> {
        match self {
            Self::Token { classes } => Some(classes),
            Self::Offset { .. } | Self::Affine | Self::Fertility { .. } | Self::Oracle => None,
        }
    }
}
