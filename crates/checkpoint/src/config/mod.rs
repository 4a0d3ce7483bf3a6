//! The shape of a model and the meaning of its symbols.
//!
//! Fields are called what `config.json` of a T5 checkpoint calls them. Symbols used in formulas:
//! d = [`ModelConfig::d_model`], h = [`ModelConfig::num_heads`], k = [`ModelConfig::d_kv`],
//! f = [`ModelConfig::d_ff`], V = [`Symbols::vocab_size`].

mod json;
mod limits;
mod marian;
mod preset;

use std::fmt;
use std::ops::Range;

use padir_base::hash::Sha256;
use padir_base::{ParallelTraining, TokenId};
use serde::{Deserialize, Serialize};

pub use json::ConfigError;
pub use limits::{
    ConfigProblem, MAX_BUCKETS, MAX_CLASSES, MAX_HEADS, MAX_LAYERS, MAX_LENGTH_LAYERS,
    MAX_PARAMETERS, MAX_POSITIONS, MAX_UPSAMPLING, MAX_VOCABULARY, MAX_WIDTH,
};
pub use marian::Marian;
pub use preset::{NotAPreset, Preset};

use crate::languages::Languages;

/// The shape of an encoder-decoder. [`ModelConfig::layers`] says which layers follow from it.
///
/// As JSON it is the `config.json` of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub struct ModelConfig {
    /// Which kind of layers it has.
    pub family: Family,
    /// Which ids exist and what they mean.
    pub symbols: Symbols,
    /// Width d of the residual stream.
    pub d_model: usize,
    /// Width k of the queries, keys and values of one head. h·k need not be d.
    pub d_kv: usize,
    /// Width f inside the feed-forward layers.
    pub d_ff: usize,
    /// Layers of the encoder.
    pub num_layers: usize,
    /// Layers of the decoder.
    pub num_decoder_layers: usize,
    /// Heads h of every attention.
    pub num_heads: usize,
    /// The table of relative positions; each stack has one, used by all of its layers.
    pub relative_bias: RelativeBias,
    /// Probability with which dropout erases an activation in training.
    pub dropout_rate: f64,
    /// ε in x / √(mean x² + ε).
    pub layer_norm_epsilon: f64,
    /// Multiplies the standard deviation of every initial parameter.
    pub initializer_factor: f64,
    /// Whether the output layer is the embedding table E: logits = y·Eᵀ/√d.
    pub tie_word_embeddings: bool,
    /// How targets are made.
    pub decoder: Decoder,
    /// What the model was made of.
    pub provenance: Provenance,
    /// What it translates.
    pub languages: Languages,
}

/// Which layers a model is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// T5.1.0: pre-norm, `RMSNorm`, `ReLU`, relative positions, no linear biases.
    T5,
    /// Marian (OPUS-MT): post-norm, `LayerNorm`, sinusoidal positions, biases. It has no use for
    /// [`ModelConfig::relative_bias`] and [`ModelConfig::initializer_factor`].
    Marian(Marian),
}

/// Which ids exist and what they mean. Models trained here have the reserved ids of [`TokenId`]; imported ones have their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// V, the rows of the target's embedding table; may exceed the number of ids in use.
    pub vocab_size: usize,
    /// Ends a sentence.
    pub eos: TokenId,
    /// Fills up batches; never generated.
    pub pad: TokenId,
    /// Stands for what the vocabulary cannot spell.
    pub unk: TokenId,
    /// How many ids stand for text, the four reserved ones included.
    pub pieces: usize,
    /// What an autoregressive decoder reads before the first token of a target.
    pub start: TokenId,
    /// Stands for an unknown token in the input of a parallel decoder.
    pub mask: Option<TokenId>,
    /// Stands for nothing in an alignment (CTC).
    pub blank: Option<TokenId>,
    /// Precedes the source when the length is read off its encoding.
    pub length: Option<TokenId>,
    /// Random tokens are uniform over these ids.
    pub random: Range<u32>,
}

/// The relative position bias b(i − j) of attention logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelativeBias {
    /// Number of buckets. Half of them hold one distance each, the others grow logarithmically.
    pub num_buckets: usize,
    /// From this distance on everything falls into the last bucket.
    pub max_distance: usize,
}

/// How targets are made, with what this needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// Autoregressive: position i sees positions up to i.
    Causal,
    /// All positions at once, refined: every position sees every other.
    Parallel(ParallelDecoder),
}

/// How targets are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoderKind {
    /// Autoregressive.
    Causal,
    /// All positions at once.
    Parallel,
}

