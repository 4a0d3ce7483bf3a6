//! softmax(QKᵀ + B)·V without gradients, head by head and row by row of a ragged batch.
//!
//! There is no division by √d: the queries' weights are smaller instead. Scores and sums are tiles of the same chains
//! as any product, so a query's result does not depend on the queries beside it. Queries may be fewer than
//! keys: only those that are wanted.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::grid::Grid;
use super::isa::{Found, Isa};
use super::product::Tools;
use super::tile::{self, Next, Shape, Singles, row_tiles};
use super::{PANEL, grow};
use crate::simd::{exponentiate, largest, vectorised};

/// One row of the batch: its queries and what they look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Rows of the queries and of the result.
    pub queries: Range<usize>,
    /// The first row of its values, and of its keys.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// Where its scores come from, if not from keys: see [`Scores`].
    pub place: usize,
}

/// Where scores come from.
#[derive(Clone, Copy)]
pub enum Scores<'a> {
    /// From keys, row after row.
    Keys {
        /// Head h of row r begins at r·`stride` + h·width.
        keys: &'a [f32],
        /// What separates rows.
        stride: usize,
    },
    /// From keys that [`pack_keys`] has packed: those of a span begin at its place.
    Panels(&'a [f32]),
    /// From keys that all spans share, packed for `longest` of them; each looks at its first few.
    Common {
        /// Packed by [`pack_keys`].
        panels: &'a [f32],
        /// How many keys there are.
        longest: usize,
    },
    /// Nowhere: the [`weights`] of a span's place are known, and a query stands in them at its position. The
    /// same to the bit as if they were computed from keys.
    Known(&'a (dyn Known + Sync)),
}

/// Attention weights that are known.
pub trait Known {
    /// The [`weights`] of a place.
    fn at(&self, place: usize) -> &[f32];
}

/// Biases by distance.
#[derive(Clone, Copy, Debug)]
pub struct Bias<'a> {
    /// That of head h, query i and key j at h·(2·reach − 1) + j − i + reach − 1.
    pub numbers: &'a [f32],
    /// More than any position.
    pub reach: usize,
}

impl<'a> Bias<'a> {
    /// That of a query and a key.
    pub fn at(&self, head: usize, query: usize, key: usize) -> f32 {
        self.numbers[head * (2 * self.reach - 1) + self.reach - 1 + key - query]
    }

    /// Those of one query and all keys.
    pub(super) fn row(&self, head: usize, position: usize, count: usize) -> &'a [f32] {
        let first = head * (2 * self.reach - 1) + self.reach - 1 - position;
        &self.numbers[first..first + count]
    }
}

/// Attention over a ragged batch.
#[derive(Clone, Copy)]
pub struct Attention<'a> {
    /// The processor.
    pub isa: Isa,
    /// The number of heads.
    pub heads: usize,
    /// The width of a head.
    pub width: usize,
    /// The rows of the batch, in the order of their queries.
    pub spans: &'a [Span],
    /// Head h of query r begins at r·`query_stride` + h·width.
    pub queries: &'a [f32],
    /// What separates queries.
    pub query_stride: usize,
    /// The position of each query.
    pub positions: &'a [u32],
    /// Where scores come from.
    pub scores: Scores<'a>,
    /// Head h of value r begins at r·`value_stride` + h·width. At least 16 numbers more than needed.
    pub values: &'a [f32],
    /// What separates values.
    pub value_stride: usize,
    /// Added to the scores.
    pub bias: Option<Bias<'a>>,
}

