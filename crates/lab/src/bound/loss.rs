//! The population loss of a model, split into what can vanish and what cannot.
//!
//! The loss E −ln `p_θ(x_K` | x₋ₖ, K) is a cross-entropy: E KL of the true conditionals from those
//! of the model, plus the entropy of the true conditionals. The proof of conditional-to-joint
//! writes the KL alone as the loss. What it proves for the KL holds all the more for the loss,
//! but a bound by the loss does not vanish at the truth.

use crate::chain::Blocks;
use crate::distribution::Distribution;
use crate::entropy::phi;

/// A loss in its two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopulationLoss {
    /// E KL(p(· | x₋ₖ, K) ‖ `p_θ(·` | x₋ₖ, K)).
    pub divergence: f64,
    /// E H(p(· | x₋ₖ, K)): the loss of the truth itself.
    pub entropy: f64,
}

impl PopulationLoss {
    /// The loss of a model under the true distribution.
    pub fn of(truth: &Distribution, model: &Distribution, blocks: &Blocks) -> Self {
        let space = truth.space();
        let (mut divergence, mut entropy) = (0.0, 0.0);
        for entry in blocks.entries() {
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let weigh = |p: &Distribution| -> (Vec<f64>, f64) {
                    let mass = |f: &usize| p.log_prob(group + f).exp() * entry.weight.of(group + f);
                    let masses: Vec<f64> = fillings.iter().map(mass).collect();
                    let total = masses.iter().sum();
                    (masses, total)
                };
                let ((true_mass, held), (model_mass, total)) = (weigh(truth), weigh(model));
                for (a, b) in
                    true_mass.iter().map(|m| m / held).zip(model_mass.iter().map(|m| m / total))
                {
                    if held > 0.0 && a > 0.0 {
                        entropy -= held * a * a.ln();
                    }
                    if held > 0.0 && (a > 0.0 || b > 0.0) {
                        divergence +=
                            if b > 0.0 { held * b * phi(a / b - 1.0) } else { f64::INFINITY };
                    }
                }
            }
        }
        Self { divergence, entropy }
    }

    /// The loss as the estimators minimise it.
    pub fn cross_entropy(&self) -> f64 {
        self.divergence + self.entropy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};
    use padir_base::mask::MaskLaw;

    /// The printed loss of the truth is its conditional entropy, not zero: a slip of the paper's
    /// proof of conditional-to-joint, which equates the loss with the expected KL.
    #[test]
    fn the_loss_of_the_truth_is_its_entropy() {
        let shape = Shape::Chain { periodic: true };
        let of =
            |j: f64| Model::Ising(Ising::uniform(4, &shape, 0.1, j).unwrap()).enumerate().unwrap();
        let (truth, model) = (of(0.4), of(0.3));
        let blocks = Blocks::of(&MaskLaw::Exactly { k: 2 }, truth.space()).unwrap();
        let at_truth = PopulationLoss::of(&truth, &truth, &blocks);
        assert!(at_truth.divergence < 1e-30 && at_truth.entropy > 0.5);
        let off = PopulationLoss::of(&truth, &model, &blocks);
        assert!((off.entropy - at_truth.entropy).abs() < 1e-15 && off.divergence > 1e-4);
        // All sites hidden: the plain cross-entropy of the joint.
        let whole = Blocks::of(&MaskLaw::All, truth.space()).unwrap();
        let joint: f64 = (0..16).map(|x| -truth.log_prob(x).exp() * model.log_prob(x)).sum();
        let found = PopulationLoss::of(&truth, &model, &whole).cross_entropy();
        assert!((found - joint).abs() < 1e-14, "{found} {joint}");
    }
}
