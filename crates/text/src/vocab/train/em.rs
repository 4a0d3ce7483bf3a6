//! Expectation and maximisation.
//!
//! The expectation of a piece is its summed posterior over the positions of all words, by the
//! forward-backward sums
//!
//! ```text
//! α(j) = Σ over edges i→j of α(i)·p(v),   β(i) = Σ over edges i→j of p(v)·β(j),
//! E[v] = Σ over words n(w)/Z · Σ over edges with v of α(i)·p(v)·β(j).
//! ```
//!
//! They are taken in the linear domain, one multiplication an edge: p(v) is tilted by the mean
//! score per character, which leaves posteriors as they are (every path covers every character)
//! and keeps the sums near one. A word for which that still leaves the range of a double is done
//! again with logarithms. Maximisation is the variational one, p(v) ∝ exp ψ(E[v]), a sparse
//! prior; pieces expected less than half a time are dropped.

use std::ops::Range;

use rayon::prelude::*;

use super::edges::{Edge, Edges, add_up};
use super::pieces::Pieces;
use super::words::Words;

/// Pieces that are expected less often are dropped.
const LEAST_EXPECTED: f64 = 0.5;

/// One step of expectation and maximisation.
pub(super) fn step(pieces: &mut Pieces<'_>, edges: &Edges, words: &Words) {
    let expected = expect(pieces, edges, words);
    maximise(pieces, &expected);
}

fn expect(pieces: &Pieces<'_>, edges: &Edges, words: &Words) -> Vec<f64> {
    let tilt = mean_score(pieces, edges, words);
    let tilted: Vec<f64> = (0..pieces.len())
        .map(|id| (pieces.scores()[id] - tilt * pieces.characters(id) as f64).exp())
        .collect();
    let parts: Vec<Vec<f64>> = edges
        .parts()
        .into_par_iter()
        .map(|part| expect_part(part, &tilted, pieces, edges, words))
        .collect();
    add_up(parts)
}

/// The score of the best segmentation per character, over the most frequent words.
fn mean_score(pieces: &Pieces<'_>, edges: &Edges, words: &Words) -> f64 {
    const ENOUGH: usize = 1000;
    let (mut score, mut characters) = (0.0, 0_usize);
    let mut best = Vec::new();
    for word in 0..words.len().min(ENOUGH) {
        let length = edges.length(word);
        let found = super::edges::walk_best(
            edges.of_word(word),
            length,
            pieces.scores(),
            &mut best,
            |_| {},
        );
        if found.is_finite() {
            score += found;
            characters += length;
        }
    }
    score / characters.max(1) as f64
}

fn expect_part(
    part: Range<usize>,
    tilted: &[f64],
    pieces: &Pieces<'_>,
    edges: &Edges,
    words: &Words,
) -> Vec<f64> {
    let mut expected = vec![0.0; pieces.len()];
    let mut memory = Memory::default();
    for word in part {
        let (of_word, length) = (edges.of_word(word), edges.length(word));
        let count = words.count(word) as f64;
        if !memory.add_linear(of_word, length, tilted, count, &mut expected) {
            memory.add_logarithmic(of_word, length, pieces.scores(), count, &mut expected);
        }
    }
    expected
}

#[derive(Default)]
struct Memory {
    forward: Vec<f64>,
    backward: Vec<f64>,
}

impl Memory {
    fn reset(&mut self, length: usize, nothing: f64, start: f64) {
        for sums in [&mut self.forward, &mut self.backward] {
            sums.clear();
            sums.resize(length + 1, nothing);
        }
        self.forward[0] = start;
        self.backward[length] = start;
    }

    /// Adds a word's expectations; false if its sums left the range of a double.
    fn add_linear(
        &mut self,
        edges: &[Edge],
        length: usize,
        tilted: &[f64],
        count: f64,
        expected: &mut [f64],
    ) -> bool {
        self.reset(length, 0.0, 1.0);
        for edge in edges {
            let sum = self.forward[usize::from(edge.start)] * tilted[edge.piece as usize];
            self.forward[usize::from(edge.end)] += sum;
        }
        for edge in edges.iter().rev() {
            let sum = self.backward[usize::from(edge.end)] * tilted[edge.piece as usize];
            self.backward[usize::from(edge.start)] += sum;
        }
        let total = self.forward[length];
        if !(1e-280..1e280).contains(&total) {
            return false;
        }
        let scale = count / total;
        for edge in edges {
            expected[edge.piece as usize] += self.forward[usize::from(edge.start)]
                * tilted[edge.piece as usize]
                * self.backward[usize::from(edge.end)]
                * scale;
        }
        true
    }

