//! What theory and translation share.
//!
//! A *mask law* ([`mask::MaskLaw`]) decides which positions of a sequence are hidden. The same
//! object corrupts a training target, decides what a refiner predicts again, and picks the block
//! of a Gibbs sampler. A *denoiser* ([`denoise::Denoiser`]) answers with the conditional
//! distribution at every hidden position; a neural network is one, the exact conditionals of an
//! Ising model are another. Every decoding algorithm is written against these two, so it can be
//! tested against an enumerated distribution and then run on a translator unchanged. Its
//! counterpart for autoregression is the [`continuation::Continuer`].
//!
//! The rest is the floor that all crates stand on: [`TokenId`], random [`random::Stream`]s by
//! purpose, [`file::AtomicFile`] and what is [`pending`], [`hash`]es, numbers in 8 bits ([`byte`](mod@byte)) and the [`manifest::Manifest`] of a run.

pub mod byte;
pub mod continuation;
pub mod denoise;
pub mod file;
pub mod hash;
pub mod manifest;
pub mod mask;
mod part;
pub mod pending;
pub mod random;
mod token;

pub use part::is_part;
pub use token::TokenId;
