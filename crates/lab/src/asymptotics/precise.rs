//! Hessians, their inverses and the orders between them in numbers of many bits.
//!
//! The Hessian of a law is H = Σ p(x) p(K|x) T Tᵀ − `Σ_K` Σ over groups of s sᵀ/R, with s and R the
//! sums of p(x) p(K|x) T and p(x) p(K|x) over a group. All of it cancels at strong coupling, but
//! the sums are of positive multiples of whole numbers, so bits in proportion to the span of
//! ln p suffice. Probabilities enter as floats: their rounding changes H by a relative 10⁻¹⁵ in
//! the order of matrices, and with it Γ.

use std::collections::BTreeMap;

use padir_base::mask::{MaskContext, MaskLaw};
use rayon::prelude::*;

use super::{AsymptoticError, hessian};
use crate::chain::{Blocks, ChainError, Matrix, Weight};
use crate::distribution::Distribution;
use crate::model::Family;
use crate::multi::Multi;
use crate::wide::Wide;

/// The most bits there are.
pub(super) const MOST_BITS: f64 = 4096.0;

/// Products of words up to which many bits are used without being asked for.
const CHEAP: f64 = 4e9;

/// And up to which they are where floats fail.
const AFFORDABLE: f64 = 2e11;

/// How far A ⪯ B holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The smallest eigenvalue of B − A.
    pub absolute: f64,
    /// The smallest μ with (B − A) v = μ B v: 1 − μ is the largest ratio of A to B. It does not
    /// depend on the units of the parameters.
    pub relative: f64,
}

/// Something to be done at a number of bits that is only known now.
pub(super) trait Task {
    type Output;

    /// With 64·L bits; from Hessians in floats where those have to do.
    fn run<const L: usize>(self, narrow: Option<Narrow>) -> Result<Self::Output, AsymptoticError>;
}

/// Hessians in floats, by the number of their law.
pub(super) type Narrow = BTreeMap<usize, Matrix<f64>>;

/// How many bits, and the Hessians in floats that have to do where more would take too long.
pub(super) struct Bits {
    bits: f64,
    narrow: Option<Narrow>,
}

impl Bits {
    /// What a distribution and its laws need.
    pub(super) fn needed(
        p: &Distribution,
        family: &Family,
        laws: &BTreeMap<usize, MaskLaw>,
    ) -> Result<Self, AsymptoticError> {
        let (span, bits) = bits_of(p);
        let mut work = 0.0;
        for law in laws.values() {
            work += operations(p, family, law)? * per_operation(bits);
        }
        if work <= CHEAP && bits <= MOST_BITS {
            return Ok(Self { bits, narrow: None });
        }
        // Floats, unless they lose too much.
        let mut narrow = Narrow::new();
        let mut worst = 0.0_f64;
        for (&key, law) in laws {
            let hessian = hessian(p, family, law)?;
            worst = worst.max(log_cancellation(&hessian));
            narrow.insert(key, hessian);
        }
        if worst < LOST || (work > AFFORDABLE && bits <= MOST_BITS) {
            return Ok(Self { bits: 256.0, narrow: Some(narrow) });
        }
        if bits > MOST_BITS {
            return Err(AsymptoticError::Span { span, bits });
        }
        Ok(Self { bits, narrow: None })
    }

    /// The products of words of one Hessian, if it is certain to be summed in long numbers.
    pub(super) fn cheap(
        p: &Distribution,
        family: &Family,
        law: &MaskLaw,
    ) -> Result<Option<f64>, ChainError> {
        let (_, bits) = bits_of(p);
        let work = operations(p, family, law)? * per_operation(bits);
        Ok((work <= CHEAP && bits <= MOST_BITS).then_some(work))
    }

    pub(super) fn run<T: Task>(self, task: T) -> Result<T::Output, AsymptoticError> {
        match self.bits {
            ..=256.0 => task.run::<4>(self.narrow),
            ..=512.0 => task.run::<8>(self.narrow),
            ..=1024.0 => task.run::<16>(self.narrow),
            ..=2048.0 => task.run::<32>(self.narrow),
            _ => task.run::<64>(self.narrow),
        }
    }
}

