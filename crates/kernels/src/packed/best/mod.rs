//! The most probable outputs of a layer, and their log-probabilities.
//!
//! ```text
//! log pⱼ = zⱼ − log Σᵢ e^zᵢ,   z = scale·x·Wᵀ + b
//! ```
//!
//! Logits are computed a block of 128 columns at a time and never stored whole: of each block remain, for each
//! row, its largest logits, their maximum m and Σ e^(z−m). Blocks are a matter of the matrix's shape alone and
//! are put together in their order, so a row's answer depends on nothing but the row and how many are asked for.
//!
//! As soon as a block has as many logits as are asked for, whatever is below all of them cannot be among the answers:
//! other blocks skip it. Which blocks come first may depend on threads; the answers do not.
//!
//! [Screened](super::screened) layers are searched in int8 first: [`screen`] says what that leaves exact.

mod floors;
mod scored;
pub mod screen;

use padir_base::TokenId;
use padir_base::denoise::Candidate;

use super::grid::Grid;
use super::product::{Packed, Tools};
use super::{PANEL, grow};
use crate::simd::{exponentiate, first_at_least, largest, vectorised};
use floors::Floors;
use scored::{NOBODY, Scored, better, insert, pick};
use screen::Screen;

/// Panels of a block.
const PANELS: usize = 8;
/// Columns of a block.
const BLOCK: usize = PANELS * PANEL;
/// Rows whose logits of a block are computed together: 48 KB.
const ROWS: usize = 96;
/// Depths up to this keep the best of a block only; beyond, all logits of a few rows are kept.
const SHALLOW: usize = 32;
/// Most logits that are kept at a time, unless a single row has more.
const KEPT: usize = 1 << 20;
/// Most columns that may contend at a time, in all rows: far more than do.
const HITS: usize = 1 << 23;
/// Rows that are put together by one thread at a time.
const GROUP: usize = 8;

/// m and Σ e^(z−m).
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    most: f32,
    sum: f32,
}

/// A layer whose outputs are logits: z = scale·x·Wᵀ + b.
#[derive(Clone, Copy, Debug)]
pub struct OutputLayer<'a> {
    /// W.
    pub weight: &'a Packed,
    /// b, one number per output; empty if there is none.
    pub bias: &'a [f32],
    /// What products are multiplied by.
    pub scale: f32,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub struct Best {
    /// One per block and row.
    partials: Vec<Partial>,
    /// The best of each block and row.
    scored: Vec<Scored>,
    floors: Floors,
    /// All logits of a row, while it is put together.
    merged: Vec<Scored>,
    screen: Screen,
}

/// The logits of a block of one row.
struct Seen<'a> {
    worker: usize,
    block: usize,
    row: usize,
    /// The column of the first.
    first: u32,
    logits: &'a [f32],
    /// The largest.
    most: f32,
}

impl Best {
    /// The `depth` most probable outputs of each row of x, the best first, ties by column; row after row in
    /// `answers`. Their tokens are the columns themselves, or what `tokens` calls them. Where there are
    /// fewer columns than `depth`, the rest is left as it was.
    ///
    /// # Panics
    /// If x is not made of whole rows, or `answers` has not `depth` places for each.
    pub fn run(
        &mut self,
        tools: &mut Tools,
        layer: OutputLayer<'_>,
        x: &[f32],
        depth: usize,
        tokens: Option<&[TokenId]>,
        answers: &mut [Candidate],
    ) {
        let head = layer.weight;
        let k = head.inputs();
        let rows = x.len() / k;
        assert_eq!(x.len(), rows * k, "whole rows of {k} numbers");
        let biases = layer.bias.len();
        assert!(biases == 0 || biases == head.outputs(), "a bias for each output, or none");
        assert_eq!(answers.len(), rows * depth, "{depth} places for each row");
        if rows == 0 || depth == 0 || head.outputs() == 0 {
            return;
        }
        let blocks = head.outputs().div_ceil(BLOCK);
        let screened = match head {
            Packed::Screened(screened) if depth <= SHALLOW => Some(screened),
            _ => None,
        };
        let keep = if depth <= SHALLOW { depth } else { BLOCK };
        let most = match screened {
            Some(_) => HITS / head.outputs(),
            None => KEPT / (blocks * keep),
        };
        let most = most.clamp(1, rows);
        for (x, answers) in x.chunks(most * k).zip(answers.chunks_mut(most * depth)) {
            if let Some(screened) = screened {
                let Self { partials, floors, screen, .. } = self;
                screen.run(tools, screened, (partials, floors), layer, x, tokens, answers);
                continue;
            }
            self.blocks(tools, layer, x, keep);
            let rows = x.len() / k;
            let remains = Remains {
                rows,
                keep,
                partials: &self.partials[..blocks * rows],
                scored: &self.scored[..blocks * rows * keep],
            };
            if depth <= SHALLOW {
                remains.merge(tools, tokens, answers);
            } else {
                remains.order(&mut self.merged, depth, tokens, answers);
            }
        }
    }

