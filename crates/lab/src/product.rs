//! The nearest chain of product transitions: what a parallel decoder can make of a chain.
//!
//! A network that predicts all positions at once from the same input moves by
//! Q(x, y) = Πᵢ Qᵢ(yᵢ | x). Among those laws the nearest to a row P(x, ·) in KL(P‖Q) has the row's own
//! marginals, and the distance is the row's total correlation
//!
//! ```text
//! TC(x) = KL(P(x, ·) ‖ Πᵢ Pᵢ(x, ·)) = Σᵢ H(Pᵢ(x, ·)) − H(P(x, ·)).
//! ```
//!
//! It is 0 for all x iff the chain itself has product transitions, as 1-Gibbs given its site has but 1-Gibbs
//! with a random site has not: the site is part of the randomness that one step shares. O(S² N).

use rayon::prelude::*;

use crate::chain::{ChainError, Matrix, Number};
use crate::distribution::Distribution;
use crate::entropy::phi;
use crate::gth;
use crate::space::Space;
use crate::wide::Wide;

/// A chain beside its nearest product transitions.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Q.
    pub matrix: Matrix<Wide>,
    /// TC(x), state by state.
    pub total_correlation: Vec<f64>,
}

impl Projection {
    /// Replaces every row of a chain by the product of its marginals.
    ///
    /// # Errors
    /// If the matrix is not one over the space.
    pub fn of(space: Space, matrix: &Matrix<Wide>) -> Result<Self, ChainError> {
        if matrix.size() != space.size() {
            return Err(ChainError::Unfit("the matrix does not belong to the space"));
        }
        let rows: Vec<(Vec<Wide>, f64)> =
            (0..space.size()).into_par_iter().map(|x| project(space, matrix.row(x))).collect();
        let mut projected = Matrix::zero(space.size());
        let mut total_correlation = Vec::with_capacity(space.size());
        for (into, (row, distance)) in projected.rows_mut().zip(rows) {
            into.copy_from_slice(&row);
            total_correlation.push(distance);
        }
        Ok(Self { matrix: projected, total_correlation })
    }

    /// E TC under p, and the largest TC of a possible state.
    pub fn distances(&self, p: &Distribution) -> (f64, f64) {
        let possible = self.total_correlation.iter().enumerate();
        let possible = possible.filter(|(x, _)| p.log_prob(*x).is_finite());
        possible.fold((0.0, 0.0), |(mean, largest): (f64, f64), (x, &distance)| {
            (mean + p.log_prob(x).exp() * distance, largest.max(distance))
        })
    }

    /// The stationary law of Q; none if Q is not irreducible.
    pub fn stationary(&self) -> Option<Vec<f64>> {
        let law = gth::stationary(&self.matrix)?;
        Some(law.iter().map(|l| l.exp()).collect())
    }
}

/// The product of a row's marginals, and KL of the row from it.
fn project(space: Space, row: &[Wide]) -> (Vec<Wide>, f64) {
    let mut marginals = vec![vec![Wide::ZERO; space.symbols()]; space.sites()];
    for (y, &mass) in row.iter().enumerate() {
        for (marginal, symbol) in marginals.iter_mut().zip(space.symbols_of(y)) {
            marginal[symbol] += mass;
        }
    }
    let mut product = vec![Wide::ZERO; row.len()];
    product[0] = Wide::ONE;
    for (site, marginal) in marginals.iter().enumerate() {
        let stride = space.stride(site);
        for (symbol, &factor) in marginal.iter().enumerate().rev() {
            for y in 0..stride {
                product[symbol * stride + y] = product[y] * factor;
            }
        }
    }
    let terms = row.iter().zip(&product).filter(|(_, q)| !q.is_zero());
    let distance = terms.map(|(&p, &q)| q.to_f64() * phi(Number::to_f64(p / q) - 1.0)).sum();
    (product, distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Blocks, block_matrix, parallel_matrix};
    use crate::graph::Shape;
    use crate::model::{Ising, Model};
    use padir_base::mask::MaskLaw;

    fn chain(j: f64) -> Distribution {
        let shape = Shape::Chain { periodic: false };
        Model::Ising(Ising::uniform(3, &shape, 0.2, j).unwrap()).enumerate().unwrap()
    }

    /// Independent parallel has product transitions: nothing changes.
    #[test]
    fn product_transitions_are_left_alone() {
        let p = chain(0.9);
        let matrix: Matrix<Wide> = parallel_matrix(&p).unwrap();
        let projection = Projection::of(p.space(), &matrix).unwrap();
        assert!(projection.total_correlation.iter().all(|d| d.abs() < 1e-14));
        for x in 0..8 {
            for y in 0..8 {
                let (a, b) = (matrix.at(x, y).ln(), projection.matrix.at(x, y).ln());
                assert!((a - b).abs() < 1e-12, "{x} → {y}");
            }
        }
    }

    /// One site at a time is a product given the site; with the site drawn, a row is a mixture of
    /// products and no product: never do two fair spins both flip, as independent ones would.
    #[test]
    fn a_random_site_is_shared_randomness() {
        let p = Model::Ising(Ising::uniform(2, &Shape::Independent, 0.0, 0.0).unwrap());
        let p = p.enumerate().unwrap();
        let blocks = Blocks::of(&MaskLaw::Exactly { k: 1 }, p.space()).unwrap();
        let projection = Projection::of(p.space(), &block_matrix(&p, &blocks).unwrap()).unwrap();
        assert!((projection.matrix.at(0, 3).to_f64() - 1.0 / 16.0).abs() < 1e-15);
        let (mean, _) = projection.distances(&p);
        // Marginals flip with probability 1/4: 2 H(1/4) − H(1/2, 1/4, 1/4).
        let marginal = -(0.25 * 0.25_f64.ln() + 0.75 * 0.75_f64.ln());
        let joint = -(0.5 * 0.5_f64.ln() + 0.5 * 0.25_f64.ln());
        assert!((mean - (2.0 * marginal - joint)).abs() < 1e-14, "{mean}");
    }

    /// N-Gibbs draws from p whatever x is: its projection draws from the product of p's marginals, and
    /// TC is the total correlation of p.
    #[test]
    fn resampling_everything_projects_to_the_marginals() {
        let p = chain(1.1);
        let blocks = Blocks::of(&MaskLaw::All, p.space()).unwrap();
        let projection = Projection::of(p.space(), &block_matrix(&p, &blocks).unwrap()).unwrap();
        let entropy = |logs: &[f64]| -logs.iter().map(|l| l.exp() * l).sum::<f64>();
        let single: f64 = (0..3).map(|i| entropy(&p.log_marginal(1 << i))).sum();
        let expected = single - entropy(p.log_probs());
        let (mean, largest) = projection.distances(&p);
        assert!((mean - expected).abs() < 1e-13 && (largest - expected).abs() < 1e-13);
        let law = projection.stationary().unwrap();
        for (y, &mass) in law.iter().enumerate() {
            let product: f64 = p
                .space()
                .symbols_of(y)
                .enumerate()
                .map(|(i, s)| p.log_marginal(1 << i)[s].exp())
                .product();
            assert!((mass - product).abs() < 1e-13, "state {y}");
        }
    }
}
