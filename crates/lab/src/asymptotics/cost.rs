//! What an analysis of all block sizes will take, before it starts.

use padir_base::mask::MaskLaw;

use super::precise::Bits;
use crate::chain::{BlockOperator, ChainError};
use crate::distribution::Distribution;
use crate::model::Family;
use crate::spectrum::DENSE_STATES;

/// Time on one core and memory, to a factor of two or so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds.
    pub seconds: f64,
    /// Gigabytes.
    pub gigabytes: f64,
}

/// Additions of the matrix-free operator in a second.
const ADDITIONS: f64 = 8e8;

/// Steps of Lanczos, roughly, and the vectors it keeps.
const LANCZOS: f64 = 80.0;

/// Multiplications of a dense eigen-solve in a second.
const DENSE: f64 = 2e9;

/// Products of words of long numbers in a second.
const WORDS: f64 = 1e9;

impl Cost {
    /// The cost of [`by_block_size`](super::by_block_size).
    ///
    /// # Errors
    /// If a block size makes no sense.
    pub fn of(
        p: &Distribution,
        family: Option<&Family>,
        sizes: &[usize],
    ) -> Result<Self, ChainError> {
        let space = p.space();
        let states = space.size() as f64;
        let parameters = family.map_or(0.0, |family| family.dimension() as f64);
        let mut cost = Self { seconds: 0.0, gigabytes: 24e-9 * states };
        for &k in sizes {
            let law = MaskLaw::Exactly { k };
            let work = BlockOperator::work(space, &law)?;
            let spectrum = if space.size() <= DENSE_STATES {
                cost.gigabytes = cost.gigabytes.max(24e-9 * states * states);
                4.0 * states.powi(3) / DENSE
            } else {
                // Lanczos orthogonalises twice against all that it keeps.
                cost.gigabytes = cost.gigabytes.max(8e-9 * states * (LANCZOS + parameters));
                (LANCZOS * work + 2.0 * LANCZOS * LANCZOS * states) / ADDITIONS
            };
            let variance = match family {
                None => 0.0,
                Some(family) => 2.0 * hessian_seconds(p, family, &law, work)?,
            };
            cost.seconds += spectrum + variance;
        }
        Ok(cost)
    }
}

/// One Hessian: of long numbers where those are used, else by the operator.
fn hessian_seconds(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
    work: f64,
) -> Result<f64, ChainError> {
    if let Some(words) = Bits::cheap(p, family, law)? {
        return Ok(words / WORDS);
    }
    let d = family.dimension() as f64;
    let states = p.space().size() as f64;
    Ok(d * (work + d * states) / ADDITIONS)
}
