//! The most probable outputs of a layer, and their log-probabilities.
//!
//! ```text
//! log pⱼ = zⱼ − log Σᵢ e^zᵢ,   z = scale·x·Wᵀ
//! ```
//!
//! Logits are computed a block of 128 columns at a time and never stored whole: of each block remain, for each
//! row, its largest logits, their maximum m and Σ e^(z−m). Blocks are a matter of the matrix's shape alone and
//! are put together in their order, so a row's answer depends on nothing but the row.

use padir_base::TokenId;
use padir_base::denoise::Candidate;

use super::grid::Grid;
use super::product::{Packed, Tools};
use super::{PANEL, grow};
use crate::simd::{exponentiate, largest, vectorised};

/// Panels of a block.
const PANELS: usize = 8;
/// Columns of a block.
const BLOCK: usize = PANELS * PANEL;
/// Rows whose logits of a block are computed together: 48 KB.
const ROWS: usize = 96;
/// Depths up to this keep the best of a block only; beyond, all logits of a few rows are kept.
const SHALLOW: usize = 16;
/// Most logits that are kept at a time, unless a single row has more.
const KEPT: usize = 1 << 20;

/// A logit and its column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scored {
    logit: f32,
    column: u32,
}

/// m and Σ e^(z−m).
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    most: f32,
    sum: f32,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub struct Best {
    /// One per block and row.
    partials: Vec<Partial>,
    /// The best of each block and row.
    scored: Vec<Scored>,
    /// Of a row, while it is put together.
    merged: Vec<Scored>,
}

impl Best {
    /// The `depth` most probable outputs of each row of x, the best first, ties by column; row after row in
    /// `answers`. Their tokens are the columns themselves, or what `tokens` calls them. Where there are
    /// fewer columns than `depth`, the rest is left as it was.
    ///
    /// # Panics
    /// If x is not made of whole rows, or `answers` has not `depth` places for each.
    #[expect(clippy::too_many_arguments, reason = "one operation with all that it reads")]
    pub fn run(
        &mut self,
        tools: &mut Tools,
        head: &Packed,
        scale: f32,
        x: &[f32],
        depth: usize,
        tokens: Option<&[TokenId]>,
        answers: &mut [Candidate],
    ) {
        let k = head.inputs();
        let rows = x.len() / k;
        assert_eq!(x.len(), rows * k, "whole rows of {k} numbers");
        assert_eq!(answers.len(), rows * depth, "{depth} places for each row");
        if rows == 0 || depth == 0 || head.outputs() == 0 {
            return;
        }
        let keep = if depth <= SHALLOW { depth } else { BLOCK };
        let blocks = head.outputs().div_ceil(BLOCK);
        let most = (KEPT / (blocks * keep)).clamp(1, rows);
        for (x, answers) in x.chunks(most * k).zip(answers.chunks_mut(most * depth)) {
            self.blocks(tools, head, scale, x, keep);
            let rows = x.len() / k;
            for (row, answers) in answers.chunks_exact_mut(depth).enumerate() {
                self.merge(row, rows, blocks, keep, head.outputs(), tokens, answers);
            }
        }
    }

    /// What remains of each block for each row.
    fn blocks(&mut self, tools: &mut Tools, head: &Packed, scale: f32, x: &[f32], keep: usize) {
        let rows = x.len() / head.inputs();
        let columns = head.outputs();
        let blocks = columns.div_ceil(BLOCK);
        head.prepare(tools, x);
        let partials = Grid::new(grow(&mut self.partials, blocks * rows), rows);
        let scored = Grid::new(grow(&mut self.scored, blocks * rows * keep), rows * keep);
        let tools = &*tools;
        tools.threads.run(blocks, &|block, worker| {
            let first = block * BLOCK;
            let count = BLOCK.min(columns - first);
            let panels = block * PANELS..block * PANELS + count.div_ceil(PANEL);
            // SAFETY: each block is computed once.
            #[expect(unsafe_code, reason = "disjoint blocks of one list")]
            let (partials, scored) =
                unsafe { (partials.part(block, 0..rows), scored.part(block, 0..rows * keep)) };
            let mut scratch = tools.scratch(worker);
            for from in (0..rows).step_by(ROWS) {
                let part = from..(from + ROWS).min(rows);
                let logits = grow(&mut scratch, part.len() * BLOCK);
                head.sweep(tools, x, part.clone(), panels.clone(), |row, panel, numbers| {
                    let at = (row - from) * BLOCK + (panel - panels.start) * PANEL;
                    let logits = &mut logits[at..at + PANEL];
                    logits.iter_mut().zip(numbers).for_each(|(z, x)| *z = x * scale);
                });
                for (row, logits) in part.zip(logits.chunks_exact_mut(BLOCK)) {
                    let logits = &mut logits[..count];
                    let most = summit(logits);
                    select(&mut scored[row * keep..][..keep], logits, most, first as u32);
                    partials[row] = Partial { most, sum: exponentiate(logits, most) };
                }
            }
        });
    }

