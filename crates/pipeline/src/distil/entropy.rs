//! How predictable the tokens of targets are.
//!
//! ```text
//! H₁ = −Σ_v  c(v)/N · log₂ (c(v)/N)             one token by itself
//! H₂ = −Σ_uv c(u,v)/N · log₂ (c(u,v)/c(u·))     one token after the one before
//! Hₛ = −Σ_s c(s)/M · Σ_t p(t|s) log₂ p(t|s)    one token given the source token it comes from
//! ```
//!
//! in bits per token, with N target tokens, the end of every sentence counted as one; the first token of a sentence stands after its
//! beginning. p(t|s) is IBM model 1 learnt from the same pairs, c(s) how often s occurs among the M tokens of their sources, ends
//! included, which take what comes from nowhere. These are plug-in estimates: they fall short for small texts, by the same rule for any text of the same size, so
//! two texts of equally many sentences can be compared, and a number for itself says little.
//!
//! Cost: one entry for each different pair of neighbours, and for Hₛ 20 bytes for each pair of tokens that ever meet.

use std::collections::HashMap;
use std::hash::Hash;

use padir_base::TokenId;
use padir_text::shortlist::{Lexicon, TokenPairs};
use serde::{Deserialize, Serialize};

/// How many pairs H₁ and H₂ are estimated on.
const PAIRS: u64 = 1_000_000;
/// How many pairs Hₛ is estimated on: every source token meets every target token.
const LEXICAL_PAIRS: u64 = 50_000;
/// Sides that are longer do not take part in Hₛ, for the same reason.
const LONGEST: usize = 200;
/// Iterations of expectation maximisation.
const ITERATIONS: usize = 5;

/// Counts of tokens and of neighbours, and pairs for a lexicon.
#[derive(Default)]
pub(super) struct Counts {
    tokens: HashMap<TokenId, u64>,
    /// How often a token stands before another.
    before: HashMap<Option<TokenId>, u64>,
    neighbours: HashMap<(Option<TokenId>, TokenId), u64>,
    pairs: TokenPairs,
}

/// Bits per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entropy {
    /// H₁.
    pub unigram: f64,
    /// H₂.
    pub bigram: f64,
    /// Hₛ.
    pub lexical: f64,
}

impl Counts {
    /// Adds pair `number`, counted from 0 over the whole corpus; both sides without their ends.
    pub(super) fn add(&mut self, number: u64, source: &[TokenId], target: &[TokenId]) {
        if number < PAIRS {
            self.add_target(target);
        }
        if number < LEXICAL_PAIRS && source.len() <= LONGEST && target.len() <= LONGEST {
            self.pairs.push(&[source, &[TokenId::EOS]].concat(), target);
        }
    }

    fn add_target(&mut self, sentence: &[TokenId]) {
        let mut previous = None;
        for &token in sentence.iter().chain([&TokenId::EOS]) {
            *self.tokens.entry(token).or_default() += 1;
            *self.before.entry(previous).or_default() += 1;
            *self.neighbours.entry((previous, token)).or_default() += 1;
            previous = Some(token);
        }
    }

    /// With S(c) = Σ c log₂ c: H₁ = log₂ N − S(tokens)/N, H₂ = (S(before) − S(neighbours))/N.
    pub(super) fn entropy(&self) -> Entropy {
        let total = self.tokens.values().sum::<u64>() as f64;
        if total == 0.0 {
            return Entropy::default();
        }
        let unigram = total.log2() - weigh(&self.tokens) / total;
        let bigram = (weigh(&self.before) - weigh(&self.neighbours)) / total;
        // Rounding may leave a hair less than nothing.
        let [unigram, bigram] = [unigram, bigram].map(|bits| bits.max(0.0));
        Entropy { unigram, bigram, lexical: lexical(&self.pairs) }
    }
}

/// Hₛ.
fn lexical(pairs: &TokenPairs) -> f64 {
    let lexicon = Lexicon::learn(pairs, ITERATIONS);
    let mut occurrences = vec![0_u64; lexicon.sources()];
    for token in pairs.iter().flat_map(|(source, _)| source) {
        // Tokens that never met a target have no row.
        if let Some(count) = occurrences.get_mut(token.index()) {
            *count += 1;
        }
    }
    let total = occurrences.iter().sum::<u64>().max(1) as f64;
    let bits = |source: usize| {
        let row = lexicon.of(TokenId(source as u32)).iter();
        row.filter(|(_, p)| *p > 0.0).map(|(_, p)| -p * p.log2()).sum::<f64>()
    };
    occurrences.iter().enumerate().map(|(s, &count)| count as f64 / total * bits(s)).sum()
}

/// Σ c log₂ c, from the smallest to the largest: maps have no order of their own.
fn weigh<K: Eq + Hash>(counts: &HashMap<K, u64>) -> f64 {
    let mut counts: Vec<u64> = counts.values().copied().collect();
    counts.sort_unstable();
    counts.into_iter().map(|count| count as f64 * (count as f64).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entropy(sentences: &[&[u32]]) -> Entropy {
        let mut counts = Counts::default();
        for sentence in sentences {
            counts.add(0, &[], &ids(sentence));
        }
        counts.entropy()
    }

    fn ids(ids: &[u32]) -> Vec<TokenId> {
        ids.iter().map(|&id| TokenId(id)).collect()
    }

    #[test]
    fn what_has_one_translation_is_certain() {
        // Name, sources and targets of one token each, Hₛ.
        let cases: [(&str, &[u32], &[u32], f64); 4] = [
            ("nothing", &[], &[], 0.0),
            ("always the same", &[5, 5], &[15, 15], 0.0),
            // a is x, b is y; ends, which are half of the source tokens, are either: ½ · 1 bit.
            ("one for one", &[5, 6], &[15, 16], 0.5),
            ("a is x or y, and so is its end", &[5, 5], &[15, 16], 1.0),
        ];
        for (name, sources, targets, expected) in cases {
            let mut counts = Counts::default();
            for (&source, &target) in sources.iter().zip(targets) {
                counts.add(0, &[TokenId(source)], &[TokenId(target)]);
            }
            let found = counts.entropy().lexical;
            assert!((found - expected).abs() < 1e-12, "{name}: {found}");
        }
    }

    #[test]
    fn entropies_are_those_of_closed_forms() {
        // Name, sentences, H₁, H₂.
        let cases: [(&str, &[&[u32]], f64, f64); 5] = [
            ("nothing", &[], 0.0, 0.0),
            ("only ends", &[&[], &[]], 0.0, 0.0),
            // Three tokens and the end, each once a sentence; every neighbour is certain.
            ("one sentence again and again", &[&[5, 6, 7], &[5, 6, 7]], 2.0, 0.0),
            // a, b, end, end: H₁ = 2·¼·2 + ½·1. The first token is open, a bit in half of the places.
            ("a coin", &[&[5], &[6]], 1.5, 0.5),
            // aa aa: 4 a, 2 ends. After a: a 2, end 2, a bit in 4 of 6 places.
            ("twice", &[&[5, 5], &[5, 5]], 3.0_f64.log2() - 2.0 / 3.0, 2.0 / 3.0),
        ];
        for (name, sentences, unigram, bigram) in cases {
            let found = entropy(sentences);
            assert!((found.unigram - unigram).abs() < 1e-12, "{name}: {found:?}");
            assert!((found.bigram - bigram).abs() < 1e-12, "{name}: {found:?}");
        }
    }
}
