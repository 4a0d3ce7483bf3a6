//! The batch size from which on autoregressive decoding is faster.
//!
//! A single size at which the two swap places may be noise: what counts is that it stays ahead.

use serde::Serialize;

/// Where an autoregressive decoder overtakes a parallel one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Crossing {
    /// The size of batches from which on it stays ahead; if it is everywhere, the smallest that was measured.
    pub(super) batch: f64,
    /// Its speed there.
    pub(super) tokens_per_second: f64,
    /// Whether it is ahead at every size, so that nothing crosses.
    pub(super) everywhere: bool,
}

/// Compares speeds at the same sizes of batches, smaller sizes first: the smallest size from which on autoregressive
/// decoding is ahead at all that were measured. It lies between two of them, interpolated by logarithms. None if
/// it is not ahead at the largest.
pub(super) fn crossing(
    parallel: &[(usize, f64)],
    left_to_right: &[(usize, f64)],
) -> Option<Crossing> {
    let both: Vec<(f64, f64, f64)> = parallel
        .iter()
        .zip(left_to_right)
        .map(|(a, b)| ((a.0 as f64).ln(), a.1.ln(), b.1.ln()))
        .collect();
    let Some(behind) = both.iter().rposition(|&(_, a, b)| b <= a) else {
        let &(batch, tokens_per_second) = left_to_right.first()?;
        return Some(Crossing { batch: batch as f64, tokens_per_second, everywhere: true });
    };
    let (x, a, b) = both[behind];
    let &(next_x, next_a, next_b) = both.get(behind + 1)?;
    let share = (a - b) / ((a - b) - (next_a - next_b));
    Some(Crossing {
        batch: (x + share * (next_x - x)).exp(),
        tokens_per_second: (a + share * (next_a - a)).exp(),
        everywhere: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Speeds at batches of 1, 4, 16 and so on.
    fn curve(speeds: &[f64]) -> Vec<(usize, f64)> {
        speeds.iter().enumerate().map(|(i, &speed)| (4_usize.pow(i as u32), speed)).collect()
    }

    #[test]
    fn curves_cross_where_they_are_equal() {
        let root = 2.0_f64.sqrt();
        let flat = [100.0; 4];
        // From 2^-1/2 to 2 in two doublings of the size: a third of the way by logarithms.
        let third = 4.0_f64.cbrt();
        let cases = [
            ("once", [25.0, 50.0, 100.0 / root, 200.0], 16.0 * third),
            ("early", [100.0 / root, 200.0, 300.0, 400.0], third),
            ("ahead, behind, and ahead for good", [101.0, 50.0, 100.0 / root, 200.0], 16.0 * third),
            ("twice, and the last counts", [25.0, 110.0, 100.0 / root, 200.0], 16.0 * third),
            ("equal at a size that was measured", [25.0, 100.0, 200.0, 400.0], 4.0),
        ];
        for (name, rising, batch) in cases {
            let found = crossing(&curve(&flat), &curve(&rising)).unwrap();
            assert!((found.batch - batch).abs() < 1e-9, "{name}: {found:?}");
            assert!((found.tokens_per_second - 100.0).abs() < 1e-9, "{name}: {found:?}");
            assert!(!found.everywhere, "{name}");
        }
    }

    #[test]
    fn curves_that_do_not_cross_are_told_apart() {
        let flat = curve(&[100.0; 3]);
        let everywhere = Crossing { batch: 1.0, tokens_per_second: 101.0, everywhere: true };
        let cases = [
            ("never ahead", curve(&[10.0, 20.0, 30.0]), None),
            ("equal everywhere", curve(&[100.0; 3]), None),
            ("ahead, but not at the largest", curve(&[25.0, 150.0, 90.0]), None),
            ("equal at the largest", curve(&[25.0, 50.0, 100.0]), None),
            ("ahead everywhere", curve(&[101.0, 150.0, 120.0]), Some(everywhere)),
        ];
        for (name, other, expected) in cases {
            assert_eq!(crossing(&flat, &other), expected, "{name}");
        }
        assert_eq!(crossing(&[], &[]), None, "nothing was measured");
    }
}