/// The span of ln p, and the bits that it asks for.
fn bits_of(p: &Distribution) -> (f64, f64) {
    let possible = p.log_probs().iter().copied().filter(|l| l.is_finite());
    let (low, high) = possible.fold((0.0_f64, f64::NEG_INFINITY), |(a, b), l| (a.min(l), b.max(l)));
    let span = high - low;
    (span, 160.0 + 2.0 * span / std::f64::consts::LN_2)
}

/// Products of words in an operation of so many bits.
fn per_operation(bits: f64) -> f64 {
    let words = (bits / 64.0).ceil().max(4.0);
    words * words + 12.0
}

/// Additions and multiplications of a Hessian.
fn operations(p: &Distribution, family: &Family, law: &MaskLaw) -> Result<f64, ChainError> {
    let (sites, q, d) = (p.space().sites(), p.space().symbols() as f64, family.dimension() as f64);
    let states = p.space().size() as f64;
    let (sets, groups) = if law.is_adaptive() {
        (q.powi(sites as i32), states)
    } else {
        let context = MaskContext::of_length(sites);
        let hidden = law.expected_size(&context)?;
        (law.enumerate(&context)?.support(), states / q.powf(hidden))
    };
    Ok(sets * (groups * d * d / 2.0 + states * d) + states * d * d / 2.0)
}

/// ln of the cancellation up to which floats are good for eight digits.
const LOST: f64 = 14.0;

/// ln of the largest ratio of a diagonal entry to its pivot: the digits that an inverse loses.
fn log_cancellation(hessian: &Matrix<f64>) -> f64 {
    let square = Square::<4>::of(hessian);
    square.factorise().map_or(f64::INFINITY, |factor| factor.log_cancellation(&square))
}

/// The Hessians of several laws, with their inverses.
pub(super) struct Hessians<'a, const L: usize> {
    p: &'a Distribution,
    family: &'a Family,
    narrow: Option<Narrow>,
    known: BTreeMap<usize, Known<L>>,
}

struct Known<const L: usize> {
    hessian: Square<L>,
    variance: Square<L>,
    error: f64,
}

impl<'a, const L: usize> Hessians<'a, L> {
    pub(super) fn new(p: &'a Distribution, family: &'a Family, narrow: Option<Narrow>) -> Self {
        Self { p, family, narrow, known: BTreeMap::new() }
    }

    /// Adds the Hessian of a law.
    pub(super) fn insert(
        &mut self,
        key: usize,
        law: &MaskLaw,
        name: String,
    ) -> Result<(), AsymptoticError> {
        let narrow = self.narrow.as_ref().and_then(|narrow| narrow.get(&key));
        let hessian = match narrow {
            Some(matrix) => Square::of(matrix),
            None => sum(self.p, self.family, &Blocks::of(law, self.p.space())?),
        };
        let singular = || AsymptoticError::Singular(name);
        let Some(factor) = hessian.factorise() else { return Err(singular()) };
        let lost = factor.log_cancellation(&hessian);
        // What is left of the bits must be more than the zeros of a singular matrix.
        let bits = if narrow.is_some() { 44.0 } else { 64.0 * L as f64 - 80.0 };
        if lost > bits * std::f64::consts::LN_2 {
            return Err(singular());
        }
        let unit = if narrow.is_some() { 1e-16 * lost.exp() } else { 1e-16 };
        let error = 50.0 * hessian.size as f64 * unit;
        self.known.insert(key, Known { variance: factor.inverse(), hessian, error });
        Ok(())
    }

    pub(super) fn error(&self, key: usize) -> f64 {
        self.known[&key].error
    }

    /// Γ.
    pub(super) fn variance(&self, key: usize) -> Matrix<f64> {
        self.known[&key].variance.narrow()
    }

    /// Γ of `small` ⪯ Γ of `large`.
    pub(super) fn mono(&self, small: usize, large: usize) -> Order {
        let (small, large) = (&self.known[&small], &self.known[&large]);
        let identity = Square::identity(small.hessian.size);
        Order {
            absolute: smallest(&large.variance.minus(&small.variance), &identity),
            // Γ = H⁻¹ turns the order round; both pencils have the same eigenvalues.
            relative: smallest(&small.hessian.minus(&large.hessian), &small.hessian),
        }
    }

