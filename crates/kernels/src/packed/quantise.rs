//! Int8 inputs, each row with its own scale and zero point.
//!
//! ```text
//! s = (max − min)/255,  zero = round(−min/s),  u = round(x/s) + zero,  x ≈ s·(u − zero)
//! ```
//!
//! with min ≤ 0 ≤ max, so that 0 is exact. Plain loops without fused multiply-adds: equal to the bit everywhere.

use std::ops::Range;

use super::grid::Grid;
use super::grow;
use super::screened::bounded;
use super::threads::Threads;
use crate::simd::{LANES, fold, vectorised};

/// Quantised rows, in buffers that are used again.
#[derive(Debug, Default)]
pub struct Quantised {
    bytes: Vec<u8>,
    scales: Vec<f32>,
    zeros: Vec<i32>,
}

/// Numbers below which rows are not worth another thread.
const FEW: usize = 1 << 14;

impl Quantised {
    /// Quantises rows of `width` numbers. Each takes a multiple of four bytes.
    pub(super) fn fill(&mut self, threads: &Threads, x: &[f32], width: usize) {
        let rows = x.len() / width;
        let stride = width.next_multiple_of(4);
        grow(&mut self.scales, rows);
        grow(&mut self.zeros, rows);
        let bytes = grow(&mut self.bytes, rows * stride);
        let scales = Grid::new(&mut self.scales, 1);
        let zeros = Grid::new(&mut self.zeros, 1);
        let each = if rows * width < FEW { rows } else { rows.div_ceil(threads.count()) }.max(1);
        threads.chunks(bytes, each * stride, &|chunk, bytes, _| {
            for (row, bytes) in (chunk * each..).zip(bytes.chunks_exact_mut(stride)) {
                let x = &x[row * width..][..width];
                let (scale, zero) = range(x);
                round(bytes, x, scale, zero);
                // SAFETY: each row belongs to one chunk.
                #[expect(unsafe_code, reason = "one number of each list for each row")]
                unsafe {
                    scales.part(row, 0..1)[0] = scale;
                    zeros.part(row, 0..1)[0] = zero;
                }
            }
        });
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Scales and zero points of some rows.
    #[inline]
    pub(super) fn rows(&self, rows: Range<usize>) -> (&[f32], &[i32]) {
        (&self.scales[rows.clone()], &self.zeros[rows])
    }

    /// λ of a row: see [`screened`](super::screened).
    pub(super) fn lost(&self, row: usize, x: &[f32]) -> f32 {
        let stride = x.len().next_multiple_of(4);
        let bytes = &self.bytes[row * stride..][..x.len()];
        let (all, zeroed) = distances(x, bytes, self.scales[row], self.zeros[row]);
        bounded(self.scales[row], zeroed.sqrt(), all.sqrt())
    }
}

vectorised! {
    /// Σ (x − x̂)², and the part of it where x̂ = 0.
    fn distances(x: &[f32], bytes: &[u8], scale: f32, zero: i32) -> (f32, f32) {
        let (mut all, mut zeroed) = ([0.0; LANES], [0.0; LANES]);
        let (whole, rest) = x.as_chunks::<LANES>();
        let (bytes, last) = bytes.as_chunks::<LANES>();
        for (x, u) in whole.iter().zip(bytes) {
            for i in 0..LANES {
                let whole = i32::from(u[i]) - zero;
                let lost = x[i] - scale * whole as f32;
                all[i] += lost * lost;
                zeroed[i] += if whole == 0 { lost * lost } else { 0.0 };
            }
        }
        let mut sums = (fold(all), fold(zeroed));
        for (x, &u) in rest.iter().zip(last) {
            let whole = i32::from(u) - zero;
            let lost = x - scale * whole as f32;
            sums.0 += lost * lost;
            sums.1 += if whole == 0 { lost * lost } else { 0.0 };
        }
        sums
    }
}

vectorised! {
    /// The scale and the zero point of a row.
    fn range(x: &[f32]) -> (f32, i32) {
        const LANES: usize = 16;
        let (mut low, mut high) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        let (whole, rest) = x.as_chunks::<LANES>();
        for x in whole {
            for i in 0..LANES {
                low[i] = if x[i] < low[i] { x[i] } else { low[i] };
                high[i] = if x[i] > high[i] { x[i] } else { high[i] };
            }
        }
        for (i, &x) in rest.iter().enumerate() {
            low[i] = if x < low[i] { x } else { low[i] };
            high[i] = if x > high[i] { x } else { high[i] };
        }
        let low = low.into_iter().fold(0.0, f32::min);
        let high = high.into_iter().fold(0.0, f32::max);
        let scale = (high - low) / 255.0;
        let zero = if scale > 0.0 { (-low / scale + 0.5) as i32 } else { 0 };
        (scale, zero.clamp(0, 255))
    }
}

vectorised! {
    /// u; what pads a row to whole groups meets weights of 0.
    fn round(bytes: &mut [u8], x: &[f32], scale: f32, zero: i32) {
        const ROUND: f32 = 12_582_912.0; // 1.5·2²³: adding it rounds to a whole number
        const BITS: i32 = 0x4b40_0000; // its bits
        let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let shift = zero.wrapping_sub(BITS);
        for (u, x) in bytes.iter_mut().zip(x) {
            let whole = (x * inverse + ROUND).to_bits() as i32;
            *u = whole.wrapping_add(shift).clamp(0, 255) as u8;
        }
        for u in bytes.iter_mut().skip(x.len()) {
            *u = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounds_to_the_nearest(
            x in prop::collection::vec(prop_oneof![4 => -3.0_f32..9.0, 1 => Just(0.0), 1 => -1e-3_f32..1e-3], 1..70),
            factor in prop_oneof![Just(1.0_f32), Just(1e-30), Just(1e20), Just(0.0)],
        ) {
            let x: Vec<f32> = x.into_iter().map(|x| x * factor).collect();
            let mut quantised = Quantised::default();
            quantised.fill(&Threads::new(1), &x, x.len());
            let (scale, zero) = (quantised.scales[0], quantised.zeros[0]);
            for (&x, &u) in x.iter().zip(quantised.bytes()) {
                let back = scale * (i32::from(u) - zero) as f32;
                // Half a step, and as much again where the zero point was rounded.
                prop_assert!((back - x).abs() <= scale * 1.001, "{} became {} of {} {}", x, back, scale, zero);
                prop_assert!(x != 0.0 || back == 0.0);
            }
        }
    }

    #[test]
    fn what_is_not_finite_does_not_panic() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN] {
            let mut quantised = Quantised::default();
            quantised.fill(&Threads::new(1), &[1.0, bad, -2.0, bad, f32::MIN], 5);
            assert_eq!(quantised.bytes().len(), 8);
        }
    }
}
