//! Positive numbers with an unbounded exponent: m · 2ᵉ, m ∈ [1, 2).
//!
//! Hitting times of a frozen chain reach e⁷⁸⁰ and its probabilities e⁻¹²⁰⁰, far outside of `f64`.
//! A [`Wide`] keeps the 53 bits of `f64` over exponents of 64 bits. There is no subtraction: sums,
//! products and quotients of positive numbers lose at most one rounding each, so whatever is
//! computed with them is right to nearly all digits. A few nanoseconds per operation.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul};

/// A number m · 2ᵉ with m ∈ [1, 2), or zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wide {
    mantissa: f64,
    exponent: i64,
}

const LN_2: f64 = std::f64::consts::LN_2;
/// ln 2 − `LN_2`: the part that does not fit into an `f64`.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

impl Wide {
    /// 0.
    pub const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };
    /// 1.
    pub const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    /// A finite number that is not negative.
    ///
    /// # Panics
    /// If the number is negative or not finite: the type cannot hold it.
    pub fn new(value: f64) -> Self {
        assert!(value.is_finite() && value >= 0.0, "{value} is not a finite positive number");
        Self { mantissa: value, exponent: 0 }.normal()
    }

    /// eˣ. The relative error is that of x: |x| · 2⁻⁵³.
    pub fn exp(x: f64) -> Self {
        if x == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let exponent = (x / LN_2).floor();
        let rest = exponent.mul_add(-LN_2_REST, exponent.mul_add(-LN_2, x));
        Self { mantissa: rest.exp(), exponent: exponent as i64 }.normal()
    }

    /// The natural logarithm; −∞ for zero.
    pub fn ln(self) -> f64 {
        let exponent = self.exponent as f64;
        self.mantissa.ln() + exponent * LN_2_REST + exponent * LN_2
    }

    /// The nearest `f64`: ∞ or 0 if it lies outside of the range.
    pub fn to_f64(self) -> f64 {
        match self.exponent {
            1024.. => f64::INFINITY,
            ..-1100 => 0.0,
            // In two steps, so that subnormal numbers are reached.
            e => self.mantissa * 2_f64.powi((e / 2) as i32) * 2_f64.powi((e - e / 2) as i32),
        }
    }

    /// Whether the number is zero.
    pub fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    /// m ∈ [1, 2) and e; (0, 0) for zero.
    pub(crate) fn parts(self) -> (f64, i64) {
        (self.mantissa, self.exponent)
    }

    /// m · 2ᵉ for m ∈ [1, 2).
    pub(crate) fn from_parts(mantissa: f64, exponent: i64) -> Self {
        Self { mantissa, exponent }.normal()
    }

    fn normal(self) -> Self {
        let Self { mantissa, exponent } = self;
        if (1.0..2.0).contains(&mantissa) {
            return self;
        }
        if mantissa == 0.0 {
            return Self::ZERO;
        }
        if mantissa < f64::MIN_POSITIVE {
            // Subnormal: lift it into the normal range first.
            return Self { mantissa: mantissa * 2_f64.powi(64), exponent: exponent - 64 }.normal();
        }
        let bits = mantissa.to_bits();
        let shift = (bits >> 52) as i64 - 1023;
        let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        Self { mantissa, exponent: exponent + shift }
    }
}

impl Add for Wide {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        let (big, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let distance = big.exponent - small.exponent;
        if distance > 60 {
            return big;
        }
        // 2^-distance, by its bits.
        let scale = f64::from_bits(((1023 - distance) as u64) << 52);
        let mantissa = small.mantissa.mul_add(scale, big.mantissa);
        if mantissa < 2.0 {
            Self { mantissa, exponent: big.exponent }
        } else {
            Self { mantissa: mantissa * 0.5, exponent: big.exponent + 1 }
        }
    }
}

impl AddAssign for Wide {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul for Wide {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let mantissa = self.mantissa * other.mantissa;
        let exponent = self.exponent + other.exponent;
        if mantissa >= 2.0 {
            Self { mantissa: mantissa * 0.5, exponent: exponent + 1 }
        } else if mantissa == 0.0 {
            Self::ZERO
        } else {
            Self { mantissa, exponent }
        }
    }
}

impl Div for Wide {
    type Output = Self;

    /// # Panics
    /// On a division by zero.
    #[inline]
    fn div(self, other: Self) -> Self {
        assert!(!other.is_zero(), "division by zero");
        let mantissa = self.mantissa / other.mantissa;
        Self { mantissa, exponent: self.exponent - other.exponent }.normal()
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let key = |w: &Self| (if w.is_zero() { i64::MIN } else { w.exponent }, w.mantissa);
        key(self).partial_cmp(&key(other))
    }
}

impl std::iter::Sum for Wide {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Wide {
    /// As an `f64` where it is one, else like `1.2345678901e339`: a JSON number either way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_f64();
        if value == 0.0 && self.is_zero() {
            return f.write_str("0.0");
        }
        if value.is_finite() && value >= f64::MIN_POSITIVE {
            return if (1e-5..1e16).contains(&value) {
                write!(f, "{value:?}")
            } else {
                write!(f, "{value:e}")
            };
        }
        let log10 = self.ln() / std::f64::consts::LN_10;
        let mut exponent = log10.floor();
        let mut digits = format!("{:.11}", ((log10 - exponent) * std::f64::consts::LN_10).exp());
        if digits.starts_with("10") {
            "1.00000000000".clone_into(&mut digits);
            exponent += 1.0;
        }
        write!(f, "{digits}e{exponent}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exp_and_ln_are_inverse_far_outside_of_f64() {
        for x in [-1e5, -1200.5, -745.2, -1.0, 0.0, 0.7, 709.9, 1e4] {
            let found = Wide::exp(x).ln();
            assert!((found - x).abs() <= 4e-16 * x.abs().max(1.0), "ln exp {x} = {found}");
        }
    }

    #[test]
    fn prints_json_numbers() {
        let cases = [
            (Wide::new(42.0), "42.0"),
            (Wide::ZERO, "0.0"),
            (Wide::new(1.5e300), "1.5e300"),
            (Wide::exp(1000.0), "1.97007111402e434"),
            (Wide::exp(-2000.0), "2.57653587296e-869"),
        ];
        for (number, expected) in cases {
            assert_eq!(number.to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_f64_inside_of_its_range(a in 1e-80_f64..1e80, b in 1e-80_f64..1e80) {
            let (x, y) = (Wide::new(a), Wide::new(b));
            let close = |found: Wide, expected: f64| {
                (found.to_f64() - expected).abs() <= 2.3e-16 * expected.abs()
            };
            prop_assert!(close(x + y, a + b));
            prop_assert!(close(x * y, a * b));
            prop_assert!(close(x / y, a / b));
            prop_assert_eq!(x.partial_cmp(&y), a.partial_cmp(&b));
        }
    }

    #[test]
    fn subnormal_numbers_come_and_go() {
        for value in [5e-324, 1e-310, f64::MIN_POSITIVE] {
            assert_eq!(Wide::new(value).to_f64().to_bits(), value.to_bits(), "{value}");
        }
    }
}
