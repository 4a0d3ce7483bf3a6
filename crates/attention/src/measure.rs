//! The measures of one pair of neighbours, i and i + 1, in one layer.
//!
//! Self-attention aₕ(i, j) of head h, from position i to j, in both directions; cross-attention distributions pₕ and qₕ of the two positions:
//!
//! ```text
//! total variation  ½ Σ |pₕ − qₕ|          cosine distance  1 − pₕ·qₕ / (|pₕ|·|qₕ|)
//! ```
//!
//! Each is summed up over heads by its minimum, mean and maximum. Top-k overlap of self-attention is the share of heads and directions in which the other
//! position is among the k most attended; that of cross-attention the share of heads whose k most attended source positions have one in common. Of equal
//! weights the first counts as larger. O(heads·(n + m)) per pair.

use padir_engine::LayerAttention;

/// Minimum, mean and maximum over heads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Over numbers; zeros of none.
    pub fn of(numbers: &[f64]) -> Self {
        if numbers.is_empty() {
            return Self::default();
        }
        Self {
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            avg: numbers.iter().sum::<f64>() / numbers.len() as f64,
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// What a layer says of a pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// Self-attention: from i to i + 1, and from i + 1 to i. In a causal decoder only the second exists, and stands in both places.
    pub attended: [Spread; 2],
    /// Top-1 and top-2 overlap of self-attention.
    pub self_top: [f64; 2],
    /// Total variation of cross-attention.
    pub tv: Spread,
    /// Its cosine distance.
    pub cosine: Spread,
    /// Top-1 and top-2 overlap of cross-attention.
    pub cross_top: [f64; 2],
    /// Of each head: self-attention, mean of both directions.
    pub self_heads: Vec<f64>,
    /// Of each head: total variation.
    pub tv_heads: Vec<f64>,
    /// Of each head: cosine distance.
    pub cosine_heads: Vec<f64>,
}

impl Pair {
    /// Measures positions `i` and `i` + 1. `causal`: nobody looks ahead, so only the later position's weights are a choice.
    ///
    /// # Panics
    /// If there are no such positions.
    pub fn of(layer: &LayerAttention<'_>, i: usize, causal: bool) -> Self {
        let heads = 0..layer.heads;
        let directions = if causal { [(i + 1, i), (i + 1, i)] } else { [(i, i + 1), (i + 1, i)] };
        let weight = |head, (from, to): (usize, usize)| f64::from(layer.self_attn(head, from)[to]);
        let spread = |way| Spread::of(&heads.clone().map(|h| weight(h, way)).collect::<Vec<_>>());
        let self_top = [1, 2].map(|k| {
            let hit = |h, (from, to)| top(layer.self_attn(h, from), k).contains(&Some(to));
            let ways = heads.clone().flat_map(|h| directions.map(|way| hit(h, way)));
            share(ways)
        });
        let of = |h| (layer.cross_attn(h, i), layer.cross_attn(h, i + 1));
        let tv_heads: Vec<f64> = heads.clone().map(|h| total_variation(of(h).0, of(h).1)).collect();
        let cosine_heads: Vec<f64> =
            heads.clone().map(|h| cosine_distance(of(h).0, of(h).1)).collect();
        let cross_top = [1, 2].map(|k| {
            let common = |h| {
                let (a, b) = (top(of(h).0, k), top(of(h).1, k));
                a.iter().flatten().any(|place| b.contains(&Some(*place)))
            };
            share(heads.clone().map(common))
        });
        Self {
            attended: directions.map(spread),
            self_top,
            tv: Spread::of(&tv_heads),
            cosine: Spread::of(&cosine_heads),
            cross_top,
            self_heads: heads
                .map(|h| f64::midpoint(weight(h, directions[0]), weight(h, directions[1])))
                .collect(),
            tv_heads,
            cosine_heads,
        }
    }
}

/// The share of what is true; 0 of nothing.
fn share(all: impl Iterator<Item = bool>) -> f64 {
    let (mut count, mut hits) = (0_usize, 0_usize);
    for hit in all {
        count += 1;
        hits += usize::from(hit);
    }
    hits as f64 / count.max(1) as f64
}

/// The places of the k ≤ 2 largest weights; of equal ones the first.
fn top(weights: &[f32], k: usize) -> [Option<usize>; 2] {
    let mut best = [None, None];
    for (place, &weight) in weights.iter().enumerate() {
        let above = |other: Option<usize>| other.is_none_or(|other| weight > weights[other]);
        if above(best[0]) {
            best = [Some(place), best[0]];
        } else if above(best[1]) {
            best[1] = Some(place);
        }
    }
    if k < 2 {
        best[1] = None;
    }
    best
}

/// ½ Σ |p − q|.
pub fn total_variation(p: &[f32], q: &[f32]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (f64::from(*p) - f64::from(*q)).abs()).sum::<f64>() / 2.0
}

/// 1 − p·q / (|p|·|q|); 0 of nothing.
pub fn cosine_distance(p: &[f32], q: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let norms = (dot(p, p) * dot(q, q)).sqrt();
    if norms > 0.0 { (1.0 - dot(p, q) / norms).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_their_bounds() {
        let cases: [(&[f32], &[f32], f64, f64); 4] = [
            (&[0.5, 0.5], &[0.5, 0.5], 0.0, 0.0),
            (&[1.0, 0.0], &[0.0, 1.0], 1.0, 1.0),
            (&[1.0, 0.0], &[0.5, 0.5], 0.5, 1.0 - 0.5f64.sqrt()),
            (&[], &[], 0.0, 0.0),
        ];
        for (p, q, tv, cosine) in cases {
            assert!((total_variation(p, q) - tv).abs() < 1e-7, "{p:?} {q:?}");
            assert!((cosine_distance(p, q) - cosine).abs() < 1e-7, "{p:?} {q:?}");
        }
    }

    #[test]
    fn the_first_of_equals_is_larger() {
        let cases: [(&[f32], [Option<usize>; 2]); 5] = [
            (&[0.2, 0.5, 0.3], [Some(1), Some(2)]),
            (&[0.5, 0.5], [Some(0), Some(1)]),
            (&[0.3, 0.3, 0.4], [Some(2), Some(0)]),
            (&[1.0], [Some(0), None]),
            (&[], [None, None]),
        ];
        for (weights, expected) in cases {
            assert_eq!(top(weights, 2), expected, "{weights:?}");
            assert_eq!(top(weights, 1), [expected[0], None], "{weights:?}");
        }
    }
}
