//! What theory and translation share.
//!
//! A *mask law* ([`mask::MaskLaw`]) decides which positions of a sequence are hidden. The same
//! object corrupts a training target, decides what a refiner predicts again, and picks the block
//! of a Gibbs sampler. A *denoiser* ([`denoise::Denoiser`]) answers with the conditional
//! distribution at every hidden position; a neural network is one, the exact conditionals of an
//! Ising model are another. Every decoding algorithm is written against these two, so it can be
//! tested against an enumerated distribution and then run on a translator unchanged. Its
//! counterpart for autoregression is the [`causal::CausalModel`].
//!
//! The rest is the floor that all crates stand on: [`TokenId`], random [`random::Stream`]s by
//! purpose, [`file::AtomicFile`], [`staged`] directories, [`lock`]s and what is [`pending`], [`ragged`] batches, [`hash`]es, int8 numbers ([`byte`](mod@byte)), the [`manifest::Manifest`] of a run, and panics [`caught`] on the way out of other people's code.

pub mod byte;
pub mod caught;
pub mod causal;
pub mod denoise;
pub mod file;
pub mod hash;
pub mod lock;
pub mod manifest;
pub mod mask;
mod part;
pub mod pending;
pub mod ragged;
pub mod random;
pub mod staged;
mod token;
mod training;

pub use part::is_part;
pub use token::TokenId;
pub use training::ParallelTraining;
