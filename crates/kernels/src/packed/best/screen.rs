//! The best outputs of a [`Screened`] layer: all columns in int8, the few that may win in f32.
//!
//! A logit z of f32 lies within δ of its coarse twin ẑ ([`screened`](super::super::screened) says when). So with τ the `depth`-th largest ẑ − δ, whatever has
//! ẑ + δ < τ is not among the best: all others, the *contenders*, are computed in f32, and the best of them are the best of all. Tokens and
//! logits are those of f32. What remains coarse is the sum over the others: with r their share of the whole,
//!
//! ```text
//! |log Z − log Ẑ| ≤ log(1 + r·(e^δ − 1))
//! ```
//!
//! and in practice much less, since errors of thousands of terms cancel. Who contends depends on the `depth`, and the last digits of probabilities with it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use padir_base::TokenId;
use padir_base::denoise::Candidate;

use super::super::ahead::Ahead;
use super::super::product::Tools;
use super::super::screened::{ErrorBound, Screened};
use super::super::{PANEL, grow};
use super::floors::Floors;
use super::scored::{NOBODY, Scored, insert, pick};
use super::{BLOCK, GROUP, OutputLayer, PANELS, Partial, SHALLOW, Seen, answer, total, visit};
use crate::simd::vectorised;

/// How many contenders ahead their weights are asked for.
const NEXT: usize = 2;

/// A coarse logit that may be among the best of its row.
#[derive(Clone, Copy, Debug, Default)]
struct Hit {
    row: u32,
    scored: Scored,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Of each row.
    error_bounds: Vec<ErrorBound>,
    /// What each worker found.
    found: Vec<Mutex<Vec<Hit>>>,
    /// The same, row after row.
    hits: Vec<Hit>,
    /// Where the hits of each row end.
    ends: Vec<usize>,
}

impl Screen {
    /// As [`Best::run`](super::Best::run); `head` is the weight of the layer.
    #[expect(clippy::too_many_arguments, reason = "one operation with all that it reads")]
    pub(super) fn run(
        &mut self,
        tools: &mut Tools,
        head: &Screened,
        (partials, floors): (&mut Vec<Partial>, &mut Floors),
        layer: OutputLayer<'_>,
        x: &[f32],
        tokens: Option<&[TokenId]>,
        answers: &mut [Candidate],
    ) {
        let k = head.inputs();
        let rows = x.len() / k;
        let depth = answers.len() / rows;
        self.look(tools, head, (partials, floors), layer, x, depth);
        self.sort(rows, head.outputs());
        let partials = &partials[..head.outputs().div_ceil(BLOCK) * rows];
        let Self { error_bounds, found, hits, ends } = &*self;
        tools.threads.chunks(answers, GROUP * depth, &|group, answers, worker| {
            let mut contenders = open(&found[worker]);
            for (row, answers) in (group * GROUP..).zip(answers.chunks_exact_mut(depth)) {
                let start = if row == 0 { 0 } else { ends[row - 1] };
                contend(&mut contenders, &hits[start..ends[row]], head, error_bounds[row], depth);
                let (most, sum) = total(partials, rows, row);
                let x = &x[row * k..][..k];
                let mut best = [NOBODY; SHALLOW];
                let (mut len, mut coarse, mut exact) = (0, 0.0, 0.0);
                for at in 0..contenders.len() {
                    if let Some(next) = contenders.get(at + NEXT) {
                        Ahead::new(head.row(next.scored.column as usize), 1).fetch(0);
                    }
                    let Scored { logit: guess, column } = contenders[at].scored;
                    let logit = layer.scale * head.logit(x, column as usize);
                    let logit = layer.bias.get(column as usize).map_or(logit, |b| logit + b);
                    coarse += (f64::from(guess) - most).exp();
                    exact += (f64::from(logit) - most).exp();
                    insert(&mut best[..depth], &mut len, Scored { logit, column });
                }
                // No probability exceeds 1, however sums are rounded.
                let log_z =
                    (most + ((sum - coarse).max(0.0) + exact).ln()).max(best[0].logit.into());
                answer(answers, &best[..len], log_z, tokens);
            }
        });
    }

    /// Finds whatever may be among the best, and some more.
    fn look(
        &mut self,
        tools: &mut Tools,
        head: &Screened,
        (partials, floors): (&mut Vec<Partial>, &mut Floors),
        layer: OutputLayer<'_>,
        x: &[f32],
        depth: usize,
    ) {
        let rows = x.len() / head.inputs();
        floors.reset(rows);
        head.error_bound(tools, x, layer.scale, grow(&mut self.error_bounds, rows));
        self.found.resize_with(tools.threads.count().max(self.found.len()), Mutex::default);
        let Self { error_bounds, found, .. } = &*self;
        for list in found {
            let mut list = open(list);
            list.clear();
            list.reserve(most_hits(rows, head.outputs()));
        }
        let coarse = OutputLayer { weight: head.coarse(), ..layer };
        visit(partials, tools, coarse, x, |seen| {
            let panel = seen.first as usize / PANEL;
            let mut error_bound = [0.0; PANELS];
            let panels = seen.logits.len().div_ceil(PANEL);
            let worst =
                head.error_bounds(panel, error_bounds[seen.row], &mut error_bound[..panels]);
            if !may_reach(seen.most + worst, floors.at(seen.row)) {
                return;
            }
            raise(floors, &seen, worst, depth);
            let floor = floors.at(seen.row);
            gather(&mut open(&found[seen.worker]), &seen, &error_bound, floor);
        });
    }

