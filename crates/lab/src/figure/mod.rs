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

use padir_plot::{Color, Figure};
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
    /// What is seen, in words: the model, what points and bars are, how often it was repeated.
    pub caption: String,
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

/// Colours that can be told apart side by side, also by most of those who do not see all of them.
const DISTINCT: [Color; 10] = [
    Color::new(0x00, 0x72, 0xb2),
    Color::new(0xe6, 0x9f, 0x00),
    Color::new(0x00, 0x9e, 0x73),
    Color::new(0xcc, 0x79, 0xa7),
    Color::new(0x56, 0xb4, 0xe9),
    Color::new(0x8c, 0x56, 0x4b),
    Color::new(0x6a, 0x3d, 0x9a),
    Color::new(0xa6, 0xa6, 0x1c),
    Color::new(0x33, 0x33, 0x33),
    Color::new(0xfb, 0x80, 0x72),
];

/// The colour of curve `i`.
fn distinct(i: usize) -> Color {
    DISTINCT[i % DISTINCT.len()]
}

/// Where point set `i` of `count` stands beside its true place, between −½ and ½: points that
/// would cover each other stand side by side.
fn beside(i: usize, count: usize) -> f64 {
    (i as f64 + 0.5) / count as f64 - 0.5
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