    /// The same with logarithms.
    fn add_logarithmic(
        &mut self,
        edges: &[Edge],
        length: usize,
        scores: &[f64],
        count: f64,
        expected: &mut [f64],
    ) {
        self.reset(length, f64::NEG_INFINITY, 0.0);
        for edge in edges {
            let sum = self.forward[usize::from(edge.start)] + scores[edge.piece as usize];
            let end = &mut self.forward[usize::from(edge.end)];
            *end = log_add(*end, sum);
        }
        for edge in edges.iter().rev() {
            let sum = self.backward[usize::from(edge.end)] + scores[edge.piece as usize];
            let start = &mut self.backward[usize::from(edge.start)];
            *start = log_add(*start, sum);
        }
        let total = self.forward[length];
        if total == f64::NEG_INFINITY {
            return;
        }
        for edge in edges {
            let posterior = self.forward[usize::from(edge.start)]
                + scores[edge.piece as usize]
                + self.backward[usize::from(edge.end)]
                - total;
            expected[edge.piece as usize] += count * posterior.exp();
        }
    }
}

/// log(eᵃ + eᵇ)
fn log_add(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

fn maximise(pieces: &mut Pieces<'_>, expected: &[f64]) {
    let mut total = 0.0;
    let mut kept = Vec::with_capacity(expected.len());
    for (id, &count) in expected.iter().enumerate() {
        if !pieces.is_alive(id) {
            continue;
        }
        // Characters stay whatever happens: without them words could not be segmented.
        let count = if pieces.characters(id) == 1 { count.max(LEAST_EXPECTED) } else { count };
        if count < LEAST_EXPECTED {
            pieces.remove(id);
        } else {
            total += count;
            kept.push((id, count));
        }
    }
    let log_total = digamma(total);
    for (id, count) in kept {
        pieces.set_score(id, digamma(count) - log_total);
    }
}

/// ψ(x) for x > 0: shifted up by the recurrence, then the asymptotic series at the half-integer.
fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 7.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x - 0.5).powi(2);
    let series = y * (1.0 / 24.0 - y * (7.0 / 960.0 - y * (31.0 / 8064.0 - y * 127.0 / 30720.0)));
    shift + (x - 0.5).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 6.1, and ψ(1/2) = −γ − 2 ln 2.
    #[test]
    fn digamma_has_its_known_values() {
        let gamma = 0.577_215_664_901_532_9;
        let cases = [
            (1.0, -gamma),
            (2.0, 1.0 - gamma),
            (0.5, -gamma - 2.0 * 2_f64.ln()),
            (10.0, 2.251_752_589_066_721),
        ];
        for (x, expected) in cases {
            assert!((digamma(x) - expected).abs() < 1e-9, "ψ({x}) = {}", digamma(x));
        }
    }

    #[test]
    fn linear_and_logarithmic_sums_agree() {
        // The word "aab" with pieces a, b, aa, ab, aab.
        let edge = |piece, start, end| Edge { piece, start, end };
        let edges = [
            edge(0, 0, 1),
            edge(2, 0, 2),
            edge(4, 0, 3),
            edge(0, 1, 2),
            edge(3, 1, 3),
            edge(1, 2, 3),
        ];
        let scores = [-1.0_f64, -2.0, -2.5, -3.0, -4.0];
        let probabilities = scores.map(f64::exp);
        let mut memory = Memory::default();
        let (mut linear, mut logarithmic) = ([0.0; 5], [0.0; 5]);
        assert!(memory.add_linear(&edges, 3, &probabilities, 2.0, &mut linear));
        memory.add_logarithmic(&edges, 3, &scores, 2.0, &mut logarithmic);
        // By hand: paths a·a·b, aa·b, a·ab, aab.
        let paths = [-4.0_f64, -4.5, -4.0, -4.0].map(f64::exp);
        let z: f64 = paths.iter().sum();
        let expected = [
            2.0 * (2.0 * paths[0] + paths[2]) / z,
            2.0 * (paths[0] + paths[1]) / z,
            2.0 * paths[1] / z,
            2.0 * paths[2] / z,
            2.0 * paths[3] / z,
        ];
        for piece in 0..5 {
            assert!((linear[piece] - expected[piece]).abs() < 1e-12, "linear, piece {piece}");
            assert!((logarithmic[piece] - expected[piece]).abs() < 1e-12, "log, piece {piece}");
        }
    }
}