/// The parallel decoder and the switches of its ablations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelDecoder {
    /// What it was trained for.
    pub training: ParallelTraining,
    /// Whether each layer attends by position alone between self- and cross-attention.
    pub positional_attention: bool,
    /// Rows of the learned position table: the longest target.
    pub max_positions: usize,
    /// Whether the position table is added to the token embeddings, too.
    pub learned_positions: bool,
    /// What the first step reads.
    pub initial: InitialTokens,
    /// How the length of a target is predicted.
    pub length: LengthPredictor,
    /// Whether it also predicts, from the last states of its decoder, whether its predictions are right.
    pub confidence_head: bool,
}

/// The tokens a parallel decoder starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialTokens {
    /// Uniform over [`Symbols::random`].
    Random,
    /// All of them [`Symbols::mask`].
    Mask,
    /// Each of them [that of its position](Symbols::numbered_masks).
    NumberedMask,
}

impl InitialTokens {
    /// What it may be, for messages.
    pub const CHOICES: &str = r#""random", "mask" or "numbered-mask""#;
}

/// How the length of a target, its end included, is predicted from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LengthPredictor {
    /// From the encoding s of the LENGTH token before the source: logits s·Lᵀ; class c means
    /// length c + 1.
    Token {
        /// Rows of L: the longest length predicted.
        classes: usize,
    },
    /// The same, but class c of C means length n + c − ⌊C/2⌋ for a source of n tokens: what has to be learnt is how
    /// much longer or shorter a target is, not to count.
    Offset {
        /// C, the rows of L.
        classes: usize,
    },
    /// a·n + b for a source of n tokens.
    Affine,
    /// n + Σⱼ E\[offset of token j\], the offset of each source token being one of
    /// −(m + 1)..=m by a softmax of its encoding.
    Fertility {
        /// m.
        max_fertility: usize,
    },
    /// From all encoder states: learned queries pool them by attention, and a small network reads the pools, their sum and the
    /// length of the source. See [`layers::PooledLength`](crate::layers::PooledLength).
    Pooled(PooledLength),
    /// The length of the reference; nothing is learnt.
    Oracle,
    /// None is predicted: the decoder has slots, a multiple of the source, and what they say collapses to the target (CTC).
    Upsample {
        /// Slots per source token.
        factor: usize,
        /// The least number of slots.
        min_slots: usize,
    },
}

/// The sizes of a [pooled](LengthPredictor::Pooled) length predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PooledLength {
    /// C, the classes of the output.
    pub classes: usize,
    /// Whether class c means length n + c − ⌊C/2⌋ for a source of n tokens; otherwise c + 1.
    pub relative: bool,
    /// How many queries pool the encoder states.
    pub queries: usize,
    /// Width of the hidden layers.
    pub hidden: usize,
    /// How many hidden layers there are.
    pub hidden_layers: usize,
}

impl Default for PooledLength {
    fn default() -> Self {
        Self { classes: 64, relative: true, queries: 4, hidden: 256, hidden_layers: 1 }
    }
}

/// Hashes of what a model was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Of the vocabulary: a model read with another vocabulary speaks nonsense.
    pub vocabulary: Option<Sha256>,
    /// Of the training data.
    pub data: Option<Sha256>,
}

impl ModelConfig {
    /// Which of the two decoders this is.
    pub fn decoder_kind(&self) -> DecoderKind {
        match self.decoder {
            Decoder::Causal => DecoderKind::Causal,
            Decoder::Parallel(_) => DecoderKind::Parallel,
        }
    }

    /// Whether the decoder predicts alignments, which collapse to targets (CTC).
    pub fn is_ctc(&self) -> bool {
        self.parallel().is_some_and(|parallel| parallel.length.is_upsampled())
    }

    /// The parallel decoder, if it is one.
    pub fn parallel(&self) -> Option<&ParallelDecoder> {
        match &self.decoder {
            Decoder::Causal => None,
            Decoder::Parallel(parallel) => Some(parallel),
        }
    }

    /// What stands for an unknown token at a position of a target, counted from 0.
    pub fn mask_at(&self, position: usize) -> Option<TokenId> {
        match self.parallel() {
            Some(parallel) if parallel.initial == InitialTokens::NumberedMask => {
                let masks = self.symbols.numbered_masks();
                let place = position.checked_rem(masks.len())?;
                Some(TokenId(masks.end - 1 - place as u32))
            }
            _ => self.symbols.mask,
        }
    }

    /// h·k, the width of all heads together.
    pub fn inner_width(&self) -> usize {
        self.num_heads * self.d_kv
    }
}

