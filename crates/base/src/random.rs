//! Random numbers with a purpose.
//!
//! A [`Stream`] is the counter-based generator Philox 4×32-10 (Salmon et al., *Parallel random
//! numbers: as easy as 1, 2, 3*, SC 2011). Its key is the [`Seed`], its counter names the
//! [`Purpose`], an index (a sentence, a chain, a step) and a running block number:
//!
//! ```text
//! block(seed, purpose, index, i) = philox(key = seed, counter = (i, purpose, index))
//! ```
//!
//! Nothing is shared between streams, so work may be split over any number of threads, or
//! resumed anywhere, and every draw stays what it was. The streams are part of the file formats
//! (a run is reproducible from its seed), hence written here and not left to a library that may
//! change its algorithms. About 1 ns per 32-bit draw.
//!
//! ```
//! use padir_base::random::{Purpose, Seed};
//! let mut masks = Seed(7).stream(Purpose::Corruption, 0);
//! assert!(masks.uniform() < 1.0);
//! assert!(masks.below(6) < 6);
//! ```

use serde::{Deserialize, Serialize};

/// The one number a run is reproducible from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

/// What randomness is used for. Streams of different purposes are independent.
///
/// The numbers are part of the reproducibility contract: never reuse or change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Generating synthetic data.
    Synthesis = 1,
    /// Choosing which lines of a corpus are kept.
    Sampling = 2,
    /// Assigning sentences to splits.
    Splitting = 3,
    /// The order of training examples.
    Order = 4,
    /// Hiding or replacing tokens of a training target.
    Corruption = 5,
    /// Initial parameters.
    Initialisation = 6,
    /// Dropout.
    Dropout = 7,
    /// The initial tokens of a parallel decoder.
    Start = 8,
    /// Draws of a decoder or a Markov chain.
    Chain = 9,
    /// Choosing the block a chain updates.
    Block = 10,
    /// Starting points of a numerical search.
    Search = 11,
    /// Resampling in statistics.
    Resampling = 12,
    /// Tests.
    Test = 13,
}

impl Seed {
    /// The stream of this seed for a purpose and an index.
    pub fn stream(self, purpose: Purpose, index: u64) -> Stream {
        Stream {
            key: [self.0 as u32, (self.0 >> 32) as u32],
            purpose: purpose as u32,
            index,
            block: 0,
            words: [0; 4],
            used: 4,
        }
    }
}

/// A reproducible sequence of random numbers: 2³² blocks of four words.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    purpose: u32,
    index: u64,
    block: u32,
    words: [u32; 4],
    used: u8,
}

/// Where a [`Stream`] stands: the number of 32-bit words drawn so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Stream {
    /// The next 32 random bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.refill();
        }
        let word = self.words[usize::from(self.used)];
        self.used += 1;
        word
    }

    #[inline]
    fn refill(&mut self) {
        let counter = [self.block, self.purpose, self.index as u32, (self.index >> 32) as u32];
        self.words = philox(counter, self.key);
        self.block = self.block.wrapping_add(1);
        self.used = 0;
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.next_u32());
        let high = u64::from(self.next_u32());
        high << 32 | low
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number in (0, 1), never an endpoint: safe under a logarithm.
    #[inline]
    pub fn open_uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// A standard normal number, by Box and Muller.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.open_uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// A number in `0..n`, exactly uniform (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `n` is 0: there is nothing to choose from.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "cannot draw a number below 0");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Puts the items into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// One of the items, each equally likely; none of none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len() as u64) as usize) }
    }

    /// An index with probability proportional to its weight; none if no weight is positive.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        let mut rest = self.uniform() * total;
        let mut last = None;
        for (index, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                last = Some(index);
                if rest < weight {
                    break;
                }
                rest -= weight;
            }
        }
        last
    }

    /// Where the stream stands.
    pub fn position(&self) -> Position {
        Position((u64::from(self.block) * 4 + u64::from(self.used)).saturating_sub(4))
    }

    /// Moves the stream to a position, as if that many words had been drawn.
    pub fn seek(&mut self, position: Position) {
        self.block = (position.0 / 4) as u32;
        self.used = 4;
        let skip = (position.0 % 4) as u8;
        if skip > 0 {
            self.refill();
            self.used = skip;
        }
    }
}

/// Philox 4×32 with ten rounds: a bijection of the counter under the key.
#[inline]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the Random123 distribution (`kat_vectors`, philox4x32 10 rounds).
    #[test]
    fn philox_gives_the_published_vectors() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox(counter, key), expected, "counter {counter:x?}");
        }
    }

    #[test]
    fn streams_of_different_purpose_or_index_differ() {
        let first = |purpose, index| Seed(1).stream(purpose, index).next_u64();
        assert_ne!(first(Purpose::Order, 0), first(Purpose::Dropout, 0));
        assert_ne!(first(Purpose::Order, 0), first(Purpose::Order, 1));
        assert_ne!(first(Purpose::Order, 0), first(Purpose::Order, 1 << 32));
        assert_eq!(first(Purpose::Order, 5), first(Purpose::Order, 5));
    }

    #[test]
    fn seeking_equals_drawing() {
        for drawn in 0..23 {
            let mut walked = Seed(9).stream(Purpose::Test, 3);
            for _ in 0..drawn {
                walked.next_u32();
            }
            assert_eq!(walked.position(), Position(drawn), "after {drawn} draws");
            let mut sought = Seed(9).stream(Purpose::Test, 3);
            sought.seek(Position(drawn));
            assert_eq!(sought.next_u64(), walked.next_u64(), "after {drawn} draws");
        }
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut stream = Seed(2).stream(Purpose::Test, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Six degrees of freedom: χ² above 30 has probability 4e-5.
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 30.0, "χ² = {chi2} for {counts:?}");
        assert_eq!(stream.below(1), 0);
        assert!(stream.below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn normal_has_the_moments_of_a_normal() {
        let mut stream = Seed(3).stream(Purpose::Test, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / n;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn weighted_skips_zero_weights() {
        let mut stream = Seed(4).stream(Purpose::Test, 0);
        for _ in 0..100 {
            assert_eq!(stream.weighted(&[0.0, 2.0, 0.0]), Some(1));
        }
        assert_eq!(stream.weighted(&[0.0, 0.0]), None);
        assert_eq!(stream.weighted(&[]), None);
    }

    #[test]
    fn shuffle_permutes() {
        let mut items: Vec<u32> = (0..100).collect();
        Seed(5).stream(Purpose::Test, 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
