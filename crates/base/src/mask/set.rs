//! A set of positions, as bits.

use std::fmt;

/// Which of the positions 0..len are hidden.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mask {
    words: Vec<u64>,
    len: usize,
}

impl Mask {
    /// Nothing is hidden.
    pub fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// Everything is hidden.
    pub fn all(len: usize) -> Self {
        let mut mask = Self::none(len);
        mask.fill();
        mask
    }

    /// The given positions are hidden.
    ///
    /// # Panics
    /// If a position is not below `len`.
    pub fn of(len: usize, positions: impl IntoIterator<Item = usize>) -> Self {
        let mut mask = Self::none(len);
        positions.into_iter().for_each(|i| mask.hide(i));
        mask
    }

    /// The set whose bit pattern is `bits`, for sequences of at most 64 positions.
    ///
    /// # Panics
    /// If there are more than 64 positions or a bit lies outside of them.
    pub fn from_bits(len: usize, bits: u64) -> Self {
        assert!(len <= 64, "{len} positions do not fit into 64 bits");
        assert!(len == 64 || bits >> len == 0, "bits {bits:b} outside of {len} positions");
        Self { words: vec![bits; len.div_ceil(64)], len }
    }

    /// The bit pattern of the first 64 positions.
    pub fn bits(&self) -> u64 {
        self.words.first().copied().unwrap_or(0)
    }

    /// The number of positions, hidden or not.
    #[expect(clippy::len_without_is_empty, reason = "a mask is over positions, not of them")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of hidden positions.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether a position is hidden.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline]
    pub fn hides(&self, position: usize) -> bool {
        self.check(position);
        self.words[position / 64] >> (position % 64) & 1 == 1
    }

    /// Hides a position.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline]
    pub fn hide(&mut self, position: usize) {
        self.check(position);
        self.words[position / 64] |= 1 << (position % 64);
    }

    /// Shows a position.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline]
    pub fn show(&mut self, position: usize) {
        self.check(position);
        self.words[position / 64] &= !(1 << (position % 64));
    }

    #[inline]
    fn check(&self, position: usize) {
        assert!(position < self.len, "position {position} of {}", self.len);
    }

    /// Hides everything.
    pub fn fill(&mut self) {
        self.words.fill(u64::MAX);
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last = (1 << (self.len % 64)) - 1;
        }
    }

    /// Shows everything, over a new number of positions; keeps the memory.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words.resize(len.div_ceil(64), 0);
        self.len = len;
    }

    /// The hidden positions in increasing order.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| index * 64 + w.trailing_zeros() as usize)
        })
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask")?;
        f.debug_set().entries(self.positions()).finish()?;
        write!(f, "/{}", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_in_order() {
        for len in [1, 63, 64, 65, 130] {
            let hidden: Vec<usize> = (0..len).filter(|i| i % 3 == 0).collect();
            let mask = Mask::of(len, hidden.iter().copied());
            assert_eq!(mask.positions().collect::<Vec<_>>(), hidden, "length {len}");
            assert_eq!(mask.count(), hidden.len(), "length {len}");
            assert!(hidden.iter().all(|&i| mask.hides(i)), "length {len}");
        }
    }

    #[test]
    fn filling_hides_exactly_the_positions() {
        for len in [0, 1, 64, 65, 128] {
            assert_eq!(Mask::all(len).count(), len);
            assert_eq!(Mask::all(len), Mask::of(len, 0..len));
        }
    }

    #[test]
    fn hide_and_show_are_inverse() {
        let mut mask = Mask::none(70);
        mask.hide(69);
        assert!(mask.hides(69));
        mask.show(69);
        assert_eq!(mask, Mask::none(70));
    }
}
