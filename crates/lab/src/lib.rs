//! The theory laboratory: the theory of masked generative models as exact numbers.
//!
//! A theorist poses a question for a distribution of their own and gets a number to many digits,
//! the bound beside it, and a picture.
//!
//! | module | question |
//! |---|---|
//! | [`model`], [`graph`], [`distribution`] | which p over Ωᴺ: partition function, marginals, conditionals, exact draws |
//! | [`chain`], [`spectrum`], [`decay`] | block dynamics and independent parallel: operators, Poincaré constants, TV/KL/χ² |
//! | [`hitting`], [`gth`], [`wide`] | how long to a mode, right to many digits at any coupling |
//! | [`step`] | what a step costs |
//! | [`asymptotics`] | Fisher information, Γ of any mask law and the order between them, sandwiches, regularity |
//! | [`conditioning`] | what seeing the mask says about what it hides |
//! | [`estimate`] | likelihood and pseudolikelihoods: fits, and whether they exist |
//! | [`experiment`] | what samples do: asymptotic normality, concentration, generalisation |
//! | [`inequality`], [`entropy`], [`mixing`] | tensorisation and log-Sobolev constants from both sides, mixing times |
//! | [`bound`] | the paper's bounds with their assumptions |
//! | [`product`] | the nearest chain that a parallel decoder can run |
//! | [`conditionals`] | what a learned denoiser says, beside the truth: errors, chains, the nearest joint |
//! | [`sample`], [`denoise`] | the chains run fast; the model as a denoiser for `padir-decode` |
//! | [`statement`] | every statement of the paper, and what it comes to on a model |
//! | [`figure`], [`data`] | pictures and files |
//!
//! ```
//! use padir_base::mask::MaskLaw;
//! use padir_lab::graph::Shape;
//! use padir_lab::model::{Ising, Model};
//! use padir_lab::spectrum::poincare;
//! // Independent spins: the gap of k-Gibbs is k/N.
//! let model = Model::Ising(Ising::uniform(4, &Shape::Independent, 0.5, 0.0)?);
//! let p = model.enumerate()?;
//! let found = poincare(&p, &MaskLaw::Exactly { k: 2 }, || ())?;
//! assert!((found.constant() - 2.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod asymptotics;
pub mod bound;
pub mod chain;
pub mod chance;
pub mod conditionals;
pub mod conditioning;
pub mod data;
pub mod decay;
pub mod denoise;
pub mod distribution;
pub mod entropy;
pub mod estimate;
pub mod experiment;
pub mod figure;
pub mod graph;
pub mod gth;
pub mod hitting;
pub mod inequality;
pub mod mixing;
pub mod model;
pub mod product;
pub mod sample;
pub mod space;
pub mod spectrum;
pub mod statement;
pub mod step;
pub mod wide;

mod linalg;
mod multi;
mod special;