    /// Γ of `law` ⪯ C · Γ of `best`.
    pub(super) fn bound(&self, law: usize, best: usize, constant: Wide) -> Order {
        let constant = Multi::of_wide(constant);
        let (law, best) = (&self.known[&law], &self.known[&best]);
        let identity = Square::identity(law.hessian.size);
        let scaled = law.hessian.times(constant);
        Order {
            absolute: smallest(&best.variance.times(constant).minus(&law.variance), &identity),
            relative: smallest(&scaled.minus(&best.hessian), &scaled),
        }
    }
}

/// The Hessian of a law, summed in many bits.
fn sum<const L: usize>(p: &Distribution, family: &Family, blocks: &Blocks) -> Square<L> {
    let space = p.space();
    let d = family.dimension();
    let mass: Vec<Multi<L>> = p.log_probs().iter().map(|&l| Multi::of_wide(Wide::exp(l))).collect();
    let statistics: Vec<Vec<i8>> = (0..space.size())
        .map(|x| (0..d).map(|i| family.statistic(&space, x, i) as i8).collect())
        .collect();
    // Equal weights are left out and divided by once, so that they cancel to the last bit.
    let equal = equal_weights(blocks);
    let weight = |of: f64| if equal.is_some() { Multi::of(1.0) } else { Multi::of(of) };
    let mut total = Square::zero(d);
    for (x, row) in statistics.iter().enumerate() {
        let sets = blocks.entries().iter().map(|e| weight(e.weight.of(x)));
        let sets = sets.fold(Multi::ZERO, |sum, w| sum + w);
        total.add_outer(row, mass[x] * sets);
    }
    let parts: Vec<Square<L>> = blocks
        .entries()
        .par_iter()
        .map(|entry| {
            let mut part = Square::zero(d);
            let fillings = space.fillings(entry.block);
            let mut first = vec![Multi::ZERO; d];
            for group in space.groups(entry.block) {
                first.fill(Multi::ZERO);
                let mut held = Multi::ZERO;
                for x in fillings.iter().map(|f| group + f) {
                    let amount = mass[x] * weight(entry.weight.of(x));
                    held = held + amount;
                    for (sum, &t) in first.iter_mut().zip(&statistics[x]) {
                        *sum = plus(*sum, t, amount);
                    }
                }
                if !held.is_zero() {
                    let reciprocal = held.reciprocal();
                    let scaled: Vec<Multi<L>> = first.iter().map(|&s| s * reciprocal).collect();
                    part.subtract_product(&scaled, &first);
                }
            }
            part
        })
        .collect();
    for part in &parts {
        total = total.minus(&part.times(Multi::of(-1.0)));
    }
    total.times(Multi::of(equal.unwrap_or(1.0)))
}

/// The weight of every block, if it is the same for all and in every state.
fn equal_weights(blocks: &Blocks) -> Option<f64> {
    let Weight::Same(first) = blocks.entries().first()?.weight else { return None };
    let same = |w: &Weight| matches!(w, Weight::Same(other) if other.to_bits() == first.to_bits());
    blocks.entries().iter().all(|e| same(&e.weight)).then_some(first)
}

/// sum + t · amount for t ∈ {−1, 0, 1}.
fn plus<const L: usize>(sum: Multi<L>, t: i8, amount: Multi<L>) -> Multi<L> {
    match t {
        0 => sum,
        1.. => sum + amount,
        _ => sum - amount,
    }
}

/// A symmetric matrix; only the lower triangle is kept.
#[derive(Clone)]
struct Square<const L: usize> {
    size: usize,
    lower: Vec<Multi<L>>,
}

/// L D Lᵀ.
struct Factor<const L: usize> {
    size: usize,
    /// The unit lower triangle.
    lower: Vec<Multi<L>>,
    pivots: Vec<Multi<L>>,
}

fn place(i: usize, j: usize) -> usize {
    let (high, low) = if i >= j { (i, j) } else { (j, i) };
    high * (high + 1) / 2 + low
}

impl<const L: usize> Square<L> {
    fn zero(size: usize) -> Self {
        Self { size, lower: vec![Multi::ZERO; size * (size + 1) / 2] }
    }

