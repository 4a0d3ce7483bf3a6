//! Block Gibbs with any mask law on any model: O(qᵏ k) a step.

use padir_base::TokenId;
use padir_base::mask::{Mask, MaskContext, MaskLaw};
use padir_base::random::Stream;

use super::{Kernel, Local};
use crate::chain::{ChainError, schedule};

/// Blocks with more fillings than this are not enumerated.
const MOST_FILLINGS: f64 = (1_u64 << 24) as f64;

/// Block dynamics of a mask law, adaptive ones by rejection. A step of a law with a schedule is the
/// whole schedule.
#[derive(Clone, Debug)]
pub struct AnyBlocks<M> {
    model: M,
    /// The laws of a step, one after the other.
    laws: Vec<MaskLaw>,
}

impl<M: Local> AnyBlocks<M> {
    /// The chain of a law on a model.
    ///
    /// # Errors
    /// If the law makes no sense here, or may hide more than 2²⁴ fillings.
    pub fn new(model: M, law: &MaskLaw) -> Result<Self, ChainError> {
        let sites = model.sites();
        if let MaskLaw::Exactly { k } = *law
            && !(1..=sites).contains(&k)
        {
            return Err(ChainError::Size { k, sites });
        }
        let laws = schedule(law, sites)?;
        let tokens = vec![TokenId(0); sites];
        for law in &laws {
            law.check(&MaskContext::of_tokens(&tokens))?;
            let widest = match law {
                MaskLaw::Exactly { k } => *k,
                MaskLaw::Blocks { blocks } => {
                    blocks.iter().map(|b| b.positions.len()).max().unwrap_or(0)
                }
                _ => sites,
            };
            if (model.symbols() as f64).powf(widest as f64) > MOST_FILLINGS {
                return Err(ChainError::Unfit(
                    "the law may hide blocks of more than 2^24 fillings; use a clique model or smaller blocks",
                ));
            }
        }
        Ok(Self { model, laws })
    }
}

fn tokens(state: &[u8]) -> Vec<TokenId> {
    state.iter().map(|&s| TokenId(u32::from(s))).collect()
}

/// p(K | x) of a law.
fn probability(law: &MaskLaw, state: &[u8], mask: &Mask) -> f64 {
    let tokens = tokens(state);
    law.enumerate(&MaskContext::of_tokens(&tokens))
        .ok()
        .and_then(|mut sets| sets.find(|(set, _)| set == mask))
        .map_or(0.0, |(_, p)| p)
}

impl<M: Local> Kernel for AnyBlocks<M> {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn symbols(&self) -> usize {
        self.model.symbols()
    }

    fn advance(&self, state: &mut [u8], stream: &mut Stream, steps: u64) {
        let mut scratch = Vec::new();
        for _ in 0..steps {
            for law in &self.laws {
                let adaptive = law.is_adaptive();
                let seen = tokens(state);
                // The law was checked when the chain was made.
                let Ok(mask) = law.sample(&MaskContext::of_tokens(&seen), stream) else { return };
                let block: Vec<usize> = mask.positions().collect();
                loop {
                    self.model.fill(state, &block, &mut scratch, stream);
                    if !adaptive || stream.chance(probability(law, state, &mask)) {
                        break;
                    }
                }
            }
        }
    }
}
