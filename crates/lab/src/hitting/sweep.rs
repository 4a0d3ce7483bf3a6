//! Hitting times of scans, counted in updates of a block.
//!
//! A sweep is one step of a chain on the states outside of the target, with all that arrives in
//! the middle of a sweep taken out. O(m S²) to write it down, O(S³/3) to solve.

use rayon::prelude::*;

use super::law::{Stride, strides, walk};
use crate::chain::{BlockUpdate, ChainError, Matrix};
use crate::distribution::Distribution;
use crate::gth::absorb_killed;
use crate::wide::Wide;

/// A scan on its way to a target.
#[derive(Clone, Debug)]
pub struct SweepHitting {
    updates: Vec<BlockUpdate<Wide>>,
    target: Vec<bool>,
    start: usize,
    /// The states outside of the target.
    outside: Vec<usize>,
    /// A sweep on them.
    stay: Matrix<Wide>,
    /// The probability of arriving within a sweep, state by state.
    hit: Vec<Wide>,
    /// P(T > j) for j = 0..m within the first sweep, state by state.
    alive: Vec<Vec<Wide>>,
}

impl SweepHitting {
    /// The blocks of a sweep, where it starts, and the states it is to reach.
    ///
    /// # Errors
    /// If a block makes no sense.
    ///
    /// # Panics
    /// If there is not one flag per state, or the start is no state.
    pub fn new(
        p: &Distribution,
        sweep: &[Vec<usize>],
        start: usize,
        target: Vec<bool>,
    ) -> Result<Self, ChainError> {
        let size = p.space().size();
        assert!(target.len() == size && start < size, "one flag per state");
        let updates: Vec<BlockUpdate<Wide>> =
            sweep.iter().map(|block| BlockUpdate::new(p, block)).collect::<Result<_, _>>()?;
        let outside: Vec<usize> = (0..size).filter(|&x| !target[x]).collect();
        let rows: Vec<Row> = outside.par_iter().map(|&x| Row::from(x, &updates, &target)).collect();
        let mut stay = Matrix::zero(outside.len());
        let (mut hit, mut alive) = (Vec::new(), Vec::new());
        for (i, row) in rows.into_iter().enumerate() {
            for (j, &y) in outside.iter().enumerate() {
                stay.set(i, j, row.measure[y]);
            }
            hit.push(row.hit);
            alive.push(row.alive);
        }
        Ok(Self { updates, target, start, outside, stay, hit, alive })
    }

    /// The place of the start among the states outside; none if it is in the target.
    fn place(&self) -> Option<usize> {
        self.outside.iter().position(|&x| x == self.start)
    }

    /// E T and the standard deviation of T.
    ///
    /// With Q a sweep of m updates, E T = Σ_{j<m} P(T > j) + Q E T and
    /// E T² = Σ_{j<m} (2j + 1) P(T > j) + Q (2m E T + E T²).
    ///
    /// # Errors
    /// If the target cannot be reached.
    pub fn moments(&self) -> Result<(Wide, Wide), ChainError> {
        let Some(place) = self.place() else { return Ok((Wide::ZERO, Wide::ZERO)) };
        let unreachable = ChainError::Unfit("the target cannot be reached from every state");
        let solve = |side: Vec<Wide>| absorb_killed(&self.stay, &self.hit, &side);
        let first = self.alive.iter().map(|alive| alive.iter().copied().sum()).collect();
        let times = solve(first).ok_or(unreachable.clone())?;
        let double = Wide::new(2.0 * self.updates.len() as f64);
        let later = self.stay.pull(&times);
        let side = self.alive.iter().zip(later).map(|(alive, t)| {
            let now = alive.iter().enumerate();
            let now: Wide = now.map(|(j, &p)| Wide::new((2 * j + 1) as f64) * p).sum();
            now + double * t
        });
        let squares = solve(side.collect()).ok_or(unreachable)?;
        let mean = times[place];
        let relative = (squares[place] / mean / mean).to_f64() - 1.0;
        Ok((mean, mean * Wide::new(relative.max(0.0).sqrt())))
    }

    /// P(T > t) for t = 0, 1, …, `steps`, t counting updates.
    pub fn survival(&self, steps: usize) -> Vec<f64> {
        let mut measure = vec![Wide::ZERO; self.target.len()];
        measure[self.start] = Wide::ONE;
        take_out(&mut measure, &self.target);
        let mut curve = vec![measure.iter().copied().sum::<Wide>().to_f64()];
        for step in 0..steps {
            self.updates[step % self.updates.len()].push(&mut measure);
            take_out(&mut measure, &self.target);
            curve.push(measure.iter().copied().sum::<Wide>().to_f64());
        }
        curve
    }

