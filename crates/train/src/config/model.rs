//! `[model]`: a size with a name, and what differs from it. Keys are those of `config.json`.

use std::path::PathBuf;

use padir_base::ParallelTraining;
use padir_checkpoint::config::{
    MAX_BUCKETS, MAX_CLASSES, MAX_HEADS, MAX_LAYERS, MAX_LENGTH_LAYERS, MAX_POSITIONS,
    MAX_UPSAMPLING, MAX_VOCABULARY, MAX_WIDTH,
};
use padir_checkpoint::{
    Decoder, DecoderKind, Family, InitialTokens, Languages, LengthPredictor, MODEL, ModelConfig,
    ParallelDecoder, PooledLength, Preset, Provenance, RelativeBias, Symbols,
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
    /// What it is trained for; `[objective]` says it.
    #[serde(skip)]
    pub training: ParallelTraining,
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
    /// How lengths are predicted.
    pub length: LengthSettings,
}

/// `[model.length]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "predictor", rename_all = "kebab-case")]
pub enum LengthSettings {
    /// `token`: from a LENGTH token before the source.
    Token {
        /// The longest length predicted.
        classes: usize,
    },
    /// `offset`: the same, relative to the length of the source.
    Offset {
        /// How many lengths around that of the source can be predicted.
        classes: usize,
    },
    /// `affine`: from the length of the source.
    Affine,
    /// `fertility`: the sum of what every source token adds.
    Fertility {
        /// The most that one adds.
        max_fertility: usize,
    },
    /// `pooled`: from all encoder states by attention pooling and a small network.
    Pooled {
        /// The lengths that can be predicted: around that of the source, or from 1 on.
        classes: usize,
        /// Whether classes are relative to the length of the source.
        relative: bool,
        /// How many queries pool the encoder states.
        queries: usize,
        /// Width of the hidden layers.
        hidden: usize,
        /// How many hidden layers there are.
        hidden_layers: usize,
    },
    /// `oracle`: that of the reference.
    Oracle,
    /// `upsample`: none; the decoder has slots, a multiple of the source (CTC).
    Upsample {
        /// Slots per source token.
        factor: usize,
        /// The least number of slots.
        min_slots: usize,
    },
}

impl ModelSettings {
    /// Whether the decoder predicts alignments.
    pub fn is_alignment(&self) -> bool {
        let upsamples = |length| matches!(length, LengthSettings::Upsample { .. });
        self.parallel.is_some_and(|parallel| upsamples(parallel.length))
    }

    /// Whether the model says how long a target will be, rather than being told or ending it by itself.
    pub fn predicts_lengths(&self) -> bool {
        let predicts =
            |length| !matches!(length, LengthSettings::Oracle | LengthSettings::Upsample { .. });
        self.parallel.is_some_and(|parallel| predicts(parallel.length))
    }
}

const WIDTH: std::ops::RangeInclusive<usize> = 1..=MAX_WIDTH;

