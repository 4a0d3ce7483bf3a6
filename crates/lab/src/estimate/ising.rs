//! The pseudolikelihood of spins, for any number of them.
//!
//! One pass over the distinct rows gives the local fields F = h + Jx; from there a single spin
//! costs O(1), a pair O(1) (see `pair`), a block of k O(2ᵏ k²), and the whole likelihood O(2ᴺ N)
//! once for all rows. Uniform pairs are the fast path for k = 2: C(N,2) per row, no exponentials.

use rayon::prelude::*;

use super::block::BlockLaw;
use super::pair::PairTables;
use super::{Loss, Samples};
use crate::asymptotics::add_square;
use crate::chain::Matrix;
use crate::graph::Edge;
use crate::model::Ising;

/// Which blocks are compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Masks {
    /// Every single spin: k = 1.
    Singles,
    /// Every pair of spins: k = 2.
    Pairs,
    /// All spins at once: maximum likelihood.
    Whole,
    /// Listed blocks with probabilities, the same for every row.
    Blocks(Vec<(Vec<usize>, f64)>),
    /// Masks drawn for each distinct row.
    Sampled(Vec<Vec<Vec<usize>>>),
}

/// Rows per piece of parallel work; fixed, for the same sums on any number of threads.
const PIECE: usize = 512;

/// More spins than this have no robust errors.
const MOST_SCORED: usize = 64;

/// Nor do samples whose scores sum more fillings than this.
const MOST_FILLINGS: f64 = 2e8;

/// The loss of spins on a graph.
#[derive(Clone, Debug)]
pub struct IsingLoss {
    sites: usize,
    edges: Vec<Edge>,
    /// Where the coupling of a pair stands among the parameters; `NONE` if it is no edge.
    slots: Vec<u32>,
    spins: Vec<f64>,
    weights: Vec<f64>,
    masks: Masks,
}

pub(super) const NONE: u32 = u32::MAX;

impl IsingLoss {
    /// The loss of samples on the graph of a model (its parameters do not matter).
    pub fn new(model: &Ising, samples: &Samples, masks: Masks) -> Self {
        let sites = model.sites();
        let mut slots = vec![NONE; sites * sites];
        for (index, &Edge(a, b)) in model.edges().iter().enumerate() {
            slots[a * sites + b] = (sites + index) as u32;
            slots[b * sites + a] = (sites + index) as u32;
        }
        let total = samples.total();
        let rows = 0..samples.distinct();
        let spin = |&s: &u8| if s == 1 { 1.0 } else { -1.0 };
        Self {
            sites,
            edges: model.edges().to_vec(),
            slots,
            spins: rows.clone().flat_map(|i| samples.row(i).iter().map(spin)).collect(),
            weights: rows.map(|i| samples.count(i) / total).collect(),
            masks,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.spins[row * self.sites..(row + 1) * self.sites]
    }

    /// J as a full symmetric matrix.
    fn coupling_matrix(&self, parameters: &[f64]) -> Vec<f64> {
        self.slots
            .iter()
            .map(|&slot| if slot == NONE { 0.0 } else { parameters[slot as usize] })
            .collect()
    }

    /// F = h + Jx of one row.
    fn fields(&self, parameters: &[f64], couplings: &[f64], spins: &[f64], fields: &mut [f64]) {
        fields.copy_from_slice(&parameters[..self.sites]);
        for (j, &s) in spins.iter().enumerate() {
            let column = &couplings[j * self.sites..(j + 1) * self.sites];
            fields.iter_mut().zip(column).for_each(|(f, c)| *f += c * s);
        }
    }

    /// Runs over the rows in fixed pieces and adds up what each piece yields.
    fn over_rows(
        &self,
        work: impl Fn(std::ops::Range<usize>, &mut Accumulator) + Sync,
    ) -> Accumulator {
        let rows = self.weights.len();
        let parts: Vec<Accumulator> = (0..rows.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut sum = Accumulator::new(self.sites);
                work(piece * PIECE..((piece + 1) * PIECE).min(rows), &mut sum);
                sum
            })
            .collect();
        parts.into_iter().fold(Accumulator::new(self.sites), Accumulator::merge)
    }