    /// What remains of each block for each row.
    fn blocks(&mut self, tools: &mut Tools, layer: OutputLayer<'_>, x: &[f32], keep: usize) {
        let head = layer.weight;
        let rows = x.len() / head.inputs();
        let blocks = head.outputs().div_ceil(BLOCK);
        let Self { partials, scored, floors, .. } = self;
        let scored = Grid::new(grow(scored, blocks * rows * keep), keep);
        floors.reset(rows);
        head.prepare(tools, x);
        visit(partials, tools, layer, x, |seen| {
            // SAFETY: each block of each row is seen once.
            #[expect(unsafe_code, reason = "disjoint parts of one list")]
            let kept = unsafe { scored.part(seen.block * rows + seen.row, 0..keep) };
            select(kept, &seen, floors);
        });
    }
}

/// Computes the logits of all rows, which are [prepared](Packed::prepare), shows each block of each row to `see`, and adds up its exponentials.
fn visit(
    partials: &mut Vec<Partial>,
    tools: &Tools,
    OutputLayer { weight: head, bias, scale }: OutputLayer<'_>,
    x: &[f32],
    see: impl Fn(Seen<'_>) + Sync,
) {
    let rows = x.len() / head.inputs();
    let columns = head.outputs();
    let blocks = columns.div_ceil(BLOCK);
    let partials = Grid::new(grow(partials, blocks * rows), rows);
    tools.threads.run(blocks, &|block, worker| {
        let first = block * BLOCK;
        let count = BLOCK.min(columns - first);
        let panels = block * PANELS..block * PANELS + count.div_ceil(PANEL);
        let bias = bias.get(first..first + count).unwrap_or(&[]);
        // SAFETY: each block is computed once.
        #[expect(unsafe_code, reason = "disjoint blocks of one list")]
        let partials = unsafe { partials.part(block, 0..rows) };
        let mut scratch = tools.scratch(worker);
        for from in (0..rows).step_by(ROWS) {
            let part = from..(from + ROWS).min(rows);
            let logits = grow(&mut scratch, part.len() * BLOCK);
            head.sweep(tools, x, part.clone(), panels.clone(), |row, panel, numbers| {
                let at = (row - from) * BLOCK + (panel - panels.start) * PANEL;
                logits[at..at + PANEL].copy_from_slice(numbers);
            });
            for (row, logits) in part.zip(logits.chunks_exact_mut(BLOCK)) {
                let logits = &mut logits[..count];
                let most = scale_and_peak(logits, scale, bias);
                see(Seen { worker, block, row, first: first as u32, logits, most });
                partials[row] = Partial { most, sum: exponentiate(logits, most) };
            }
        }
    });
    tools.level();
}

/// What remains of all blocks: block after block, row after row.
#[derive(Clone, Copy)]
struct Remains<'a> {
    rows: usize,
    /// Logits of each block and row.
    keep: usize,
    partials: &'a [Partial],
    scored: &'a [Scored],
}