    /// Puts the blocks of a row together.
    #[expect(clippy::too_many_arguments, reason = "where the parts of a row stand")]
    fn merge(
        &mut self,
        row: usize,
        rows: usize,
        blocks: usize,
        keep: usize,
        columns: usize,
        tokens: Option<&[TokenId]>,
        answers: &mut [Candidate],
    ) {
        let partial = |block: usize| self.partials[block * rows + row];
        let most = (0..blocks).map(|b| partial(b).most).fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = (0..blocks)
            .map(partial)
            .map(|p| f64::from(p.sum) * (f64::from(p.most) - f64::from(most)).exp())
            .sum();
        let log_z = f64::from(most) + sum.ln();

        let merged = &mut self.merged;
        merged.clear();
        for block in 0..blocks {
            let count = keep.min(columns - block * BLOCK);
            let best = &self.scored[(block * rows + row) * keep..][..count];
            if answers.len() > SHALLOW {
                merged.extend_from_slice(best);
            } else {
                for &one in best {
                    insert(merged, one, answers.len());
                }
            }
        }
        if answers.len() > SHALLOW {
            if merged.len() > answers.len() {
                merged.select_nth_unstable_by(answers.len() - 1, better);
                merged.truncate(answers.len());
            }
            merged.sort_unstable_by(better);
        }
        for (answer, one) in answers.iter_mut().zip(merged.iter()) {
            let token = match tokens {
                Some(tokens) => tokens[one.column as usize],
                None => TokenId(one.column),
            };
            *answer = Candidate { token, log_prob: f64::from(one.logit) - log_z };
        }
    }
}

vectorised! {
    fn summit(x: &[f32]) -> f32 {
        largest(x)
    }
}

/// The best logits of a block; all of them, if as many are kept as a block has.
fn select(kept: &mut [Scored], logits: &[f32], most: f32, first: u32) {
    let scored = |(logit, column): (&f32, u32)| Scored { logit: *logit, column };
    if kept.len() == 1 {
        // The first that nothing exceeds: the smallest column among equals.
        let at = logits.iter().position(|&z| z >= most).unwrap_or(0);
        kept[0] = Scored { logit: logits[at], column: first + at as u32 };
    } else if kept.len() == BLOCK {
        let all = logits.iter().zip(first..).map(scored);
        kept.iter_mut().zip(all).for_each(|(kept, one)| *kept = one);
    } else {
        let depth = kept.len();
        let mut len = 0;
        for one in logits.iter().zip(first..).map(scored) {
            if len == depth && one.logit <= kept[depth - 1].logit {
                continue;
            }
            let place = kept[..len].partition_point(|k| better(k, &one).is_lt());
            let last = len.min(depth - 1);
            kept.copy_within(place..last, place + 1);
            kept[place] = one;
            len = (len + 1).min(depth);
        }
    }
}

/// Keeps the best few in order.
fn insert(list: &mut Vec<Scored>, one: Scored, most: usize) {
    if list.len() == most {
        if list.last().is_some_and(|last| better(last, &one).is_lt()) {
            return;
        }
        list.pop();
    }
    let place = list.partition_point(|other| better(other, &one).is_lt());
    list.insert(place, one);
}

/// Larger logits first, then smaller columns.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what sorting calls")]
fn better(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.logit.total_cmp(&a.logit).then(a.column.cmp(&b.column))
}

