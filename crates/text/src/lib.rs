//! Corpora, vocabularies and batches.

pub mod input;