    /// Puts what workers found row after row.
    fn sort(&mut self, rows: usize, columns: usize) {
        let Self { found, hits, ends, .. } = self;
        ends.clear();
        ends.resize(rows + 1, 0);
        let mut count = 0;
        for list in found.iter_mut() {
            let list = list.get_mut().unwrap_or_else(PoisonError::into_inner);
            for hit in &*list {
                ends[hit.row as usize + 1] += 1;
            }
            count += list.len();
        }
        // Now they are the numbers of hits; then where rows begin, which become their ends as they are filled.
        let mut sum = 0;
        for end in &mut *ends {
            sum += *end;
            *end = sum;
        }
        hits.clear();
        hits.reserve(most_hits(rows, columns));
        hits.resize(count, Hit::default());
        for list in found.iter_mut() {
            for hit in list.get_mut().unwrap_or_else(PoisonError::into_inner) {
                let end = &mut ends[hit.row as usize];
                hits[*end] = *hit;
                *end += 1;
            }
        }
    }
}

/// Room for as many hits as there can be, whoever finds them, so that lists never grow later; no more than 12 MB, which only models that say
/// nothing exceed. Memory that is not written to costs nothing.
fn most_hits(rows: usize, columns: usize) -> usize {
    (rows * columns).min(1 << 20)
}

/// The list of a worker, whatever a panic left in it.
fn open(list: &Mutex<Vec<Hit>>) -> MutexGuard<'_, Vec<Hit>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Raises the floor of a row to what as many columns of a block exceed as are asked for.
fn raise(floors: &Floors, seen: &Seen<'_>, worst: f32, depth: usize) {
    if depth == 1 {
        floors.raise(seen.row, seen.most - worst);
        return;
    }
    let mut best = [NOBODY; SHALLOW];
    let floor = floors.at(seen.row) + worst;
    if pick(&mut best[..depth], seen.logits, floor, seen.first) == depth {
        floors.raise(seen.row, best[depth - 1].logit - worst);
    }
}

/// Adds what may exceed the floor.
fn gather(list: &mut Vec<Hit>, seen: &Seen<'_>, error_bound: &[f32; PANELS], floor: f32) {
    let row = seen.row as u32;
    let panels = seen.logits.chunks(PANEL).zip((seen.first..).step_by(PANEL)).zip(error_bound);
    for ((logits, first), error_bound) in panels {
        if beaten(logits, *error_bound, floor) {
            continue;
        }
        for (&logit, column) in logits.iter().zip(first..) {
            // Added up as contenders are, so that what rounds in their favour there is not lost here.
            if may_reach(logit + error_bound, floor) {
                list.push(Hit { row, scored: Scored { logit, column } });
            }
        }
    }
}

vectorised! {
    /// Whether all stay below the floor.
    fn beaten(logits: &[f32], error_bound: f32, floor: f32) -> bool {
        let mut all = true;
        for &z in logits {
            all &= z + error_bound < floor;
        }
        all
    }
}

/// Whether a number is not below a bar; what is no number may be anything.
#[inline]
fn may_reach(number: f32, bar: f32) -> bool {
    number >= bar || number.is_nan() || bar.is_nan()
}

/// The contenders among the hits of a row, by column: as many for any number of threads.
fn contend(
    list: &mut Vec<Hit>,
    hits: &[Hit],
    head: &Screened,
    error_bound: ErrorBound,
    depth: usize,
) {
    let bound_of = |hit: &Hit| {
        let mut one = [0.0];
        head.error_bounds(hit.scored.column as usize / PANEL, error_bound, &mut one)
    };
    let mut lowest = [NOBODY; SHALLOW];
    let mut len = 0;
    for hit in hits {
        let logit = hit.scored.logit - bound_of(hit);
        insert(&mut lowest[..depth], &mut len, Scored { logit, column: hit.scored.column });
    }
    let bar = if len == depth { lowest[depth - 1].logit } else { f32::NEG_INFINITY };
    list.clear();
    list.extend(hits.iter().filter(|hit| may_reach(hit.scored.logit + bound_of(hit), bar)));
    list.sort_unstable_by_key(|hit| hit.scored.column);
}
