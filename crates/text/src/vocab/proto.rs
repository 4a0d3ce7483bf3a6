//! The SentencePiece model file: a protocol buffer.
//!
//! Field numbers and defaults follow the public `sentencepiece_model.proto`; fields that only
//! describe a training run of the reference implementation are left out.

use prost::{Enumeration, Message};

/// A whole `.model` file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// The pieces; a piece's id is its place.
    #[prost(message, repeated, tag = "1")]
    pub pieces: Vec<PieceProto>,
    /// How the pieces were found.
    #[prost(message, optional, tag = "2")]
    pub trainer_spec: Option<TrainerSpec>,
    /// How text is normalised before it is segmented.
    #[prost(message, optional, tag = "3")]
    pub normalizer_spec: Option<NormalizerSpec>,
}

/// One piece.
#[derive(Clone, PartialEq, Message)]
pub struct PieceProto {
    /// Its text, with `▁` for a space.
    #[prost(string, optional, tag = "1")]
    pub piece: Option<String>,
    /// Its log-probability.
    #[prost(float, optional, tag = "2")]
    pub score: Option<f32>,
    /// What kind of piece it is.
    #[prost(enumeration = "PieceKind", optional, tag = "3", default = "Normal")]
    pub kind: Option<i32>,
}

/// What kind of piece it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum PieceKind {
    /// Found in text.
    Normal = 1,
    /// Stands for anything else.
    Unknown = 2,
    /// A mark that no text contains.
    Control = 3,
    /// Text that is never split.
    UserDefined = 4,
    /// A place that is not used.
    Unused = 5,
    /// One byte of an otherwise unknown character.
    Byte = 6,
}

/// How the pieces were found.
#[derive(Clone, PartialEq, Message)]
pub struct TrainerSpec {
    /// The segmentation algorithm.
    #[prost(enumeration = "ModelKind", optional, tag = "3", default = "Unigram")]
    pub model_type: Option<i32>,
    /// The number of pieces.
    #[prost(int32, optional, tag = "4", default = "8000")]
    pub vocab_size: Option<i32>,
    /// The share of character occurrences that the alphabet covers.
    #[prost(float, optional, tag = "10", default = "0.9995")]
    pub character_coverage: Option<f32>,
    /// The number of seed pieces.
    #[prost(int32, optional, tag = "14", default = "1000000")]
    pub seed_sentencepiece_size: Option<i32>,
    /// The share of pieces that survive a round.
    #[prost(float, optional, tag = "15", default = "0.75")]
    pub shrinking_factor: Option<f32>,
    /// Rounds of expectation and maximisation before each pruning.
    #[prost(int32, optional, tag = "17", default = "2")]
    pub num_sub_iterations: Option<i32>,
    /// The longest line in bytes.
    #[prost(int32, optional, tag = "18", default = "4192")]
    pub max_sentence_length: Option<i32>,
    /// The longest piece in characters.
    #[prost(int32, optional, tag = "20", default = "16")]
    pub max_sentencepiece_length: Option<i32>,
    /// Whether `▁` ends a word instead of starting it.
    #[prost(bool, optional, tag = "24", default = "false")]
    pub treat_whitespace_as_suffix: Option<bool>,
    /// Whether unknown characters are spelt as bytes.
    #[prost(bool, optional, tag = "35", default = "false")]
    pub byte_fallback: Option<bool>,
    /// The id of the unknown piece.
    #[prost(int32, optional, tag = "40", default = "0")]
    pub unk_id: Option<i32>,
    /// The id of the beginning-of-sentence piece.
    #[prost(int32, optional, tag = "41", default = "1")]
    pub bos_id: Option<i32>,
    /// The id of the end-of-sentence piece.
    #[prost(int32, optional, tag = "42", default = "2")]
    pub eos_id: Option<i32>,
    /// The id of the padding piece.
    #[prost(int32, optional, tag = "43", default = "-1")]
    pub pad_id: Option<i32>,
    /// How an unknown piece is printed.
    #[prost(string, optional, tag = "44", default = " \u{2047} ")]
    pub unk_surface: Option<String>,
    /// The text of the unknown piece.
    #[prost(string, optional, tag = "45", default = "<unk>")]
    pub unk_piece: Option<String>,
    /// The text of the beginning-of-sentence piece.
    #[prost(string, optional, tag = "46", default = "<s>")]
    pub bos_piece: Option<String>,
    /// The text of the end-of-sentence piece.
    #[prost(string, optional, tag = "47", default = "</s>")]
    pub eos_piece: Option<String>,
    /// The text of the padding piece.
    #[prost(string, optional, tag = "48", default = "<pad>")]
    pub pad_piece: Option<String>,
}

/// The segmentation algorithm of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum ModelKind {
    /// Most probable segmentation under a unigram model.
    Unigram = 1,
    /// Byte pair encoding.
    Bpe = 2,
    /// Whole words.
    Word = 3,
    /// Single characters.
    Char = 4,
}

/// How text is normalised before it is segmented.
#[derive(Clone, PartialEq, Message)]
pub struct NormalizerSpec {
    /// The name of the rule.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// The compiled rule.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub precompiled_charsmap: Option<Vec<u8>>,
    /// Whether a space is put before the text.
    #[prost(bool, optional, tag = "3", default = "true")]
    pub add_dummy_prefix: Option<bool>,
    /// Whether leading, trailing and repeated spaces are removed.
    #[prost(bool, optional, tag = "4", default = "true")]
    pub remove_extra_whitespaces: Option<bool>,
    /// Whether spaces become `▁`.
    #[prost(bool, optional, tag = "5", default = "true")]
    pub escape_whitespaces: Option<bool>,
}