    fn singles(&self, parameters: &[f64], couplings: &[f64]) -> Accumulator {
        let share = 1.0 / self.sites as f64;
        self.over_rows(|rows, sum| {
            let mut fields = vec![0.0; self.sites];
            for row in rows {
                let spins = self.row(row);
                self.fields(parameters, couplings, spins, &mut fields);
                let weight = self.weights[row] * share;
                for (f, &s) in fields.iter_mut().zip(spins) {
                    // −ln p = ln(1 + e^{−2sf}); E s − s = −2s / (1 + e^{2sf}).
                    let odds = (-2.0 * s * *f).exp();
                    sum.value += weight * odds.ln_1p();
                    let p = if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
                    *f = -2.0 * s * p * weight;
                }
                sum.add_residuals(&fields, spins);
            }
        })
    }

    fn pairs(&self, parameters: &[f64], couplings: &[f64]) -> Accumulator {
        let tables = PairTables::new(self.sites, couplings);
        let share = 2.0 / (self.sites * (self.sites - 1)) as f64;
        self.over_rows(|rows, sum| {
            let mut fields = vec![0.0; self.sites];
            let mut scratch = tables.scratch();
            for row in rows {
                let spins = self.row(row);
                self.fields(parameters, couplings, spins, &mut fields);
                tables.add(&fields, spins, self.weights[row] * share, &mut scratch, sum);
            }
        })
    }

    fn whole(&self, parameters: &[f64], couplings: &[f64]) -> Accumulator {
        let mut law = BlockLaw::default();
        law.fields.extend_from_slice(&parameters[..self.sites]);
        law.couplings.extend_from_slice(couplings);
        let base = law.solve(0);
        // ln Z = base + energy of the all-down state.
        let down: f64 = -parameters[..self.sites].iter().sum::<f64>()
            + self.edges.iter().map(|e| couplings[e.0 * self.sites + e.1]).sum::<f64>();
        let mut sum = Accumulator::new(self.sites);
        sum.value = base + down;
        sum.fields.copy_from_slice(&law.mean);
        sum.pairs.copy_from_slice(&law.second);
        let observed = self.over_rows(|rows, sum| {
            for row in rows {
                let spins = self.row(row);
                let weighted: Vec<f64> =
                    spins.iter().map(|s| -0.5 * self.weights[row] * s).collect();
                sum.add_residuals(&weighted, spins);
            }
        });
        for (total, seen) in sum.fields.iter_mut().zip(&observed.fields) {
            *total += 2.0 * seen;
        }
        let n = self.sites;
        for (i, (seen, parameter)) in observed.fields.iter().zip(parameters).enumerate() {
            sum.value += 2.0 * seen * parameter;
            for j in 0..n {
                // xᵢxⱼ was added from both sides.
                sum.pairs[i * n + j] += observed.pairs[i * n + j] + observed.pairs[j * n + i];
                sum.pairs[i * n + j] *= 0.5;
            }
        }
        for e in &self.edges {
            let seen = observed.pairs[e.0 * n + e.1] + observed.pairs[e.1 * n + e.0];
            sum.value += seen * couplings[e.0 * n + e.1];
        }
        sum
    }

    fn blocks(&self, parameters: &[f64], couplings: &[f64]) -> Accumulator {
        self.over_rows(|rows, sum| {
            let mut fields = vec![0.0; self.sites];
            let mut law = BlockLaw::default();
            for row in rows {
                let spins = self.row(row);
                self.fields(parameters, couplings, spins, &mut fields);
                self.for_blocks(row, |block, share| {
                    let weight = self.weights[row] * share;
                    let observed = self.load(block, &fields, couplings, spins, &mut law);
                    sum.value += weight * law.solve(observed);
                    sum.add_block(block, &law, spins, weight);
                });
            }
        })
    }

    /// Calls `visit` with every block of a row and its share.
    fn for_blocks(&self, row: usize, mut visit: impl FnMut(&[usize], f64)) {
        match &self.masks {
            Masks::Blocks(blocks) => blocks.iter().for_each(|(block, p)| visit(block, *p)),
            Masks::Sampled(masks) => {
                let share = 1.0 / masks[row].len() as f64;
                masks[row].iter().for_each(|block| visit(block, share));
            }
            Masks::Singles => {
                let share = 1.0 / self.sites as f64;
                (0..self.sites).for_each(|i| visit(&[i], share));
            }
            Masks::Pairs => {
                let share = 2.0 / (self.sites * (self.sites - 1)) as f64;
                (0..self.sites).for_each(|i| (0..i).for_each(|j| visit(&[j, i], share)));
            }
            Masks::Whole => visit(&(0..self.sites).collect::<Vec<_>>(), 1.0),
        }
    }

