//! Entropy over energy as a function of ln w, with gradient and curvature.
//!
//! Only possible states take part. Everything is formed from differences inside of the groups
//! that a block resamples, so a quotient of two numbers near 0 keeps its digits: an error ε of
//! w enters both with its square. One evaluation costs `Σ_K` qᴺ.
//!
//! In the coordinates z = √r · δ ln w the Hessian of ln(F/G) is
//!
//! ```text
//! (1 + ln w)/F − √r√rᵀ/F − E″/G − a aᵀ + b bᵀ,    a = √r ln w/F,  b = √r local/G,
//! ```
//!
//! where local is the gradient of the energy G per mass of r.

use super::Inequality;
use crate::chain::Blocks;
use crate::distribution::{Distribution, log_sum_exp};
use crate::entropy::phi;

/// States rarer than this are left out: their products would underflow.
const RAREST: f64 = -690.0;

/// A density is not followed below this.
const SMALLEST_LOG: f64 = -600.0;

/// The quotient of an inequality for a distribution and its blocks.
pub(super) struct Quotient {
    inequality: Inequality,
    states: Vec<usize>,
    q: Vec<f64>,
    root: Vec<f64>,
    /// Where each group ends in `members`.
    ends: Vec<usize>,
    /// The states of every group, with p(K | x).
    members: Vec<(usize, f64)>,
}

/// A density and what the quotient is there.
pub(super) struct Point {
    /// ln w, of mean E w = 1.
    pub(super) log: Vec<f64>,
    /// w − 1.
    excess: Vec<f64>,
    /// F.
    pub(super) entropy: f64,
    /// G.
    pub(super) energy: f64,
    /// The gradient of G by ln w, per mass of r.
    local: Vec<f64>,
    /// The diagonal part of the curvature of G.
    diagonal: Vec<f64>,
    /// √r.
    root: Vec<f64>,
}

impl Point {
    pub(super) fn ratio(&self) -> f64 {
        self.entropy / self.energy
    }

    /// Whether the quotient is a number here.
    pub(super) fn is_sound(&self) -> bool {
        self.entropy > 1e-28 && self.energy > 0.0 && self.ratio().is_finite()
    }

    /// The gradient of ln(F/G) in the coordinates z.
    pub(super) fn slope(&self) -> Vec<f64> {
        let slope = |x: usize| self.log[x] / self.entropy - self.local[x] / self.energy;
        (0..self.log.len()).map(|x| self.root[x] * slope(x)).collect()
    }

    /// ln w after a step z.
    pub(super) fn moved(&self, z: &[f64], length: f64) -> Vec<f64> {
        let step = |x: usize| length * z[x] / self.root[x];
        (0..z.len()).map(|x| self.log[x] + step(x)).collect()
    }

    /// The largest change of ln w in a step z.
    pub(super) fn reach(&self, z: &[f64]) -> f64 {
        z.iter().zip(&self.root).fold(0.0, |m: f64, (z, root)| m.max((z / root).abs()))
    }
}

