//! Logits with their columns, and the best few of them.

use crate::simd::{LANES, vectorised};

/// A logit and its column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scored {
    pub logit: f32,
    pub column: u32,
}

/// A place that no logit took.
pub(super) const NOBODY: Scored = Scored { logit: f32::NEG_INFINITY, column: u32::MAX };

vectorised! {
    /// The best few, of those that are not below the floor; how many there are.
    pub(super) fn pick(kept: &mut [Scored], logits: &[f32], floor: f32, first: u32) -> usize {
        let depth = kept.len();
        let (mut len, mut bar) = (0, floor);
        for (logits, first) in logits.chunks(LANES).zip((first..).step_by(LANES)) {
            // Without a way out of the loop, so that it becomes one comparison of all lanes.
            let mut found = false;
            for &z in logits {
                found |= z >= bar;
            }
            if !found {
                continue;
            }
            for (&logit, column) in logits.iter().zip(first..) {
                if logit >= bar && insert(kept, &mut len, Scored { logit, column }) && len == depth {
                    bar = bar.max(kept[depth - 1].logit);
                }
            }
        }
        len
    }
}

/// Keeps the best few in order, of which there are `len` now. Whether it is one of them.
#[inline]
pub(super) fn insert(best: &mut [Scored], len: &mut usize, one: Scored) -> bool {
    let depth = best.len();
    if one.column == NOBODY.column || (*len == depth && better(&best[depth - 1], &one).is_lt()) {
        return false;
    }
    let place = best[..*len].partition_point(|other| better(other, &one).is_lt());
    best.copy_within(place..(*len).min(depth - 1), place + 1);
    best[place] = one;
    *len = (*len + 1).min(depth);
    true
}

/// Larger logits first, then smaller columns.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what sorting calls")]
pub(super) fn better(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.logit.total_cmp(&a.logit).then(a.column.cmp(&b.column))
}
