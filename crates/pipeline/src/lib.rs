//! What a project does with models, as a library: distillation, evaluation, recipes of many stages, and reports about all of them.
//!
//! Nothing here parses a command line or prints. Whoever calls hands over a [`Progress`], which shows remarks and progress bars or
//! does not, and gets values or a typed [`Error`] back. The `padir` binary is one such caller.

pub mod batches;
pub mod corpora;
pub mod distil;
mod error;
pub mod evaluate;
#[cfg(feature = "lab")]
pub mod learn;
pub mod line;
pub mod model;
pub mod numbers;
pub mod progress;
pub mod recipe;
pub mod report;

pub use error::Error;
pub use progress::Progress;
