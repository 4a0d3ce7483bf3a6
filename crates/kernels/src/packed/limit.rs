//! What the processor can multiply and add at most, everything in its registers: what products are compared with.

use std::hint::black_box;

use super::PANEL;
use super::isa::{Found, Isa};
use super::tile::{self, Bytes, Next, Shape, Singles};

/// Steps of a run: long enough to hide the look at a clock.
#[cfg(target_arch = "x86_64")]
const STEPS: usize = 4096;

/// Multiplies and adds for some microseconds, as fast as the processor can, in single precision or int8; gives the number of
/// multiply-adds, for whoever holds a clock.
pub fn multiply_adds(isa: Isa, bytes: bool) -> f64 {
    run(Found::new(isa), bytes)
}

fn run(found: Found, bytes: bool) -> f64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instructions were found.
    #[expect(unsafe_code, reason = "calls a loop for a detected processor")]
    unsafe {
        match (found.isa(), bytes) {
            (Isa::Avx2, false) => return avx2_singles(),
            (Isa::Avx2, true) => return avx2_bytes(),
            (Isa::Avx512Vnni, false) => return avx512_singles(),
            (Isa::Avx512Vnni, true) => return avx512_bytes(),
            (Isa::Portable, _) => {}
        }
    }
    hot_tiles(found, bytes)
}

/// Twelve independent chains of 8 fused multiply-adds.
///
/// # Safety
/// The processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[expect(unsafe_code, reason = "needs a detected processor")]
unsafe fn avx2_singles() -> f64 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    let (x, y) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(1.0)));
    let mut chains = [_mm256_set1_ps(black_box(1.0)); 12];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm256_fmadd_ps(*chain, x, y);
        }
    }
    black_box(chains);
    (STEPS * 12 * 8) as f64
}

/// Eight chains of 32 products of bytes, added in twos, in fours, and to the chain.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "needs a detected processor")]
unsafe fn avx2_bytes() -> f64 {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8,
        _mm256_set1_epi16,
    };
    let (x, ones) = (_mm256_set1_epi8(black_box(3)), _mm256_set1_epi16(black_box(1)));
    let mut chains = [_mm256_set1_epi8(black_box(1)); 8];
    for _ in 0..STEPS {
        for chain in &mut chains {
            // The factor is the chain itself, lest the compiler multiply once for all.
            let pairs = _mm256_maddubs_epi16(x, *chain);
            *chain = _mm256_add_epi32(*chain, _mm256_madd_epi16(pairs, ones));
        }
    }
    black_box(chains);
    (STEPS * 8 * 32) as f64
}

/// Twenty-four independent chains of 16 fused multiply-adds.
///
/// # Safety
/// The processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "needs a detected processor")]
unsafe fn avx512_singles() -> f64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (x, y) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(1.0)));
    let mut chains = [_mm512_set1_ps(black_box(1.0)); 24];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_fmadd_ps(*chain, x, y);
        }
    }
    black_box(chains);
    (STEPS * 24 * 16) as f64
}

/// Twenty-four independent chains of 64 products of bytes, added in fours and to the chain.
///
/// # Safety
/// The processor has AVX-512 and VNNI.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[expect(unsafe_code, reason = "needs a detected processor")]
unsafe fn avx512_bytes() -> f64 {
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_set1_epi8};
    let (x, y) = (_mm512_set1_epi8(black_box(3)), _mm512_set1_epi8(black_box(1)));
    let mut chains = [_mm512_set1_epi8(black_box(1)); 24];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_dpbusd_epi32(*chain, x, y);
        }
    }
    black_box(chains);
    (STEPS * 24 * 64) as f64
}

/// The engine's own tile over and over, its factors in the nearest cache.
fn hot_tiles(found: Found, bytes: bool) -> f64 {
    const K: usize = 128;
    const TIMES: usize = 16;
    let shape = if bytes { Shape::of_bytes } else { Shape::of_singles };
    let (rows, panels) = (shape(found, tile::ROWS).rows, 1);
    for _ in 0..TIMES {
        if bytes {
            let (a, b) = ([1_u8; tile::ROWS * K], [1_i8; PANEL * K]);
            let factors = Bytes {
                groups: K / 4,
                a: &a,
                a_row: K,
                b: black_box(&b),
                b_panel: PANEL * K,
                next: Next::default(),
            };
            let mut sums = [[0; PANEL]; tile::ROWS * tile::PANELS];
            tile::bytes(found, rows, panels, factors, &mut sums);
            black_box(sums);
        } else {
            let (a, b) = ([1.0_f32; tile::ROWS * K], [1.0_f32; PANEL * K]);
            let factors = Singles {
                k: K,
                a: &a,
                a_row: K,
                b: black_box(&b),
                b_step: PANEL,
                b_panel: PANEL * K,
                more: false,
                next: Next::default(),
            };
            let mut sums = [[0.0; PANEL]; tile::ROWS * tile::PANELS];
            tile::singles(found, rows, panels, factors, &mut sums);
            black_box(sums);
        }
    }
    (TIMES * rows * PANEL * K) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_multiplies() {
        for isa in Isa::ALL {
            for bytes in [false, true] {
                assert!(run(Found::new(isa), bytes) > 0.0, "{isa:?}");
                assert!(hot_tiles(Found::new(isa), bytes) > 0.0, "{isa:?}");
            }
        }
    }
}