impl Attention<'_> {
    /// Writes one row of heads·width numbers for each query.
    ///
    /// # Panics
    /// If spans overlap or reach beyond what is there.
    pub fn run(&self, tools: &Tools, out: &mut [f32]) {
        let ordered = self.spans.windows(2).all(|two| two[0].queries.end <= two[1].queries.start);
        assert!(ordered, "spans of queries must not overlap");
        let found = Found::new(self.isa);
        let grid = Grid::new(out, self.heads * self.width);
        tools.threads.run(self.spans.len() * self.heads, &|piece, worker| {
            let (span, head) = (&self.spans[piece / self.heads], piece % self.heads);
            self.head(found, span, head, &grid, &mut tools.scratch(worker));
        });
        tools.level();
    }

    /// Numbers that [`Attention::weights`] writes.
    pub fn weights_len(&self) -> usize {
        self.spans.iter().map(|span| self.heads * span.queries.len() * span.count).sum()
    }

    /// Writes the softmax itself, for whoever wants to see it: span after span, of each head after head, query after query, one weight per key. They are
    /// the weights that [`Attention::run`] mixes values with, computed once more and by the same chains; a run that nobody looks at costs nothing.
    ///
    /// # Panics
    /// If `out` has another length than [`Attention::weights_len`], or scores are known already.
    pub fn weights(&self, tools: &Tools, out: &mut [f32]) {
        assert_eq!(out.len(), self.weights_len(), "a matrix for each head of each span");
        assert!(!matches!(self.scores, Scores::Known(_)), "known weights need not be computed");
        let found = Found::new(self.isa);
        let mut parts = Vec::with_capacity(self.spans.len() * self.heads);
        let mut rest = out;
        for span in self.spans {
            for _ in 0..self.heads {
                let (part, later) =
                    std::mem::take(&mut rest).split_at_mut(span.queries.len() * span.count);
                parts.push(Mutex::new(part));
                rest = later;
            }
        }
        tools.threads.run(parts.len(), &|piece, worker| {
            let (span, head) = (&self.spans[piece / self.heads], piece % self.heads);
            let mut part = parts[piece].lock().unwrap_or_else(PoisonError::into_inner);
            self.head_weights(found, span, head, &mut part, &mut tools.scratch(worker));
        });
        tools.level();
    }

    fn head_weights(
        &self,
        found: Found,
        span: &Span,
        head: usize,
        out: &mut [f32],
        scratch: &mut Vec<f32>,
    ) {
        if span.count == 0 {
            return;
        }
        let padded = span.count.next_multiple_of(PANEL);
        let own = if matches!(self.scores, Scores::Keys { .. }) { padded * self.width } else { 0 };
        let (packed, weights) = grow(scratch, own + tile::ROWS * padded).split_at_mut(own);
        let keys = self.keys(span, head, packed, padded);
        for rows in row_tiles(span.queries.len(), tile::ROWS) {
            let queries = span.queries.start + rows.start..span.queries.start + rows.end;
            self.score(found, queries.clone(), head, keys, weights, padded);
            for (i, row) in queries.enumerate() {
                let weights = &mut weights[i * padded..][..span.count];
                let inverse = self.soften(weights, head, row);
                let out = &mut out[(rows.start + i) * span.count..][..span.count];
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out = *weight * inverse);
            }
        }
    }

    /// The packed keys of one head; those that are not packed yet go into `packed`.
    fn keys<'k>(
        &'k self,
        span: &Span,
        head: usize,
        packed: &'k mut [f32],
        padded: usize,
    ) -> &'k [f32] {
        let width = self.width;
        match self.scores {
            Scores::Keys { keys, stride } => {
                let keys = &keys[span.first * stride + head * width..];
                pack_head(packed, keys, stride, span.count, width);
                packed
            }
            Scores::Panels(panels) => &panels[span.place + head * padded * width..],
            Scores::Common { panels, longest } => &panels[head * packed_len(1, width, longest)..],
            Scores::Known(_) => &[],
        }
    }

    /// e^(score + bias) of one query up to a factor; gives the inverse of their sum.
    fn soften(&self, scores: &mut [f32], head: usize, query: usize) -> f32 {
        let position = self.positions.get(query).map_or(0, |&p| p as usize);
        let bias = self.bias.map_or(&[][..], |bias| bias.row(head, position, scores.len()));
        soften(scores, bias)
    }

    fn head(
        &self,
        found: Found,
        span: &Span,
        head: usize,
        grid: &Grid<'_, f32>,
        scratch: &mut Vec<f32>,
    ) {
        let width = self.width;
        if span.count == 0 {
            // Whoever looks at nothing sees nothing.
            for row in span.queries.clone() {
                // SAFETY: spans do not overlap, and each of their heads belongs to one piece.
                #[expect(unsafe_code, reason = "disjoint heads of disjoint rows")]
                unsafe { grid.part(row, head * width..(head + 1) * width) }.fill(0.0);
            }
            return;
        }
        let padded = span.count.next_multiple_of(PANEL);
        let own = if matches!(self.scores, Scores::Keys { .. }) { padded * width } else { 0 };
        let (packed, weights) = grow(scratch, own + tile::ROWS * padded).split_at_mut(own);
        let keys = self.keys(span, head, packed, padded);
        for rows in row_tiles(span.queries.len(), tile::ROWS) {
            let rows = span.queries.start + rows.start..span.queries.start + rows.end;
            let mut inverses = [1.0; tile::ROWS];
            if let Scores::Known(known) = self.scores {
                let size = known_len(1, span.count);
                let known = &known.at(span.place)[head * size..][..size];
                for (i, row) in rows.clone().enumerate() {
                    let position = self.positions[row] as usize;
                    let from = &known[position * span.count..][..span.count];
                    weights[i * padded..][..span.count].copy_from_slice(from);
                    inverses[i] = known[span.count * span.count + position];
                }
            } else {
                self.score(found, rows.clone(), head, keys, weights, padded);
                for (i, row) in rows.clone().enumerate() {
                    inverses[i] = self.soften(&mut weights[i * padded..][..span.count], head, row);
                }
            }
            self.mix(found, span, rows, head, weights, padded, &inverses, grid);
        }
    }

    /// The scores of a few rows, for whole panels of keys.
    fn score(
        &self,
        found: Found,
        rows: Range<usize>,
        head: usize,
        keys: &[f32],
        weights: &mut [f32],
        padded: usize,
    ) {
        let mut sums = [[0.0; PANEL]; tile::ROWS * tile::PANELS];
        let shape = Shape::of_singles(found, rows.len());
        let first = rows.start;
        shape.cover(0..rows.len(), 0..padded / PANEL, |tile, panel, panels| {
            let factors = Singles {
                k: self.width,
                a: &self.queries[(first + tile.start) * self.query_stride + head * self.width..],
                a_row: self.query_stride,
                b: &keys[panel * PANEL * self.width..],
                b_step: PANEL,
                b_panel: PANEL * self.width,
                more: false,
                next: Next::default(),
            };
            tile::singles(found, tile.len(), panels, factors, &mut sums);
            for (r, row) in tile.enumerate() {
                for p in 0..panels {
                    let place = row * padded + (panel + p) * PANEL;
                    weights[place..place + PANEL].copy_from_slice(&sums[r * panels + p]);
                }
            }
        });
    }

    /// Weights times values, into the result.
    #[expect(clippy::too_many_arguments, reason = "one tile with all that belongs to it")]
    fn mix(
        &self,
        found: Found,
        span: &Span,
        rows: Range<usize>,
        head: usize,
        weights: &[f32],
        padded: usize,
        inverses: &[f32; tile::ROWS],
        grid: &Grid<'_, f32>,
    ) {
        let mut sums = [[0.0; PANEL]; tile::ROWS * tile::PANELS];
        let shape = Shape::of_singles(found, rows.len());
        let values = &self.values[span.first * self.value_stride + head * self.width..];
        shape.cover(0..rows.len(), 0..self.width.div_ceil(PANEL), |tile, panel, panels| {
            let factors = Singles {
                k: span.count,
                a: &weights[tile.start * padded..],
                a_row: padded,
                b: &values[panel * PANEL..],
                b_step: self.value_stride,
                b_panel: PANEL,
                more: false,
                next: Next::default(),
            };
            tile::singles(found, tile.len(), panels, factors, &mut sums);
            for (r, row) in tile.enumerate() {
                for p in 0..panels {
                    let columns = (panel + p) * PANEL..self.width.min((panel + p + 1) * PANEL);
                    let to = head * self.width + columns.start..head * self.width + columns.end;
                    // SAFETY: spans do not overlap, and each of their heads belongs to one piece.
                    #[expect(unsafe_code, reason = "disjoint heads of disjoint rows")]
                    let out = unsafe { grid.part(rows.start + row, to) };
                    let numbers = &sums[r * panels + p];
                    out.iter_mut().zip(numbers).for_each(|(o, x)| *o = x * inverses[row]);
                }
            }
        });
    }
}