    /// Puts a block's fields and couplings into place; returns its observed spins as bits.
    fn load(
        &self,
        block: &[usize],
        fields: &[f64],
        couplings: &[f64],
        spins: &[f64],
        law: &mut BlockLaw,
    ) -> usize {
        law.fields.clear();
        law.couplings.clear();
        for &i in block {
            let mut field = fields[i];
            for &j in block {
                let c = couplings[i * self.sites + j];
                law.couplings.push(c);
                field -= c * spins[j];
            }
            law.fields.push(field);
        }
        block.iter().enumerate().map(|(a, &i)| usize::from(spins[i] > 0.0) << a).sum()
    }

    /// Adds Cov(T | x₋ₖ) of one block: T is linear in the monomials sᵢ and sᵢsⱼ of the block.
    fn add_block_hessian(
        &self,
        block: &[usize],
        law: &BlockLaw,
        spins: &[f64],
        weight: f64,
        hessian: &mut Matrix<f64>,
    ) {
        let n = self.sites;
        let k = block.len();
        let mut features: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut monomials: Vec<u64> = Vec::new();
        for (a, &i) in block.iter().enumerate() {
            let outside = (0..n).filter(|l| !block.contains(l) && self.slots[i * n + l] != NONE);
            let mut feature = vec![(i, 1.0)];
            feature.extend(outside.map(|l| (self.slots[i * n + l] as usize, spins[l])));
            features.push(feature);
            monomials.push(1 << a);
            for (b, &j) in block.iter().enumerate().take(a) {
                if self.slots[i * n + j] != NONE {
                    features.push(vec![(self.slots[i * n + j] as usize, 1.0)]);
                    monomials.push(1 << a | 1 << b);
                }
            }
        }
        let probabilities = law.law();
        let mean = |bits: u64| -> f64 {
            let sign = |x: usize| (x as u64 & bits).count_ones() + bits.count_ones();
            probabilities
                .iter()
                .enumerate()
                .map(|(x, p)| if sign(x) % 2 == 0 { *p } else { -p })
                .sum()
        };
        let means: Vec<f64> = monomials.iter().map(|&m| mean(m)).collect();
        debug_assert!(k < 64, "blocks are enumerated");
        for (a, left) in features.iter().enumerate() {
            for (b, right) in features.iter().enumerate() {
                // s² = 1, so the product of two monomials is their symmetric difference.
                let covariance = mean(monomials[a] ^ monomials[b]) - means[a] * means[b];
                for &(i, x) in left {
                    let row = hessian.row_mut(i);
                    for &(j, y) in right {
                        row[j] += weight * covariance * x * y;
                    }
                }
            }
        }
    }

    /// Adds w s sᵀ of the scores of a row; where masks are sampled, of each of its samples with its own masks.
    fn add_scores(
        &self,
        row: usize,
        parameters: &[f64],
        couplings: &[f64],
        masks: usize,
        sum: &mut Matrix<f64>,
    ) {
        let spins = self.row(row);
        let mut fields = vec![0.0; self.sites];
        self.fields(parameters, couplings, spins, &mut fields);
        let mut blocks: Vec<(Vec<usize>, f64)> = Vec::new();
        self.for_blocks(row, |block, share| blocks.push((block.to_vec(), share)));
        let sampled = matches!(self.masks, Masks::Sampled(_));
        let size = if sampled { masks.max(1) } else { blocks.len() };
        let samples = blocks.len().div_ceil(size.max(1)) as f64;
        let mut law = BlockLaw::default();
        for sample in blocks.chunks(size.max(1)) {
            let mut one = Accumulator::new(self.sites);
            for (block, share) in sample {
                let observed = self.load(block, &fields, couplings, spins, &mut law);
                law.solve(observed);
                let share = if sampled { 1.0 / sample.len() as f64 } else { *share };
                one.add_block(block, &law, spins, share);
            }
            let n = self.sites;
            let mut score = one.fields;
            score.extend(
                self.edges.iter().map(|e| one.pairs[e.0 * n + e.1] + one.pairs[e.1 * n + e.0]),
            );
            add_square(sum, self.weights[row] / samples, &score);
        }
    }

