//! Coins that are exact however small their probability.
//!
//! A 53-bit uniform number cannot decide an event of probability 10⁻²⁰⁰. A [`Coin`] compares the
//! random bits with the binary expansion of p, word after word, and stops at the first
//! difference: one 64-bit word almost always, more with probability 2⁻⁶⁴ each.

use padir_base::random::Stream;

use crate::wide::Wide;

/// An event of a fixed probability.
///
/// The rarer of the two outcomes is stored, so that neither is lost in the rounding of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coin {
    /// The first 64 bits of the rarer outcome's probability.
    word: u64,
    /// The rest: probability = (word + rest) / 2⁶⁴, 0 ≤ rest < 1.
    rest: Wide,
    /// Whether the rarer outcome is `false`.
    mostly: bool,
}

impl Coin {
    /// p = 1 / (1 + e^−odds): the probability of +1 in a field of odds / 2.
    pub fn from_log_odds(odds: f64) -> Self {
        let weight = Wide::exp(-odds.abs());
        Self { mostly: odds > 0.0, ..Self::rare(weight / (Wide::ONE + weight)) }
    }

    /// p = yes / (yes + no).
    ///
    /// # Panics
    /// If both are zero.
    pub fn from_weights(yes: Wide, no: Wide) -> Self {
        let total = yes + no;
        if yes > no {
            Self { mostly: true, ..Self::rare(no / total) }
        } else {
            Self::rare(yes / total)
        }
    }

    /// An event of probability at most one half.
    fn rare(p: Wide) -> Self {
        let scaled = p * Wide::new(2_f64.powi(64));
        let value = scaled.to_f64();
        if value < 1.0 {
            return Self { word: 0, rest: scaled, mostly: false };
        }
        // 53 significant bits: below 2⁵³ there is a fraction, above there is none.
        let word = value.floor();
        Self { word: word as u64, rest: Wide::new(value - word), mostly: false }
    }

    /// True with probability p.
    #[inline]
    pub fn toss(&self, stream: &mut Stream) -> bool {
        let drawn = stream.next_u64();
        self.decide(drawn, stream)
    }

    /// The outcome, given the first 64 random bits.
    #[inline]
    pub(crate) fn decide(&self, drawn: u64, stream: &mut Stream) -> bool {
        // Seen from above for the likely outcome, so that one threshold separates both.
        let bits = if self.mostly { !drawn } else { drawn };
        let rare = if bits == self.word { self.settle(stream) } else { bits < self.word };
        rare != self.mostly
    }

    /// Random bits below this mean true, above it false; only where they are equal the coin
    /// itself has to [decide](Self::decide).
    pub(crate) fn threshold(&self) -> u64 {
        if self.mostly { !self.word } else { self.word }
    }

    /// The first 64 bits agree: the rest, a probability below one, decides.
    #[cold]
    fn settle(&self, stream: &mut Stream) -> bool {
        if self.rest.is_zero() {
            return false;
        }
        if self.rest > Wide::new(0.5) {
            // A fraction this large has no more than 53 bits left.
            return stream.chance(self.rest.to_f64());
        }
        Self::rare(self.rest).toss(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use padir_base::random::{Purpose, Seed};

    #[test]
    fn coins_hold_the_probability_of_their_rarer_side() {
        for odds in [-1500.0, -100.0, -44.0, -3.0, 0.0, 2.5, 40.0, 900.0_f64] {
            let coin = Coin::from_log_odds(odds);
            let p = (Wide::new(coin.word as f64) + coin.rest) / Wide::new(2_f64.powi(64));
            let exact = -odds.abs() - (-odds.abs()).exp().ln_1p();
            assert!((p.ln() - exact).abs() < 1e-12 * exact.abs().max(1.0), "odds {odds}");
            assert_eq!(coin.mostly, odds > 0.0);
        }
    }

    #[test]
    fn thresholds_decide_like_the_coin() {
        let mut stream = Seed(5).stream(Purpose::Test, 0);
        for odds in [-3.0, 0.0, 0.4, 7.0] {
            let coin = Coin::from_log_odds(odds);
            for _ in 0..1000 {
                let drawn = stream.next_u64();
                assert_eq!(coin.decide(drawn, &mut stream), drawn < coin.threshold(), "{odds}");
            }
        }
    }

    #[test]
    fn frequencies_fit() {
        let mut stream = Seed(4).stream(Purpose::Test, 0);
        for odds in [-2.0, 0.0, 0.5, f64::INFINITY, f64::NEG_INFINITY] {
            let coin = Coin::from_log_odds(odds);
            let heads = (0..50_000).filter(|_| coin.toss(&mut stream)).count() as f64;
            let p = 1.0 / (1.0 + (-odds).exp());
            let deviation = (heads - 5e4 * p).abs();
            assert!(deviation <= 4.5 * (5e4 * p * (1.0 - p)).sqrt(), "odds {odds}: {heads}");
        }
    }

    /// A coin of 2⁻⁶⁶ needs more than one word; seen through its second word it is 1/4.
    #[test]
    fn small_coins_continue_with_the_next_word() {
        let coin = Coin::from_weights(Wide::ONE, Wide::new(2_f64.powi(66)));
        assert_eq!(coin.word, 0);
        assert!((coin.rest.to_f64() - 0.25).abs() < 1e-14);
    }
}
