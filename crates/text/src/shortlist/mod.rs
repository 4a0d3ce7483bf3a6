//! The few tokens that can occur in the translation of a sentence.
//!
//! Of a sentence's tokens s, and of what occurs everywhere, the likely translations together:
//!
//! ```text
//! list(source) = always ∪ ⋃_s best(s)
//! ```
//!
//! A decoder that computes the logits of these alone saves most of its output layer. What is not listed cannot be said.
//!
//! On disk it is text, in the format of `CTranslate2`'s `vmap.txt`: a line for each source token with its piece, a tab,
//! and the pieces of its translations with spaces between them; the line without a source holds what is always listed.

mod file;
mod lexicon;

pub use file::{SHORTLIST, ShortlistError};
pub use lexicon::{Lexicon, TokenPairs};

use padir_base::TokenId;

/// Lists by source token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shortlist {
    /// In ascending order, like all lists.
    always: Vec<TokenId>,
    lists: Vec<Vec<TokenId>>,
}

/// How a list is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Translations of each source token.
    pub best: usize,
    /// Target tokens that are always listed, the most frequent ones.
    pub frequent: usize,
}

/// What lists would have missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Pairs looked at.
    pub pairs: u64,
    /// Pairs of whose target nothing is missing.
    pub whole: u64,
    /// Tokens of their targets.
    pub tokens: u64,
    /// Those that are listed.
    pub listed: u64,
    /// Sizes of the lists, added up.
    pub sizes: u64,
}

/// Translations that are less probable are not listed.
const LEAST: f64 = 1e-5;

impl Shortlist {
    /// Lists from a lexicon and the targets it was learnt from. Some tokens (the end, for one) are listed in any case.
    pub fn new(lexicon: &Lexicon, pairs: &TokenPairs, sizes: Sizes, needed: &[TokenId]) -> Self {
        let mut counts: Vec<(u64, TokenId)> = Vec::new();
        for &t in pairs.iter().flat_map(|(_, target)| target) {
            let place = t.0 as usize;
            if counts.len() <= place {
                counts.extend((counts.len()..=place).map(|id| (0, TokenId(id as u32))));
            }
            counts[place].0 += 1;
        }
        counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let frequent = counts.iter().take_while(|(count, _)| *count > 0).take(sizes.frequent);
        let always = sorted(frequent.map(|(_, token)| *token).chain(needed.iter().copied()));
        let best = |source: usize| {
            let row = lexicon.of(TokenId(source as u32)).iter();
            sorted(row.take_while(|(_, p)| *p >= LEAST).take(sizes.best).map(|(t, _)| *t))
        };
        Self { always, lists: (0..lexicon.sources()).map(best).collect() }
    }

    /// The tokens that can occur in a translation, in ascending order.
    pub fn gather(&self, source: &[TokenId], list: &mut Vec<TokenId>) {
        list.clear();
        list.extend_from_slice(&self.always);
        for token in source {
            list.extend(self.lists.get(token.0 as usize).into_iter().flatten());
        }
        list.sort_unstable();
        list.dedup();
    }

    /// What lists miss of some pairs.
    pub fn coverage(&self, pairs: &TokenPairs) -> Coverage {
        let mut found = Coverage::default();
        let mut list = Vec::new();
        for (source, target) in pairs.iter() {
            self.gather(source, &mut list);
            let listed = target.iter().filter(|t| list.binary_search(t).is_ok()).count();
            found.pairs += 1;
            found.whole += u64::from(listed == target.len());
            found.tokens += target.len() as u64;
            found.listed += listed as u64;
            found.sizes += list.len() as u64;
        }
        found
    }
}

fn sorted(tokens: impl Iterator<Item = TokenId>) -> Vec<TokenId> {
    let mut list: Vec<TokenId> = tokens.collect();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> Vec<TokenId> {
        numbers.iter().map(|&n| TokenId(n)).collect()
    }

    #[test]
    fn a_list_holds_translations_and_what_is_always_there() {
        let mut pairs = TokenPairs::default();
        for _ in 0..5 {
            pairs.push(&ids(&[10, 1]), &ids(&[20, 30, 1]));
            pairs.push(&ids(&[11, 1]), &ids(&[21, 30, 1]));
        }
        let lexicon = Lexicon::learn(&pairs, 5);
        let shortlist =
            Shortlist::new(&lexicon, &pairs, Sizes { best: 1, frequent: 1 }, &ids(&[1, 2]));
        let mut list = Vec::new();
        shortlist.gather(&ids(&[10]), &mut list);
        // 1 is the most frequent and needed, 2 is needed.
        assert_eq!(list, ids(&[1, 2, 20]));
        shortlist.gather(&ids(&[10, 11, 1, 99]), &mut list);
        assert_eq!(list, ids(&[1, 2, 20, 21]), "of 1 and 30, both from the end, the smaller");
        let mut other = TokenPairs::default();
        other.push(&ids(&[10, 1]), &ids(&[20, 1]));
        other.push(&ids(&[10, 1]), &ids(&[21, 30, 1]));
        let found = shortlist.coverage(&other);
        assert_eq!((found.pairs, found.whole, found.tokens, found.listed), (2, 1, 5, 3));
    }
}
