//! What samples do: the statements about finite data beside data.
//!
//! [`normality()`] repeats a fit many times and compares the scatter of its estimates with the asymptotic
//! normal law; [`concentration()`] draws many data sets and compares the bounds of the generalisation
//! theorem and its lemmas with what happens. Both work on enumerated spaces.

mod concentration;
mod draws;
mod normality;

pub use concentration::{Concentration, ConcentrationSettings, Lemma, concentration};
pub use normality::{Normality, NormalitySettings, normality};

use thiserror::Error;

use crate::asymptotics::SandwichError;
use crate::chain::ChainError;
use crate::spectrum::SpectrumError;

/// An experiment that cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExperimentError {
    /// The law cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// There is no asymptotic variance to compare with.
    #[error(transparent)]
    Sandwich(#[from] SandwichError),
    /// A spectrum cannot be found.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// None of the estimates exists.
    #[error("none of {0} estimates exists: more samples are needed")]
    NoEstimates(usize),
}

/// The empirical quantile of sorted values.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let index = (level * sorted.len() as f64).ceil() as usize;
    sorted[index.clamp(1, sorted.len()) - 1]
}
