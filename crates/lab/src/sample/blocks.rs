//! Block Gibbs with any mask law on any Ising model: O(2ᵏ k) a step.

use padir_base::TokenId;
use padir_base::mask::{Mask, MaskLaw, Scene};
use padir_base::random::Stream;

use super::Kernel;
use crate::chain::ChainError;
use crate::distribution::draw_log;
use crate::model::Ising;

/// Blocks larger than this are not enumerated.
const LARGEST_BLOCK: usize = 24;

/// Block dynamics of a mask law, adaptive ones by rejection.
#[derive(Clone, Debug)]
pub struct AnyBlocks {
    model: Ising,
    law: MaskLaw,
}

impl AnyBlocks {
    /// The chain of a law on a model.
    ///
    /// # Errors
    /// If the law makes no sense here, or may hide more than 24 spins at once.
    pub fn new(model: &Ising, law: &MaskLaw) -> Result<Self, ChainError> {
        let sites = model.sites();
        if let MaskLaw::Exactly { k } = *law
            && !(1..=sites).contains(&k)
        {
            return Err(ChainError::Size { k, sites });
        }
        let tokens = vec![TokenId(0); sites];
        law.check(&Scene::of_tokens(&tokens))?;
        let too_wide = match law {
            MaskLaw::Exactly { k } => *k > LARGEST_BLOCK,
            MaskLaw::Blocks { blocks } => blocks.iter().any(|b| b.positions.len() > LARGEST_BLOCK),
            _ => sites > LARGEST_BLOCK,
        };
        if too_wide {
            return Err(ChainError::Unfit(
                "the law may hide more than 24 spins, whose 2^k settings are too many; use a clique model or smaller blocks",
            ));
        }
        Ok(Self { model: model.clone(), law: law.clone() })
    }

    /// Fills the hidden spins from their joint conditional.
    fn fill(&self, spins: &mut [u8], mask: &Mask, stream: &mut Stream) {
        let block: Vec<usize> = mask.positions().collect();
        for &i in &block {
            spins[i] = 0;
        }
        let mut energies = vec![0.0];
        for (a, &i) in block.iter().enumerate() {
            for x in 0..1_usize << a {
                let mut field = self.model.fields()[i];
                for &(j, coupling) in self.model.neighbours(i) {
                    let up = match block[..a].iter().position(|&l| l == j) {
                        Some(b) => x >> b & 1 == 1,
                        None => spins[j] == 1,
                    };
                    field += if up { coupling } else { -coupling };
                }
                energies.push(2.0_f64.mul_add(field, energies[x]));
            }
        }
        let drawn = draw_log(&energies, stream);
        for (a, &i) in block.iter().enumerate() {
            spins[i] = (drawn >> a & 1) as u8;
        }
    }

    fn tokens(spins: &[u8]) -> Vec<TokenId> {
        spins.iter().map(|&s| TokenId(u32::from(s))).collect()
    }

    /// p(K | x) of the law.
    fn probability(&self, spins: &[u8], mask: &Mask) -> f64 {
        let tokens = Self::tokens(spins);
        self.law
            .enumerate(&Scene::of_tokens(&tokens))
            .ok()
            .and_then(|mut sets| sets.find(|(set, _)| set == mask))
            .map_or(0.0, |(_, p)| p)
    }
}

impl Kernel for AnyBlocks {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn advance(&self, spins: &mut [u8], stream: &mut Stream, steps: u64) {
        let adaptive = self.law.is_adaptive();
        for _ in 0..steps {
            let tokens = Self::tokens(spins);
            // The law was checked when the chain was made.
            let Ok(mask) = self.law.sample(&Scene::of_tokens(&tokens), stream) else { return };
            loop {
                self.fill(spins, &mask, stream);
                if !adaptive || stream.chance(self.probability(spins, &mask)) {
                    break;
                }
            }
        }
    }
}
