//! Estimators: maximum likelihood, k-pseudolikelihood, weighted and adaptive pseudolikelihood.
//!
//! All minimise L(θ) = Ê `E_K` −log `pθ(x_K` | x₋ₖ, K), convex for Ising and Potts families. Two
//! losses compute it: [`EnumeratedLoss`] for any family and law on a small space, and
//! [`IsingLoss`] for spins of any number, which averages over all blocks where they are few and
//! over sampled masks where they are many. Three methods minimise it: Newton, L-BFGS (both to
//! machine precision) and plain gradient descent.

mod block;
mod data;
mod enumerated;
mod existence;
mod fit;
mod ising;
mod minimise;
mod pair;

pub use data::{DataError, Samples};
pub use enumerated::EnumeratedLoss;
pub use existence::Separation;
pub use fit::{Fit, FitError, FitOptions, Verdict, fit, loss_of, verdict_of};
pub use ising::{IsingLoss, Masks};
pub use minimise::{Method, Minimum, Settings, minimise};

use crate::chain::Matrix;

/// A convex function with derivatives.
pub trait Loss: Sync {
    /// The number of parameters.
    fn dimension(&self) -> usize;

    /// L(θ), writing ∇L(θ).
    fn gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> f64;

    /// ∇²L(θ).
    fn hessian(&self, parameters: &[f64]) -> Matrix<f64>;

    /// A cheap positive definite stand-in for the Hessian near a point, if there is one.
    fn preconditioner(&self, parameters: &[f64]) -> Option<Matrix<f64>> {
        Some(self.hessian(parameters))
    }

    /// The parameters that the loss does not depend on at all: none of their sites is ever hidden.
    fn untouched(&self) -> Vec<usize> {
        let curvature = self.hessian(&vec![0.0; self.dimension()]);
        (0..self.dimension()).filter(|&i| curvature.at(i, i) <= 0.0).collect()
    }

    /// The covariance of a sample's score, the gradient of its loss, with so many sampled masks each where masks are
    /// sampled; none where that would take too long.
    fn score_covariance(&self, parameters: &[f64], masks: usize) -> Option<Matrix<f64>> {
        let _ = (parameters, masks);
        None
    }

    /// The extreme values of ⟨v, T(x) − T(y)⟩ over all observed x and all y that the loss
    /// compares it with. Both not negative, one positive: no minimum exists, the loss falls
    /// along v for ever.
    fn margins(&self, direction: &[f64]) -> (f64, f64);
}