    /// The Hessian of the k = 1 loss: one weighted square per spin and row.
    fn singles_hessian(&self, parameters: &[f64]) -> Matrix<f64> {
        let couplings = self.coupling_matrix(parameters);
        let n = self.sites;
        let rows = self.weights.len();
        let parts: Vec<Vec<f64>> = (0..rows.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                // For each spin the (n+1)-dimensional square of (1, x).
                let mut squares = vec![0.0; n * n * n];
                let mut fields = vec![0.0; n];
                for row in piece * PIECE..((piece + 1) * PIECE).min(rows) {
                    let spins = self.row(row);
                    self.fields(parameters, &couplings, spins, &mut fields);
                    for i in 0..n {
                        let cosh = fields[i].cosh();
                        let variance = self.weights[row] / (n as f64 * cosh * cosh);
                        for a in 0..n {
                            // Slot a = i stands for the field itself: its statistic is 1.
                            let left = variance * if a == i { 1.0 } else { spins[a] };
                            let square = &mut squares[((i * n + a) * n)..=((i * n + a) * n + a)];
                            for (b, value) in square.iter_mut().enumerate() {
                                *value += left * if b == i { 1.0 } else { spins[b] };
                            }
                        }
                    }
                }
                squares
            })
            .collect();
        let mut squares = vec![0.0; n * n * n];
        for part in parts {
            squares.iter_mut().zip(part).for_each(|(s, v)| *s += v);
        }
        let slot = |i: usize, a: usize| if a == i { i as u32 } else { self.slots[i * n + a] };
        let mut hessian = Matrix::zero(self.dimension());
        for i in 0..n {
            for a in 0..n {
                for b in 0..n {
                    let (x, y) = (slot(i, a), slot(i, b));
                    if x != NONE && y != NONE {
                        let value = squares[(i * n + a.max(b)) * n + a.min(b)];
                        hessian.add(x as usize, y as usize, value);
                    }
                }
            }
        }
        hessian
    }
}

impl Loss for IsingLoss {
    fn dimension(&self) -> usize {
        self.sites + self.edges.len()
    }

