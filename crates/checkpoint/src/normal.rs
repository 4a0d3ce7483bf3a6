//! Normal numbers that are the same on every machine.
//!
//! Box and Muller: √(−2 ln u)·(cos 2πv, sin 2πv). The mathematics libraries of systems differ in
//! the last bit, and so would weights drawn from one seed. Here logarithm, sine and cosine are
//! sums of products, which IEEE 754 fixes to the bit. Errors are below 10⁻¹⁵, far below what the
//! rounding to f32 leaves. About 10 ns per number.

use std::f64::consts::{FRAC_PI_2, LN_2, SQRT_2};

use padir_base::random::Stream;

/// Two independent standard normal numbers.
pub(crate) fn pair(stream: &mut Stream) -> [f64; 2] {
    let radius = (-2.0 * ln(stream.open_uniform())).sqrt();
    let (cos, sin) = turn(stream.uniform());
    [radius * cos, radius * sin]
}

/// ln x for a positive normal number x = m·2ᵉ with m in [√½, √2): e ln 2 + 2 artanh s where
/// s = (m − 1)/(m + 1), |s| < 0.1716.
fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut m = f64::from_bits(bits & MANTISSA | 1023 << 52);
    if m >= SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let series = (0..11).rev().fold(0.0, |sum, k| sum * s2 + 1.0 / f64::from(2 * k + 1));
    f64::from(exponent) * LN_2 + 2.0 * s * series
}

/// Cosine and sine of 2πv for v in [0, 1): the angle to the nearest quarter turn by Taylor, the
/// quarters by symmetry.
fn turn(v: f64) -> (f64, f64) {
    let quarter = (4.0 * v + 0.5).floor();
    let x = (4.0 * v - quarter) * FRAC_PI_2; // |x| ≤ π/4
    let x2 = x * x;
    let (mut cos, mut sin) = (1.0, 1.0);
    for k in (1..10).rev() {
        let k = f64::from(2 * k);
        cos = 1.0 - cos * x2 / (k * (k - 1.0));
        sin = 1.0 - sin * x2 / (k * (k + 1.0));
    }
    sin *= x;
    match quarter as u8 % 4 {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    #[test]
    fn functions_are_those_of_the_system() {
        let mut stream = Seed(1).stream(Purpose::Test, 0);
        let tiny = (0..60).map(|e| 0.5_f64.powi(e));
        for u in (0..100_000).map(|_| stream.open_uniform()).chain(tiny) {
            assert!((ln(u) - u.ln()).abs() <= 1e-15 * (1.0 + u.ln().abs()), "ln {u}");
            let (cos, sin) = turn(u % 1.0);
            let (y, x) = (std::f64::consts::TAU * (u % 1.0)).sin_cos();
            // The system's own argument 2πu is rounded to 4e-16.
            assert!((cos - x).abs() < 2e-15 && (sin - y).abs() < 2e-15, "turn {u}");
        }
    }

    #[test]
    fn numbers_have_the_moments_of_a_normal() {
        let mut stream = Seed(3).stream(Purpose::Test, 0);
        let draws: Vec<f64> = (0..100_000).flat_map(|_| pair(&mut stream)).collect();
        let moment = |k| draws.iter().map(|x| f64::powi(*x, k)).sum::<f64>() / draws.len() as f64;
        let found = [moment(1), moment(2), moment(3), moment(4)];
        let good = found.iter().zip([0.0, 1.0, 0.0, 3.0]).all(|(a, b)| (a - b).abs() < 0.08);
        assert!(good, "{found:?}");
        let products: f64 = draws.chunks(2).map(|d| d[0] * d[1]).sum();
        assert!(products.abs() / 1e5 < 0.02, "{products}");
    }
}