/// e^(scores + bias), up to a factor; gives the inverse of their sum.
fn soften(scores: &mut [f32], bias: &[f32]) -> f32 {
    let top = add(scores, bias);
    1.0 / exponentiate(scores, top)
}

vectorised! {
    /// Adds, and gives the largest sum.
    fn add(scores: &mut [f32], bias: &[f32]) -> f32 {
        for (score, bias) in scores.iter_mut().zip(bias) {
            *score += bias;
        }
        largest(scores)
    }
}

/// Numbers that [`pack_keys`] needs for so many keys.
pub fn packed_len(heads: usize, width: usize, count: usize) -> usize {
    heads * width * count.next_multiple_of(PANEL)
}

/// Packs keys (head h of row r at r·`stride` + h·width) for [`Scores::Panels`].
///
/// # Panics
/// If there are fewer keys, or `out` has another length than [`packed_len`].
pub fn pack_keys(
    out: &mut [f32],
    keys: &[f32],
    stride: usize,
    count: usize,
    heads: usize,
    width: usize,
) {
    assert_eq!(out.len(), packed_len(heads, width, count), "room for all heads");
    if count > 0 {
        for (head, out) in out.chunks_exact_mut(out.len() / heads).enumerate() {
            pack_head(out, &keys[head * width..], stride, count, width);
        }
    }
}

