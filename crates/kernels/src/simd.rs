//! Plain loops compiled twice: for AVX2, chosen at run time, and for the baseline.
//!
//! Bodies multiply and add separately, never fused, so both versions round alike and results
//! do not depend on the machine.

/// Defines a function whose body is also compiled with AVX2.
///
/// The body must be a plain loop over slices: the compiler vectorises it.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $kind),*) $(-> $out)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::inline_always, reason = "one body, compiled twice")]
            fn body($($arg: $kind),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments, reason = "the arguments of the body")]
                fn wide($($arg: $kind),*) $(-> $out)? {
                    body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: AVX2 was detected just now, which is all that `wide` requires.
                    #[allow(unsafe_code, reason = "calls a function that needs a detected feature")]
                    return unsafe { wide($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub(crate) use vectorised;

/// Lanes of partial sums: two AVX2 registers.
pub(crate) const LANES: usize = 16;

/// Adds up the lanes in a fixed order.
#[inline]
pub(crate) fn fold(lanes: [f32; LANES]) -> f32 {
    let mut half = [0.0; LANES / 2];
    for (i, sum) in half.iter_mut().enumerate() {
        *sum = lanes[i] + lanes[i + LANES / 2];
    }
    (half[0] + half[4]) + (half[2] + half[6]) + ((half[1] + half[5]) + (half[3] + half[7]))
}

/// Σ aᵢbᵢ.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (a_whole, a_rest) = a.as_chunks::<LANES>();
    let (b_whole, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_whole.iter().zip(b_whole) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    fold(lanes) + rest
}

/// Σ xᵢ.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
pub(crate) fn sum(x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for x in whole {
        for i in 0..LANES {
            lanes[i] += x[i];
        }
    }
    fold(lanes) + rest.iter().sum::<f32>()
}

/// The largest of some numbers.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
pub(crate) fn largest(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for x in whole {
        for i in 0..LANES {
            lanes[i] = if x[i] > lanes[i] { x[i] } else { lanes[i] };
        }
    }
    let rest = rest.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    lanes.iter().copied().fold(rest, f32::max)
}

/// The first place with a number of at least `least`; 0 if there is none.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with its caller's features")]
pub(crate) fn first_at_least(x: &[f32], least: f32) -> usize {
    let (whole, rest) = x.as_chunks::<LANES>();
    // Without a way out of the loop, so that it becomes one comparison of all lanes.
    let block = |x: &[f32; LANES]| {
        let mut found = false;
        for &x in x {
            found |= x >= least;
        }
        found
    };
    let skipped = LANES * whole.iter().position(block).unwrap_or(whole.len());
    let tail = if skipped < LANES * whole.len() { &x[skipped..] } else { rest };
    tail.iter().position(|&x| x >= least).map_or(0, |place| skipped + place)
}

/// eˣ for x ≤ 0 to two units in the last place, 0 below −87.
///
/// eˣ = 2ⁿ·eʳ with n = round(x/ln 2) and |r| ≤ ln 2/2; eʳ by Taylor's series to the seventh power, whose
/// remainder is below 2·10⁻⁸; ln 2 is taken off in two parts so that r keeps its digits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5·2²³: adding it rounds to a whole number
    let clamped = if x < -87.0 { -87.0 } else { x };
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = clamped - n * 0.693_359_4;
    let r = r + n * 2.121_944_4e-4;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    let power =
        f32::from_bits(((shifted.to_bits() as i32).wrapping_sub(0x4b40_0000 - 127) as u32) << 23);
    if x < -87.0 { 0.0 } else { p * power }
}

vectorised! {
    /// xᵢ ← e^(xᵢ−m); gives their sum.
    pub(crate) fn exponentiate(x: &mut [f32], m: f32) -> f32 {
        let mut lanes = [0.0; LANES];
        let (whole, rest) = x.as_chunks_mut::<LANES>();
        for x in whole {
            for i in 0..LANES {
                x[i] = exp(x[i] - m);
                lanes[i] += x[i];
            }
        }
        let mut sum = fold(lanes);
        for x in rest {
            *x = exp(*x - m);
            sum += *x;
        }
        sum
    }
}

#[cfg(feature = "train")]
vectorised! {
    /// The largest number, its first place, and the sum.
    pub(crate) fn survey(x: &[f32]) -> (f32, usize, f32) {
        let mut lanes = [0.0; LANES];
        let (whole, rest) = x.as_chunks::<LANES>();
        for x in whole {
            for i in 0..LANES {
                lanes[i] += x[i];
            }
        }
        let most = largest(x);
        (most, first_at_least(x, most), fold(lanes) + rest.iter().sum::<f32>())
    }
}

#[cfg(feature = "train")]
vectorised! {
    /// xᵢ ← xᵢ·mᵢ.
    pub(crate) fn multiply(x: &mut [f32], m: &[f32]) {
        for (x, m) in x.iter_mut().zip(m) {
            *x *= m;
        }
    }
}

#[cfg(feature = "train")]
vectorised! {
    /// xᵢ ← xᵢ + yᵢ.
    pub(crate) fn add(x: &mut [f32], y: &[f32]) {
        for (x, y) in x.iter_mut().zip(y) {
            *x += y;
        }
    }
}

#[cfg(feature = "train")]
vectorised! {
    /// xᵢ ← xᵢ if positive, else 0.
    pub(crate) fn rectify(x: &mut [f32]) {
        for x in x {
            *x = if *x > 0.0 { *x } else { 0.0 };
        }
    }
}

#[cfg(feature = "train")]
vectorised! {
    /// dᵢ ← scale·dᵢ where hᵢ is positive, else 0.
    pub(crate) fn cut(d: &mut [f32], h: &[f32], scale: f32) {
        for (d, &h) in d.iter_mut().zip(h) {
            *d = if h > 0.0 { *d * scale } else { 0.0 };
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn exp_is_right_to_two_units() {
        let mut worst = 0.0_f64;
        for step in 0..200_000 {
            let x = -87.0 * step as f32 / 200_000.0;
            let truth = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - truth).abs() / truth);
        }
        assert!(worst < 2.4e-7, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-100.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
    }

    #[test]
    fn sums_take_every_element() {
        for n in [0, 1, 15, 16, 17, 40] {
            let x: Vec<f32> = (1..=n).map(|i| i as f32).collect();
            assert_eq!(dot(&x, &vec![1.0; n]), (n * (n + 1) / 2) as f32, "{n}");
            assert_eq!(sum(&x), (n * (n + 1) / 2) as f32, "{n}");
        }
        assert_eq!(survey(&[]), (f32::NEG_INFINITY, 0, 0.0));
        for n in [1, 15, 16, 17, 40] {
            for place in 0..n {
                let mut x = vec![1.0; n];
                x[place..].fill(3.0);
                let sum = (3 * n - 2 * place) as f32;
                assert_eq!(survey(&x), (3.0, place, sum), "{place} of {n}");
            }
        }
        assert_eq!(largest(&[]), f32::NEG_INFINITY);
        assert_eq!(largest(&[-3.0, -1.0, -2.0]), -1.0);
    }
}
