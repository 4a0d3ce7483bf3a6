//! Text in, text out: a vocabulary, a model and a decoder as one object.
//!
//! [`Translator::open`] takes a model's directory. [`Translator::translate`] takes texts of any length: a text is
//! translated [sentence by sentence](sentence) and joined again with its own white space, and what is too long for the model is
//! [`split`] further; equal sources are decoded once; all the rest goes through
//! the model as one ragged batch, in which each text may have a [`Decoding`] of its own. The result for a text depends on the
//! text, the model and the settings alone: not on what is translated beside it, nor on the number of threads. A [`Reranker`] may
//! order the hypotheses.
//!
//! The model is an engine's [`Session`](padir_engine::Session), or anything else that is a [`Model`]: a network in training
//! decodes its dev sets through the same code.
//!
//! [`import()`] turns models of other programs into such directories.

mod emoji;
mod error;
mod forced;
mod import;
mod model;
mod observer;
mod rerank;
pub mod sentence;
pub mod split;
mod translation;
mod translator;

pub use error::TranslateError;
pub use forced::template_of;
pub use import::{ImportFailure, ImportOptions, Imported, import};
pub use model::{Model, abilities_of, ctc_symbols_of, symbols_of};
pub use observer::{Place, Watcher};
pub use padir_decode::Decoding;
pub use rerank::Reranker;
pub use translation::{Alternative, Translation, seam};
pub use translator::{Decoded, Look, Options, Segmentation, Text, Translator, decoding_of};
