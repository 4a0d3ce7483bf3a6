//! Block dynamics as a matrix-free operator.
//!
//! All its faces come from one average, A v(x) = `Σ_K` `w_K(x)` Σ_{y~x} `w_K(y)` v(y) / Σ_{y~x} `w_K(y)` p(y):
//! Pf = A(p·f) for functions, μP = p·A(μ) for measures, √p·A(√p·g) for the symmetric form.
//! Uniform k-subsets share their sums (see `subsets`); other laws cost 2 qᴺ per block.

use padir_base::mask::MaskLaw;
use rayon::prelude::*;

use super::blocks::{BlockEntry, Blocks, ChainError};
use super::subsets::Subsets;
use crate::distribution::Distribution;
use crate::space::Space;

/// How many pieces the blocks of a general law are cut into; fixed, for the same sums on any
/// number of threads.
const PIECES: usize = 16;

/// Block dynamics of a law on a distribution.
#[derive(Clone, Debug)]
pub struct BlockOperator {
    space: Space,
    p: Vec<f64>,
    root: Vec<f64>,
    inner: Inner,
}

#[derive(Clone, Debug)]
enum Inner {
    Subsets(Subsets),
    General(Blocks),
}

impl BlockOperator {
    /// Prepares an operator.
    ///
    /// # Errors
    /// If the law makes no sense here, memory does not suffice, or the probabilities span more
    /// than a float can hold.
    pub fn new(p: &Distribution, law: &MaskLaw) -> Result<Self, ChainError> {
        let space = p.space();
        let logs = p.log_probs();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = logs.iter().copied().filter(|l| l.is_finite()).fold(f64::INFINITY, f64::min);
        if largest - smallest > 700.0 {
            return Err(ChainError::Span { span: largest - smallest });
        }
        let probs = p.probs();
        let inner = match *law {
            MaskLaw::Exactly { k } => {
                if !(1..=space.sites()).contains(&k) {
                    return Err(ChainError::Size { k, sites: space.sites() });
                }
                Inner::Subsets(Subsets::new(space, k, &probs)?)
            }
            _ => Inner::General(Blocks::of(law, space)?),
        };
        let root = probs.iter().map(|p| p.sqrt()).collect();
        Ok(Self { space, p: probs, root, inner })
    }

    /// The number of additions of one application of a law.
    ///
    /// # Errors
    /// If the law makes no sense here.
    pub fn work(space: Space, law: &MaskLaw) -> Result<f64, ChainError> {
        if let MaskLaw::Exactly { k } = *law {
            return Ok(Subsets::work(space, k));
        }
        let scene = padir_base::mask::Scene::of_length(space.sites());
        let sets = if law.is_adaptive() {
            2_f64.powi(space.sites() as i32)
        } else {
            law.enumerate(&scene)?.support()
        };
        Ok(sets * 4.0 * space.size() as f64)
    }

    /// The number of states.
    pub fn size(&self) -> usize {
        self.p.len()
    }

    /// p.
    pub fn stationary(&self) -> &[f64] {
        &self.p
    }

    /// √p.
    pub fn root(&self) -> &[f64] {
        &self.root
    }

    /// Pf: the expected value of f after one step.
    pub fn pull(&self, f: &[f64]) -> Vec<f64> {
        self.average(&product(&self.p, f))
    }

    /// μP: the law after one step.
    pub fn push(&self, measure: &[f64]) -> Vec<f64> {
        product(&self.p, &self.average(measure))
    }

    /// D^½ P D^−½ g.
    pub fn symmetric(&self, g: &[f64]) -> Vec<f64> {
        product(&self.root, &self.average(&product(&self.root, g)))
    }

    /// E(f, g) = ⟨f, (1 − P) g⟩ₚ.
    pub fn dirichlet(&self, f: &[f64], g: &[f64]) -> f64 {
        let after = self.pull(g);
        (0..self.size()).map(|x| self.p[x] * f[x] * (g[x] - after[x])).sum()
    }

    fn average(&self, v: &[f64]) -> Vec<f64> {
        match &self.inner {
            Inner::Subsets(subsets) => {
                let mut out = vec![0.0; v.len()];
                subsets.average(v, &mut out);
                out
            }
            Inner::General(blocks) => self.average_blocks(blocks.entries(), v),
        }
    }

    fn average_blocks(&self, entries: &[BlockEntry], v: &[f64]) -> Vec<f64> {
        let piece = entries.len().div_ceil(PIECES).max(1);
        let parts: Vec<Vec<f64>> = entries
            .par_chunks(piece)
            .map(|entries| {
                let mut out = vec![0.0; v.len()];
                for entry in entries {
                    self.add_block(entry, v, &mut out);
                }
                out
            })
            .collect();
        let mut sum = vec![0.0; v.len()];
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(total, value)| *total += value);
        }
        sum
    }

    fn add_block(&self, entry: &BlockEntry, v: &[f64], out: &mut [f64]) {
        let mut value = vec![0.0; v.len()];
        let mut mass = vec![0.0; v.len()];
        for (x, (&amount, &p)) in v.iter().zip(&self.p).enumerate() {
            let group = self.space.outside(x, entry.block);
            let weight = entry.weight.of(x);
            value[group] += weight * amount;
            mass[group] += weight * p;
        }
        for (x, sum) in out.iter_mut().enumerate() {
            let group = self.space.outside(x, entry.block);
            if mass[group] > 0.0 {
                *sum += entry.weight.of(x) * value[group] / mass[group];
            }
        }
    }
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x * y).collect()
}
