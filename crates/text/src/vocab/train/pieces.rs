//! The pieces under consideration, with their scores.

use crate::vocab::double_array::DoubleArray;

/// A piece that has been removed.
const GONE: u32 = u32::MAX;

/// Pieces as parts of the text they were found in.
#[derive(Debug)]
pub(super) struct Pieces<'t> {
    text: &'t str,
    /// Where each piece stands in the text.
    spans: Vec<Span>,
    /// The log-probability of each; −∞ when removed.
    scores: Vec<f64>,
    /// Finds the number a piece had at the beginning.
    trie: DoubleArray,
    /// From that number to the present one.
    present: Vec<u32>,
}

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) bytes: u16,
    pub(super) characters: u16,
}

impl Span {
    fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.start as usize + usize::from(self.bytes)]
    }
}

impl<'t> Pieces<'t> {
    /// Pieces in a text with positive weights; distinct, in any order.
    pub(super) fn new(text: &'t str, weighted: &[(Span, f64)]) -> Self {
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let spans: Vec<Span> = weighted.iter().map(|&(span, _)| span).collect();
        let mut keys: Vec<(&str, u32)> =
            (0..).zip(&spans).map(|(id, span)| (span.of(text), id)).collect();
        keys.sort_unstable();
        Self {
            text,
            scores: weighted.iter().map(|(_, weight)| (weight / total).ln()).collect(),
            trie: DoubleArray::build(&keys),
            present: (0..spans.len() as u32).collect(),
            spans,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn alive(&self) -> usize {
        self.scores.iter().filter(|score| score.is_finite()).count()
    }

    pub(super) fn is_alive(&self, id: usize) -> bool {
        self.scores[id].is_finite()
    }

    pub(super) fn text_of(&self, id: usize) -> &'t str {
        self.spans[id].of(self.text)
    }

    pub(super) fn characters(&self, id: usize) -> usize {
        usize::from(self.spans[id].characters)
    }

    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    pub(super) fn set_score(&mut self, id: usize, score: f64) {
        self.scores[id] = score;
    }

    pub(super) fn remove(&mut self, id: usize) {
        self.scores[id] = f64::NEG_INFINITY;
    }

    /// The living pieces with their scores.
    pub(super) fn living(&self) -> impl Iterator<Item = (&'t str, f64)> {
        (0..self.len())
            .filter(|&id| self.is_alive(id))
            .map(|id| (self.text_of(id), self.scores[id]))
    }

    /// Calls back with (first character, last character + 1, piece) for every living piece in a
    /// text, ordered by where it starts, then by where it ends.
    pub(super) fn find_in(&self, text: &str, mut found: impl FnMut(usize, usize, u32)) {
        let bytes = text.as_bytes();
        for (start, (byte, _)) in text.char_indices().enumerate() {
            let mut cursor = self.trie.root();
            let mut end = start;
            for (index, &next) in bytes[byte..].iter().enumerate() {
                let Some(moved) = self.trie.step(cursor, next) else { break };
                cursor = moved;
                if text.is_char_boundary(byte + index + 1) {
                    end += 1;
                    if let Some(first_id) = self.trie.value(cursor) {
                        let id = self.present[first_id as usize];
                        if id != GONE && self.is_alive(id as usize) {
                            found(start, end, id);
                        }
                    }
                }
            }
        }
    }

    /// Renumbers the living pieces; returns the new number of each old one.
    pub(super) fn compact(&mut self) -> Vec<Option<u32>> {
        let mut next = 0;
        let renumbered: Vec<Option<u32>> = (0..self.len())
            .map(|id| {
                self.is_alive(id).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        for id in &mut self.present {
            if *id != GONE {
                *id = renumbered[*id as usize].unwrap_or(GONE);
            }
        }
        let mut index = 0;
        self.spans.retain(|_| {
            index += 1;
            renumbered[index - 1].is_some()
        });
        self.scores.retain(|score| score.is_finite());
        renumbered
    }
}
