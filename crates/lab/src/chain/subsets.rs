//! The average over all k-subsets of conditional expectations, without visiting each alone.
//!
//! For a vector v over Ωᴺ compute
//!
//! ```text
//! out(x) = C(N,k)⁻¹ Σ_{|K|=k}  Σ_{y: y₋ₖ=x₋ₖ} v(y)  /  Σ_{y: y₋ₖ=x₋ₖ} p(y)
//! ```
//!
//! by walking the sites once: at each the subset either hides it, which sums it out and makes
//! the vector q times shorter, or keeps it, which costs nothing. Subsets share the sums of their
//! common beginning. The way back spreads results the same way. The work is
//!
//! ```text
//! 2 Σ_{d<N} Σ_{j<k} C(d, j) · q^(N−j)      (j sites hidden among the first d)
//! ```
//!
//! additions instead of 2 C(N,k) qᴺ: for 2¹⁶ states and k = 8 that is 14 times less.

use rayon::join;

use super::blocks::{ChainError, check_memory};
use crate::space::Space;

/// Above this depth of the tree both branches run in parallel. Fixed, so that sums are formed
/// in the same order on any number of threads.
const PARALLEL_DEPTH: usize = 5;

/// All k-subsets of the sites, with the reciprocal marginals of p kept for each.
#[derive(Clone, Debug)]
pub(crate) struct Subsets {
    space: Space,
    k: usize,
    /// 1 / p(x₋ₖ), subset after subset in the order of the walk.
    reciprocal: Vec<f64>,
}

impl Subsets {
    /// Prepares the walk for a distribution.
    pub(crate) fn new(space: Space, k: usize, p: &[f64]) -> Result<Self, ChainError> {
        let leaves = leaf_entries(space.sites(), k, space.symbols(), 1.0);
        check_memory("marginals of all k-subsets", space.size(), leaves * 8.0)?;
        let mut subsets = Self { space, k, reciprocal: Vec::new() };
        let mut reciprocal = vec![0.0; leaves as usize];
        subsets.fill(p, 1, 0, k, &mut reciprocal);
        subsets.reciprocal = reciprocal;
        Ok(subsets)
    }

    /// The number of additions of one application.
    pub(crate) fn work(space: Space, k: usize) -> f64 {
        let (sites, q) = (space.sites(), space.symbols() as f64);
        let mut work = 0.0;
        for depth in 0..sites {
            for hidden in 0..k.min(depth + 1) {
                if hidden + (sites - depth) >= k {
                    work += binomial(depth, hidden) * q.powi((sites - hidden) as i32);
                }
            }
        }
        2.0 * work
    }

    /// C(N, k).
    pub(crate) fn count(&self) -> f64 {
        binomial(self.space.sites(), self.k)
    }

    /// All k-subsets as bit patterns, in increasing order.
    pub(crate) fn sets(&self) -> impl Iterator<Item = u64> {
        let end = 1_u64 << self.space.sites();
        let first = (1_u64 << self.k) - 1;
        // The next number with as many ones (Gosper).
        let next = |set: &u64| {
            let lowest = set & set.wrapping_neg();
            let ripple = set + lowest;
            Some((((ripple ^ set) >> 2) / lowest) | ripple)
        };
        std::iter::successors(Some(first), next).take_while(move |set| *set < end)
    }

    /// out(x) as above.
    pub(crate) fn average(&self, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.walk(v, 1, 0, self.k, &self.reciprocal, out);
        let scale = 1.0 / binomial(self.space.sites(), self.k);
        for value in out {
            *value *= scale;
        }
    }

    /// `v` is [sites not yet decided] × [kept sites: `kept` settings]; `left` are still to hide.
    fn walk(
        &self,
        v: &[f64],
        kept: usize,
        site: usize,
        left: usize,
        reciprocal: &[f64],
        out: &mut [f64],
    ) {
        let undecided = self.space.sites() - site;
        if left == 0 {
            for ((sum, value), r) in out.iter_mut().zip(v).zip(reciprocal) {
                *sum += value * r;
            }
            return;
        }
        if left == undecided {
            let mut sums = sum_rows(v, kept);
            sums.iter_mut().zip(reciprocal).for_each(|(sum, r)| *sum *= r);
            for row in out.chunks_exact_mut(kept) {
                row.iter_mut().zip(&sums).for_each(|(value, sum)| *value += sum);
            }
            return;
        }
        let q = self.space.symbols();
        let split = leaf_entries(undecided - 1, left, q, (kept * q) as f64) as usize;
        let (keep_part, hide_part) = reciprocal.split_at(split);
        let hide = || {
            let short = sum_out(v, q, kept);
            let mut result = vec![0.0; short.len()];
            self.walk(&short, kept, site + 1, left - 1, hide_part, &mut result);
            result
        };
        let spread = |out: &mut [f64], result: Vec<f64>| {
            for (rows, short) in out.chunks_exact_mut(q * kept).zip(result.chunks_exact(kept)) {
                for row in rows.chunks_exact_mut(kept) {
                    row.iter_mut().zip(short).for_each(|(value, r)| *value += r);
                }
            }
        };
        if site < PARALLEL_DEPTH {
            let (result, ()) =
                join(hide, || self.walk(v, kept * q, site + 1, left, keep_part, out));
            spread(out, result);
        } else {
            self.walk(v, kept * q, site + 1, left, keep_part, out);
            spread(out, hide());
        }
    }

    /// The same walk over p, writing the reciprocals of its marginals.
    fn fill(&self, p: &[f64], kept: usize, site: usize, left: usize, leaves: &mut [f64]) {
        let undecided = self.space.sites() - site;
        let write = |sums: &[f64], leaves: &mut [f64]| {
            for (leaf, &sum) in leaves.iter_mut().zip(sums) {
                *leaf = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            }
        };
        if left == 0 {
            return write(p, leaves);
        }
        if left == undecided {
            return write(&sum_rows(p, kept), leaves);
        }
        let q = self.space.symbols();
        let split = leaf_entries(undecided - 1, left, q, (kept * q) as f64) as usize;
        let (keep_part, hide_part) = leaves.split_at_mut(split);
        self.fill(p, kept * q, site + 1, left, keep_part);
        self.fill(&sum_out(p, q, kept), kept, site + 1, left - 1, hide_part);
    }
}

/// The number of marginal entries below a node: C(undecided, left) · q^(undecided−left) · kept.
fn leaf_entries(undecided: usize, left: usize, q: usize, kept: f64) -> f64 {
    if left > undecided {
        return 0.0;
    }
    binomial(undecided, left) * (q as f64).powi((undecided - left) as i32) * kept
}

/// Sums out the next site: [rest] × [q] × [kept] → [rest] × [kept].
fn sum_out(v: &[f64], q: usize, kept: usize) -> Vec<f64> {
    let mut short = Vec::with_capacity(v.len() / q);
    for rows in v.chunks_exact(q * kept) {
        let start = short.len();
        short.extend_from_slice(&rows[..kept]);
        for row in rows[kept..].chunks_exact(kept) {
            short[start..].iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    short
}

/// Sums out all undecided sites at once.
fn sum_rows(v: &[f64], kept: usize) -> Vec<f64> {
    let mut sums = vec![0.0; kept];
    for row in v.chunks_exact(kept) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// C(n, k), exact below 2⁵³.
pub(crate) fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| (product * (n - i) as f64 / (i + 1) as f64).round())
}
