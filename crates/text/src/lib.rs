//! Corpora, vocabularies and batches.
//!
//! Without the feature `corpora` (on by default) there are vocabularies, shortlists and lines of text only: all that a translator needs.

#[cfg(feature = "corpora")]
mod aligned;
#[cfg(feature = "corpora")]
pub mod augment;
#[cfg(feature = "corpora")]
pub mod batch;
#[cfg(feature = "corpora")]
pub mod columnar;
#[cfg(feature = "corpora")]
pub mod corpus;
pub mod defect;
pub mod distinct;
#[cfg(feature = "corpora")]
pub mod filter;
pub mod hash;
pub mod input;
#[cfg(feature = "corpora")]
pub mod inspect;
pub mod lines;
#[cfg(feature = "corpora")]
pub mod origin;
pub mod output;
pub mod pair;
#[cfg(feature = "corpora")]
pub mod portion;
#[cfg(feature = "corpora")]
pub mod shard;
pub mod shortlist;
#[cfg(feature = "corpora")]
pub mod split;
#[cfg(feature = "corpora")]
pub mod synthesis;
#[cfg(feature = "corpora")]
pub mod tsv;
pub mod vocab;
#[cfg(feature = "corpora")]
pub mod writer;

#[cfg(feature = "corpora")]
pub use corpus::{Corpus, Pairs};
pub use pair::Pair;