    fn identity(size: usize) -> Self {
        let mut matrix = Self::zero(size);
        (0..size).for_each(|i| matrix.lower[place(i, i)] = Multi::of(1.0));
        matrix
    }

    fn of(matrix: &Matrix<f64>) -> Self {
        let mut square = Self::zero(matrix.size());
        for i in 0..matrix.size() {
            for j in 0..=i {
                let value = f64::midpoint(matrix.at(i, j), matrix.at(j, i));
                square.lower[place(i, j)] = Multi::of(value);
            }
        }
        square
    }

    fn at(&self, i: usize, j: usize) -> Multi<L> {
        self.lower[place(i, j)]
    }

    fn narrow(&self) -> Matrix<f64> {
        let mut matrix = Matrix::zero(self.size);
        for i in 0..self.size {
            for j in 0..self.size {
                matrix.set(i, j, self.at(i, j).to_f64());
            }
        }
        matrix
    }

    fn times(&self, factor: Multi<L>) -> Self {
        Self { size: self.size, lower: self.lower.iter().map(|&v| v * factor).collect() }
    }

    fn minus(&self, other: &Self) -> Self {
        let lower = self.lower.iter().zip(&other.lower).map(|(&a, &b)| a - b).collect();
        Self { size: self.size, lower }
    }

    /// Adds amount · t tᵀ.
    fn add_outer(&mut self, t: &[i8], amount: Multi<L>) {
        for (i, &a) in t.iter().enumerate() {
            for (j, &b) in t[..=i].iter().enumerate() {
                let value = &mut self.lower[place(i, j)];
                *value = plus(*value, a * b, amount);
            }
        }
    }

    /// Subtracts a bᵀ.
    fn subtract_product(&mut self, a: &[Multi<L>], b: &[Multi<L>]) {
        for (i, &left) in a.iter().enumerate() {
            for (j, &right) in b[..=i].iter().enumerate() {
                let value = &mut self.lower[place(i, j)];
                *value = *value - left * right;
            }
        }
    }

    /// L D Lᵀ; none if a pivot is exactly zero.
    fn reduce(&self) -> Option<Factor<L>> {
        let n = self.size;
        let mut lower = self.lower.clone();
        let mut pivots = Vec::with_capacity(n);
        for k in 0..n {
            let pivot = lower[place(k, k)];
            if pivot.is_zero() {
                return None;
            }
            let reciprocal = pivot.reciprocal();
            let column: Vec<Multi<L>> = (k + 1..n).map(|i| lower[place(i, k)]).collect();
            for i in k + 1..n {
                let factor = column[i - k - 1] * reciprocal;
                if factor.is_zero() {
                    continue;
                }
                for j in k + 1..=i {
                    lower[place(i, j)] = lower[place(i, j)] - factor * column[j - k - 1];
                }
                lower[place(i, k)] = factor;
            }
            pivots.push(pivot);
        }
        Some(Factor { size: n, lower, pivots })
    }

    /// L D Lᵀ with positive pivots; none if the matrix is not positive definite.
    fn factorise(&self) -> Option<Factor<L>> {
        self.reduce().filter(|factor| factor.pivots.iter().all(Multi::is_positive))
    }
}

impl<const L: usize> Factor<L> {
    fn log_cancellation(&self, matrix: &Square<L>) -> f64 {
        let ratio = |i: usize| (matrix.at(i, i).size() / self.pivots[i].size()).ln();
        (0..self.size).map(ratio).fold(0.0, f64::max)
    }

    fn inverse(&self) -> Square<L> {
        let n = self.size;
        // Columns of L⁻¹, then A⁻¹ = L⁻ᵀ D⁻¹ L⁻¹.
        let mut columns: Vec<Vec<Multi<L>>> = Vec::with_capacity(n);
        for j in 0..n {
            let mut column = vec![Multi::ZERO; n];
            column[j] = Multi::of(1.0);
            for i in j + 1..n {
                let terms = (j..i).map(|k| self.lower[place(i, k)] * column[k]);
                column[i] = -terms.fold(Multi::ZERO, |sum, v| sum + v);
            }
            columns.push(column);
        }
        let reciprocals: Vec<Multi<L>> = self.pivots.iter().map(Multi::reciprocal).collect();
        let mut inverse = Square::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let terms = (i..n).map(|k| columns[i][k] * columns[j][k] * reciprocals[k]);
                inverse.lower[place(i, j)] = terms.fold(Multi::ZERO, |sum, v| sum + v);
            }
        }
        inverse
    }

    fn negative(&self) -> usize {
        self.pivots.iter().filter(|p| !p.is_positive()).count()
    }
}

