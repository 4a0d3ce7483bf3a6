//! Where the search for a constant starts: along the slow mode, at single states, at random.

use padir_base::random::Purpose;

use super::quotient::Quotient;
use super::{Origin, SearchSettings};
use crate::chain::{Blocks, symmetric_matrix};
use crate::distribution::Distribution;
use crate::spectrum::{DENSE_STATES, SpectrumError};

/// How far q is tilted along the slow mode.
const TILTS: [f64; 6] = [0.01, -0.01, 0.5, -0.5, 3.0, -3.0];

/// How many of the rarest and of the likeliest states are starts.
const POINTS: (usize, usize) = (8, 4);

/// Densities to start from, made one at a time: there may be many.
pub(super) struct Starts<'a> {
    q: &'a Distribution,
    states: &'a [usize],
    settings: &'a SearchSettings,
    /// The slow eigenfunction at every possible state, of unit variance; empty if unknown.
    slow: Vec<f64>,
    points: Vec<usize>,
}

impl<'a> Starts<'a> {
    pub(super) fn new(
        q: &'a Distribution,
        blocks: &Blocks,
        quotient: &'a Quotient,
        settings: &'a SearchSettings,
    ) -> Result<Self, SpectrumError> {
        let states = quotient.states();
        let known = states.len() > 1 && q.space().size() <= DENSE_STATES;
        let slow = if known { slow_mode(q, blocks, states)? } else { Vec::new() };
        let mut sorted: Vec<usize> = (0..states.len()).collect();
        sorted.sort_by(|&a, &b| q.log_prob(states[a]).total_cmp(&q.log_prob(states[b])));
        let rare = sorted.iter().take(POINTS.0).copied();
        let likely = sorted.iter().skip(POINTS.0).rev().take(POINTS.1).copied();
        let points = if states.len() > 1 { rare.chain(likely).collect() } else { Vec::new() };
        Ok(Self { q, states, settings, slow, points })
    }

    fn along_slow_mode(&self) -> usize {
        if self.slow.is_empty() { 0 } else { TILTS.len() + 2 }
    }

    pub(super) fn len(&self) -> usize {
        if self.states.len() < 2 {
            return 0;
        }
        self.along_slow_mode() + self.points.len() + 2 * self.settings.starts
    }

    /// Start i as ln w.
    pub(super) fn get(&self, i: usize) -> (Origin, Vec<f64>) {
        let slow = self.along_slow_mode();
        if i < slow {
            return if let Some(tilt) = TILTS.get(i) {
                (Origin::SlowMode, self.tilted(|f| (tilt * f).clamp(-30.0, 30.0)))
            } else {
                let sign = if i == TILTS.len() { 12.0 } else { -12.0 };
                (Origin::Side, self.tilted(|f| if f > 0.0 { sign } else { 0.0 }))
            };
        }
        if let Some(&point) = self.points.get(i - slow) {
            let mut log = vec![0.0; self.states.len()];
            log[point] = 12.0 - self.q.log_prob(self.states[point]);
            return (Origin::Point(self.states[point]), log);
        }
        let i = i - slow - self.points.len();
        self.random(i / 2, i % 2 == 1)
    }

    fn tilted(&self, tilt: impl Fn(f64) -> f64) -> Vec<f64> {
        self.slow.iter().map(|&f| tilt(f)).collect()
    }

    fn random(&self, i: usize, product: bool) -> (Origin, Vec<f64>) {
        let mut stream = self.settings.seed.stream(Purpose::Search, i as u64);
        let scale = 0.3 * (1 + i % 5) as f64;
        let noise: Vec<f64> = self.states.iter().map(|_| scale * stream.normal()).collect();
        if !product {
            return (Origin::Random(i), noise);
        }
        let space = self.q.space();
        let tilts: Vec<Vec<f64>> = (0..space.sites())
            .map(|_| (0..space.symbols()).map(|_| 2.0 * stream.normal()).collect())
            .collect();
        let tilt = |&x: &usize| space.symbols_of(x).zip(&tilts).map(|(s, t)| t[s]).sum();
        (Origin::Product(i), self.states.iter().map(tilt).collect())
    }
}

/// The eigenfunction of the second eigenvalue at the possible states, of unit variance.
fn slow_mode(
    q: &Distribution,
    blocks: &Blocks,
    states: &[usize],
) -> Result<Vec<f64>, SpectrumError> {
    let matrix = symmetric_matrix(q, blocks)?;
    let vector = crate::linalg::eigenvector(&matrix, 1).ok_or(SpectrumError::NoConvergence)?;
    let value = |&x: &usize| {
        let root = (q.log_prob(x) / 2.0).exp();
        if root > 1e-150 { vector[x] / root } else { 0.0 }
    };
    Ok(states.iter().map(value).collect())
}