impl Remains<'_> {
    /// log Σ e^z of a row.
    fn log_z(self, row: usize) -> f64 {
        let (most, sum) = total(self.partials, self.rows, row);
        most + sum.ln()
    }

    /// Puts the blocks of each row together, of which as many logits were kept as are asked for.
    fn merge(self, tools: &Tools, tokens: Option<&[TokenId]>, answers: &mut [Candidate]) {
        let depth = self.keep;
        tools.threads.chunks(answers, GROUP * depth, &|group, answers, _| {
            for (row, answers) in (group * GROUP..).zip(answers.chunks_exact_mut(depth)) {
                let mut merged = [NOBODY; SHALLOW];
                let merged = &mut merged[..depth];
                let mut len = 0;
                for kept in self.scored.chunks_exact(depth).skip(row).step_by(self.rows) {
                    // They are in order: after one without a place none has one.
                    kept.iter().take_while(|one| insert(merged, &mut len, **one)).count();
                }
                answer(answers, &merged[..len], self.log_z(row), tokens);
            }
        });
    }

    /// The same where all logits were kept.
    fn order(
        self,
        merged: &mut Vec<Scored>,
        depth: usize,
        tokens: Option<&[TokenId]>,
        answers: &mut [Candidate],
    ) {
        for (row, answers) in answers.chunks_exact_mut(depth).enumerate() {
            merged.clear();
            let blocks = self.scored.chunks_exact(self.keep).skip(row).step_by(self.rows);
            merged.extend(blocks.flatten().filter(|one| one.column != NOBODY.column));
            if merged.len() > depth {
                merged.select_nth_unstable_by(depth - 1, better);
                merged.truncate(depth);
            }
            merged.sort_unstable_by(better);
            answer(answers, merged, self.log_z(row), tokens);
        }
    }
}

/// m and Σ e^(z−m) of a row, of all blocks.
fn total(partials: &[Partial], rows: usize, row: usize) -> (f64, f64) {
    let partials = || partials[row..].iter().step_by(rows);
    let most = f64::from(partials().map(|p| p.most).fold(f32::NEG_INFINITY, f32::max));
    let part = |p: &Partial| f64::from(p.sum) * (f64::from(p.most) - most).exp();
    (most, partials().map(part).sum())
}

/// Names and normalises the best of a row.
fn answer(answers: &mut [Candidate], best: &[Scored], log_z: f64, tokens: Option<&[TokenId]>) {
    for (answer, one) in answers.iter_mut().zip(best) {
        let token = match tokens {
            Some(tokens) => tokens[one.column as usize],
            None => TokenId(one.column),
        };
        *answer = Candidate { token, log_prob: f64::from(one.logit) - log_z };
    }
}

vectorised! {
    /// z ← scale·z + b, and the largest.
    fn scale_and_peak(z: &mut [f32], scale: f32, bias: &[f32]) -> f32 {
        for z in z.iter_mut() {
            *z *= scale;
        }
        // Nothing, if there is no bias.
        for (z, b) in z.iter_mut().zip(bias) {
            *z += b;
        }
        largest(z)
    }
}

vectorised! {
    fn place_of(z: &[f32], most: f32) -> usize {
        first_at_least(z, most)
    }
}

