//! The generalisation bound: how far the learned joint can be from the truth.
//!
//! With probability 1 − δ,
//!
//! ```text
//! TV(pθ̂, p) < √(½ C_AT(pθ̂) (L̂ + B ln(1/β) + ε)) + C,
//! B = √(2³ᴺ |Ω|ᴺ C_ε(Θ) / (m δ)) + √(ln(8 C_ε(Θ)/δ) / (2n)),    C = √(|Ω|³ᴺ / (8 δ n)).
//! ```
//!
//! The theorem prints "+ C" inside of the root; its proof adds it outside, by the triangle
//! inequality, and that is what is computed. The proof also uses the loss L̂ for an expected KL; by its
//! definition it is larger by the entropy of the conditionals, so the printed bound holds but
//! does not vanish at the truth ([`PopulationLoss`](super::PopulationLoss)). Any upper bound of `C_AT` will do;
//! a lower one will not. All large quantities are logarithms.

use crate::model::Family;
use crate::space::Space;

/// What the bound depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generalisation {
    /// N.
    pub sites: usize,
    /// |Ω|.
    pub symbols: usize,
    /// The number of samples n.
    pub samples: f64,
    /// The number of masks per sample m.
    pub masks: f64,
    /// δ.
    pub delta: f64,
    /// ε.
    pub epsilon: f64,
    /// `C_AT` of the learned distribution, or an upper bound of it.
    pub tensorisation: f64,
    /// The empirical loss L̂ of the learned distribution.
    pub loss: f64,
    /// ln `C_ε(Θ)`.
    pub log_covering: f64,
    /// ln(1/β).
    pub log_margin: f64,
}

impl Generalisation {
    /// B.
    pub fn deviation(&self) -> f64 {
        let n = self.sites as f64;
        let masks = 3.0 * n * 2_f64.ln() + n * (self.symbols as f64).ln() + self.log_covering
            - (self.masks * self.delta).ln();
        let samples = (8_f64.ln() + self.log_covering - self.delta.ln()) / (2.0 * self.samples);
        (masks / 2.0).exp() + samples.sqrt()
    }

    /// C.
    pub fn empirical(&self) -> f64 {
        let log = 3.0 * self.sites as f64 * (self.symbols as f64).ln()
            - (8.0 * self.delta * self.samples).ln();
        (log / 2.0).exp()
    }

    /// The same with the entropy of the conditionals subtracted from the loss.
    #[must_use]
    pub fn without_entropy(self, entropy: f64) -> Self {
        Self { loss: (self.loss - entropy).max(0.0), ..self }
    }

    /// The bound on the total variation; beyond 1 it says nothing.
    pub fn total_variation(&self) -> f64 {
        let inside = self.loss + self.deviation() * self.log_margin + self.epsilon;
        (0.5 * self.tensorisation * inside).sqrt() + self.empirical()
    }
}

/// Ising parameters in a box |θₐ| ≤ R: what it implies for the covering number and the margin.
///
/// |log `pθ(x_K`|·) − log `pθ′(x_K`|·)| ≤ 2 Σ|θₐ − θ′ₐ|, so cells of side ε/(4d) suffice:
/// `C_ε` ≤ ⌈8dR/ε⌉ᵈ; and every conditional probability is at least β = e^{−2dR} / |Ω|ᴺ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsingBox {
    /// The number of parameters d.
    pub dimension: usize,
    /// R.
    pub radius: f64,
}

impl IsingBox {
    /// ln `C_ε(Θ)`.
    pub fn log_covering(&self, epsilon: f64) -> f64 {
        let d = self.dimension as f64;
        d * (8.0 * d * self.radius / epsilon).ceil().max(1.0).ln()
    }

    /// ln(1/β).
    pub fn log_margin(&self, sites: usize) -> f64 {
        2.0 * self.dimension as f64 * self.radius + sites as f64 * 2_f64.ln()
    }
}

/// Parameters of any family in a box |θₐ| ≤ R. With rₐ the range of statistic a, |log `pθ(x_K`|·) − log `pθ′(x_K`|·)| ≤
/// Σ rₐ|θₐ − θ′ₐ|, so cells of side ε/(2 Σ r) suffice, and every conditional probability is at least e^{−R Σ r} / qᴺ. For
/// spins it is [`IsingBox`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyBox {
    dimension: usize,
    /// Σ rₐ.
    range: f64,
    radius: f64,
    log_states: f64,
}

impl FamilyBox {
    /// The box of a family.
    pub fn new(family: &Family, space: Space, radius: f64) -> Self {
        let range = |a: usize| {
            let column = family.column(&space, a);
            let (low, high) = column
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &t| (a.min(t), b.max(t)));
            high - low
        };
        Self {
            dimension: family.dimension(),
            range: (0..family.dimension()).map(range).sum(),
            radius,
            log_states: (space.size() as f64).ln(),
        }
    }

    /// ln `C_ε(Θ)`.
    pub fn log_covering(&self, epsilon: f64) -> f64 {
        let cells = (4.0 * self.range * self.radius / epsilon).ceil().max(1.0);
        self.dimension as f64 * cells.ln()
    }

    /// ln(1/β).
    pub fn log_margin(&self) -> f64 {
        self.range * self.radius + self.log_states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Generalisation {
        Generalisation {
            sites: 2,
            symbols: 2,
            samples: 1e6,
            masks: 1e9,
            delta: 0.1,
            epsilon: 0.01,
            tensorisation: 2.0,
            loss: 0.05,
            log_covering: 1000_f64.ln(),
            log_margin: 3.0,
        }
    }

    /// By hand: B = √(64·4·1000/1e8) + √(ln 80000 / 2e6) = 0.0505964 + 0.0023759,
    /// C = √(64 / 8e5) = 0.0089443, √(0.05 + 3·B + 0.01) + C.
    #[test]
    fn a_hand_computation_agrees() {
        let bound = example();
        assert!((bound.deviation() - 0.052_972_3).abs() < 1e-6, "{}", bound.deviation());
        assert!((bound.empirical() - 0.008_944_271_9).abs() < 1e-9);
        let expected = (0.06 + 3.0 * bound.deviation()).sqrt() + bound.empirical();
        assert!((bound.total_variation() - expected).abs() < 1e-12);
    }

    #[test]
    fn without_the_entropy_the_bound_vanishes_with_the_divergence() {
        let rich = Generalisation { samples: 1e30, masks: 1e40, epsilon: 1e-12, ..example() };
        assert!(rich.total_variation() > 0.2);
        assert!(rich.without_entropy(0.05).total_variation() < 1e-4);
        assert!(rich.without_entropy(0.06).loss.abs() < f64::EPSILON);
    }

    #[test]
    fn the_box_of_spins_is_the_ising_box() {
        use crate::graph::Shape;
        use crate::model::{Ising, Model};
        let model =
            Model::Ising(Ising::uniform(4, &Shape::Clique { size: None }, 0.1, 0.2).unwrap());
        let space = model.enumerate().unwrap().space();
        let general = FamilyBox::new(&model.family().unwrap(), space, 0.7);
        let ising = IsingBox { dimension: 10, radius: 0.7 };
        assert!((general.log_covering(0.01) - ising.log_covering(0.01)).abs() < 1e-12);
        assert!((general.log_margin() - ising.log_margin(4)).abs() < 1e-12);
    }

    #[test]
    fn more_data_never_hurts() {
        let bound = example().total_variation();
        assert!(Generalisation { samples: 2e6, ..example() }.total_variation() < bound);
        assert!(Generalisation { masks: 2e9, ..example() }.total_variation() < bound);
    }
}
