//! Special functions: ln Γ and the χ² distribution function.

/// Coefficients of Lanczos' approximation, g = 7, n = 9.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// ln Γ(x) for x > 0.
fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        // Γ(x) Γ(1 − x) = π / sin πx.
        let sine = (std::f64::consts::PI * x).sin();
        return (std::f64::consts::PI / sine).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let sum = LANCZOS[1..]
        .iter()
        .enumerate()
        .fold(LANCZOS[0], |sum, (i, c)| sum + c / (x + i as f64 + 1.0));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

/// P(χ² ≤ x) with so many degrees of freedom: the regularised lower incomplete gamma function
/// P(d/2, x/2), by its series below the mean and a continued fraction above.
pub(crate) fn chi_squared_cdf(degrees: usize, x: f64) -> f64 {
    let (a, x) = (degrees as f64 / 2.0, x / 2.0);
    if x <= 0.0 {
        return 0.0;
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (scale * sum).min(1.0);
    }
    // Lentz' method.
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = b + an / c;
        c = if c.abs() < tiny { tiny } else { c };
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - scale * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// reference/lab/estimators.py, 50 digits.
    #[test]
    fn the_distribution_is_the_known_one() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../../reference/lab/estimators.json")).unwrap();
        let cases = golden["chi_squared"].as_array().unwrap();
        assert!(cases.len() >= 10);
        for case in cases {
            let degrees = case["degrees"].as_u64().unwrap() as usize;
            let (x, wanted) = (case["x"].as_f64().unwrap(), case["p"].as_f64().unwrap());
            let found = chi_squared_cdf(degrees, x);
            assert!((found - wanted).abs() < 1e-13, "d = {degrees}, x = {x}: {found} {wanted}");
        }
        assert!(chi_squared_cdf(3, 0.0).abs() < f64::MIN_POSITIVE);
    }
}
