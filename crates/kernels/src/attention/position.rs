//! Relative positions: the buckets of T5.
//!
//! Small distances have a bucket each, larger ones share buckets that grow like the logarithm,
//! and all from `most` on share the last.

/// How distances become buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Their number.
    pub count: usize,
    /// The distance from which on all are one.
    pub most: usize,
    /// Whether keys after the query have buckets of their own (half of them).
    pub both_ways: bool,
}

impl Buckets {
    /// The bucket of a key `distance` places after the query.
    pub fn of(&self, distance: isize) -> usize {
        let (count, base, n) = if self.both_ways {
            let half = self.count / 2;
            (half, if distance > 0 { half } else { 0 }, distance.unsigned_abs())
        } else {
            (self.count, 0, (-distance).max(0) as usize)
        };
        let exact = count / 2;
        if n < exact {
            return base + n;
        }
        // In single precision, as the models in the wild were trained.
        let ratio = (n as f32 / exact as f32).ln() / (self.most as f32 / exact as f32).ln();
        let log = exact + (ratio * (count - exact) as f32) as usize;
        base + log.min(count - 1)
    }
}

/// One bias per head and distance, for rows of up to `longest` tokens.
///
/// The bias of query i and key j stands at j − i + longest − 1.
#[cfg(feature = "train")]
pub(super) fn expand(
    table: &[f32],
    heads: usize,
    buckets: Buckets,
    longest: usize,
) -> Vec<Vec<f32>> {
    let reach = longest as isize - 1;
    let places: Vec<usize> = (-reach..=reach).map(|distance| buckets.of(distance)).collect();
    (0..heads).map(|h| places.iter().map(|b| table[b * heads + h]).collect()).collect()
}

/// Adds gradients by distance to those of the buckets.
#[cfg(feature = "train")]
pub(super) fn collapse(
    spread: &[f32],
    heads: usize,
    buckets: Buckets,
    longest: usize,
    dtable: &mut [f32],
) {
    let reach = longest as isize - 1;
    let width = 2 * longest - 1;
    for (h, spread) in spread.chunks_exact(width).enumerate() {
        for (distance, d) in (-reach..=reach).zip(spread) {
            dtable[buckets.of(distance) * heads + h] += d;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_their_buckets() {
        let both = Buckets { count: 32, most: 128, both_ways: true };
        // Computed with transformers' T5Attention._relative_position_bucket.
        let cases = [
            (0, 0),
            (-1, 1),
            (-7, 7),
            (-8, 8),
            (-11, 8),
            (-12, 9),
            (-16, 10),
            (-127, 15),
            (-500, 15),
        ];
        for (distance, bucket) in cases {
            assert_eq!(both.of(distance), bucket, "{distance}");
        }
        assert_eq!((both.of(1), both.of(8), both.of(400)), (17, 24, 31));
        let causal = Buckets { both_ways: false, ..both };
        assert_eq!(
            (causal.of(5), causal.of(-15), causal.of(-16), causal.of(-200)),
            (0, 15, 16, 31)
        );
    }
}
