//! Block dynamics as a matrix-free operator.
//!
//! All its faces come from one average, A v(x) = `Σ_K` `w_K(x)` Σ_{y~x} `w_K(y)` v(y) / Σ_{y~x} `w_K(y)` p(y):
//! Pf = A(p·f) for functions, μP = p·A(μ) for measures, √p·A(√p·g) for the symmetric form.
//! Uniform k-subsets share their sums (see `subsets`); other laws cost 2 qᴺ per block.

use padir_base::mask::MaskLaw;
use rayon::prelude::*;

use super::blocks::{BlockEntry, Blocks, ChainError};
use super::matrix::Matrix;
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
        if let Some(steps) = super::schedule::schedule_length(law) {
            return Err(ChainError::Scheduled(steps));
        }
        let context = padir_base::mask::MaskContext::of_length(space.sites());
        let sets = if law.is_adaptive() {
            2_f64.powi(space.sites() as i32)
        } else {
            law.enumerate(&context)?.support()
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

    /// Whether the blocks connect all possible states.
    pub fn is_ergodic(&self) -> bool {
        let mut parent: Vec<usize> = (0..self.size()).collect();
        self.for_each_group(|members| {
            let mut possible = members.iter().filter(|(x, w)| *w > 0.0 && self.p[*x] > 0.0);
            if let Some(&(first, _)) = possible.next() {
                for &(x, _) in possible {
                    let (a, b) = (root(&mut parent, first), root(&mut parent, x));
                    parent[a] = b;
                }
            }
        });
        let mut roots = (0..self.size()).filter(|&x| self.p[x] > 0.0);
        let Some(first) = roots.next() else { return false };
        let first = root(&mut parent, first);
        roots.all(|x| root(&mut parent, x) == first)
    }

    /// ⟨fᵢ, (1 − P) fⱼ⟩ₚ of vectors √p·f, summed as covariances inside of blocks: an error ε of
    /// a vector enters as ε². Two sums over every block.
    pub fn dirichlet_form(&self, vectors: &[Vec<f64>]) -> Matrix<f64> {
        let mut form = Matrix::zero(vectors.len());
        let mut deviations = vec![Vec::new(); vectors.len()];
        self.for_each_group(|members| {
            for (deviation, v) in deviations.iter_mut().zip(vectors) {
                self.deviations(members, v, deviation);
            }
            for (i, a) in deviations.iter().enumerate() {
                for (j, b) in deviations[..=i].iter().enumerate() {
                    let products = members.iter().zip(a.iter().zip(b));
                    form.add(i, j, products.map(|((_, w), (a, b))| w * a * b).sum());
                }
            }
        });
        for i in 0..vectors.len() {
            for j in 0..i {
                let value = form.at(i, j);
                form.set(j, i, value);
            }
        }
        form
    }

    /// (1 − D^½ P D^−½) v from differences inside of blocks.
    pub fn laplacian(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        let mut deviation = Vec::new();
        self.for_each_group(|members| {
            self.deviations(members, v, &mut deviation);
            members.iter().zip(&deviation).for_each(|((x, w), d)| out[*x] += w * d);
        });
        out
    }

    /// v − √p · (mean of v/√p) inside of a group.
    fn deviations(&self, members: &[(usize, f64)], v: &[f64], out: &mut Vec<f64>) {
        let mass: f64 = members.iter().map(|&(x, w)| w * self.p[x]).sum();
        let sum: f64 = members.iter().map(|&(x, w)| w * self.root[x] * v[x]).sum();
        let mean = if mass > 0.0 { sum / mass } else { 0.0 };
        out.clear();
        out.extend(members.iter().map(|&(x, _)| v[x] - self.root[x] * mean));
    }

    /// Calls `visit` with the states of every group and their weights.
    fn for_each_group(&self, mut visit: impl FnMut(&[(usize, f64)])) {
        let mut members = Vec::new();
        let mut block = |bits: u64, weight: &dyn Fn(usize) -> f64| {
            let fillings = self.space.fillings(bits);
            for group in self.space.groups(bits) {
                members.clear();
                members.extend(fillings.iter().map(|f| (group + f, weight(group + f))));
                visit(&members);
            }
        };
        match &self.inner {
            Inner::Subsets(subsets) => {
                let weight = 1.0 / subsets.count();
                subsets.sets().for_each(|bits| block(bits, &|_| weight));
            }
            Inner::General(blocks) => {
                blocks.entries().iter().for_each(|e| block(e.block, &|x| e.weight.of(x)));
            }
        }
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

/// The representative of x among connected states.
fn root(parent: &mut [usize], mut x: usize) -> usize {
    while parent[x] != x {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    x
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x * y).collect()
}
