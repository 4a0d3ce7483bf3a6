//! Text in, text out: a vocabulary, an engine and a decoder as one object.
//!
//! [`Translator::open`] takes a model's directory. [`Translator::translate`] takes texts of any length: what is too long for the
//! model is [cut](split) at the ends of sentences and put together again; what says the same is decoded once; all the
//! rest goes through the engine as one ragged batch. What becomes of a text depends on the text, the model and
//! the [`Decoding`] alone: not on what is translated beside it, nor on the number of threads. A [`Judge`] may have the last word.

mod decoding;
mod error;
mod judge;
mod observer;
pub mod split;
mod translation;
mod translator;

pub use decoding::{Decoding, assign, symbols_of};
pub use error::{DecodingError, TranslateError};
pub use judge::Judge;
pub use observer::{Place, Watcher};
pub use translation::{Alternative, Translation};
pub use translator::{Options, Text, Translator};