impl Symbols {
    /// The symbols of a house vocabulary: `pieces` pieces, then sentinels up to `size`, of which
    /// the last is MASK and the third from the end is LENGTH. V = `size`; raise
    /// [`Symbols::vocab_size`] for a table with spare rows.
    pub fn of_vocabulary(size: usize, pieces: usize) -> Self {
        let sentinel = |from_end: usize| {
            let id = size.checked_sub(from_end).filter(|&id| id >= pieces);
            id.and_then(|id| u32::try_from(id).ok()).map(TokenId)
        };
        Self {
            vocab_size: size,
            eos: TokenId::EOS,
            pad: TokenId::PAD,
            unk: TokenId::UNK,
            pieces,
            start: TokenId::PAD,
            mask: sentinel(1),
            blank: None,
            length: sentinel(3),
            random: TokenId::BOS.0..u32::try_from(size).unwrap_or(u32::MAX),
        }
    }
}

impl Symbols {
    /// With the sentinel before MASK as BLANK, as a CTC model needs it.
    #[must_use]
    pub fn with_blank(self) -> Self {
        let before = self.mask.and_then(|mask| mask.0.checked_sub(1));
        let blank = before.filter(|&id| id as usize >= self.pieces).map(TokenId);
        Self { blank, ..self }
    }

    /// Masks by position, that of the first position being the last of these ids: the sentinels before MASK, of which the next
    /// two have other meanings. Positions beyond begin anew.
    pub fn numbered_masks(&self) -> Range<u32> {
        let first = u32::try_from(self.pieces).unwrap_or(u32::MAX);
        let end = self.mask.map_or(first, |mask| mask.0.saturating_sub(2));
        first..end.max(first)
    }
}

impl ParallelDecoder {
    /// The slots for a source of so many tokens, at most one for each position; none unless the decoder predicts alignments.
    pub fn slots(&self, source: usize) -> Option<usize> {
        match self.length {
            LengthPredictor::Upsample { factor, min_slots } => {
                let slots = source.saturating_mul(factor).max(min_slots);
                Some(slots.min(self.max_positions))
            }
            _ => None,
        }
    }

    /// Whether there is a position table at all.
    pub fn has_positions(&self) -> bool {
        self.positional_attention || self.learned_positions
    }
}

impl LengthPredictor {
    /// The rows of its output table, if it has one.
    pub fn classes(self) -> Option<usize> {
        match self {
            Self::Token { classes } | Self::Offset { classes } => Some(classes),
            Self::Pooled(pooled) => Some(pooled.classes),
            Self::Fertility { max_fertility } => {
                Some(max_fertility.saturating_mul(2).saturating_add(2))
            }
            Self::Affine | Self::Oracle | Self::Upsample { .. } => None,
        }
    }

    /// The longest length it can predict, if there is one whatever the source.
    pub fn longest(self) -> Option<usize> {
        match self {
            Self::Token { classes }
            | Self::Pooled(PooledLength { classes, relative: false, .. }) => Some(classes),
            _ => None,
        }
    }

    /// Whether it reads a LENGTH token before the source.
    pub fn has_token(self) -> bool {
        matches!(self, Self::Token { .. } | Self::Offset { .. })
    }

    /// Whether a target is the collapsed text of slots (CTC).
    pub fn is_upsampled(self) -> bool {
        matches!(self, Self::Upsample { .. })
    }

    /// The length that class 0 means for a source of n tokens; later classes mean one more each.
    fn first(self, source: usize) -> i64 {
        match self {
            Self::Offset { classes }
            | Self::Pooled(PooledLength { classes, relative: true, .. }) => {
                source as i64 - (classes / 2) as i64
            }
            _ => 1,
        }
    }

    /// The class of a length, its end included, after a source of so many tokens; lengths beyond all classes have the
    /// nearest.
    pub fn class_of(self, length: usize, source: usize) -> usize {
        let last = self.classes().unwrap_or(1).saturating_sub(1) as i64;
        (length as i64 - self.first(source)).clamp(0, last) as usize
    }

    /// The length that a class means, if there is such a length.
    pub fn length_of(self, class: usize, source: usize) -> Option<usize> {
        let length = class as i64 + self.first(source);
        usize::try_from(length).ok().filter(|&length| length > 0)
    }
}

impl Default for RelativeBias {
    fn default() -> Self {
        Self { num_buckets: 32, max_distance: 128 }
    }
}

impl Default for ParallelDecoder {
    /// The paper's.
    fn default() -> Self {
        Self {
            training: ParallelTraining::Padir,
            positional_attention: true,
            max_positions: 256,
            learned_positions: false,
            initial: InitialTokens::Random,
            length: LengthPredictor::Token { classes: 128 },
            confidence_head: false,
        }
    }
}

impl fmt::Display for DecoderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Causal => "causal",
            Self::Parallel => "parallel",
        })
    }
}