    fn gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let couplings = self.coupling_matrix(parameters);
        let sum = match &self.masks {
            Masks::Singles => self.singles(parameters, &couplings),
            Masks::Pairs => self.pairs(parameters, &couplings),
            Masks::Whole => self.whole(parameters, &couplings),
            Masks::Blocks(_) | Masks::Sampled(_) => self.blocks(parameters, &couplings),
        };
        let n = self.sites;
        gradient[..n].copy_from_slice(&sum.fields);
        for (slot, e) in gradient[n..].iter_mut().zip(&self.edges) {
            *slot = sum.pairs[e.0 * n + e.1] + sum.pairs[e.1 * n + e.0];
        }
        sum.value
    }

    fn hessian(&self, parameters: &[f64]) -> Matrix<f64> {
        if self.masks == Masks::Singles {
            return self.singles_hessian(parameters);
        }
        let couplings = self.coupling_matrix(parameters);
        let d = self.dimension();
        // The whole likelihood does not depend on the row.
        let rows = if self.masks == Masks::Whole { 1 } else { self.weights.len() };
        let parts: Vec<Matrix<f64>> = (0..rows.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut sum = Matrix::zero(d);
                let mut fields = vec![0.0; self.sites];
                let mut law = BlockLaw::default();
                for row in piece * PIECE..((piece + 1) * PIECE).min(rows) {
                    let spins = self.row(row);
                    let weight = if rows == 1 { 1.0 } else { self.weights[row] };
                    self.fields(parameters, &couplings, spins, &mut fields);
                    self.for_blocks(row, |block, share| {
                        let observed = self.load(block, &fields, &couplings, spins, &mut law);
                        law.solve(observed);
                        self.add_block_hessian(block, &law, spins, weight * share, &mut sum);
                    });
                }
                sum
            })
            .collect();
        Matrix::sum(d, &parts)
    }

    /// Single spins are cheap, and close in shape to every larger block.
    fn preconditioner(&self, parameters: &[f64]) -> Option<Matrix<f64>> {
        Some(self.singles_hessian(parameters))
    }

    fn untouched(&self) -> Vec<usize> {
        let mut hidden = vec![false; self.sites];
        for row in 0..self.weights.len() {
            self.for_blocks(row, |block, p| {
                if p > 0.0 {
                    for &i in block {
                        hidden[i] = true;
                    }
                }
            });
            // The other laws hide the same sites in every row.
            if !matches!(self.masks, Masks::Sampled(_)) {
                break;
            }
        }
        let fields = (0..self.sites).filter(|&i| !hidden[i]);
        let couplings = self.edges.iter().enumerate().filter(|(_, e)| !hidden[e.0] && !hidden[e.1]);
        fields.chain(couplings.map(|(index, _)| self.sites + index)).collect()
    }

    fn score_covariance(&self, parameters: &[f64], masks: usize) -> Option<Matrix<f64>> {
        if self.sites > MOST_SCORED {
            return None;
        }
        let mut fillings = 0.0;
        for row in 0..self.weights.len() {
            self.for_blocks(row, |block, _| fillings += 2_f64.powi(block.len() as i32));
            if fillings > MOST_FILLINGS {
                return None;
            }
        }
        let couplings = self.coupling_matrix(parameters);
        let parts: Vec<Matrix<f64>> = (0..self.weights.len().div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut sum = Matrix::zero(self.dimension());
                for row in piece * PIECE..((piece + 1) * PIECE).min(self.weights.len()) {
                    self.add_scores(row, parameters, &couplings, masks, &mut sum);
                }
                sum
            })
            .collect();
        Some(Matrix::sum(self.dimension(), &parts))
    }

    fn margins(&self, direction: &[f64]) -> (f64, f64) {
        let couplings = self.coupling_matrix(direction);
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        let mut fields = vec![0.0; self.sites];
        let mut law = BlockLaw::default();
        for row in 0..self.weights.len() {
            let spins = self.row(row);
            self.fields(direction, &couplings, spins, &mut fields);
            self.for_blocks(row, |block, _| {
                let observed = self.load(block, &fields, &couplings, spins, &mut law);
                let (low, high) = law.margins(observed);
                extremes = (extremes.0.min(low), extremes.1.max(high));
            });
        }
        extremes
    }
}

/// Sums over rows: the value, and residuals E T − T for fields and (ordered) pairs.
#[derive(Clone, Debug)]
pub(super) struct Accumulator {
    pub(super) value: f64,
    pub(super) fields: Vec<f64>,
    pub(super) pairs: Vec<f64>,
}

impl Accumulator {
    fn new(sites: usize) -> Self {
        Self { value: 0.0, fields: vec![0.0; sites], pairs: vec![0.0; sites * sites] }
    }

    fn merge(mut self, other: Self) -> Self {
        self.value += other.value;
        self.fields.iter_mut().zip(other.fields).for_each(|(a, b)| *a += b);
        self.pairs.iter_mut().zip(other.pairs).for_each(|(a, b)| *a += b);
        self
    }

    /// Residuals rᵢ of single spins: fields get rᵢ, pairs rᵢxⱼ.
    #[inline]
    pub(super) fn add_residuals(&mut self, residuals: &[f64], spins: &[f64]) {
        let n = spins.len();
        for (i, &r) in residuals.iter().enumerate() {
            self.fields[i] += r;
            let row = &mut self.pairs[i * n..(i + 1) * n];
            row.iter_mut().zip(spins).for_each(|(pair, s)| *pair += r * s);
        }
    }

    fn add_block(&mut self, block: &[usize], law: &BlockLaw, spins: &[f64], weight: f64) {
        let (n, k) = (spins.len(), block.len());
        for (a, &i) in block.iter().enumerate() {
            let residual = weight * (law.mean[a] - spins[i]);
            self.fields[i] += residual;
            let row = &mut self.pairs[i * n..(i + 1) * n];
            row.iter_mut().zip(spins).for_each(|(pair, s)| *pair += residual * s);
            // Inside of the block both ends move together.
            for (b, &j) in block.iter().enumerate() {
                let together = weight * (law.second[a * k + b] - spins[i] * spins[j]) / 2.0;
                row[j] += together - residual * spins[j];
            }
        }
    }
}
