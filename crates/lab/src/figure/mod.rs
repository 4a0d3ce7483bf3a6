//! The figures: each a table of numbers and a picture of it.
//!
//! | name | shows |
//! |---|---|
//! | `error-flat`, `error-peaky` | the paper's first: squared error against n for every k, with the exact asymptote tr Γᵏ/n |
//! | `hitting` | the paper's second: steps from R₋₁ to R₁ against J, exact and simulated |
//! | `variance` | tr Γᵏ against k, beside C·tr I⁻¹ |
//! | `gap` | the spectral gap against k for several couplings |
//! | `parallel` | the stationary law of independent parallel beside p |
//! | `slack` | how far the bounds are from the exact values |

mod chains;
mod error;
mod hitting;

pub use chains::{gap, parallel, slack, variance};
pub use error::{ErrorSettings, estimation_error};
pub use hitting::{HittingSettings, hitting};

use padir_plot::Figure;
use thiserror::Error;

use crate::asymptotics::AsymptoticError;
use crate::chain::ChainError;
use crate::estimate::{DataError, FitError};
use crate::model::ModelError;
use crate::space::SpaceError;
use crate::spectrum::SpectrumError;

/// A picture with the numbers behind it.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The name of its files.
    pub name: String,
    /// The picture.
    pub figure: Figure,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The numbers.
    pub rows: Vec<Vec<f64>>,
}

/// A figure that cannot be made.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The model makes no sense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The space is too large.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A chain cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A spectrum cannot be found.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// A variance does not exist.
    #[error(transparent)]
    Asymptotic(#[from] AsymptoticError),
    /// A fit cannot be made.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Samples make no sense.
    #[error(transparent)]
    Data(#[from] DataError),
}

fn columns<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// The mean and half a standard deviation.
fn mean_and_half_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, 0.5 * variance.sqrt())
}
