//! Floating-point numbers of 64·L bits, for sums that cancel.
//!
//! A number is ±m · 2ᵉ with m ∈ [½, 1) in L words, least significant first, or zero. Results are
//! right to the last few bits; nothing is rounded with care, since L is chosen with words to
//! spare. A product costs L² multiplications of words: 20 ns for 256 bits.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use crate::wide::Wide;

/// A number of 64·L bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Multi<const L: usize> {
    negative: bool,
    exponent: i64,
    words: [u64; L],
}

impl<const L: usize> Multi<L> {
    pub(crate) const ZERO: Self = Self { negative: false, exponent: 0, words: [0; L] };

    pub(crate) fn is_zero(&self) -> bool {
        self.words[L - 1] == 0
    }

    pub(crate) fn is_positive(&self) -> bool {
        !self.is_zero() && !self.negative
    }

    /// Exactly.
    pub(crate) fn of_wide(value: Wide) -> Self {
        let (mantissa, exponent) = value.parts();
        if mantissa == 0.0 {
            return Self::ZERO;
        }
        let bits = mantissa.to_bits();
        let mut words = [0; L];
        // The implicit bit and the 52 others, moved to the top.
        words[L - 1] = (bits << 11) | 1 << 63;
        Self { negative: false, exponent: exponent + 1, words }
    }

    /// Exactly, for finite numbers.
    pub(crate) fn of(value: f64) -> Self {
        let size = Self::of_wide(Wide::new(value.abs()));
        if value < 0.0 { -size } else { size }
    }

    /// |x|, rounded down to the bits of a float.
    pub(crate) fn size(&self) -> Wide {
        if self.is_zero() {
            return Wide::ZERO;
        }
        let mantissa = f64::from_bits((self.words[L - 1] << 1 >> 12) | 1023 << 52);
        Wide::from_parts(mantissa, self.exponent - 1)
    }

    /// The float next to it towards zero; ±∞ beyond.
    pub(crate) fn to_f64(self) -> f64 {
        let size = self.size().to_f64();
        if self.negative { -size } else { size }
    }

    /// 1 / x by Newton's iteration, which doubles the bits each time.
    ///
    /// # Panics
    /// If x is zero.
    pub(crate) fn reciprocal(&self) -> Self {
        assert!(!self.is_zero(), "division by zero");
        let one = Self::of(1.0);
        let unit = Self { negative: false, exponent: 0, words: self.words };
        let mut inverse = Self::of(1.0 / unit.to_f64());
        let mut bits = 50;
        while bits < 64 * L {
            inverse = inverse + inverse * (one - unit * inverse);
            bits *= 2;
        }
        Self { negative: self.negative, exponent: inverse.exponent - self.exponent, ..inverse }
    }

    fn compare_sizes(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self
                .exponent
                .cmp(&other.exponent)
                .then_with(|| self.words.iter().rev().cmp(other.words.iter().rev())),
        }
    }

    /// The words moved down by some bits.
    fn lowered(&self, bits: usize) -> [u64; L] {
        let (whole, part) = (bits / 64, bits % 64);
        let mut out = [0; L];
        for (i, out) in out.iter_mut().enumerate().take(L.saturating_sub(whole)) {
            let low = self.words[i + whole] >> part;
            let high = if part > 0 && i + whole + 1 < L {
                self.words[i + whole + 1] << (64 - part)
            } else {
                0
            };
            *out = low | high;
        }
        out
    }

    /// Moves the leading bit to the top.
    fn normal(mut self) -> Self {
        let Some(top) = self.words.iter().rposition(|w| *w != 0) else { return Self::ZERO };
        let (whole, part) = (L - 1 - top, self.words[top].leading_zeros() as usize);
        if whole == 0 && part == 0 {
            return self;
        }
        for i in (0..L).rev() {
            let word =
                |offset: usize| i.checked_sub(whole + offset).map_or(0, |place| self.words[place]);
            let (high, low) = (word(0), word(1));
            self.words[i] = if part == 0 { high } else { high << part | low >> (64 - part) };
        }
        self.exponent -= (64 * whole + part) as i64;
        self
    }

    /// |big| + |small| with the sign of big.
    fn add_sizes(big: &Self, small: &Self) -> Self {
        let Some(distance) = Self::distance(big, small) else { return *big };
        let other = small.lowered(distance);
        let mut words = [0; L];
        let mut carry = false;
        for i in 0..L {
            let (sum, first) = big.words[i].overflowing_add(other[i]);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            words[i] = sum;
            carry = first | second;
        }
        let mut sum = Self { words, ..*big };
        if carry {
            sum.words = sum.lowered(1);
            sum.words[L - 1] |= 1 << 63;
            sum.exponent += 1;
        }
        sum
    }

    /// |big| − |small| with the sign of big.
    fn subtract_sizes(big: &Self, small: &Self) -> Self {
        let Some(distance) = Self::distance(big, small) else { return *big };
        let other = small.lowered(distance);
        let mut words = [0; L];
        let mut borrow = false;
        for i in 0..L {
            let (rest, first) = big.words[i].overflowing_sub(other[i]);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            words[i] = rest;
            borrow = first | second;
        }
        Self { words, ..*big }.normal()
    }

    /// By how many bits small lies below big; none if it does not matter.
    fn distance(big: &Self, small: &Self) -> Option<usize> {
        if small.is_zero() {
            return None;
        }
        usize::try_from(big.exponent - small.exponent).ok().filter(|d| *d < 64 * L)
    }
}

