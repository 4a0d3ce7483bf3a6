//! The distribution of a hitting time.
//!
//! Step by step for curves; for quantiles by doubling: (Qᵗ, hᵗ) → (Q²ᵗ, hᵗ + Qᵗ hᵗ), where hᵗ is
//! the probability of having arrived within t steps. Only sums of positive numbers; each row is
//! put back to 1 − h, so that errors add up over the doublings instead of doubling with them.

use super::Hitting;
use crate::chain::Matrix;
use crate::wide::Wide;

/// 2ⁱ steps at once.
#[derive(Clone, Debug)]
pub(super) struct Stride {
    pub(super) steps: Wide,
    /// Qᵗ on the states outside of the target.
    pub(super) stay: Matrix<Wide>,
    /// P(T ≤ t), state by state.
    pub(super) hit: Vec<Wide>,
}

impl Hitting {
    /// P(T > t) for t = 0, 1, …, `steps`.
    pub fn survival(&self, steps: usize) -> Vec<f64> {
        let mut measure = vec![Wide::ZERO; self.matrix.size()];
        measure[self.start] = Wide::ONE;
        let mut curve = Vec::with_capacity(steps + 1);
        loop {
            for (mass, &hit) in measure.iter_mut().zip(&self.target) {
                if hit {
                    *mass = Wide::ZERO;
                }
            }
            curve.push(measure.iter().copied().sum::<Wide>().to_f64());
            if curve.len() > steps {
                return curve;
            }
            measure = self.matrix.push(&measure);
        }
    }

    /// P(T ≤ `steps`), right to many digits however small.
    pub fn arrival(&self, steps: usize) -> Wide {
        let mut measure = vec![Wide::ZERO; self.matrix.size()];
        measure[self.start] = Wide::ONE;
        let mut arrived = Wide::ZERO;
        for step in 0..=steps {
            if step > 0 {
                measure = self.matrix.push(&measure);
            }
            for (mass, &hit) in measure.iter_mut().zip(&self.target) {
                if hit {
                    arrived += *mass;
                    *mass = Wide::ZERO;
                }
            }
        }
        arrived
    }

    /// The smallest t with P(T ≤ t) ≥ `level`, for each level in (0, 1).
    ///
    /// Exact below 2⁵³ steps, else to about twelve digits. The target must be reachable.
    ///
    /// # Panics
    /// If a level does not lie in (0, 1).
    pub fn quantiles(&self, levels: &[f64]) -> Vec<Wide> {
        assert!(levels.iter().all(|l| *l > 0.0 && *l < 1.0), "levels lie between 0 and 1");
        if self.target[self.start] {
            return vec![Wide::ZERO; levels.len()];
        }
        let transient: Vec<usize> = (0..self.matrix.size()).filter(|&x| !self.target[x]).collect();
        let start = transient.iter().position(|&x| x == self.start).unwrap_or(0);
        let highest = levels.iter().copied().fold(0.0, f64::max);
        let strides = strides(self.single(&transient), start, highest);
        levels.iter().map(|&level| walk(&strides, start, level).steps + Wide::ONE).collect()
    }

    fn single(&self, transient: &[usize]) -> Stride {
        let mut stay = Matrix::zero(transient.len());
        let mut hit = Vec::new();
        for (i, &x) in transient.iter().enumerate() {
            for (j, &y) in transient.iter().enumerate() {
                stay.set(i, j, self.matrix.at(x, y));
            }
            let targets = (0..self.matrix.size()).filter(|&y| self.target[y]);
            hit.push(targets.map(|y| self.matrix.at(x, y)).sum());
        }
        Stride { steps: Wide::ONE, stay, hit }
    }
}

impl Stride {
    fn double(&self) -> Self {
        let size = self.hit.len();
        let later = self.stay.pull(&self.hit);
        let hit: Vec<Wide> = self.hit.iter().zip(later).map(|(&a, b)| a + b).collect();
        let mut stay = Matrix::zero(size);
        for (i, arrived) in hit.iter().enumerate() {
            let row = self.stay.push_row(i);
            let total = row.iter().copied().sum::<Wide>().to_f64();
            let rest = 1.0 - arrived.to_f64();
            let scale = if rest > 0.5 && total > 0.0 { rest / total } else { 1.0 };
            for (j, &value) in row.iter().enumerate() {
                stay.set(i, j, value * Wide::new(scale));
            }
        }
        Self { steps: self.steps + self.steps, stay, hit }
    }
}

impl Matrix<Wide> {
    /// Row i of the square of the matrix.
    fn push_row(&self, i: usize) -> Vec<Wide> {
        self.push(self.row(i))
    }
}

/// Doubles a stride until the highest level is reached.
pub(super) fn strides(single: Stride, start: usize, highest: f64) -> Vec<Stride> {
    let mut strides = vec![single];
    while strides[strides.len() - 1].hit[start].to_f64() < highest && strides.len() < 4000 {
        strides.push(strides[strides.len() - 1].double());
    }
    strides
}

/// Where a walk stopped.
pub(super) struct Walked {
    pub(super) steps: Wide,
    pub(super) arrived: Wide,
    /// The law of what has not arrived.
    pub(super) measure: Vec<Wide>,
}

/// Walks down the strides as long as the level is not reached: one more of the shortest reaches it.
pub(super) fn walk(strides: &[Stride], start: usize, level: f64) -> Walked {
    let mut measure = vec![Wide::ZERO; strides[0].hit.len()];
    measure[start] = Wide::ONE;
    let (mut steps, mut arrived) = (Wide::ZERO, Wide::ZERO);
    for stride in strides.iter().rev() {
        let more = measure.iter().zip(&stride.hit).map(|(&m, &h)| m * h).sum::<Wide>();
        let then = arrived + more;
        if then.to_f64() < level {
            arrived = then;
            steps += stride.steps;
            measure = stride.stay.push(&measure);
        }
    }
    Walked { steps, arrived, measure }
}
