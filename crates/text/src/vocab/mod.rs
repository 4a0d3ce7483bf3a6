//! Vocabularies: text to token ids and back.
//!
//! A [`Vocabulary`] is a SentencePiece unigram model: text is [normalised](normalizer), then cut
//! into the most probable sequence of [pieces](unigram). It reads and writes SentencePiece
//! `.model` files and `tokenizer.json`, and gives the ids that the reference implementation gives. The vocabularies of
//! [Marian](marian) models have two such models and lists of ids.

pub mod charsmap;
mod decode;
mod double_array;
mod error;
mod file;
pub mod marian;
pub mod nmt_nfkc;
pub mod normalizer;
pub mod proto;
mod reorder;
mod tokenizer_json;
pub mod train;
pub mod unigram;
mod vocabulary;

pub use error::VocabError;
pub use file::{MODEL_FILE, TOKENIZER_FILE};
pub use marian::{MARIAN_FILES, MarianFiles, vocab_json};
pub use vocabulary::{Encoder, SENTINELS, Vocabulary};