impl Quotient {
    pub(super) fn new(inequality: Inequality, p: &Distribution, blocks: &Blocks) -> Self {
        let space = p.space();
        let states: Vec<usize> = (0..space.size()).filter(|&x| p.log_prob(x) > RAREST).collect();
        let mut place = vec![usize::MAX; space.size()];
        for (i, &x) in states.iter().enumerate() {
            place[x] = i;
        }
        let (mut ends, mut members) = (Vec::new(), Vec::new());
        for entry in blocks.entries() {
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let inside = fillings.iter().map(|f| group + f);
                let inside = inside.filter(|&x| place[x] != usize::MAX && entry.weight.of(x) > 0.0);
                members.extend(inside.map(|x| (place[x], entry.weight.of(x))));
                ends.push(members.len());
            }
        }
        let q: Vec<f64> = states.iter().map(|&x| p.log_prob(x).exp()).collect();
        let root = q.iter().map(|q| q.sqrt()).collect();
        Self { inequality, states, q, root, ends, members }
    }

    /// The possible states.
    pub(super) fn states(&self) -> &[usize] {
        &self.states
    }

    /// ln r of a density, over all states.
    pub(super) fn law_of(&self, p: &Distribution, log: &[f64]) -> Vec<f64> {
        let mut law = vec![f64::NEG_INFINITY; p.space().size()];
        for (&x, l) in self.states.iter().zip(log) {
            law[x] = p.log_prob(x) + l;
        }
        law
    }

    /// ln w of a law over all states.
    pub(super) fn density_of(&self, p: &Distribution, log_r: &[f64]) -> Vec<f64> {
        self.states.iter().map(|&x| log_r[x] - p.log_prob(x)).collect()
    }

    fn groups(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    /// Normalises ln w and evaluates the quotient.
    pub(super) fn at(&self, mut log: Vec<f64>) -> Point {
        let weighted: Vec<f64> = log.iter().zip(&self.q).map(|(l, q)| l + q.ln()).collect();
        let total = log_sum_exp(&weighted);
        for l in &mut log {
            *l = (*l - total).max(SMALLEST_LOG);
        }
        // Once more to first order, so that E w = 1 to the last bit near w = 1.
        let mean: f64 = log.iter().zip(&self.q).map(|(l, q)| q * l.exp_m1()).sum();
        for l in &mut log {
            *l -= mean.ln_1p();
        }
        let excess: Vec<f64> = log.iter().map(|l| l.exp_m1()).collect();
        let size = log.len();
        let mut point = Point {
            entropy: self.q.iter().zip(&excess).map(|(q, &u)| q * phi(u)).sum(),
            energy: 0.0,
            local: vec![0.0; size],
            diagonal: vec![0.0; size],
            root: self.root.iter().zip(&log).map(|(root, l)| root * (l / 2.0).exp()).collect(),
            log,
            excess,
        };
        match self.inequality {
            Inequality::Tensorisation => self.tensorise(&mut point),
            Inequality::LogSobolev => self.log_sobolev(&mut point),
            Inequality::ModifiedLogSobolev => self.modified(&mut point),
        }
        point
    }

    /// `Σ_K` E `Ent_K(w)`.
    fn tensorise(&self, point: &mut Point) {
        for group in self.groups() {
            let Some(mean) = self.mean(group, &point.excess) else { continue };
            // 1 + mean, also where that is tiny.
            let level = if mean > -0.5 {
                1.0 + mean
            } else {
                let mass: f64 = group.iter().map(|&(x, k)| k * self.q[x]).sum();
                let held: f64 = group.iter().map(|&(x, k)| k * point.root[x].powi(2)).sum();
                held / mass
            };
            let log_level = if mean > -0.5 { mean.ln_1p() } else { level.ln() };
            for &(x, k) in group {
                let ratio = (point.excess[x] - mean) / level;
                let log = if ratio.abs() < 0.5 { ratio.ln_1p() } else { point.log[x] - log_level };
                point.energy += k * self.q[x] * level * phi(ratio);
                point.local[x] += k * log;
            }
        }
        point.diagonal.clone_from(&point.local);
    }

    /// `Σ_K` E `Var_K(√w)`.
    fn log_sobolev(&self, point: &mut Point) {
        let excess: Vec<f64> = point.log.iter().map(|l| (l / 2.0).exp_m1()).collect();
        for group in self.groups() {
            let Some(mean) = self.mean(group, &excess) else { continue };
            for &(x, k) in group {
                let deviation = excess[x] - mean;
                point.energy += k * self.q[x] * deviation * deviation;
                point.local[x] += k * deviation * (-point.log[x] / 2.0).exp();
            }
        }
        point.diagonal = point.local.iter().map(|l| l / 2.0).collect();
    }

    /// `Σ_K` E `Cov_K(w`, ln w).
    fn modified(&self, point: &mut Point) {
        for group in self.groups() {
            let Some(mean) = self.mean(group, &point.excess) else { continue };
            let Some(log_mean) = self.mean(group, &point.log) else { continue };
            for &(x, k) in group {
                let (u, log) = (point.excess[x] - mean, point.log[x] - log_mean);
                point.energy += k * self.q[x] * u * log;
                point.diagonal[x] += k * log;
                point.local[x] += k * (log + u * (-point.log[x]).exp());
            }
        }
    }

    /// The conditional mean of f in a group; none if the group is impossible.
    fn mean(&self, group: &[(usize, f64)], f: &[f64]) -> Option<f64> {
        let (mut mass, mut sum) = (0.0, 0.0);
        for &(x, k) in group {
            mass += k * self.q[x];
            sum += k * self.q[x] * f[x];
        }
        (mass > 0.0).then(|| sum / mass)
    }

    /// The Hessian of ln(F/G) times z.
    pub(super) fn curvature(&self, point: &Point, z: &[f64]) -> Vec<f64> {
        let Point { log, entropy, energy, local, diagonal, root, .. } = point;
        let energy_part = match self.inequality {
            Inequality::Tensorisation => difference(z, &self.symmetric(root, z)),
            Inequality::LogSobolev => {
                let moved = difference(z, &self.symmetric(&self.root, z));
                moved.into_iter().map(|v| v / 2.0).collect()
            }
            Inequality::ModifiedLogSobolev => self.modified_curvature(log, z),
        };
        let along = |f: &[f64]| z.iter().zip(root).zip(f).map(|((z, r), f)| z * r * f).sum::<f64>();
        let mass: f64 = z.iter().zip(root).map(|(z, r)| z * r).sum();
        let (by_entropy, by_energy) =
            (along(log) / (entropy * entropy), along(local) / (energy * energy));
        (0..z.len())
            .map(|x| {
                let of_entropy = ((1.0 + log[x]) * z[x] - root[x] * mass) / entropy;
                let of_energy = (diagonal[x] * z[x] + energy_part[x]) / energy;
                of_entropy - of_energy + root[x] * (local[x] * by_energy - log[x] * by_entropy)
            })
            .collect()
    }

    fn modified_curvature(&self, log: &[f64], z: &[f64]) -> Vec<f64> {
        let up: Vec<f64> = z.iter().zip(log).map(|(z, l)| z * (l / 2.0).exp()).collect();
        let down: Vec<f64> = z.iter().zip(log).map(|(z, l)| z * (-l / 2.0).exp()).collect();
        let up = difference(&up, &self.symmetric(&self.root, &up));
        let down = difference(&down, &self.symmetric(&self.root, &down));
        let both = up.into_iter().zip(down).zip(log);
        both.map(|((a, b), l)| a * (-l / 2.0).exp() + b * (l / 2.0).exp()).collect()
    }

    /// D^½ P D^−½ z for the block dynamics of the law root².
    fn symmetric(&self, root: &[f64], z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; z.len()];
        for group in self.groups() {
            let (mut mass, mut sum) = (0.0, 0.0);
            for &(x, k) in group {
                mass += k * root[x] * root[x];
                sum += k * root[x] * z[x];
            }
            if mass > 0.0 {
                for &(x, k) in group {
                    out[x] += k * root[x] * sum / mass;
                }
            }
        }
        out
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};
    use padir_base::mask::MaskLaw;

    /// Gradient and curvature are those of finite differences.
    #[test]
    fn derivatives_agree_with_differences() {
        let model = Ising::uniform(3, &Shape::Chain { periodic: false }, 0.3, 0.6).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        let blocks = Blocks::of(&MaskLaw::UniformCount { least: 1, spare: 0 }, p.space()).unwrap();
        let log: Vec<f64> = (0..8).map(|x| (1.3 * f64::from(x)).sin()).collect();
        let z: Vec<f64> = (0..8).map(|x| 0.4 * (0.7 * f64::from(x)).cos()).collect();
        for inequality in
            [Inequality::Tensorisation, Inequality::LogSobolev, Inequality::ModifiedLogSobolev]
        {
            let quotient = Quotient::new(inequality, &p, &blocks);
            let here = quotient.at(log.clone());
            let value = |length: f64| quotient.at(here.moved(&z, length)).ratio().ln();
            let step = 1e-4;
            let first = (value(step) - value(-step)) / (2.0 * step);
            let second = (value(step) - 2.0 * value(0.0) + value(-step)) / (step * step);
            let slope: f64 = here.slope().iter().zip(&z).map(|(a, b)| a * b).sum();
            let bent: f64 = quotient.curvature(&here, &z).iter().zip(&z).map(|(a, b)| a * b).sum();
            assert!((first - slope).abs() < 1e-6, "{inequality:?}: {first} {slope}");
            assert!((second - bent).abs() < 1e-5, "{inequality:?}: {second} {bent}");
        }
    }
}
