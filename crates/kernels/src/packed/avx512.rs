//! Tiles for AVX-512 with VNNI: 6 rows × 64 columns in twenty-four of the thirty-two registers.
//!
//! The chains are those of the other processors: only more of them run side by side.

#![expect(unsafe_code, reason = "intrinsics and loads without bounds checks; see each function")]

use std::arch::x86_64::{
    __m512, __m512i, _MM_HINT_T1, _mm_prefetch, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_storeu_ps, _mm512_storeu_si512,
};

use super::PANEL;
use super::tile::{Bytes, PANELS, Singles, Sums};

/// Calls a tile by its numbers of rows and panels.
macro_rules! by_shape {
    ($tile:ident, $rows:ident, $panels:ident, $factors:ident, $sums:ident) => {
        match ($rows, $panels) {
            (1, 1) => $tile::<1, 1>($factors, $sums),
            (2, 1) => $tile::<2, 1>($factors, $sums),
            (3, 1) => $tile::<3, 1>($factors, $sums),
            (4, 1) => $tile::<4, 1>($factors, $sums),
            (5, 1) => $tile::<5, 1>($factors, $sums),
            (6, 1) => $tile::<6, 1>($factors, $sums),
            (1, PANELS) => $tile::<1, PANELS>($factors, $sums),
            (2, PANELS) => $tile::<2, PANELS>($factors, $sums),
            (3, PANELS) => $tile::<3, PANELS>($factors, $sums),
            (4, PANELS) => $tile::<4, PANELS>($factors, $sums),
            (5, PANELS) => $tile::<5, PANELS>($factors, $sums),
            (6, PANELS) => $tile::<6, PANELS>($factors, $sums),
            _ => unreachable!("tiles of AVX-512 have up to 6 rows and 1 or 4 panels"),
        }
    };
}

/// A tile of f32.
///
/// # Safety
/// The processor has AVX-512; the factors are as long as [`super::tile::singles`] checks.
pub(super) unsafe fn singles(
    rows: usize,
    panels: usize,
    factors: &Singles<'_>,
    sums: &mut Sums<f32>,
) {
    // SAFETY: by the promises of the caller.
    unsafe { by_shape!(single_tile, rows, panels, factors, sums) }
}

/// # Safety
/// As [`singles`], for R rows and P panels.
#[target_feature(enable = "avx512f")]
unsafe fn single_tile<const R: usize, const P: usize>(factors: &Singles<'_>, sums: &mut Sums<f32>) {
    let (a, b) = (factors.a.as_ptr(), factors.b.as_ptr());
    let mut lanes = [[_mm512_setzero_ps(); P]; R];
    if factors.more {
        for r in 0..R {
            for p in 0..P {
                // SAFETY: a lane has 16 places.
                lanes[r][p] = unsafe { _mm512_loadu_ps(sums[r * P + p].as_ptr()) };
            }
        }
    }
    let next = factors.next;
    for step in 0..factors.k {
        for p in 0..next.panels {
            ask(next.weights.as_ptr().wrapping_add(p * factors.b_panel + step * factors.b_step));
        }
        let mut right: [__m512; P] = [_mm512_setzero_ps(); P];
        for (p, right) in right.iter_mut().enumerate() {
            // SAFETY: panel p has 16 numbers for each k.
            *right = unsafe { _mm512_loadu_ps(b.add(p * factors.b_panel + step * factors.b_step)) };
        }
        for (r, lanes) in lanes.iter_mut().enumerate() {
            // SAFETY: row r has k numbers.
            let left = _mm512_set1_ps(unsafe { *a.add(r * factors.a_row + step) });
            for (lane, right) in lanes.iter_mut().zip(right) {
                *lane = _mm512_fmadd_ps(left, right, *lane);
            }
        }
    }
    for r in 0..R {
        for p in 0..P {
            // SAFETY: a lane has 16 places.
            unsafe { _mm512_storeu_ps(sums[r * P + p].as_mut_ptr(), lanes[r][p]) };
        }
    }
}

/// A tile of bytes.
///
/// # Safety
/// The processor has AVX-512 and VNNI; the factors are as long as [`super::tile::bytes`] checks.
pub(super) unsafe fn bytes(rows: usize, panels: usize, factors: &Bytes<'_>, sums: &mut Sums<i32>) {
    // SAFETY: by the promises of the caller.
    unsafe { by_shape!(byte_tile, rows, panels, factors, sums) }
}

/// # Safety
/// As [`bytes`], for R rows and P panels.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn byte_tile<const R: usize, const P: usize>(factors: &Bytes<'_>, sums: &mut Sums<i32>) {
    let (a, b) = (factors.a.as_ptr(), factors.b.as_ptr());
    let mut lanes = [[_mm512_setzero_si512(); P]; R];
    let next = factors.next;
    for group in 0..factors.groups {
        for p in 0..next.panels {
            ask(next.weights.as_ptr().wrapping_add(p * factors.b_panel + group * 4 * PANEL));
        }
        let mut right: [__m512i; P] = [_mm512_setzero_si512(); P];
        for (p, right) in right.iter_mut().enumerate() {
            // SAFETY: panel p has 64 numbers for each group.
            *right = unsafe {
                _mm512_loadu_si512(b.add(p * factors.b_panel + group * 4 * PANEL).cast())
            };
        }
        for (r, lanes) in lanes.iter_mut().enumerate() {
            // SAFETY: row r has four numbers for each group.
            let four =
                unsafe { a.add(r * factors.a_row + group * 4).cast::<i32>().read_unaligned() };
            let left = _mm512_set1_epi32(four);
            for (lane, right) in lanes.iter_mut().zip(right) {
                *lane = _mm512_dpbusd_epi32(*lane, left, right);
            }
        }
    }
    for r in 0..R {
        for p in 0..P {
            // SAFETY: a lane has 16 places.
            unsafe { _mm512_storeu_si512(sums[r * P + p].as_mut_ptr().cast(), lanes[r][p]) };
        }
    }
}

/// Asks for a line of the cache behind the nearest, which the weights at work fill.
#[inline]
fn ask<T>(place: *const T) {
    // SAFETY: every x86-64 processor has it, and it reads nothing that the program could see, wherever it points.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(place.cast()) };
}