#[cfg(test)]
mod tests {
    use super::super::byte::Byte;
    use super::super::single::Single;
    use super::super::{Isa, Threads};
    use super::*;
    use padir_base::random::{Purpose, Seed};
    use proptest::prelude::*;

    fn random(seed: u64, len: usize, coarse: bool) -> Vec<f32> {
        let mut stream = Seed(seed).stream(Purpose::Initialisation, 0);
        let number = |x: f64| if coarse { (x * 4.0).round() / 2.0 - 1.0 } else { x * 2.0 - 1.0 };
        (0..len).map(|_| number(stream.uniform()) as f32).collect()
    }

    fn run(
        threads: usize,
        head: &Packed,
        x: &[f32],
        depth: usize,
        tokens: Option<&[TokenId]>,
    ) -> Vec<Candidate> {
        let nothing = Candidate { token: TokenId(999_999), log_prob: f64::NEG_INFINITY };
        let mut answers = vec![nothing; x.len() / head.inputs() * depth];
        let mut tools = Tools::new(Threads::new(threads));
        Best::default().run(&mut tools, head, 0.5, x, depth, tokens, &mut answers);
        answers
    }

    /// By definition.
    fn slow(w: &[f32], x: &[f32], k: usize, depth: usize) -> Vec<Candidate> {
        let mut answers = Vec::new();
        for x in x.chunks_exact(k) {
            let chain = |w: &[f32]| w.iter().zip(x).fold(0.0_f32, |sum, (w, x)| x.mul_add(*w, sum));
            let logits: Vec<f64> = w.chunks_exact(k).map(|w| f64::from(chain(w) * 0.5)).collect();
            let log_z = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
            let mut order: Vec<usize> = (0..logits.len()).collect();
            order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
            answers.extend(
                order[..depth]
                    .iter()
                    .map(|&j| Candidate { token: TokenId(j as u32), log_prob: logits[j] - log_z }),
            );
        }
        answers
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn finds_the_best_with_ties_by_number(
            seed: u64, rows in 0..8_usize, k in 1..9_usize, n in 1..700_usize, share in 0.0..1.0_f64, shallow in 1..18_usize,
            deep: bool, coarse: bool, bytes: bool, threads in 1..4_usize,
        ) {
            let (w, x) = (random(seed, n * k, coarse), random(seed ^ 1, rows * k, coarse));
            let depth = if deep { (share * n as f64) as usize } else { shallow }.clamp(1, n);
            let head = if bytes { Packed::Byte(Byte::pack(Isa::detect(), &[&w], k)) } else { Packed::Single(Single::pack(Isa::detect(), &[&w], k)) };
            let found = run(threads, &head, &x, depth, None);
            if !bytes {
                let truth = slow(&w, &x, k, depth);
                for (a, b) in found.iter().zip(&truth) {
                    prop_assert_eq!(a.token, b.token);
                    prop_assert!((a.log_prob - b.log_prob).abs() < 1e-5, "{:?} {:?}", a, b);
                }
            }
            for (row, x) in x.chunks_exact(k).enumerate() {
                let alone = run(1, &head, x, depth, None);
                prop_assert_eq!(&found[row * depth..][..depth], &alone[..]);
                let ids: Vec<u32> = (0..n as u32).step_by(3).collect();
                let mut few = head.empty_like();
                few.gather(&head, &ids);
                let names: Vec<TokenId> = ids.iter().map(|&id| TokenId(id)).collect();
                let best = run(1, &few, x, depth, Some(&names));
                let all = run(1, &head, x, n, None);
                let listed: Vec<TokenId> = all.iter().map(|c| c.token).filter(|t| t.0 % 3 == 0).take(depth).collect();
                let chosen: Vec<TokenId> = best.iter().map(|c| c.token).take(listed.len()).collect();
                prop_assert_eq!(chosen, listed);
            }
        }
    }

    #[test]
    fn probabilities_of_all_add_up() {
        let (w, x) = (random(3, 1000 * 5, false), random(4, 5, false));
        let head = Packed::Single(Single::pack(Isa::detect(), &[&w], 5));
        let total: f64 = run(1, &head, &x, 1000, None).iter().map(|c| c.log_prob.exp()).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}
