//! Entropies without cancellation.
//!
//! KL(r‖q) = Σ r ln(r/q) is a small sum of large terms of both signs when r is near q. With
//! r = q (1 + u) and Σ q u = 0 it is also Σ q φ(u), φ(u) = (1 + u) ln(1 + u) − u ≥ 0: no term is
//! negative, and what rounding does to u enters squared.

use crate::distribution::Distribution;

/// Below this, φ comes from its series.
const SERIES: f64 = 0.125;

/// φ(u) = (1 + u) ln(1 + u) − u for u ≥ −1; φ(−1) = 1.
pub fn phi(u: f64) -> f64 {
    if u <= -1.0 {
        return 1.0;
    }
    if u.abs() > SERIES {
        return (1.0 + u) * u.ln_1p() - u;
    }
    // u²/2 − u³/6 + … = Σ (−u)ⁿ / (n (n − 1)); 20 terms leave less than 2⁻⁵³.
    let sum = (2..=20).rev().fold(0.0, |sum, n| {
        let n = f64::from(n);
        sum * -u + 1.0 / (n * (n - 1.0))
    });
    u * u * sum
}

/// KL(r‖p) of a law r given state by state; ∞ if r has mass where p has none.
pub fn kullback_leibler(law: &[f64], p: &Distribution) -> f64 {
    let term = |(x, &mass): (usize, &f64)| {
        let log = p.log_prob(x);
        let target = log.exp();
        let ratio = (mass - target) / target;
        if ratio.abs() <= SERIES {
            target * phi(ratio)
        } else if mass > 0.0 {
            // Through logarithms, as p itself may be smaller than any float.
            mass * (mass.ln() - log) - mass + target
        } else {
            target
        }
    };
    law.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;

    /// reference/lab/strong.py, 60 digits.
    #[test]
    fn phi_keeps_its_digits_everywhere() {
        let cases = [
            (1e-8, 4.999_999_983_333_333e-17),
            (-1e-4, 5.000_166_675_000_5e-9),
            (0.124, 7.388_576_653_965_249e-3),
            (-0.126, 8.294_134_492_550_209e-3),
            (-0.999, 0.992_092_244_721_017_9),
            (3.0, 2.545_177_444_479_562),
        ];
        for (u, expected) in cases {
            let error = (phi(u) - expected).abs();
            assert!(error <= 3e-14 * expected, "φ({u}) = {:e}, not {expected:e}", phi(u));
        }
        assert!((phi(-1.0) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn divergence_near_equilibrium_is_half_of_chi_squared() {
        let space = Space::new(2, 2).unwrap();
        let p = Distribution::from_log_weights(space, vec![0.3, -1.0, 0.2, 0.9]);
        let tilt = [1.0, -2.0, 0.5, 0.25];
        let probs = p.probs();
        let mean: f64 = tilt.iter().zip(&probs).map(|(t, p)| t * p).sum();
        let law: Vec<f64> =
            tilt.iter().zip(&probs).map(|(t, p)| p * (1.0 + 1e-9 * (t - mean))).collect();
        let chi: f64 = law.iter().zip(&probs).map(|(a, b)| (a - b).powi(2) / b).sum();
        let found = kullback_leibler(&law, &p);
        assert!((found / (chi / 2.0) - 1.0).abs() < 1e-6, "{found:e} and {chi:e}");
    }

    #[test]
    fn mass_on_an_impossible_state_is_infinitely_far() {
        let space = Space::new(1, 2).unwrap();
        let p = Distribution::from_log_weights(space, vec![0.0, f64::NEG_INFINITY]);
        assert!(kullback_leibler(&[0.5, 0.5], &p) > f64::MAX);
        assert!(kullback_leibler(&[1.0, 0.0], &p).abs() < f64::MIN_POSITIVE);
    }
}