impl<const L: usize> Add for Multi<L> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let order = self.compare_sizes(&other);
        let (big, small) = if order == Ordering::Less { (other, self) } else { (self, other) };
        if big.negative == small.negative {
            Self::add_sizes(&big, &small)
        } else if order == Ordering::Equal {
            Self::ZERO
        } else {
            Self::subtract_sizes(&big, &small)
        }
    }
}

impl<const L: usize> Neg for Multi<L> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

impl<const L: usize> Sub for Multi<L> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<const L: usize> Mul for Multi<L> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        // Column by column; those below the last kept word but one do not matter.
        let (mut low, mut high) = (0_u128, 0_u64);
        let mut words = [0; L];
        let mut guard = 0;
        for column in L.saturating_sub(2)..2 * L {
            for i in (column + 1).saturating_sub(L)..=column.min(L - 1) {
                let product = u128::from(self.words[i]) * u128::from(other.words[column - i]);
                let (sum, carry) = low.overflowing_add(product);
                low = sum;
                high += u64::from(carry);
            }
            let word = low as u64;
            low = low >> 64 | u128::from(high) << 64;
            high = 0;
            if column + 1 == L {
                guard = word;
            } else if column >= L {
                words[column - L] = word;
            }
        }
        let mut exponent = self.exponent + other.exponent;
        if words[L - 1] >> 63 == 0 {
            for i in (0..L).rev() {
                let below = if i > 0 { words[i - 1] } else { guard };
                words[i] = words[i] << 1 | below >> 63;
            }
            exponent -= 1;
        }
        Self { negative: self.negative != other.negative, exponent, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Number = Multi<4>;

    fn close(found: Number, expected: f64) -> bool {
        (found.to_f64() - expected).abs() <= 4e-16 * expected.abs()
    }

    proptest! {
        #[test]
        fn agrees_with_floats(a in -1e60_f64..1e60, b in -1e60_f64..1e60) {
            let (x, y) = (Number::of(a), Number::of(b));
            prop_assert_eq!(x.to_f64().to_bits(), a.to_bits());
            prop_assert!(close(x + y, a + b) && close(x - y, a - b) && close(x * y, a * b));
            prop_assume!(b != 0.0);
            prop_assert!(close(x * y.reciprocal(), a / b));
        }

        /// (a + b)(a − b) = a² − b², to nearly all 256 bits.
        #[test]
        fn a_difference_of_squares_factorises(a in 1.0_f64..2.0, b in 1.0_f64..2.0) {
            let (a, b) = (Number::of(a).reciprocal(), Number::of(b).reciprocal());
            let difference = (a + b) * (a - b) - (a * a - b * b);
            prop_assert!(difference.size().to_f64() < 2_f64.powi(-248), "{difference:?}");
            let one = b * b.reciprocal() - Number::of(1.0);
            prop_assert!(one.size().to_f64() < 2_f64.powi(-250), "{one:?}");
        }
    }

    #[test]
    fn small_numbers_survive_beside_one() {
        let tiny = Number::of(3e-40);
        let found = (Number::of(1.0) + tiny) - Number::of(1.0);
        assert!((found.to_f64() / 3e-40 - 1.0).abs() < 1e-15);
        assert_eq!(Number::of(1.5) - Number::of(1.5), Number::ZERO);
        assert!((Number::of(1.0) - Number::of(2.0)).to_f64() < 0.0);
    }
}
