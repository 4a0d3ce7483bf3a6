//! Scores for generated text: BLEU, chrF, TER, stutter, and how sure they are.
//!
//! Three ideas, which come from sacrebleu: a [`Metric`] turns segments into statistics that add
//! up, a [`Score`] formats itself, a [`Signature`] says how it was computed. Statistics equal
//! those of sacrebleu 2.6.0 bit for bit, on all of Unicode; texts, signatures and JSON keys are
//! the same too, so that a script which reads one reads the other.
//!
//! ```
//! use padir_score::{Bleu, Metric, References, SignatureForm, corpus_score};
//!
//! let references = References::new(&[["The dog bit the man.", "It was not unexpected."]])?;
//! let hypotheses = ["The dog bit the guy.", "It wasn't surprising."];
//! let bleu = Bleu::default();
//! let score = corpus_score(&bleu, &hypotheses, &references)?;
//! let signature = bleu.signature(references.count()).format(SignatureForm::Short);
//! assert!(score.line(1, &signature).starts_with("BLEU|#:1|c:mixed|e:no|tok:13a|s:exp|v:padir-"));
//! assert_eq!(format!("{:.4}", score.value), "34.7983");
//! # Ok::<(), padir_score::CorpusError>(())
//! ```
//!
//! The crate knows nothing of files, models or other crates of padir.

mod bleu;
mod case;
mod chrf;
mod corpus;
mod metric;
mod ngram;
pub mod phrases;
mod plain;
mod real;
pub mod report;
mod score;
mod script;
mod signature;
mod significance;
mod stutter;
mod ter;
mod tokenize;
mod unicode;
mod words;

pub use bleu::{Bleu, BleuParts, Smoothing};
pub use case::Case;
pub use chrf::Chrf;
pub use corpus::{CorpusError, ReferenceCount, References};
pub use metric::{
    Metric, Sample, SegmentScorer, Statistics, corpus_score, measure, sentence_score,
};
pub use plain::{ExactMatch, LengthRatio, Repetition};
pub use score::{Confidence, Score};
pub use script::{Misfit, Script};
pub use signature::{Signature, SignatureForm, VERSION};
pub use significance::{Bootstrap, Comparison, DEFAULT_SEED, PairedTest, Verdict};
pub use stutter::Stutter;
pub use ter::{Ter, TercomOptions};
pub use tokenize::{Tokenizer, UnknownTokenizer};

/// The string functions of Python that scores depend on.
pub mod python {
    pub use crate::unicode::{lower, rstrip, split, strip};
}
