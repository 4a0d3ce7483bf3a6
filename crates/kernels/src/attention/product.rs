//! Small matrix products: the sizes of one head of one sentence, where packing would cost more than it gives.

use crate::simd::vectorised;

/// A factor: its numbers and what separates neighbours in a column and in a row.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a> {
    pub data: &'a [f32],
    pub row: usize,
    pub column: usize,
}

impl<'a> Factor<'a> {
    pub(super) fn rows(data: &'a [f32], stride: usize) -> Self {
        Self { data, row: stride, column: 1 }
    }

    pub(super) fn transposed(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }
}

vectorised! {
    /// out\[m × n\] ← (out +) left\[m × k\]·right\[k × n\]; the rows of `right` must be contiguous.
    pub(super) fn product(out: &mut [f32], stride: usize, add: bool, left: Factor<'_>, right: Factor<'_>, size: [usize; 3]) {
        let [m, k, n] = size;
        let mut i = 0;
        while i + 4 <= m {
            rows::<4>(out, stride, add, left, right, i, k, n);
            i += 4;
        }
        while i < m {
            rows::<1>(out, stride, add, left, right, i, k, n);
            i += 1;
        }
    }
}

/// R rows of the result.
#[inline(always)]
#[expect(
    clippy::inline_always,
    clippy::too_many_arguments,
    reason = "compiled with its caller's features"
)]
fn rows<const R: usize>(
    out: &mut [f32],
    stride: usize,
    add: bool,
    left: Factor<'_>,
    right: Factor<'_>,
    i: usize,
    k: usize,
    n: usize,
) {
    let mut j = 0;
    while j + 16 <= n {
        block::<R, 16>(out, stride, add, left, right, [i, j, k]);
        j += 16;
    }
    while j + 8 <= n {
        block::<R, 8>(out, stride, add, left, right, [i, j, k]);
        j += 8;
    }
    while j < n {
        block::<R, 1>(out, stride, add, left, right, [i, j, k]);
        j += 1;
    }
}

/// R × W numbers of the result, kept in registers.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled with its caller's features")]
fn block<const R: usize, const W: usize>(
    out: &mut [f32],
    stride: usize,
    add: bool,
    left: Factor<'_>,
    right: Factor<'_>,
    place: [usize; 3],
) {
    let [i, j, k] = place;
    let mut sums = [[0.0_f32; W]; R];
    for p in 0..k {
        let b: &[f32; W] =
            right.data[p * right.row + j..].first_chunk().expect("rows of the right factor");
        for (r, sums) in sums.iter_mut().enumerate() {
            let a = left.data[(i + r) * left.row + p * left.column];
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        let out = &mut out[(i + r) * stride + j..][..W];
        if add {
            out.iter_mut().zip(sums).for_each(|(o, s)| *o += s);
        } else {
            out.copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_its_definition(m in 0..9_usize, k in 0..7_usize, n in 0..36_usize, flip: bool, add: bool) {
            let a: Vec<f32> = (0..m * k).map(|i| (i * 37 % 11) as f32 - 5.0).collect();
            let b: Vec<f32> = (0..k * n).map(|i| (i * 53 % 13) as f32 - 6.0).collect();
            let left = if flip { Factor::rows(&a, m).transposed() } else { Factor::rows(&a, k) };
            let mut out = vec![1.0; m * (n + 3)];
            product(&mut out, n + 3, add, left, Factor::rows(&b, n), [m, k, n]);
            for i in 0..m {
                for j in 0..n + 3 {
                    let at = |p: usize| a[if flip { p * m + i } else { i * k + p }] * b[p * n + j];
                    let sum: f32 = if j < n { (0..k).map(at).sum() } else { 0.0 };
                    let truth = sum + if add || j >= n { 1.0 } else { 0.0 };
                    prop_assert_eq!(out[i * (n + 3) + j], truth, "{} {}", i, j);
                }
            }
        }
    }
}