    /// The smallest t with P(T ≤ t) ≥ `level`, for each level in (0, 1).
    ///
    /// # Panics
    /// If a level does not lie in (0, 1).
    pub fn quantiles(&self, levels: &[f64]) -> Vec<Wide> {
        assert!(levels.iter().all(|l| *l > 0.0 && *l < 1.0), "levels lie between 0 and 1");
        let Some(place) = self.place() else { return vec![Wide::ZERO; levels.len()] };
        let single = Stride {
            steps: Wide::new(self.updates.len() as f64),
            stay: self.stay.clone(),
            hit: self.hit.clone(),
        };
        let highest = levels.iter().copied().fold(0.0, f64::max);
        let strides = strides(single, place, highest);
        levels.iter().map(|&level| self.quantile(&strides, place, level)).collect()
    }

    fn quantile(&self, strides: &[Stride], place: usize, level: f64) -> Wide {
        let mut walked = walk(strides, place, level);
        let mut measure = vec![Wide::ZERO; self.target.len()];
        for (&x, &mass) in self.outside.iter().zip(&walked.measure) {
            measure[x] = mass;
        }
        for update in &self.updates {
            update.push(&mut measure);
            walked.arrived += take_out(&mut measure, &self.target);
            walked.steps += Wide::ONE;
            if walked.arrived.to_f64() >= level {
                break;
            }
        }
        walked.steps
    }
}

/// What one sweep makes of one state.
struct Row {
    measure: Vec<Wide>,
    hit: Wide,
    alive: Vec<Wide>,
}

impl Row {
    fn from(x: usize, updates: &[BlockUpdate<Wide>], target: &[bool]) -> Self {
        let mut row =
            Self { measure: vec![Wide::ZERO; target.len()], hit: Wide::ZERO, alive: Vec::new() };
        row.measure[x] = Wide::ONE;
        for update in updates {
            row.alive.push(row.measure.iter().copied().sum());
            update.push(&mut row.measure);
            row.hit += take_out(&mut row.measure, target);
        }
        row
    }
}

/// Sets the target to zero; returns what was there.
fn take_out(measure: &mut [Wide], target: &[bool]) -> Wide {
    let mut out = Wide::ZERO;
    for (mass, _) in measure.iter_mut().zip(target).filter(|(_, hit)| **hit) {
        out += *mass;
        *mass = Wide::ZERO;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};

    /// One spin after the other from −− to ++ with fair independent spins: a sweep arrives iff both
    /// come up, at its second update, or at the first if the second was up already.
    #[test]
    fn two_fair_spins_are_a_sum() {
        let model = Model::Ising(Ising::uniform(2, &Shape::Independent, 0.0, 0.0).unwrap());
        let p = model.enumerate().unwrap();
        let chain = SweepHitting::new(&p, &[vec![0], vec![1]], 0, (0..4).map(|x| x == 3).collect())
            .unwrap();
        // By hand: P(T > t) = 1, 1, 3/4, 5/8, …: a walk on runs of two up among fair coins.
        let survival = chain.survival(4);
        for (found, wanted) in survival.iter().zip([1.0, 1.0, 0.75, 0.625, 0.5]) {
            assert!((found - wanted).abs() < 1e-15, "{survival:?}");
        }
        // Expected flips until two heads in a row: 6, deviation √22.
        let (mean, deviation) = chain.moments().unwrap();
        assert!((mean.to_f64() - 6.0).abs() < 1e-12, "{mean}");
        assert!((deviation.to_f64() - 22_f64.sqrt()).abs() < 1e-12, "{deviation}");
        let quantiles = chain.quantiles(&[0.2, 0.25, 0.3, 0.5, 0.51]);
        let found: Vec<f64> = quantiles.iter().map(|q| q.to_f64()).collect();
        assert_eq!(found, [2.0, 2.0, 3.0, 4.0, 5.0]);
    }

    /// Sums of the survival curve are the moments.
    #[test]
    fn moments_are_sums_of_the_survival_curve() {
        let shape = Shape::Chain { periodic: false };
        let model = Model::Ising(Ising::uniform(4, &shape, 0.2, 0.7).unwrap());
        let p = model.enumerate().unwrap();
        for sweep in [vec![vec![0], vec![1], vec![2], vec![3]], vec![vec![0, 2], vec![1, 3]]] {
            let target = (0..16).map(|x| x == 15).collect();
            let chain = SweepHitting::new(&p, &sweep, 0, target).unwrap();
            let curve = chain.survival(4000);
            let mean: f64 = curve.iter().sum();
            let square: f64 = curve.iter().enumerate().map(|(u, p)| (2 * u + 1) as f64 * p).sum();
            let (found, deviation) = chain.moments().unwrap();
            assert!((found.to_f64() / mean - 1.0).abs() < 1e-11);
            assert!((deviation.to_f64() / (square - mean * mean).sqrt() - 1.0).abs() < 1e-10);
            for level in [0.05, 0.5, 0.95] {
                let wanted = curve.iter().position(|s| 1.0 - s >= level).unwrap();
                assert_eq!(chain.quantiles(&[level])[0].to_f64() as usize, wanted);
            }
        }
    }
}
