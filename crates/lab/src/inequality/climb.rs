//! Newton's method uphill, damped so that every accepted step climbs.
//!
//! The step solves (σ − H) z = gradient with σ as small as positive definiteness and ascent
//! allow. Up to [`DENSE`] states the system is factorised, above it conjugate gradients do.

use super::quotient::{Point, Quotient};
use crate::chain::Matrix;
use crate::linalg;

/// The largest system that is factorised.
const DENSE: usize = 192;

/// No step changes ln w by more.
const LONGEST: f64 = 4.0;

/// Climbs from ln w; none if the quotient makes no sense there.
pub(super) fn climb(quotient: &Quotient, log: Vec<f64>, iterations: usize) -> Option<Point> {
    let mut point = Some(quotient.at(log)).filter(Point::is_sound)?;
    let mut damping = 1.0 / point.entropy;
    let mut idle = 0;
    for _ in 0..iterations {
        let before = point.ratio();
        let (next, used) = step(quotient, &point, damping);
        let Some(next) = next else { break };
        damping = (used / 6.0).max(1e-9 / next.entropy);
        idle = if next.ratio() > before * (1.0 + 1e-14) { 0 } else { idle + 1 };
        point = next;
        if idle == 3 {
            break;
        }
    }
    Some(point)
}

/// One accepted step and its damping; no point where none climbs.
fn step(quotient: &Quotient, point: &Point, mut damping: f64) -> (Option<Point>, f64) {
    let slope = point.slope();
    let matrix = (slope.len() <= DENSE).then(|| curvature_matrix(quotient, point));
    for _ in 0..40 {
        let z = match &matrix {
            Some(matrix) => factorised(matrix, damping, &slope),
            None => conjugate(quotient, point, damping, &slope),
        };
        if let Some(z) = z {
            let gain: f64 = z.iter().zip(&slope).map(|(a, b)| a * b).sum();
            if gain < 1e-16 {
                return (None, damping);
            }
            let length = (LONGEST / point.reach(&z)).min(1.0);
            let trial = quotient.at(point.moved(&z, length));
            if trial.is_sound() && trial.ratio() >= point.ratio() {
                return (Some(trial), damping);
            }
        }
        damping *= 6.0;
    }
    (None, damping)
}

fn curvature_matrix(quotient: &Quotient, point: &Point) -> Matrix<f64> {
    let size = point.log.len();
    let mut matrix = Matrix::zero(size);
    let mut unit = vec![0.0; size];
    for x in 0..size {
        unit[x] = 1.0;
        for (y, value) in quotient.curvature(point, &unit).into_iter().enumerate() {
            matrix.set(y, x, value);
        }
        unit[x] = 0.0;
    }
    matrix
}

fn factorised(matrix: &Matrix<f64>, damping: f64, side: &[f64]) -> Option<Vec<f64>> {
    let mut shifted = matrix.clone();
    for x in 0..side.len() {
        for value in shifted.row_mut(x) {
            *value = -*value;
        }
        shifted.add(x, x, damping);
    }
    linalg::solve(&shifted, side)
}

/// Conjugate gradients, stopped early or where the curvature turns up.
fn conjugate(quotient: &Quotient, point: &Point, damping: f64, side: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut z = vec![0.0; side.len()];
    let (mut rest, mut direction) = (side.to_vec(), side.to_vec());
    let first = dot(side, side);
    let mut norm = first;
    for round in 0..80 {
        let bent = quotient.curvature(point, &direction);
        let image: Vec<f64> = bent.iter().zip(&direction).map(|(b, d)| damping * d - b).collect();
        let energy = dot(&image, &direction);
        if energy <= 0.0 {
            return (round > 0).then_some(z);
        }
        let length = norm / energy;
        z.iter_mut().zip(&direction).for_each(|(z, d)| *z += length * d);
        rest.iter_mut().zip(&image).for_each(|(r, i)| *r -= length * i);
        let next = dot(&rest, &rest);
        if next < 1e-8 * first {
            break;
        }
        direction.iter_mut().zip(&rest).for_each(|(d, r)| *d = r + next / norm * *d);
        norm = next;
    }
    z.iter().all(|v| v.is_finite()).then_some(z)
}
