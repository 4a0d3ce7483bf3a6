//! The random numbers of `numpy.random.default_rng`: `SeedSequence` and PCG64 (XSL-RR 128/64).
//!
//! Intervals and p-values depend on which segments are drawn. Drawing the same ones as sacrebleu
//! makes them equal, not merely similar. Constants and algorithms are those of NumPy 2
//! (`_bit_generator.pyx`, `pcg64.h`, `distributions.c`).

/// A stream of random numbers.
pub(crate) struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of the last 64 bits, if it has not been used.
    spare: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

impl Generator {
    /// `default_rng(seed)`.
    pub(crate) fn new(seed: u64) -> Self {
        let words = seed_words(seed);
        let pair = |at: usize| u128::from(words[at]) << 64 | u128::from(words[at + 1]);
        let mut generator = Self { state: 0, increment: pair(2) << 1 | 1, spare: None };
        generator.step();
        generator.state = generator.state.wrapping_add(pair(0));
        generator.step();
        generator
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(upper) = self.spare.take() {
            return upper;
        }
        let both = self.next_u64();
        self.spare = Some((both >> 32) as u32);
        both as u32
    }

    /// A number below `bound`, by Lemire's method; nothing is drawn if there is only one.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        if bound <= 1 {
            return 0;
        }
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}

/// Random bits as `integers(2, dtype=bool)` hands them out: 32 from each draw, lowest first.
#[derive(Default)]
pub(crate) struct Bits {
    word: u32,
    left: u32,
}

impl Bits {
    /// The next bit.
    pub(crate) fn next(&mut self, generator: &mut Generator) -> bool {
        if self.left == 0 {
            self.word = generator.next_u32();
            self.left = 31;
        } else {
            self.word >>= 1;
            self.left -= 1;
        }
        self.word & 1 == 1
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    const XSHIFT: u32 = 16;
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |mut value: u32| {
        value ^= constant;
        constant = constant.wrapping_mul(0x931e_8875);
        value = value.wrapping_mul(constant);
        value ^ value >> XSHIFT
    };
    let mix = |x: u32, y: u32| {
        let mixed = 0xca01_f9dd_u32.wrapping_mul(x).wrapping_sub(0x4973_f715_u32.wrapping_mul(y));
        mixed ^ mixed >> XSHIFT
    };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(&mut hash);
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = mix(pool[target], hash(pool[source]));
            }
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let mut word = |index: usize| {
        let mut value = pool[index % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        value = value.wrapping_mul(constant);
        u64::from(value ^ value >> XSHIFT)
    };
    [0, 2, 4, 6].map(|index| word(index) | word(index + 1) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_numpy_draws() {
        // np.random.default_rng(seed).choice(bound, size=len(expected))
        for (seed, bound, expected) in [
            (12345, 1000, &[699, 227, 788, 316, 204, 797, 642, 676][..]),
            (0, 6, &[5, 3, 3, 1, 1, 0]),
            (
                (1 << 40) + 5,
                3_000_000_000,
                &[
                    42_477_235,
                    1_349_911_287,
                    1_117_753_746,
                    1_761_688_279,
                    2_698_308_901,
                    454_198_945,
                ],
            ),
            (3, 1, &[0, 0]),
        ] {
            let mut generator = Generator::new(seed);
            let drawn: Vec<u32> = expected.iter().map(|_| generator.below(bound)).collect();
            assert_eq!(drawn, expected, "seed {seed} bound {bound}");
        }
    }

    #[test]
    fn draws_bits_then_numbers_like_numpy() {
        // rng = np.random.default_rng(7)
        // rng.integers(2, size=39, dtype=bool); rng.choice(7, size=6)
        let mut generator = Generator::new(7);
        let mut bits = Bits::default();
        let drawn: String =
            (0..39).map(|_| if bits.next(&mut generator) { '1' } else { '0' }).collect();
        assert_eq!(drawn, "110100010101001010100111100011111001010");
        let numbers: Vec<u32> = (0..6).map(|_| generator.below(7)).collect();
        assert_eq!(numbers, [4, 6, 4, 5, 5, 1]);
    }
}
