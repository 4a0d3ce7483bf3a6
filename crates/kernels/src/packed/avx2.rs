//! Tiles for AVX2 and FMA: 6 rows × 16 columns, or 2 × 32, with sums in twelve of the sixteen registers. Tiles of bytes need
//! registers for what they have not yet added up: 4 × 16 or 2 × 32.
//!
//! Sums are stored by index, not by iterator: taking a reference to them would keep them in memory, and every step would store them.
//!
//! Bytes: `maddubs` adds two products of u8 × i8 in 16 bits. With weights within ±63 they are at most
//! 2·255·63 = 32,130 and never saturate, so the sums are exact.

#![expect(unsafe_code, reason = "intrinsics and loads without bounds checks; see each function")]

use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_storeu_ps,
    _mm256_storeu_si256,
};

use super::PANEL;
use super::tile::{Bytes, Singles, Sums};

/// A tile of f32.
///
/// # Safety
/// The processor has AVX2 and FMA; the factors are as long as [`super::tile::singles`] checks.
pub(super) unsafe fn singles(
    rows: usize,
    panels: usize,
    factors: &Singles<'_>,
    sums: &mut Sums<f32>,
) {
    // SAFETY: by the promises of the caller.
    unsafe {
        match (rows, panels) {
            (1, 1) => single_tile::<1, 1>(factors, sums),
            (2, 1) => single_tile::<2, 1>(factors, sums),
            (3, 1) => single_tile::<3, 1>(factors, sums),
            (4, 1) => single_tile::<4, 1>(factors, sums),
            (5, 1) => single_tile::<5, 1>(factors, sums),
            (6, 1) => single_tile::<6, 1>(factors, sums),
            (1, 2) => single_tile::<1, 2>(factors, sums),
            (2, 2) => single_tile::<2, 2>(factors, sums),
            _ => unreachable!("tiles of f32 have up to 6 × 1 or 2 × 2 panels"),
        }
    }
}

/// # Safety
/// As [`singles`], for R rows and P panels.
#[target_feature(enable = "avx2,fma")]
unsafe fn single_tile<const R: usize, const P: usize>(factors: &Singles<'_>, sums: &mut Sums<f32>) {
    let (mut a, mut b) = (factors.a.as_ptr(), factors.b.as_ptr());
    let mut lanes = [[[_mm256_setzero_ps(); 2]; P]; R];
    if factors.more {
        for r in 0..R {
            for p in 0..P {
                let sums = sums[r * P + p].as_ptr();
                // SAFETY: a lane has 16 places.
                lanes[r][p] = unsafe { [_mm256_loadu_ps(sums), _mm256_loadu_ps(sums.add(8))] };
            }
        }
    }
    for _ in 0..factors.k {
        let mut right: [[__m256; 2]; P] = [[_mm256_setzero_ps(); 2]; P];
        for (p, right) in right.iter_mut().enumerate() {
            // SAFETY: panel p has 16 numbers for each k.
            unsafe {
                let b = b.add(p * factors.b_panel);
                *right = [_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8))];
            }
        }
        for (r, lanes) in lanes.iter_mut().enumerate() {
            // SAFETY: row r has k numbers.
            let left = unsafe { _mm256_broadcast_ss(&*a.add(r * factors.a_row)) };
            for (lanes, right) in lanes.iter_mut().zip(right) {
                lanes[0] = _mm256_fmadd_ps(left, right[0], lanes[0]);
                lanes[1] = _mm256_fmadd_ps(left, right[1], lanes[1]);
            }
        }
        a = a.wrapping_add(1);
        b = b.wrapping_add(factors.b_step);
    }
    for r in 0..R {
        for p in 0..P {
            let sums = sums[r * P + p].as_mut_ptr();
            // SAFETY: a lane has 16 places.
            unsafe {
                _mm256_storeu_ps(sums, lanes[r][p][0]);
                _mm256_storeu_ps(sums.add(8), lanes[r][p][1]);
            }
        }
    }
}

/// A tile of bytes.
///
/// # Safety
/// The processor has AVX2; the factors are as long as [`super::tile::bytes`] checks.
pub(super) unsafe fn bytes(rows: usize, panels: usize, factors: &Bytes<'_>, sums: &mut Sums<i32>) {
    // SAFETY: by the promises of the caller.
    unsafe {
        match (rows, panels) {
            (1, 1) => byte_tile::<1, 1>(factors, sums),
            (2, 1) => byte_tile::<2, 1>(factors, sums),
            (3, 1) => byte_tile::<3, 1>(factors, sums),
            (4, 1) => byte_tile::<4, 1>(factors, sums),
            (1, 2) => byte_tile::<1, 2>(factors, sums),
            (2, 2) => byte_tile::<2, 2>(factors, sums),
            _ => unreachable!("tiles of bytes have up to 4 × 1 or 2 × 2 panels"),
        }
    }
}

/// # Safety
/// As [`bytes`], for R rows and P panels.
#[target_feature(enable = "avx2")]
unsafe fn byte_tile<const R: usize, const P: usize>(factors: &Bytes<'_>, sums: &mut Sums<i32>) {
    let (a, b) = (factors.a.as_ptr(), factors.b.as_ptr());
    let ones = _mm256_set1_epi16(1);
    let mut lanes = [[[_mm256_setzero_si256(); 2]; P]; R];
    for group in 0..factors.groups {
        let mut right: [[__m256i; 2]; P] = [[_mm256_setzero_si256(); 2]; P];
        for (p, right) in right.iter_mut().enumerate() {
            // SAFETY: panel p has 64 numbers for each group.
            unsafe {
                let b = b.add(p * factors.b_panel + group * 4 * PANEL);
                let halves = [b, b.add(2 * PANEL)];
                *right = halves.map(|half| _mm256_loadu_si256(half.cast()));
            }
        }
        for (r, lanes) in lanes.iter_mut().enumerate() {
            // SAFETY: row r has four numbers for each group.
            let four =
                unsafe { a.add(r * factors.a_row + group * 4).cast::<i32>().read_unaligned() };
            let left = _mm256_set1_epi32(four);
            for (lanes, right) in lanes.iter_mut().zip(right) {
                for half in 0..2 {
                    let pairs = _mm256_maddubs_epi16(left, right[half]);
                    lanes[half] = _mm256_add_epi32(lanes[half], _mm256_madd_epi16(pairs, ones));
                }
            }
        }
    }
    for r in 0..R {
        for p in 0..P {
            let sums = sums[r * P + p].as_mut_ptr();
            // SAFETY: a lane has 16 places.
            unsafe {
                _mm256_storeu_si256(sums.cast(), lanes[r][p][0]);
                _mm256_storeu_si256(sums.add(8).cast(), lanes[r][p][1]);
            }
        }
    }
}
