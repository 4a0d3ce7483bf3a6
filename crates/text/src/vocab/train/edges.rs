//! All occurrences of all pieces in all distinct words.
//!
//! Found once by walking the trie; afterwards each pass of the trainer is a sweep over an array.

use std::ops::Range;

use rayon::prelude::*;

use super::pieces::Pieces;
use super::words::Words;

/// Parts into which a pass is divided. Fixed, so that sums are taken in the same order at any
/// number of threads.
const PARTS: usize = 16;

/// A piece in a word, from one character position to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) piece: u32,
    pub(super) start: u16,
    pub(super) end: u16,
}

/// The edges of every word, ordered by start, then end.
#[derive(Debug)]
pub(super) struct Edges {
    all: Vec<Edge>,
    /// Where each word's edges end.
    ends: Vec<usize>,
    /// The number of characters of each word.
    lengths: Vec<u16>,
}

impl Edges {
    /// Finds the pieces in the words.
    pub(super) fn of(words: &Words, pieces: &Pieces<'_>) -> Self {
        let size = words.len().div_ceil(PARTS * 8).max(1);
        let parts: Vec<(Vec<Edge>, Vec<usize>, Vec<u16>)> = (0..words.len().div_ceil(size))
            .into_par_iter()
            .map(|part| find_edges(words, pieces, part * size..words.len().min((part + 1) * size)))
            .collect();
        let mut whole = Self {
            all: Vec::with_capacity(parts.iter().map(|part| part.0.len()).sum()),
            ends: Vec::with_capacity(words.len()),
            lengths: Vec::with_capacity(words.len()),
        };
        for (edges, counts, lengths) in parts {
            whole.all.extend(edges);
            for count in counts {
                let end = whole.ends.last().copied().unwrap_or(0) + count;
                whole.ends.push(end);
            }
            whole.lengths.extend(lengths);
        }
        whole
    }

    /// The edges of a word.
    pub(super) fn of_word(&self, word: usize) -> &[Edge] {
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.all[start..self.ends[word]]
    }

    /// The number of characters of a word.
    pub(super) fn length(&self, word: usize) -> usize {
        usize::from(self.lengths[word])
    }

    /// Consecutive ranges of words with about the same number of edges.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        let total = self.all.len();
        let bound = |part: usize| self.ends.partition_point(|&end| end <= total * part / PARTS);
        let last = self.ends.len();
        (0..PARTS)
            .map(|part| bound(part)..if part + 1 == PARTS { last } else { bound(part + 1) })
            .collect()
    }

    /// Forgets removed pieces and follows the renumbering of the others.
    pub(super) fn keep_alive(&mut self, pieces: &mut Pieces<'_>) {
        let renumbered = pieces.compact();
        let (mut read, mut write) = (0, 0);
        for end in &mut self.ends {
            while read < *end {
                let edge = self.all[read];
                if let Some(piece) = renumbered[edge.piece as usize] {
                    self.all[write] = Edge { piece, ..edge };
                    write += 1;
                }
                read += 1;
            }
            *end = write;
        }
        self.all.truncate(write);
    }

    /// The number of tokens of the whole text in its best segmentation.
    pub(super) fn tokens(&self, pieces: &Pieces<'_>, words: &Words) -> u64 {
        self.count_best(pieces, words).iter().sum()
    }

    /// How often each piece occurs in the best segmentation of the text.
    pub(super) fn count_best(&self, pieces: &Pieces<'_>, words: &Words) -> Vec<u64> {
        let parts: Vec<Vec<u64>> = self
            .parts()
            .into_par_iter()
            .map(|part| {
                let mut counts = vec![0; pieces.len()];
                let mut best = Vec::new();
                for word in part {
                    let edges = self.of_word(word);
                    walk_best(edges, self.length(word), pieces.scores(), &mut best, |piece| {
                        counts[piece as usize] += words.count(word);
                    });
                }
                counts
            })
            .collect();
        add_up(parts)
    }
}

/// The element-wise sum, in the order of the parts.
pub(super) fn add_up<T: Copy + std::ops::AddAssign>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        for (total, value) in sum.iter_mut().zip(part) {
            *total += value;
        }
    }
    sum
}

/// Visits the pieces of the best path through edges, from right to left; returns its score.
pub(super) fn walk_best(
    edges: &[Edge],
    length: usize,
    scores: &[f64],
    best: &mut Vec<(f64, u32, u16)>,
    mut visit: impl FnMut(u32),
) -> f64 {
    best.clear();
    best.resize(length + 1, (f64::NEG_INFINITY, 0, 0));
    best[0].0 = 0.0;
    for edge in edges {
        let score = best[usize::from(edge.start)].0 + scores[edge.piece as usize];
        let target = &mut best[usize::from(edge.end)];
        if score > target.0 {
            *target = (score, edge.piece, edge.start);
        }
    }
    let total = best[length].0;
    if total.is_finite() {
        let mut end = length;
        while end > 0 {
            let (_, piece, start) = best[end];
            visit(piece);
            end = usize::from(start);
        }
    }
    total
}

fn find_edges(
    words: &Words,
    pieces: &Pieces<'_>,
    range: Range<usize>,
) -> (Vec<Edge>, Vec<usize>, Vec<u16>) {
    let (mut edges, mut counts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for word in range {
        let before = edges.len();
        let text = words.word(word);
        pieces.find_in(text, |start, end, piece| {
            edges.push(Edge { piece, start: start as u16, end: end as u16 });
        });
        counts.push(edges.len() - before);
        lengths.push(text.chars().count() as u16);
    }
    (edges, counts, lengths)
}