impl ModelSettings {
    /// For a parallel decoder that is trained for something, or an autoregressive one.
    pub(super) fn read(mut section: Section<'_>, training: Option<ParallelTraining>) -> Self {
        let decoder = training.map_or(DecoderKind::Causal, |_| DecoderKind::Parallel);
        let alignment = training == Some(ParallelTraining::Ctc);
        let preset = section.choice("preset", Preset::CHOICES);
        let preset = preset.unwrap_or(Preset::Small);
        // The vocabulary is irrelevant to what is taken from the preset.
        let mut usual = ModelConfig::preset(preset, 32_128, decoder);
        if let (Decoder::Parallel(parallel), true) = (&mut usual.decoder, alignment) {
            parallel.initial = InitialTokens::Mask;
            parallel.length = LengthPredictor::Upsample { factor: 2, min_slots: 8 };
        }
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
            parallel: training
                .zip(usual.parallel())
                .map(|(training, usual)| ParallelSettings::read(s, training, usual)),
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
        if self.is_alignment() {
            symbols = symbols.with_blank();
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
    fn read(
        section: &mut Section<'_>,
        training: ParallelTraining,
        usual: &ParallelDecoder,
    ) -> Self {
        let initial =
            if training.starts_from_masks() { InitialTokens::Mask } else { InitialTokens::Random };
        // A query stream starts from positions, and must not look at others.
        let disco = training == ParallelTraining::Disco;
        Self {
            training,
            positional_attention: section
                .switch("positional_attention", usual.positional_attention && !disco),
            max_positions: section
                .count("max_positions", 1..=MAX_POSITIONS)
                .unwrap_or(usual.max_positions),
            learned_positions: section
                .switch("learned_positions", usual.learned_positions || disco),
            initial: section.choice("initial", InitialTokens::CHOICES).unwrap_or(initial),
            confidence_head: confidence_head(section, usual.confidence_head),
            length: LengthSettings::read(section.section("length"), usual.length.is_upsampled()),
        }
    }

    fn to_decoder(self) -> ParallelDecoder {
        ParallelDecoder {
            training: self.training,
            positional_attention: self.positional_attention,
            max_positions: self.max_positions,
            learned_positions: self.learned_positions,
            initial: self.initial,
            confidence_head: self.confidence_head,
            length: match self.length {
                LengthSettings::Token { classes } => LengthPredictor::Token { classes },
                LengthSettings::Offset { classes } => LengthPredictor::Offset { classes },
                LengthSettings::Affine => LengthPredictor::Affine,
                LengthSettings::Fertility { max_fertility } => {
                    LengthPredictor::Fertility { max_fertility }
                }
                LengthSettings::Pooled { classes, relative, queries, hidden, hidden_layers } => {
                    LengthPredictor::Pooled(PooledLength {
                        classes,
                        relative,
                        queries,
                        hidden,
                        hidden_layers,
                    })
                }
                LengthSettings::Oracle => LengthPredictor::Oracle,
                LengthSettings::Upsample { factor, min_slots } => {
                    LengthPredictor::Upsample { factor, min_slots }
                }
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
    Pooled,
    Oracle,
    Upsample,
}

impl LengthSettings {
    fn read(mut section: Section<'_>, alignment: bool) -> Self {
        let wanted =
            r#""token", "offset", "affine", "fertility", "pooled", "oracle" or "upsample""#;
        let usual = if alignment { Predictor::Upsample } else { Predictor::Token };
        let length = match section.choice("predictor", wanted).unwrap_or(usual) {
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
            Predictor::Pooled => Self::read_pooled(&mut section),
            Predictor::Oracle => Self::Oracle,
            Predictor::Upsample => Self::Upsample {
                factor: section.count("factor", 1..=MAX_UPSAMPLING).unwrap_or(2),
                min_slots: section.count("min_slots", 1..=MAX_POSITIONS).unwrap_or(8),
            },
        };
        section.finish();
        length
    }

    fn read_pooled(section: &mut Section<'_>) -> Self {
        let usual = PooledLength::default();
        let relative = section.switch("relative", usual.relative);
        let classes = section.count("classes", 1..=MAX_CLASSES);
        Self::Pooled {
            classes: classes.unwrap_or(if relative { usual.classes } else { 128 }),
            relative,
            queries: section.count("queries", 1..=MAX_HEADS).unwrap_or(usual.queries),
            hidden: section.count("hidden", WIDTH).unwrap_or(usual.hidden),
            hidden_layers: section
                .count("hidden_layers", 1..=MAX_LENGTH_LAYERS)
                .unwrap_or(usual.hidden_layers),
        }
    }

    /// The longest length that can be predicted, if there is one.
    pub fn longest(self) -> Option<usize> {
        match self {
            Self::Token { classes } | Self::Pooled { classes, relative: false, .. } => {
                Some(classes)
            }
            Self::Offset { .. }
            | Self::Affine
            | Self::Fertility { .. }
            | Self::Pooled { .. }
            | Self::Oracle
            | Self::Upsample { .. } => None,
        }
    }
}
