//! Corpora, vocabularies and batches.

mod aligned;
pub mod batch;
pub mod caught;
pub mod columnar;
pub mod corpus;
pub mod defect;
pub mod distinct;
pub mod filter;
pub mod hash;
pub mod imagine;
pub mod input;
pub mod inspect;
pub mod lines;
pub mod origin;
pub mod output;
pub mod pair;
pub mod shard;
pub mod shortlist;
pub mod split;
pub mod synthesis;
pub mod tsv;
pub mod vocab;
pub mod writer;

pub use corpus::{Corpus, Pairs};
pub use pair::Pair;
