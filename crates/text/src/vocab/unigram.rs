//! Segmentation by the most probable sequence of pieces.
//!
//! A unigram model gives a piece v the log-probability s(v); the best segmentation of a text is
//! found by dynamic programming over its byte positions,
//!
//! ```text
//! best(j) = max over pieces text[i..j] of best(i) + s(text[i..j]),
//! ```
//!
//! in one walk through the piece trie per character: O(characters × longest piece). A character
//! that is no piece costs the least score minus ten. The arithmetic (sums in single precision from
//! left to right, the first best kept) is SentencePiece's, so that ties fall the same way.

use padir_base::TokenId;

use super::double_array::DoubleArray;
use super::proto::PieceKind;

/// How much worse than the worst piece an unknown character is.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The scores of the pieces, ready for segmentation.
#[derive(Clone, Debug)]
pub struct Unigram {
    trie: DoubleArray,
    scores: Vec<PieceScore>,
    unknown: TokenId,
    unknown_score: f32,
    bonus: f32,
}

#[derive(Clone, Copy, Debug)]
enum PieceScore {
    Normal(f32),
    UserDefined,
    Unused,
}

/// The best way to a byte position.
#[derive(Clone, Copy, Debug)]
struct Best {
    score: f32,
    start: u32,
    piece: TokenId,
}

const UNREACHED: Best = Best { score: 0.0, start: u32::MAX, piece: TokenId::UNK };

/// Memory that is used again for each text.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    best: Vec<Best>,
}

/// A piece of a segmented text: its id and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The piece.
    pub piece: TokenId,
    /// The byte where it starts.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Unigram {
    /// Prepares pieces, given with their texts, scores and kinds in the order of their ids.
    /// Texts must be distinct, not empty, and free of NUL.
    pub fn new<'p>(
        pieces: impl Iterator<Item = (&'p str, f32, PieceKind)>,
        unknown: TokenId,
    ) -> Self {
        let mut keys = Vec::new();
        let mut scores = Vec::new();
        let (mut least, mut most) = (f32::MAX, f32::MIN_POSITIVE);
        for (id, (text, score, kind)) in pieces.enumerate() {
            scores.push(match kind {
                PieceKind::Normal => PieceScore::Normal(score),
                PieceKind::UserDefined => PieceScore::UserDefined,
                _ => PieceScore::Unused,
            });
            if kind == PieceKind::Normal {
                least = least.min(score);
                most = most.max(score);
            }
            if matches!(kind, PieceKind::Normal | PieceKind::UserDefined) {
                keys.push((text, id as u32));
            }
        }
        keys.sort_unstable();
        Self {
            trie: DoubleArray::build(&keys),
            scores,
            unknown,
            unknown_score: least - UNKNOWN_PENALTY,
            bonus: most,
        }
    }

    /// The best segmentation of a normalised text, appended to `segments` from left to right.
    pub fn segment(&self, text: &str, lattice: &mut Lattice, segments: &mut Vec<Segment>) {
        self.fill(text, lattice);
        let first = segments.len();
        let mut end = text.len();
        while end > 0 {
            let Best { start, piece, .. } = lattice.best[end];
            segments.push(Segment { piece, start: start as usize, end });
            end = start as usize;
        }
        segments[first..].reverse();
    }

    fn fill(&self, text: &str, lattice: &mut Lattice) {
        let bytes = text.as_bytes();
        lattice.best.clear();
        lattice.best.resize(bytes.len() + 1, UNREACHED);
        let best = &mut lattice.best[..];
        let mut start = 0;
        while start < bytes.len() {
            let here = best[start].score;
            let character = char_length(bytes[start]);
            let mut is_known = false;
            let mut cursor = self.trie.root();
            for (offset, &byte) in bytes[start..].iter().enumerate() {
                let Some(next) = self.trie.step(cursor, byte) else { break };
                cursor = next;
                let Some(id) = self.trie.value(cursor) else { continue };
                let length = offset + 1;
                let score = match self.scores.get(id as usize) {
                    Some(PieceScore::Normal(score)) => *score,
                    // Always better than any way around it.
                    Some(PieceScore::UserDefined) => length as f32 * self.bonus - 0.1,
                    _ => continue,
                };
                improve(&mut best[start + length], here + score, start, TokenId(id));
                is_known |= length == character;
            }
            if !is_known {
                let unknown = here + self.unknown_score;
                improve(&mut best[start + character], unknown, start, self.unknown);
            }
            start += character;
        }
    }
}

#[inline]
fn improve(best: &mut Best, score: f32, start: usize, piece: TokenId) {
    if best.start == u32::MAX || score > best.score {
        *best = Best { score, start: start as u32, piece };
    }
}

/// The number of bytes of the character that starts with this byte.
#[inline]
fn char_length(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECES: [(&str, f32); 8] = [
        ("▁", -3.0),
        ("a", -2.0),
        ("b", -2.5),
        ("ab", -4.0),
        ("▁a", -3.5),
        ("bab", -5.0),
        ("ä", -6.0),
        ("▁ab", -5.5),
    ];

    fn model() -> Unigram {
        let pieces = PIECES.iter().map(|&(text, score)| (text, score, PieceKind::Normal));
        Unigram::new(pieces, TokenId(99))
    }

    fn segment(text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        model().segment(text, &mut Lattice::default(), &mut segments);
        segments
    }

    fn score(segments: &[Segment]) -> f32 {
        let of = |s: &Segment| PIECES.get(s.piece.index()).map_or(-16.0, |&(_, score)| score);
        segments.iter().map(of).sum()
    }

    /// The best score over all segmentations, by trying them.
    fn slow(text: &str) -> f32 {
        if text.is_empty() {
            return 0.0;
        }
        let known = PIECES
            .iter()
            .filter_map(|&(piece, score)| text.strip_prefix(piece).map(|rest| score + slow(rest)))
            .fold(f32::NEG_INFINITY, f32::max);
        let first = text.chars().next().unwrap();
        if PIECES.iter().any(|(piece, _)| piece.chars().eq([first])) {
            known
        } else {
            known.max(-16.0 + slow(&text[first.len_utf8()..]))
        }
    }

    proptest! {
        #[test]
        fn the_segmentation_is_the_best(text in "[▁abäx]{0,9}") {
            let segments = segment(&text);
            prop_assert!((score(&segments) - slow(&text)).abs() < 1e-3);
            let mut end = 0;
            for segment in &segments {
                prop_assert_eq!(segment.start, end);
                end = segment.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
