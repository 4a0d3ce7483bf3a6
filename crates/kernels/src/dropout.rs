//! Dropout by a counter-based generator.
//!
//! A mask is a function of the key, the site and the group alone. The backward pass makes it again instead of keeping it,
//! and it is the same at any number of threads and on any device.

use padir_base::random::philox;
use rayon::prelude::*;

use padir_base::ragged::Ragged;

/// Fewer rows than this are not worth a second thread.
const GROUPS: usize = 16;

/// One application of dropout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The probability that a number becomes 0; the others are divided by 1 − rate.
    pub rate: f32,
    /// The seed of the step.
    pub key: [u32; 2],
    /// Which dropout of the network this is.
    pub site: u32,
    /// What shares a mask.
    pub sharing: Sharing,
}

/// What shares a mask of dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All tokens of a row, as T5X does.
    Row,
    /// Nothing: every token has its own.
    Token,
}

impl Dropout {
    /// None at all.
    pub const NONE: Self = Self { rate: 0.0, key: [0; 2], site: 0, sharing: Sharing::Row };

    /// Whether it does anything.
    pub fn is_active(&self) -> bool {
        self.rate > 0.0
    }

    /// Fills one mask with 0 and 1/(1 − rate).
    pub fn fill(&self, group: usize, mask: &mut [f32]) {
        let limit = (f64::from(self.rate) * 65536.0).round() as u32;
        let kept = 1.0 / (1.0 - self.rate);
        for (block, numbers) in mask.chunks_mut(8).enumerate() {
            let words = philox([group as u32, block as u32, self.site, 0xd809], self.key);
            for (i, number) in numbers.iter_mut().enumerate() {
                let half = (words[i / 2] >> (16 * (i % 2))) & 0xffff;
                *number = if half < limit { 0.0 } else { kept };
            }
        }
    }

    /// The masks of a batch; `None` if nothing is dropped.
    pub fn masks(&self, rows: &Ragged, width: usize) -> Option<Masks> {
        if !self.is_active() {
            return None;
        }
        let (groups, owners) = match self.sharing {
            Sharing::Row => (rows.len(), rows.owners()),
            Sharing::Token => (rows.tokens(), (0..rows.tokens() as u32).collect()),
        };
        let mut data = vec![0.0; groups * width];
        let masks = data.par_chunks_exact_mut(width.max(1)).enumerate();
        masks.with_min_len(GROUPS).for_each(|(group, mask)| self.fill(group, mask));
        Some(Masks { width, data, owners })
    }
}

/// The masks of a batch.
#[derive(Clone, Debug)]
pub struct Masks {
    width: usize,
    data: Vec<f32>,
    owners: Vec<u32>,
}

impl Masks {
    /// The mask of a token.
    #[inline]
    pub fn row(&self, token: usize) -> &[f32] {
        &self.data[self.owners[token] as usize * self.width..][..self.width]
    }
}

/// A copy of rows, multiplied with their masks; nothing if there are none.
pub(crate) fn masked(masks: Option<&Masks>, rows: &[f32]) -> Option<Vec<f32>> {
    let masks = masks?;
    let mut copy = rows.to_vec();
    let each = copy.par_chunks_exact_mut(masks.width.max(1)).enumerate();
    each.with_min_len(GROUPS).for_each(|(token, row)| apply(Some(masks), token, 0, row));
    Some(copy)
}

/// Multiplies a piece of a token's row, from `column` on, with its mask.
#[inline]
pub(crate) fn apply(masks: Option<&Masks>, token: usize, column: usize, piece: &mut [f32]) {
    if let Some(masks) = masks {
        let mask = &masks.row(token)[column..];
        crate::simd::multiply(piece, mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_the_mean_and_come_again() {
        let drop = Dropout { rate: 0.1, key: [3, 4], site: 5, sharing: Sharing::Row };
        let rows = Ragged::new([3, 4]);
        let masks = drop.masks(&rows, 50_000).unwrap();
        let mean = masks.row(0).iter().sum::<f32>() / 50_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(masks.row(0), masks.row(2));
        assert_ne!(masks.row(2), masks.row(3));
        assert_eq!(drop.masks(&rows, 50_000).unwrap().row(0), masks.row(0));
        assert!(Dropout::NONE.masks(&rows, 3).is_none());
        let own = Dropout { sharing: Sharing::Token, ..drop }.masks(&rows, 50).unwrap();
        assert_ne!(own.row(0), own.row(1));
    }
}
