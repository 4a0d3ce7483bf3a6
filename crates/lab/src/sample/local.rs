//! Models that can weigh the fillings of a block, without looking at all states.

use padir_base::random::Stream;

use crate::distribution::{Distribution, draw_log};
use crate::model::{Ising, Model, Potts};

/// A model seen from a block.
pub trait Local: Sync {
    /// N.
    fn sites(&self) -> usize;

    /// q.
    fn symbols(&self) -> usize;

    /// ln of the weight of every filling of the block given the other sites, up to a constant; fillings
    /// count in base q, the first site fastest. What the state says inside of the block does not matter.
    fn log_weights(&self, state: &[u8], block: &[usize], into: &mut Vec<f64>);

    /// Draws a block from its conditional; where that is impossible the block stays.
    fn fill(&self, state: &mut [u8], block: &[usize], scratch: &mut Vec<f64>, stream: &mut Stream) {
        self.log_weights(state, block, scratch);
        if scratch.iter().all(|log| *log == f64::NEG_INFINITY) {
            return;
        }
        let mut drawn = draw_log(scratch, stream);
        for &i in block {
            state[i] = (drawn % self.symbols()) as u8;
            drawn /= self.symbols();
        }
    }
}

impl Local for Ising {
    fn sites(&self) -> usize {
        Self::sites(self)
    }

    fn symbols(&self) -> usize {
        2
    }

    fn log_weights(&self, state: &[u8], block: &[usize], into: &mut Vec<f64>) {
        into.clear();
        into.push(0.0);
        for (a, &i) in block.iter().enumerate() {
            for x in 0..1_usize << a {
                let mut field = self.fields()[i];
                for &(j, coupling) in self.neighbours(i) {
                    let up = match block.iter().position(|&l| l == j) {
                        // Sites that are filled later count as −1 until then.
                        Some(b) => b < a && x >> b & 1 == 1,
                        None => state[j] == 1,
                    };
                    field += if up { coupling } else { -coupling };
                }
                into.push(2.0_f64.mul_add(field, into[x]));
            }
        }
    }
}

/// A Potts model with the neighbours of every site.
#[derive(Clone, Debug)]
pub struct LocalPotts {
    model: Potts,
    neighbours: Vec<Vec<(usize, f64)>>,
}

impl LocalPotts {
    /// Lists the neighbours.
    pub fn new(model: &Potts) -> Self {
        let mut neighbours = vec![Vec::new(); model.sites()];
        for (edge, &j) in model.edges().iter().zip(model.couplings()) {
            neighbours[edge.0].push((edge.1, j));
            neighbours[edge.1].push((edge.0, j));
        }
        Self { model: model.clone(), neighbours }
    }
}

impl Local for LocalPotts {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn symbols(&self) -> usize {
        self.model.symbols()
    }

    fn log_weights(&self, state: &[u8], block: &[usize], into: &mut Vec<f64>) {
        let q = self.model.symbols();
        into.clear();
        into.push(0.0);
        for (a, &i) in block.iter().enumerate() {
            let before = into.len();
            for s in 0..q {
                for x in 0..before {
                    let mut weight = into[x] + self.model.fields()[i][s];
                    for &(j, coupling) in &self.neighbours[i] {
                        let agrees = match block.iter().position(|&l| l == j) {
                            // An edge inside of the block counts when its second end is filled.
                            Some(b) => b < a && x / q.pow(b as u32) % q == s,
                            None => usize::from(state[j]) == s,
                        };
                        if agrees {
                            weight += coupling;
                        }
                    }
                    into.push(weight);
                }
            }
            into.drain(..before);
        }
    }
}

impl Local for Distribution {
    fn sites(&self) -> usize {
        self.space().sites()
    }

    fn symbols(&self) -> usize {
        self.space().symbols()
    }

    fn log_weights(&self, state: &[u8], block: &[usize], into: &mut Vec<f64>) {
        let space = self.space();
        let hidden = block.iter().fold(0_u64, |bits, i| bits | 1 << i);
        let base = space.outside(space.state_of(state.iter().map(|&s| usize::from(s))), hidden);
        // In the order of the block, whatever that is.
        let mut offsets = vec![0];
        for &i in block {
            let stride = space.stride(i);
            offsets = (0..space.symbols())
                .flat_map(|s| offsets.iter().map(move |offset| offset + s * stride))
                .collect();
        }
        into.clear();
        into.extend(offsets.iter().map(|offset| self.log_prob(base + offset)));
    }
}

/// Any model as what it is locally; a table is enumerated.
///
/// # Errors
/// If a table is too large.
pub fn local(model: &Model) -> Result<Box<dyn Local + Send>, crate::space::SpaceError> {
    Ok(match model {
        Model::Ising(model) => Box::new(model.clone()),
        Model::Potts(model) => Box::new(LocalPotts::new(model)),
        Model::Table(_) => Box::new(model.enumerate()?),
    })
}

impl<L: Local + ?Sized> Local for Box<L>
where
    Box<L>: Sync,
{
    fn sites(&self) -> usize {
        (**self).sites()
    }

    fn symbols(&self) -> usize {
        (**self).symbols()
    }

    fn log_weights(&self, state: &[u8], block: &[usize], into: &mut Vec<f64>) {
        (**self).log_weights(state, block, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::log_sum_exp;
    use crate::graph::Shape;

    /// Every model weighs every block as its enumeration does, in any order of the block.
    #[test]
    fn local_weights_are_the_enumerated_ones() {
        let edges = Shape::Clique { size: None }.edges(4).unwrap();
        let fields =
            vec![vec![0.1, -0.4, 0.3], vec![0.0, 0.2, 0.9], vec![-1.0, 0.5, 0.0], vec![0.3; 3]];
        let couplings = vec![0.4, -0.7, 0.2, 1.1, 0.0, -0.3];
        let potts = Model::Potts(Potts::new(3, fields, edges, couplings).unwrap());
        let shape = Shape::Random { density: 0.8, seed: 4 };
        let ising = Model::Ising(Ising::uniform(4, &shape, 0.3, 0.8).unwrap());
        for model in [potts, ising] {
            let p = model.enumerate().unwrap();
            let local = local(&model).unwrap();
            let q = local.symbols();
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            for block in [vec![0], vec![3], vec![2, 0], vec![1, 3, 0], vec![3, 2, 1, 0]] {
                for x in 0..p.space().size() {
                    let state: Vec<u8> = p.space().symbols_of(x).map(|s| s as u8).collect();
                    local.log_weights(&state, &block, &mut found);
                    p.log_weights(&state, &block, &mut wanted);
                    assert_eq!(found.len(), q.pow(block.len() as u32));
                    let (a, b) = (log_sum_exp(&found), log_sum_exp(&wanted));
                    for (f, w) in found.iter().zip(&wanted) {
                        assert!((f - a - w + b).abs() < 1e-13, "block {block:?}, state {x}");
                    }
                }
            }
        }
    }
}
