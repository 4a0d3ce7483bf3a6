//! Corpora, vocabularies and batches.

mod aligned;
pub mod columnar;
pub mod corpus;
pub mod defect;
pub mod input;
pub mod lines;
pub mod origin;
pub mod output;
pub mod pair;
pub mod tsv;
pub mod writer;

pub use corpus::{Corpus, Pairs};
pub use pair::Pair;
