//! Counts the n-grams that two texts share, for all orders at once.
//!
//! The n-grams of the references form a trie: a node is an n-gram, an edge a symbol. A hypothesis
//! walks the trie from each of its positions; as soon as an n-gram is unknown, so are all that
//! begin with it. No n-gram is ever stored as text. One hash lookup for every n-gram of a
//! reference and for every n-gram of the hypothesis that the references know.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

/// Gives every distinct token a number, within one segment. Tokens live in one arena.
#[derive(Default)]
pub(crate) struct Lexicon {
    text: String,
    tokens: Vec<Entry>,
    /// Hash of a token to the last token with that hash.
    last: FxHashMap<u64, u32>,
}

struct Entry {
    start: usize,
    end: usize,
    /// The token before this one with the same hash.
    previous: Option<u32>,
}

impl Lexicon {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.tokens.clear();
        self.last.clear();
    }

    /// The number of a token, if it has one.
    pub(crate) fn find(&self, token: &str) -> Option<u32> {
        self.walk(token, self.last.get(&hash(token)).copied())
    }

    /// The number of a token; a new one if it has none.
    pub(crate) fn intern(&mut self, token: &str) -> u32 {
        let hash = hash(token);
        let last = self.last.get(&hash).copied();
        if let Some(id) = self.walk(token, last) {
            return id;
        }
        let id = self.tokens.len() as u32;
        let start = self.text.len();
        self.text.push_str(token);
        self.tokens.push(Entry { start, end: self.text.len(), previous: last });
        self.last.insert(hash, id);
        id
    }

    fn walk(&self, token: &str, mut candidate: Option<u32>) -> Option<u32> {
        while let Some(id) = candidate {
            let entry = &self.tokens[id as usize];
            if &self.text[entry.start..entry.end] == token {
                return Some(id);
            }
            candidate = entry.previous;
        }
        None
    }
}

fn hash(token: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token.as_bytes());
    hasher.finish()
}

/// The n-grams of the references of one segment, up to some order.
pub(crate) struct NgramTrie {
    /// (node, symbol) to node.
    edges: FxHashMap<u64, u32>,
    nodes: Vec<Node>,
    /// The text being counted; tells stale counts from fresh ones without clearing them.
    text: u32,
    order: usize,
}

#[derive(Clone, Default)]
struct Node {
    /// The most often any reference has this n-gram.
    limit: u32,
    /// How often the text being counted has had it so far.
    count: u32,
    text: u32,
}

impl NgramTrie {
    pub(crate) fn new(order: usize) -> Self {
        Self { edges: FxHashMap::default(), nodes: vec![Node::default()], text: 0, order }
    }

    pub(crate) fn clear(&mut self) {
        self.edges.clear();
        self.nodes.truncate(1);
        self.text = 0;
    }

    /// Adds a reference: every n-gram may be matched as often as the richest reference has it.
    pub(crate) fn add(&mut self, symbols: &[u32]) {
        self.text += 1;
        for at in 0..symbols.len() {
            let mut parent = 0;
            for &symbol in symbols[at..].iter().take(self.order) {
                let fresh = self.nodes.len() as u32;
                let node = *self.edges.entry(edge(parent, symbol)).or_insert(fresh);
                if node == fresh {
                    self.nodes.push(Node::default());
                }
                let count = self.nodes[node as usize].seen(self.text);
                *count += 1;
                let count = *count;
                let node_limit = &mut self.nodes[node as usize].limit;
                *node_limit = count.max(*node_limit);
                parent = node;
            }
        }
    }

    /// Adds to `matches[n - 1]` the n-grams of a hypothesis that the references have too, each at
    /// most as often as they do. `None` is a symbol that no reference has.
    pub(crate) fn count_matches(&mut self, symbols: &[Option<u32>], matches: &mut [f64]) {
        self.text += 1;
        for at in 0..symbols.len() {
            let mut parent = 0;
            for (&symbol, matched) in symbols[at..].iter().zip(&mut *matches).take(self.order) {
                let Some(symbol) = symbol else { break };
                let Some(&node) = self.edges.get(&edge(parent, symbol)) else { break };
                let limit = self.nodes[node as usize].limit;
                let count = self.nodes[node as usize].seen(self.text);
                if *count < limit {
                    *count += 1;
                    *matched += 1.0;
                }
                parent = node;
            }
        }
    }
}

impl Node {
    /// The count for this text, zero if the last one was another's.
    fn seen(&mut self, text: u32) -> &mut u32 {
        if self.text != text {
            self.text = text;
            self.count = 0;
        }
        &mut self.count
    }
}

fn edge(parent: u32, symbol: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(symbol)
}

/// How many n-grams of this order a text of `length` symbols has.
pub(crate) fn ngrams(length: usize, order: usize) -> f64 {
    (length + 1).saturating_sub(order) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// The obvious way: a table of all n-grams.
    fn slow_matches(references: &[Vec<u32>], hypothesis: &[u32], order: usize) -> Vec<f64> {
        let count = |text: &[u32], n: usize| {
            let mut counts: HashMap<Vec<u32>, u32> = HashMap::new();
            for gram in text.windows(n) {
                *counts.entry(gram.to_vec()).or_default() += 1;
            }
            counts
        };
        (1..=order)
            .map(|n| {
                let references: Vec<_> = references.iter().map(|r| count(r, n)).collect();
                let clip = |gram: &Vec<u32>| {
                    references.iter().filter_map(|r| r.get(gram)).max().copied().unwrap_or(0)
                };
                count(hypothesis, n).iter().map(|(gram, &c)| f64::from(c.min(clip(gram)))).sum()
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_trie_counts_like_tables(
            references in prop::collection::vec(prop::collection::vec(0u32..4, 0..20), 1..4),
            hypotheses in prop::collection::vec(prop::collection::vec(0u32..5, 0..20), 1..4),
            order in 1usize..7,
        ) {
            let mut trie = NgramTrie::new(order);
            for reference in &references {
                trie.add(reference);
            }
            for hypothesis in hypotheses {
                let symbols: Vec<_> = hypothesis.iter().map(|&s| (s < 4).then_some(s)).collect();
                let mut matches = vec![0.0; order];
                trie.count_matches(&symbols, &mut matches);
                prop_assert_eq!(matches, slow_matches(&references, &hypothesis, order));
            }
        }
    }
}
