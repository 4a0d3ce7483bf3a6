//! Conditioning on the mask: what a law that looks at x says about it.
//!
//! If p(K | x) depends on x, then seeing which set K is hidden says something about what is hidden:
//! `p(x_K` | x₋ₖ, K) ∝ p(x) p(K | x) is not `p(x_K` | x₋ₖ). Averaged over the masks that may be drawn,
//! `Σ_K′` p(K′ | x₋ₖ) `p(x_K` | x₋ₖ, K′), it is. `O(Σ_K` qᴺ) for the effects, times the number of masks for the averages.

use crate::chain::{Blocks, Weight};
use crate::distribution::Distribution;

/// One conditional with and without the mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// K as bits.
    pub block: u64,
    /// A state x: `x_K` is asked for, x₋ₖ is given.
    pub state: usize,
    /// `p(x_K` | x₋ₖ, K).
    pub given: f64,
    /// `p(x_K` | x₋ₖ).
    pub plain: f64,
}

impl Effect {
    /// The difference.
    pub fn size(&self) -> f64 {
        (self.given - self.plain).abs()
    }
}

/// Every conditional of a law whose mask can be drawn, in the order of blocks and states.
pub fn effects(p: &Distribution, blocks: &Blocks) -> Vec<Effect> {
    let space = p.space();
    let mut found = Vec::new();
    for entry in blocks.entries() {
        let fillings = space.fillings(entry.block);
        for group in space.groups(entry.block) {
            let mass = |f: &usize| p.log_prob(group + f).exp();
            let joint = |f: &usize| mass(f) * entry.weight.of(group + f);
            let total: f64 = fillings.iter().map(mass).sum();
            let held: f64 = fillings.iter().map(joint).sum();
            if total > 0.0 && held > 0.0 {
                found.extend(fillings.iter().map(|f| Effect {
                    block: entry.block,
                    state: group + f,
                    given: joint(f) / held,
                    plain: mass(f) / total,
                }));
            }
        }
    }
    found
}

/// The largest |`p(x_K` | x₋ₖ) − `Σ_K′` p(K′ | x₋ₖ) `p(x_K` | x₋ₖ, K′)| over all x and all K of the law.
pub fn marginalisation_gap(p: &Distribution, blocks: &Blocks) -> f64 {
    let space = p.space();
    let mut largest = 0.0_f64;
    for block in blocks.entries().iter().map(|entry| entry.block) {
        let fillings = space.fillings(block);
        for group in space.groups(block) {
            let mass = |f: &usize| p.log_prob(group + f).exp();
            let total: f64 = fillings.iter().map(mass).sum();
            if total <= 0.0 {
                continue;
            }
            let mut mixed = vec![0.0; fillings.len()];
            for entry in blocks.entries() {
                let joint = |f: &usize| mass(f) * entry.weight.of(group + f);
                let held: f64 = fillings.iter().map(joint).sum();
                if held > 0.0 {
                    // p(K′ | x₋ₖ) · p(x_K | x₋ₖ, K′).
                    let terms = fillings.iter().map(|f| held / total * (joint(f) / held));
                    mixed.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
            }
            for (f, mixed) in fillings.iter().zip(mixed) {
                largest = largest.max((mixed - mass(f) / total).abs());
            }
        }
    }
    largest
}

/// Whether any p(K | x) differs between states that K does not tell apart.
pub fn looks_inside(blocks: &Blocks) -> bool {
    let space = blocks.space();
    blocks.entries().iter().any(|entry| match &entry.weight {
        Weight::Same(_) => false,
        Weight::PerState(weights) => space.groups(entry.block).into_iter().any(|group| {
            let fillings = space.fillings(entry.block);
            fillings.iter().any(|f| weights[group + f].to_bits() != weights[group].to_bits())
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Table};
    use crate::space::Space;
    use padir_base::TokenId;
    use padir_base::mask::{Block, Case, MaskLaw};

    /// The paper's example with K hidden: 9/17 for K = {1}, 6/7 for K = {0}, and 3/5 without K.
    #[test]
    fn the_papers_example_is_nine_seventeenths() {
        // x₀ counts fastest: 00, 10, 01, 11.
        let probabilities = vec![0.5, 1.0 / 6.0, 1.0 / 3.0, 0.0];
        let table = Table::new(Space::new(2, 2).unwrap(), probabilities).unwrap();
        let p = Model::Table(table).enumerate().unwrap();
        let case = |x: [u32; 2], zero: f64, one: f64| Case {
            when: x.map(TokenId).to_vec(),
            then: MaskLaw::Blocks {
                blocks: vec![
                    Block { positions: vec![0], weight: zero },
                    Block { positions: vec![1], weight: one },
                ],
            },
        };
        let cases = vec![case([0, 0], 1.0, 1.0), case([0, 1], 1.0, 2.0), case([1, 0], 1.0, 3.0)];
        let law = MaskLaw::Adaptive { cases, otherwise: Box::new(MaskLaw::Exactly { k: 1 }) };
        let blocks = Blocks::of(&law, p.space()).unwrap();
        let found = effects(&p, &blocks);
        let at = |block: u64, state: usize| {
            *found.iter().find(|e| e.block == block && e.state == state).unwrap()
        };
        let hidden_one = at(0b10, 0);
        assert!((hidden_one.given - 9.0 / 17.0).abs() < 1e-15, "{hidden_one:?}");
        assert!((hidden_one.plain - 3.0 / 5.0).abs() < 1e-15);
        assert!((at(0b01, 0).given - 6.0 / 7.0).abs() < 1e-15);
        assert!(marginalisation_gap(&p, &blocks) < 1e-15);
        assert!(looks_inside(&blocks));
        let plain = Blocks::of(&MaskLaw::Exactly { k: 1 }, p.space()).unwrap();
        assert!(effects(&p, &plain).iter().all(|e| e.size() < 1e-15) && !looks_inside(&plain));
    }
}