/// The best logits of a block; all of them, if as many are kept as a block has.
fn select(kept: &mut [Scored], seen: &Seen<'_>, floors: &Floors) {
    let Seen { row, first, logits, most, .. } = *seen;
    let depth = kept.len();
    let len = if depth == BLOCK {
        let all = (first..).zip(logits).map(|(column, &logit)| Scored { logit, column });
        kept.iter_mut().zip(all).for_each(|(kept, one)| *kept = one);
        logits.len()
    } else if most < floors.at(row) {
        0
    } else if depth == 1 {
        // The first that nothing exceeds: the smallest column among equals.
        let at = place_of(logits, most);
        kept[0] = Scored { logit: logits[at], column: first + at as u32 };
        1
    } else {
        pick(kept, logits, floors.at(row), first)
    };
    kept[len..].fill(NOBODY);
    if len == depth && depth < BLOCK {
        floors.raise(row, kept[depth - 1].logit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::byte::Byte;
    use super::super::screened::Screened;
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
        run_again(&mut Best::default(), threads, head, x, depth, tokens)
    }

    fn run_again(
        best: &mut Best,
        threads: usize,
        head: &Packed,
        x: &[f32],
        depth: usize,
        tokens: Option<&[TokenId]>,
    ) -> Vec<Candidate> {
        let nothing = Candidate { token: TokenId(999_999), log_prob: f64::NEG_INFINITY };
        let mut answers = vec![nothing; x.len() / head.inputs() * depth];
        let mut tools = Tools::new(Threads::new(threads));
        let layer = OutputLayer { weight: head, bias: &[], scale: 0.5 };
        best.run(&mut tools, layer, x, depth, tokens, &mut answers);
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
            seed: u64, rows in 0..8_usize, k in 1..9_usize, n in 1..700_usize, share in 0.0..1.0_f64, shallow in 1..40_usize,
            deep: bool, coarse: bool, kind in 0..3_usize, threads in 1..4_usize,
        ) {
            let (w, x) = (random(seed, n * k, coarse), random(seed ^ 1, rows * k, coarse));
            let depth = if deep { (share * n as f64) as usize } else { shallow }.clamp(1, n);
            let head = match kind {
                0 => Packed::Byte(Byte::pack(Isa::detect(), &[&w], k)),
                1 => Packed::Single(Single::pack(Isa::detect(), &[&w], k)),
                _ => Packed::Screened(Screened::pack(Isa::detect(), &[&w], k)),
            };
            let found = run(threads, &head, &x, depth, None);
            if kind > 0 {
                let truth = slow(&w, &x, k, depth);
                // Sums over what cannot win are coarse.
                let tolerance = if kind == 2 && depth <= SHALLOW { 0.02 } else { 1e-5 };
                for (a, b) in found.iter().zip(&truth) {
                    // Screened logits are added up in another order: near ties may fall the other way.
                    prop_assert!(a.token == b.token || kind == 2 && (a.log_prob - b.log_prob).abs() < 1e-5);
                    prop_assert!((a.log_prob - b.log_prob).abs() < tolerance, "{:?} {:?}", a, b);
                }
            }
            for (row, x) in x.chunks_exact(k).enumerate() {
                let alone = run(1, &head, x, depth, None);
                prop_assert_eq!(&found[row * depth..][..depth], &alone[..]);
                if kind == 2 {
                    continue;
                }
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
    fn screens_of_wide_layers_lose_nothing() {
        let (k, n, rows) = (300, 2500, 40);
        let (w, x) = (random(5, n * k, false), random(6, rows * k, false));
        let all = Packed::Single(Single::pack(Isa::detect(), &[&w], k));
        let screened = Packed::Screened(Screened::pack(Isa::detect(), &[&w], k));
        for depth in [1, 10] {
            let truth = run(1, &all, &x, depth, None);
            let found = run(2, &screened, &x, depth, None);
            for (a, b) in found.iter().zip(&truth) {
                assert_eq!(a.token, b.token);
                assert!((a.log_prob - b.log_prob).abs() < 1e-2, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_came_before_does_not_matter() {
        let (k, n) = (24, 1500);
        let w = random(9, n * k, false);
        let heads = [
            Packed::Screened(Screened::pack(Isa::detect(), &[&w], k)),
            Packed::Single(Single::pack(Isa::detect(), &[&w], k)),
            Packed::Byte(Byte::pack(Isa::detect(), &[&w], k)),
        ];
        let mut best = Best::default();
        for (turn, rows) in [40, 3, 17, 1, 25].into_iter().enumerate() {
            let x = random(10 + turn as u64, rows * k, false);
            for head in &heads {
                for depth in [1, 7, 40] {
                    let found = run_again(&mut best, 2, head, &x, depth, None);
                    assert_eq!(
                        found,
                        run(1, head, &x, depth, None),
                        "{rows} rows, {depth} answers"
                    );
                }
            }
        }
    }

    /// A bias is one more input that is always 1: as definition, and for the column in which a coarse product alone would lose.
    #[test]
    fn biases_are_added_before_the_best_are_chosen() {
        let (k, n, rows) = (24, 1500, 9);
        let (w, x) = (random(11, n * k, false), random(12, rows * k, false));
        let mut bias: Vec<f32> = random(13, n, false);
        bias[1234] = 9.0;
        let join = |numbers: &[f32], last: &dyn Fn(usize) -> f32| -> Vec<f32> {
            let rows = numbers.chunks_exact(k).enumerate();
            rows.flat_map(|(i, row)| row.iter().copied().chain([last(i)]).collect::<Vec<_>>())
                .collect()
        };
        let heads = [
            Packed::Screened(Screened::pack(Isa::detect(), &[&w], k)),
            Packed::Single(Single::pack(Isa::detect(), &[&w], k)),
        ];
        for (head, tolerance) in heads.iter().zip([0.02, 1e-5]) {
            let layer = OutputLayer { weight: head, bias: &bias, scale: 0.5 };
            for depth in [1, 5, 40] {
                // The definition multiplies everything by 0.5.
                let truth = slow(&join(&w, &|i| 2.0 * bias[i]), &join(&x, &|_| 1.0), k + 1, depth);
                let nothing = Candidate { token: TokenId(0), log_prob: f64::NEG_INFINITY };
                let mut found = vec![nothing; rows * depth];
                let mut tools = Tools::new(Threads::new(2));
                Best::default().run(&mut tools, layer, &x, depth, None, &mut found);
                for (a, b) in found.iter().zip(&truth) {
                    assert!((a.log_prob - b.log_prob).abs() < tolerance, "{a:?} {b:?}");
                    let close = (a.log_prob - b.log_prob).abs() < 1e-5;
                    assert!(a.token == b.token || close, "{a:?} {b:?}");
                }
                assert!(found.chunks_exact(depth).all(|best| best[0].token == TokenId(1234)));
            }
        }
    }

    #[test]
    fn rows_with_outliers_have_wide_bounds() {
        // Without its first number the best row would be all zeros in int8.
        let x: Vec<f32> =
            (0..512).map(|i| if i == 0 { 0.0 } else { (i % 3) as f32 - 1.01 }).collect();
        let mut best: Vec<f32> = x.iter().map(|x| 0.07 * x).collect();
        best[0] = 10.0;
        let second: Vec<f32> = x.iter().map(|x| 0.055 * x).collect();
        let head = Packed::Screened(Screened::pack(Isa::detect(), &[&second, &best], 512));
        assert_eq!(run(1, &head, &x, 1, None)[0].token, TokenId(1));
    }

    #[test]
    fn what_is_no_number_is_an_answer_too() {
        let mut x = random(7, 3 * 20, false);
        x[25] = f32::NAN;
        let head =
            Packed::Screened(Screened::pack(Isa::detect(), &[&random(8, 50 * 20, false)], 20));
        let found = run(2, &head, &x, 2, None);
        assert!(found.iter().all(|answer| answer.token.0 < 50), "{found:?}");
        assert!(found[2].log_prob.is_nan() && found[0].log_prob < 0.0 && found[4].log_prob < 0.0);
    }

    #[test]
    fn probabilities_of_all_add_up() {
        let (w, x) = (random(3, 1000 * 5, false), random(4, 5, false));
        let head = Packed::Single(Single::pack(Isa::detect(), &[&w], 5));
        let total: f64 = run(1, &head, &x, 1000, None).iter().map(|c| c.log_prob.exp()).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}
