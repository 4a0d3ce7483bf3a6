//! Which target tokens translate which source tokens: IBM model 1 (Brown et al. 1993).
//!
//! Each target token t of a pair comes from one of the source tokens s, all equally likely beforehand:
//!
//! ```text
//! p(t | source) = 1/m · Σ_s p(t | s)
//! ```
//!
//! The probabilities p(t | s) are found by expectation maximisation, from uniform ones; the likelihood has one maximum
//! only in them, so the start does not matter. The source's end takes what comes from nowhere.
//!
//! Time: links (Σ m·n over the pairs) per iteration; memory: some 50 bytes for each pair of tokens that ever meet.

use padir_base::TokenId;
use padir_base::ragged::RaggedTokens;
use rustc_hash::FxHashMap;

/// p(t | s), for tokens that met.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    /// By source token: target tokens, the most probable first.
    rows: Vec<Vec<(TokenId, f64)>>,
}

/// Pairs of token sequences.
#[derive(Clone, Debug, Default)]
pub struct TokenPairs {
    sources: RaggedTokens,
    targets: RaggedTokens,
}

impl TokenPairs {
    /// Adds a pair.
    pub fn push(&mut self, source: &[TokenId], target: &[TokenId]) {
        self.sources.push(source.iter().copied());
        self.targets.push(target.iter().copied());
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The pairs.
    pub fn iter(&self) -> impl Iterator<Item = (&[TokenId], &[TokenId])> {
        self.sources.iter().zip(self.targets.iter())
    }
}

impl Lexicon {
    /// Learns from pairs.
    pub fn learn(pairs: &TokenPairs, iterations: usize) -> Self {
        let mut places: FxHashMap<(TokenId, TokenId), u32> = FxHashMap::default();
        for (source, target) in pairs.iter() {
            for &t in target {
                for &s in source {
                    let next = places.len() as u32;
                    places.entry((s, t)).or_insert(next);
                }
            }
        }
        // By source token and place, not by the map: sums of the same numbers are equal to the bit.
        let mut order: Vec<(TokenId, u32)> = places.iter().map(|((s, _), &at)| (*s, at)).collect();
        order.sort_unstable();
        let mut p = vec![1.0_f64; places.len()];
        for _ in 0..iterations {
            p = improve(pairs, &places, &order, &p);
        }
        let rows = places.keys().map(|(s, _)| s.0 as usize + 1).max().unwrap_or(0);
        let mut lexicon = Self { rows: vec![Vec::new(); rows] };
        for (&(s, t), &place) in &places {
            lexicon.rows[s.0 as usize].push((t, p[place as usize]));
        }
        for row in &mut lexicon.rows {
            row.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        }
        lexicon
    }

    /// The translations of a token, the most probable first.
    pub fn of(&self, source: TokenId) -> &[(TokenId, f64)] {
        self.rows.get(source.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// One more than the largest source token.
    pub fn sources(&self) -> usize {
        self.rows.len()
    }
}

/// One iteration: expected links under p, then p from them.
fn improve(
    pairs: &TokenPairs,
    places: &FxHashMap<(TokenId, TokenId), u32>,
    order: &[(TokenId, u32)],
    p: &[f64],
) -> Vec<f64> {
    let mut expected = vec![0.0; p.len()];
    let mut links = Vec::new();
    for (source, target) in pairs.iter() {
        for &t in target {
            links.clear();
            links.extend(source.iter().filter_map(|&s| places.get(&(s, t))).map(|&at| at as usize));
            let total: f64 = links.iter().map(|&at| p[at]).sum();
            if total > 0.0 {
                for &at in &links {
                    expected[at] += p[at] / total;
                }
            }
        }
    }
    for row in order.chunk_by(|a, b| a.0 == b.0) {
        let total: f64 = row.iter().map(|(_, at)| expected[*at as usize]).sum();
        for &(_, at) in row {
            expected[at as usize] /= if total > 0.0 { total } else { 1.0 };
        }
    }
    expected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> Vec<TokenId> {
        numbers.iter().map(|&n| TokenId(n)).collect()
    }

    /// das haus = the house, das buch = the book, ein buch = a book.
    fn textbook() -> TokenPairs {
        let mut pairs = TokenPairs::default();
        pairs.push(&ids(&[1, 2]), &ids(&[11, 12]));
        pairs.push(&ids(&[1, 3]), &ids(&[11, 13]));
        pairs.push(&ids(&[4, 3]), &ids(&[14, 13]));
        pairs
    }

    #[test]
    fn the_textbook_example_comes_out() {
        // The table of Koehn, Statistical Machine Translation (2010), figure 4.4.
        let p = |iterations, s, t| {
            let lexicon = Lexicon::learn(&textbook(), iterations);
            lexicon.of(TokenId(s)).iter().find(|(id, _)| id.0 == t).map_or(0.0, |(_, p)| *p)
        };
        let cases = [
            (1, 1, 11, 0.5),
            (1, 3, 13, 0.5),
            (2, 1, 11, 0.6364),
            (2, 2, 12, 0.5714),
            (2, 2, 11, 0.4286),
            (3, 1, 11, 0.7479),
            (3, 2, 12, 0.6534),
        ];
        for (iterations, s, t, expected) in cases {
            let found = p(iterations, s, t);
            assert!((found - expected).abs() < 1e-4, "{iterations} {s} {t}: {found}");
        }
        assert!(p(100, 1, 11) > 0.98 && p(100, 4, 14) > 0.98);
    }

    #[test]
    fn rows_are_distributions_in_order() {
        let lexicon = Lexicon::learn(&textbook(), 4);
        for s in 0..lexicon.sources() as u32 {
            let row = lexicon.of(TokenId(s));
            assert!(row.is_sorted_by(|a, b| a.1 >= b.1), "{s}");
            let total: f64 = row.iter().map(|(_, p)| p).sum();
            assert!(row.is_empty() || (total - 1.0).abs() < 1e-12, "{s}: {total}");
        }
        assert!(lexicon.of(TokenId(99)).is_empty());
        assert_eq!(Lexicon::learn(&TokenPairs::default(), 3).sources(), 0);
    }
}
