//! Minimising a convex loss: Newton, L-BFGS, gradient descent.
//!
//! L-BFGS starts from a cheap Hessian ([`Loss::preconditioner`]) instead of a multiple of the
//! identity, which saves most of its iterations. Both it and Newton go on until the gradient is
//! at the level of rounding. Descent is the paper's: a fixed number of steps of fixed length.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::chain::Matrix;
use crate::linalg;

/// How to minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Newton with line search.
    Newton,
    /// L-BFGS with a Hessian as its start.
    Lbfgs,
    /// Gradient descent.
    Descent,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How to minimise.
    pub method: Method,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The gradient's largest entry at which to stop.
    pub tolerance: f64,
    /// The step of gradient descent.
    pub rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Newton, iterations: 500, tolerance: 1e-12, rate: 0.1 }
    }
}

/// Where minimising ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// θ.
    pub parameters: Vec<f64>,
    /// L(θ).
    pub value: f64,
    /// max |∇L(θ)|.
    pub gradient: f64,
    /// The iterations used.
    pub iterations: usize,
    /// The evaluations of the gradient.
    pub evaluations: usize,
    /// Whether the gradient fell below the tolerance, or as far as rounding lets it.
    pub converged: bool,
}

/// A point with its value and gradient.
struct Point {
    parameters: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Gradients below this that no step improves are at the level of rounding.
const ROUNDING: f64 = 1e-9;

struct Search<'a> {
    loss: &'a dyn Loss,
    evaluations: usize,
}

impl Search<'_> {
    fn at(&mut self, parameters: Vec<f64>) -> Point {
        self.evaluations += 1;
        let mut gradient = vec![0.0; parameters.len()];
        let value = self.loss.gradient(&parameters, &mut gradient);
        Point { parameters, value, gradient }
    }

    /// Halves the step until the loss falls enough (Armijo); `None` if rounding forbids it.
    fn step(&mut self, from: &Point, direction: &[f64]) -> Option<Point> {
        let slope = dot(&from.gradient, direction);
        if slope >= 0.0 {
            return None;
        }
        let mut length = 1.0;
        // Near the minimum a step that does not help at a quarter of its length never will.
        for _ in 0..if largest(&from.gradient) < ROUNDING { 3 } else { 40 } {
            let parameters: Vec<f64> =
                from.parameters.iter().zip(direction).map(|(p, d)| p + length * d).collect();
            let point = self.at(parameters);
            // Near the minimum values only differ by rounding; then gradients must decide.
            let flat = slope.abs() < 1e-11 * from.value.abs().max(1.0);
            let better = if flat {
                largest(&point.gradient) < largest(&from.gradient)
            } else {
                point.value <= from.value + 1e-4 * length * slope
            };
            if better {
                return Some(point);
            }
            length *= 0.5;
        }
        None
    }
}

/// Minimises a loss from a starting point.
pub fn minimise(loss: &dyn Loss, start: Vec<f64>, settings: &Settings) -> Minimum {
    let mut search = Search { loss, evaluations: 0 };
    let mut point = search.at(start);
    let mut memory = Memory::default();
    let mut iterations = 0;
    let (mut stuck, mut idle) = (false, 0);
    while iterations < settings.iterations && largest(&point.gradient) > settings.tolerance {
        iterations += 1;
        let next = match settings.method {
            Method::Newton => {
                let hessian = loss.hessian(&point.parameters);
                newton_direction(&hessian, &point.gradient)
                    .and_then(|direction| search.step(&point, &direction))
            }
            Method::Lbfgs => {
                if memory.scale.is_none() {
                    memory.scale = loss.preconditioner(&point.parameters);
                }
                let direction = memory.direction(&point.gradient);
                search.step(&point, &direction)
            }
            Method::Descent => {
                let moved = point.parameters.iter().zip(&point.gradient);
                Some(search.at(moved.map(|(p, g)| p - settings.rate * g).collect()))
            }
        };
        match next {
            Some(next) => {
                let (before, after) = (largest(&point.gradient), largest(&next.gradient));
                memory.learn(&point, &next);
                point = next;
                // Both methods converge faster than this until rounding stops them.
                let slow = after < ROUNDING && after > 0.7 * before;
                idle = if slow { idle + 1 } else { 0 };
                if settings.method != Method::Descent && idle == 4 {
                    stuck = true;
                    break;
                }
            }
            // Far from the minimum, L-BFGS may only have a bad memory.
            None if settings.method == Method::Lbfgs
                && !memory.pairs.is_empty()
                && largest(&point.gradient) > ROUNDING =>
            {
                memory = Memory::default();
            }
            None => {
                stuck = true;
                break;
            }
        }
    }
    let gradient = largest(&point.gradient);
    Minimum {
        converged: gradient <= settings.tolerance || (stuck && gradient < ROUNDING),
        parameters: point.parameters,
        value: point.value,
        gradient,
        iterations,
        evaluations: search.evaluations,
    }
}

/// −H⁻¹g, with the least ridge that makes H positive definite.
pub(super) fn newton_direction(hessian: &Matrix<f64>, gradient: &[f64]) -> Option<Vec<f64>> {
    let downhill: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let largest = (0..hessian.size()).map(|i| hessian.at(i, i)).fold(0.0, f64::max);
    let mut ridge = 0.0;
    for _ in 0..12 {
        let mut lifted = hessian.clone();
        (0..lifted.size()).for_each(|i| lifted.add(i, i, ridge));
        if let Some(direction) = linalg::solve(&lifted, &downhill) {
            return Some(direction);
        }
        ridge = if ridge == 0.0 { 1e-14 * largest } else { ridge * 10.0 };
    }
    None
}

/// The last few steps, and the Hessian they correct.
#[derive(Default)]
struct Memory {
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    scale: Option<Matrix<f64>>,
}

impl Memory {
    const PAIRS: usize = 12;

    fn learn(&mut self, from: &Point, to: &Point) {
        let step: Vec<f64> =
            to.parameters.iter().zip(&from.parameters).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = to.gradient.iter().zip(&from.gradient).map(|(a, b)| a - b).collect();
        if dot(&step, &change) > 1e-14 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if self.pairs.len() == Self::PAIRS {
                self.pairs.remove(0);
            }
            self.pairs.push((step, change));
        }
    }

    /// The two loops of Nocedal (1980).
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut factors = Vec::new();
        for (step, change) in self.pairs.iter().rev() {
            let factor = dot(step, &q) / dot(step, change);
            q.iter_mut().zip(change).for_each(|(x, c)| *x -= factor * c);
            factors.push(factor);
        }
        let mut r = self
            .scale
            .as_ref()
            .and_then(|hessian| linalg::solve(hessian, &q))
            .unwrap_or_else(|| self.scaled(&q));
        for ((step, change), factor) in self.pairs.iter().zip(factors.into_iter().rev()) {
            let correction = factor - dot(change, &r) / dot(step, change);
            r.iter_mut().zip(step).for_each(|(x, s)| *x += correction * s);
        }
        r
    }

    fn scaled(&self, q: &[f64]) -> Vec<f64> {
        let scale =
            self.pairs.last().map_or(1.0, |(step, change)| dot(step, change) / dot(change, change));
        q.iter().map(|x| x * scale).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}