/// One head: panels of 16 keys, in each for every dimension the numbers of all 16; 0 where there is no key.
fn pack_head(out: &mut [f32], keys: &[f32], stride: usize, count: usize, width: usize) {
    for (panel, out) in out.chunks_exact_mut(PANEL * width).enumerate() {
        let lanes = out.as_chunks_mut::<PANEL>().0;
        for i in 0..PANEL {
            let row = panel * PANEL + i;
            if row < count {
                let key = &keys[row * stride..][..width];
                lanes.iter_mut().zip(key).for_each(|(lane, k)| lane[i] = *k);
            } else {
                for lane in lanes.iter_mut() {
                    lane[i] = 0.0;
                }
            }
        }
    }
}

/// Numbers that [`weights`] needs for so many positions.
pub fn known_len(heads: usize, count: usize) -> usize {
    heads * (count * count + count)
}

/// Attention weights of positions 0..count over themselves, for [`Scores::Known`]: for each head e^score up to a factor, position
/// after position, then the inverse of the sum for each.
///
/// # Panics
/// If there are fewer queries or keys, or `out` has another length than [`known_len`].
pub fn weights(
    isa: Isa,
    [queries, panels]: [&[f32]; 2],
    longest: usize,
    [heads, width, count]: [usize; 3],
    bias: Bias<'_>,
    out: &mut [f32],
) {
    assert_eq!(out.len(), known_len(heads, count), "a matrix for each head");
    let padded = count.next_multiple_of(PANEL);
    let mut scores = vec![0.0; tile::ROWS * padded];
    let plan = Attention {
        isa,
        heads,
        width,
        spans: &[],
        queries,
        query_stride: heads * width,
        positions: &[],
        scores: Scores::Common { panels, longest },
        values: &[],
        value_stride: 0,
        bias: None,
    };
    for (head, out) in out.chunks_exact_mut(known_len(1, count).max(1)).enumerate() {
        let (matrix, inverses) = out.split_at_mut(count * count);
        let keys = &panels[head * packed_len(1, width, longest)..];
        for rows in row_tiles(count, tile::ROWS) {
            plan.score(Found::new(isa), rows.clone(), head, keys, &mut scores, padded);
            for (i, row) in rows.enumerate() {
                let scores = &mut scores[i * padded..][..count];
                inverses[row] = soften(scores, bias.row(head, row, count));
                matrix[row * count..][..count].copy_from_slice(scores);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Threads;
    use super::*;
    use padir_base::random::{Purpose, Seed, Stream};
    use proptest::prelude::*;

    fn random(stream: &mut Stream, len: usize) -> Vec<f32> {
        (0..len).map(|_| (stream.uniform() * 2.0 - 1.0) as f32).collect()
    }

    struct Case {
        heads: usize,
        width: usize,
        spans: Vec<Span>,
        positions: Vec<u32>,
        queries: Vec<f32>,
        keys: Vec<f32>,
        values: Vec<f32>,
        bias: Vec<f32>,
    }

    const REACH: usize = 40;

    struct One(Vec<f32>);

    impl Known for One {
        fn at(&self, _: usize) -> &[f32] {
            &self.0
        }
    }

    impl Case {
        fn new(seed: u64, heads: usize, width: usize, rows: &[(usize, usize)]) -> Self {
            let mut stream = Seed(seed).stream(Purpose::Initialisation, 0);
            let (mut spans, mut positions) = (Vec::new(), Vec::new());
            let (mut query, mut key) = (0, 0);
            for &(queries, count) in rows {
                let place = packed_len(heads, width, 0) + key;
                spans.push(Span { queries: query..query + queries, first: key, count, place });
                positions.extend((0..queries).map(|_| stream.below(30) as u32));
                query += queries;
                key += count;
            }
            let wide = heads * width;
            Self {
                queries: random(&mut stream, query * wide),
                keys: random(&mut stream, key * wide),
                values: random(&mut stream, key * wide + PANEL),
                bias: random(&mut stream, heads * (2 * REACH - 1)),
                heads,
                width,
                spans,
                positions,
            }
        }

        fn run(&self, isa: Isa, threads: usize, spans: &[Span], scores: Scores<'_>) -> Vec<f32> {
            let mut out = vec![0.0; self.queries.len()];
            self.plan(isa, spans, scores).run(&Tools::new(Threads::new(threads)), &mut out);
            out
        }

        fn weights(
            &self,
            isa: Isa,
            threads: usize,
            spans: &[Span],
            scores: Scores<'_>,
        ) -> Vec<f32> {
            let plan = self.plan(isa, spans, scores);
            let mut out = vec![7.0; plan.weights_len()];
            plan.weights(&Tools::new(Threads::new(threads)), &mut out);
            out
        }

        fn plan<'a>(&'a self, isa: Isa, spans: &'a [Span], scores: Scores<'a>) -> Attention<'a> {
            let wide = self.heads * self.width;
            Attention {
                isa,
                heads: self.heads,
                width: self.width,
                spans,
                queries: &self.queries,
                query_stride: wide,
                positions: &self.positions,
                scores,
                values: &self.values,
                value_stride: wide,
                bias: Some(Bias { numbers: &self.bias, reach: REACH }),
            }
        }

        /// The weights by definition, in double precision.
        fn slow_weights(&self) -> Vec<f64> {
            let wide = self.heads * self.width;
            let mut out = Vec::new();
            for span in &self.spans {
                for head in 0..self.heads {
                    for query in span.queries.clone() {
                        let at = |list: &[f32], row: usize, d: usize| {
                            f64::from(list[row * wide + head * self.width + d])
                        };
                        let score = |j: usize| {
                            let key = span.first + j;
                            let dot: f64 = (0..self.width)
                                .map(|d| at(&self.queries, query, d) * at(&self.keys, key, d))
                                .sum();
                            let distance = j + REACH - 1 - self.positions[query] as usize;
                            (dot + f64::from(self.bias[head * (2 * REACH - 1) + distance])).exp()
                        };
                        let total: f64 = (0..span.count).map(score).sum();
                        out.extend((0..span.count).map(|j| score(j) / total));
                    }
                }
            }
            out
        }

        /// By definition, in double precision.
        fn slow(&self) -> Vec<f64> {
            let wide = self.heads * self.width;
            let mut out = vec![0.0; self.queries.len()];
            for span in &self.spans {
                for query in span.queries.clone() {
                    for head in 0..self.heads {
                        let at = |list: &[f32], row: usize, d: usize| {
                            f64::from(list[row * wide + head * self.width + d])
                        };
                        let score = |j: usize| -> f64 {
                            let key = span.first + j;
                            let dot: f64 = (0..self.width)
                                .map(|d| at(&self.queries, query, d) * at(&self.keys, key, d))
                                .sum();
                            let distance = j + REACH - 1 - self.positions[query] as usize;
                            (dot + f64::from(self.bias[head * (2 * REACH - 1) + distance])).exp()
                        };
                        let total: f64 = (0..span.count).map(score).sum();
                        for d in 0..self.width {
                            let sum: f64 = (0..span.count)
                                .map(|j| score(j) * at(&self.values, span.first + j, d))
                                .sum();
                            out[query * wide + head * self.width + d] =
                                if span.count == 0 { 0.0 } else { sum / total };
                        }
                    }
                }
            }
            out
        }
    }

    fn bits(x: &[f32]) -> Vec<u32> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn equals_its_definition_however_it_is_run(
            seed: u64, heads in 1..4_usize, width in 1..40_usize,
            rows in prop::collection::vec((0..9_usize, 0..38_usize), 1..4),
        ) {
            let case = Case::new(seed, heads, width, &rows);
            let wide = heads * width;
            let keys = Scores::Keys { keys: &case.keys, stride: wide };
            let ours = case.run(Isa::detect(), 1, &case.spans, keys);
            for (at, (ours, slow)) in ours.iter().zip(case.slow()).enumerate() {
                prop_assert!((f64::from(*ours) - slow).abs() < 1e-5, "{}: {} {}", at, ours, slow);
            }
            for isa in Isa::ALL {
                prop_assert_eq!(bits(&case.run(isa, 2, &case.spans, keys)), bits(&ours));
            }
            let mut panels = Vec::new();
            let mut packed = case.spans.clone();
            for span in &mut packed {
                span.place = panels.len();
                panels.resize(panels.len() + packed_len(heads, width, span.count), 7.0);
                pack_keys(&mut panels[span.place..], &case.keys[span.first * wide..], wide, span.count, heads, width);
            }
            prop_assert_eq!(bits(&case.run(Isa::detect(), 3, &packed, Scores::Panels(&panels))), bits(&ours));
            let last = case.spans.last().unwrap();
            let alone = case.run(Isa::detect(), 1, std::slice::from_ref(last), keys);
            let range = last.queries.start * wide..last.queries.end * wide;
            prop_assert_eq!(bits(&alone[range.clone()]), bits(&ours[range]));
        }

        #[test]
        fn weights_equal_their_definition_however_they_are_asked_for(
            seed: u64, heads in 1..4_usize, width in 1..40_usize,
            rows in prop::collection::vec((0..9_usize, 0..38_usize), 1..4),
        ) {
            let case = Case::new(seed, heads, width, &rows);
            let wide = heads * width;
            let keys = Scores::Keys { keys: &case.keys, stride: wide };
            let ours = case.weights(Isa::detect(), 1, &case.spans, keys);
            let slow = case.slow_weights();
            prop_assert_eq!(ours.len(), slow.len());
            for (ours, slow) in ours.iter().zip(&slow) {
                prop_assert!((f64::from(*ours) - slow).abs() < 1e-6, "{} {}", ours, slow);
            }
            for isa in Isa::ALL {
                prop_assert_eq!(bits(&case.weights(isa, 2, &case.spans, keys)), bits(&ours));
            }
            let mut panels = Vec::new();
            let mut packed = case.spans.clone();
            for span in &mut packed {
                span.place = panels.len();
                panels.resize(panels.len() + packed_len(heads, width, span.count), 7.0);
                pack_keys(&mut panels[span.place..], &case.keys[span.first * wide..], wide, span.count, heads, width);
            }
            let found = case.weights(Isa::detect(), 3, &packed, Scores::Panels(&panels));
            prop_assert_eq!(bits(&found), bits(&ours));
            let last = case.spans.last().unwrap();
            let alone = case.weights(Isa::detect(), 1, std::slice::from_ref(last), keys);
            prop_assert_eq!(bits(&alone), bits(&ours[ours.len() - alone.len()..]));
        }

        #[test]
        fn known_weights_are_those_of_scores(
            seed: u64, heads in 1..4_usize, width in 1..20_usize, count in 1..30_usize, more in 0..20_usize,
        ) {
            let mut case = Case::new(seed, heads, width, &[(count, count)]);
            case.positions = (0..count as u32).collect();
            let keys = Scores::Keys { keys: &case.keys, stride: heads * width };
            let ours = case.run(Isa::detect(), 1, &case.spans, keys);
            let longest = count + more;
            case.keys.resize(longest * heads * width, 0.3);
            let mut panels = vec![0.0; packed_len(heads, width, longest)];
            pack_keys(&mut panels, &case.keys, heads * width, longest, heads, width);
            let common = Scores::Common { panels: &panels, longest };
            prop_assert_eq!(bits(&case.run(Isa::detect(), 1, &case.spans, common)), bits(&ours));
            let mut known = vec![0.0; known_len(heads, count)];
            let bias = Bias { numbers: &case.bias, reach: REACH };
            weights(Isa::detect(), [&case.queries, &panels], longest, [heads, width, count], bias, &mut known);
            let found = case.run(Isa::Portable, 2, &case.spans, Scores::Known(&One(known)));
            prop_assert_eq!(bits(&found), bits(&ours));
        }
    }
}
