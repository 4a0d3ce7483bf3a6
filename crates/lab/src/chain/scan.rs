//! Scans: Gibbs updates of blocks in a fixed order.
//!
//! A sweep updates every site once, P = P₁P₂⋯Pₘ with Pᵢ the update of block i. Each Pᵢ is a
//! projection and keeps p, so P keeps p, but it is not reversible. A coloured scan updates all sites
//! of a class at once; they are independent given the others, so this is what independent
//! parallel updates of the class do. An update of a law costs O(S).

use padir_base::mask::MaskLaw;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::blocks::{Blocks, ChainError, check_memory};
use super::dense::{for_each_group, memory_needed};
use super::matrix::{Matrix, Number};
use super::schedule::block;
use crate::distribution::Distribution;
use crate::graph::colouring;
use crate::model::Model;

/// In which order blocks are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// A random block at every step: the block dynamics of a mask law.
    #[default]
    Random,
    /// Blocks one after the other.
    Systematic,
    /// Classes of sites that are independent given the others, one class after the other.
    Colour,
}

impl Scan {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Systematic => "systematic",
            Self::Colour => "colour",
        }
    }

    /// The blocks of a sweep: those of a listed law in its order, k sites after each other, or the
    /// classes of a colouring. None for a random scan.
    ///
    /// # Errors
    /// If the law has no order, or its blocks do not fit the model.
    pub fn sweep(
        self,
        model: &Model,
        law: &MaskLaw,
    ) -> Result<Option<Vec<Vec<usize>>>, ChainError> {
        let sites = model.sites();
        match (self, law) {
            (Self::Random, _) => Ok(None),
            (Self::Systematic, MaskLaw::Exactly { k }) if (1..=sites).contains(k) => {
                let sites: Vec<usize> = (0..sites).collect();
                Ok(Some(sites.chunks(*k).map(<[usize]>::to_vec).collect()))
            }
            (Self::Systematic, MaskLaw::Exactly { k }) => Err(ChainError::Size { k: *k, sites }),
            (Self::Systematic, MaskLaw::Blocks { blocks }) => {
                law.check(&padir_base::mask::MaskContext::of_length(sites))?;
                Ok(Some(blocks.iter().map(|block| block.positions.clone()).collect()))
            }
            (Self::Systematic, _) => Err(ChainError::Unfit(
                "a systematic scan needs blocks in an order: a size k, or a law of listed blocks",
            )),
            (Self::Colour, MaskLaw::Exactly { k: 1 }) => {
                Ok(Some(colouring(sites, &model.interactions())))
            }
            (Self::Colour, _) => Err(ChainError::Unfit(
                "a coloured scan updates single sites, all of a class at once: k = 1",
            )),
        }
    }
}

/// The update of one block, ready to be applied to measures.
#[derive(Clone, Debug)]
pub(crate) struct BlockUpdate<T> {
    /// The states of a group with their law given the group.
    groups: Vec<(Vec<usize>, Vec<T>)>,
}

impl<T: Number> BlockUpdate<T> {
    pub(crate) fn new(p: &Distribution, positions: &[usize]) -> Result<Self, ChainError> {
        let blocks = Blocks::of(&block(positions.to_vec()), p.space())?;
        let mut groups = Vec::new();
        for_each_group(p, &blocks, |_, states, logs, total| {
            // States whose surroundings are impossible stay where they are.
            if total > f64::NEG_INFINITY {
                let law = logs.iter().map(|log| T::exp(log - total)).collect();
                groups.push((states.to_vec(), law));
            }
        });
        Ok(Self { groups })
    }

    /// μP.
    pub(crate) fn push(&self, measure: &mut [T]) {
        for (states, law) in &self.groups {
            let total = states.iter().fold(T::default(), |sum, &x| sum + measure[x]);
            for (&x, &probability) in states.iter().zip(law) {
                measure[x] = total * probability;
            }
        }
    }
}

/// The transition matrix of a sweep.
///
/// # Errors
/// If a block makes no sense or the matrix does not fit into memory.
pub fn sweep_matrix<T: Number>(
    p: &Distribution,
    sweep: &[Vec<usize>],
) -> Result<Matrix<T>, ChainError> {
    let space = p.space();
    check_memory("a dense transition matrix", space.size(), memory_needed(space))?;
    let updates: Vec<BlockUpdate<T>> =
        sweep.iter().map(|block| BlockUpdate::new(p, block)).collect::<Result<_, _>>()?;
    let rows: Vec<Vec<T>> = (0..space.size())
        .into_par_iter()
        .map(|x| {
            let mut row = vec![T::default(); space.size()];
            row[x] = T::of(1.0);
            for update in &updates {
                update.push(&mut row);
            }
            row
        })
        .collect();
    let mut matrix = Matrix::zero(space.size());
    matrix.rows_mut().zip(rows).for_each(|(into, row)| into.copy_from_slice(&row));
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::block_matrix;
    use crate::graph::Shape;
    use crate::model::Ising;

    fn ring(n: usize) -> Model {
        Model::Ising(Ising::uniform(n, &Shape::Chain { periodic: true }, 0.3, 0.6).unwrap())
    }

    /// The product of the blocks' own matrices, whose stationary law is p.
    #[test]
    fn a_sweep_is_the_product_of_its_updates() {
        let model = ring(4);
        let p = model.enumerate().unwrap();
        for (scan, k, blocks) in
            [(Scan::Systematic, 1, 4), (Scan::Systematic, 3, 2), (Scan::Colour, 1, 2)]
        {
            let sweep = scan.sweep(&model, &MaskLaw::Exactly { k }).unwrap().unwrap();
            assert_eq!(sweep.len(), blocks, "{}", scan.name());
            let found = sweep_matrix::<f64>(&p, &sweep).unwrap();
            for x in 0..16 {
                let mut row = vec![0.0; 16];
                row[x] = 1.0;
                for positions in &sweep {
                    let blocks = Blocks::of(&block(positions.clone()), p.space()).unwrap();
                    row = block_matrix::<f64>(&p, &blocks).unwrap().push(&row);
                }
                for (a, b) in found.row(x).iter().zip(&row) {
                    assert!((a - b).abs() < 1e-15, "{} from {x}", scan.name());
                }
            }
            let after = found.push(&p.probs());
            assert!(after.iter().zip(p.probs()).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn scans_need_an_order() {
        let model = ring(4);
        let adaptive = MaskLaw::Repeats { phrase: 1 };
        assert!(Scan::Systematic.sweep(&model, &adaptive).is_err());
        assert!(Scan::Colour.sweep(&model, &MaskLaw::Exactly { k: 2 }).is_err());
        assert!(Scan::Systematic.sweep(&model, &MaskLaw::Exactly { k: 5 }).is_err());
        assert_eq!(Scan::Random.sweep(&model, &adaptive), Ok(None));
    }
}