/// The smallest μ with A v = μ B v, for positive definite B, by counting the negative pivots of
/// A − σB (Sylvester's law of inertia). Zero if it cannot be told from zero.
fn smallest<const L: usize>(a: &Square<L>, b: &Square<L>) -> f64 {
    let below = |sigma: Multi<L>| {
        let shifted = a.minus(&b.times(sigma));
        shifted.reduce().is_none_or(|factor| factor.negative() > 0)
    };
    // No Rayleigh quotient is below μ.
    let top = (0..a.size)
        .filter(|&i| a.at(i, i).is_positive())
        .map(|i| a.at(i, i).size() / b.at(i, i).size())
        .reduce(|m, v| if v < m { v } else { m });
    let negative = below(Multi::ZERO);
    let signed = |size: Wide| {
        let value = Multi::of_wide(size);
        if negative { -value } else { value }
    };
    // |μ| is bracketed by powers of 16, then bisected.
    let mut high = top.unwrap_or(Wide::ONE) * Wide::new(1.0 + 1e-9);
    let outside = |size: Wide| below(signed(size)) != negative;
    while negative && !outside(high) {
        high = high * Wide::new(16.0);
        if high.ln() > 1e5 {
            return f64::NAN;
        }
    }
    let floor = high.ln() - 0.6 * 64.0 * L as f64 * std::f64::consts::LN_2;
    let mut low = high;
    loop {
        low = low / Wide::new(16.0);
        if low.ln() < floor {
            return 0.0;
        }
        if !outside(low) {
            break;
        }
        high = low;
    }
    for _ in 0..48 {
        let middle = Wide::exp(f64::midpoint(low.ln(), high.ln()));
        if outside(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    signed(high).to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(rows: &[&[f64]]) -> Square<4> {
        let mut matrix = Square::zero(rows.len());
        for (i, row) in rows.iter().enumerate() {
            for (j, &value) in row[..=i].iter().enumerate() {
                matrix.lower[place(i, j)] = Multi::of(value);
            }
        }
        matrix
    }

    #[test]
    fn inverses_of_graded_matrices_keep_all_digits() {
        // Condition number 4e30; the inverse of [[1, 1], [1, 1 + e]] is [[1 + 1/e, −1/e], [−1/e, 1/e]].
        let mut matrix = square(&[&[1.0], &[1.0, 1.0]]);
        let e = 2_f64.powi(-101);
        matrix.lower[place(1, 1)] = Multi::of(1.0) + Multi::of(e);
        let inverse = matrix.factorise().unwrap().inverse().narrow();
        assert_eq!(inverse.at(1, 1).to_bits(), (1.0 / e).to_bits());
        assert!((inverse.at(0, 1) * e + 1.0).abs() < 1e-15);
    }

    #[test]
    fn smallest_eigenvalues_are_found_on_both_sides_of_zero() {
        let identity = Square::identity(2);
        for (a, b, c) in [(2.0, 1.0, 3.0), (1.0, 2.0, 1.0), (1e-30, 0.0, 1e20), (-4.0, 0.5, 2.0)] {
            let found = smallest(&square(&[&[a], &[b, c]]), &identity);
            let root = ((a - c) * (a - c) / 4.0 + b * b).sqrt();
            let expected = if b == 0.0 { a } else { f64::midpoint(a, c) - root };
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} for {expected}");
        }
        let singular = square(&[&[1.0], &[1.0, 1.0]]);
        assert!(smallest(&singular, &identity).abs() < 1e-40);
        // (B − A) v = μ B v with A = B/4.
        let b = square(&[&[3e-20], &[1e-21, 7.0]]);
        let relative = smallest(&b.minus(&b.times(Multi::of(0.25))), &b);
        assert!((relative - 0.75).abs() < 1e-12, "{relative}");
    }
}
