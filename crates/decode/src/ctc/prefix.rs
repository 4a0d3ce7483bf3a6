//! Prefix beam search: the most probable targets, each the sum over its alignments.
//!
//! Slot by slot, every prefix keeps two log-probabilities: of its alignments that end in a blank, and of those that end in its last token.
//! Only the first may be followed by that token again. With all prefixes and all tokens the sums are exact. O(slots·beams·candidates).

use std::collections::HashMap;

use padir_base::TokenId;
use padir_base::denoise::Candidate;

use super::Symbols;
use super::collapse::Tokens;
use crate::hypothesis::by_score;

/// The empty prefix.
const ROOT: usize = 0;

/// A target so far; it shares its beginning with others.
struct Node {
    parent: usize,
    token: Option<TokenId>,
    /// The largest ln p of its last token among the slots where it was read.
    log_prob: f64,
}

/// ln p of the alignments of a prefix.
#[derive(Clone, Copy)]
struct Mass {
    blank: f64,
    token: f64,
}

impl Mass {
    const NONE: Self = Self { blank: f64::NEG_INFINITY, token: f64::NEG_INFINITY };

    fn total(self) -> f64 {
        log_add(self.blank, self.token)
    }
}

struct Search<'a> {
    symbols: &'a Symbols,
    nodes: Vec<Node>,
    children: HashMap<(usize, TokenId), usize>,
    /// The prefixes after a slot, in the order in which they were found.
    next: Vec<(usize, Mass)>,
    places: HashMap<usize, usize>,
}

/// The most probable targets of slots with their log-probabilities, best first; `depth` candidates stand for each slot.
pub(super) fn search(
    candidates: &[Candidate],
    depth: usize,
    beams: usize,
    symbols: &Symbols,
) -> Vec<(Tokens, f64)> {
    let root = Node { parent: ROOT, token: None, log_prob: 0.0 };
    let mut search = Search {
        symbols,
        nodes: vec![root],
        children: HashMap::new(),
        next: Vec::new(),
        places: HashMap::new(),
    };
    let mut beam = vec![(ROOT, Mass { blank: 0.0, token: f64::NEG_INFINITY })];
    for slot in candidates.chunks_exact(depth.max(1)) {
        beam = search.step(&beam, slot, beams);
    }
    beam.into_iter().map(|(node, mass)| (search.tokens(node), mass.total())).collect()
}

impl Search<'_> {
    fn step(
        &mut self,
        beam: &[(usize, Mass)],
        slot: &[Candidate],
        beams: usize,
    ) -> Vec<(usize, Mass)> {
        self.next.clear();
        self.places.clear();
        for &(prefix, mass) in beam {
            for &Candidate { token, log_prob } in slot {
                if log_prob == f64::NEG_INFINITY {
                    continue; // not a candidate: a shortlist has no more
                }
                if self.symbols.is_silent(token) {
                    let blank = mass.total() + log_prob;
                    self.add(prefix, Mass { blank, ..Mass::NONE });
                } else if self.nodes[prefix].token == Some(token) {
                    self.add(prefix, Mass { token: mass.token + log_prob, ..Mass::NONE });
                    let node = &mut self.nodes[prefix];
                    node.log_prob = node.log_prob.max(log_prob);
                    self.extend(prefix, token, mass.blank, log_prob);
                } else {
                    self.extend(prefix, token, mass.total(), log_prob);
                }
            }
        }
        let mut next = std::mem::take(&mut self.next);
        next.sort_by(|a, b| by_score(a.1.total(), b.1.total()).then(a.0.cmp(&b.0)));
        next.truncate(beams);
        next
    }

    fn extend(&mut self, prefix: usize, token: TokenId, before: f64, log_prob: f64) {
        if before == f64::NEG_INFINITY {
            return;
        }
        let count = self.nodes.len();
        let child = *self.children.entry((prefix, token)).or_insert(count);
        if child == count {
            self.nodes.push(Node { parent: prefix, token: Some(token), log_prob });
        }
        let node = &mut self.nodes[child];
        node.log_prob = node.log_prob.max(log_prob);
        self.add(child, Mass { token: before + log_prob, ..Mass::NONE });
    }

    fn add(&mut self, node: usize, mass: Mass) {
        let place = *self.places.entry(node).or_insert(self.next.len());
        if place == self.next.len() {
            self.next.push((node, Mass::NONE));
        }
        let sum = &mut self.next[place].1;
        sum.blank = log_add(sum.blank, mass.blank);
        sum.token = log_add(sum.token, mass.token);
    }

    fn tokens(&self, mut node: usize) -> Tokens {
        let mut tokens = Tokens::default();
        while let Node { parent, token: Some(token), log_prob } = self.nodes[node] {
            tokens.tokens.push(token);
            tokens.log_probs.push(log_prob);
            node = parent;
        }
        tokens.tokens.reverse();
        tokens.log_probs.reverse();
        tokens
    }
}

/// ln(eᵃ + eᵇ).
fn log_add(a: f64, b: f64) -> f64 {
    let (more, less) = if a > b { (a, b) } else { (b, a) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}
