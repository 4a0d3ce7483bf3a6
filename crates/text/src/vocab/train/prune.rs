//! Removing the pieces that the text misses least.
//!
//! If piece v is removed, its f(v) occurrences in the best segmentation are replaced by the best
//! segmentation of v itself into other pieces, a₁ … aₘ. The log-likelihood then falls by
//!
//! ```text
//! loss(v) = f(v)/F · ( log f(v)/F − Σ log (f(aᵢ)+f(v))/F' ),   F' = F + f(v)(m−1),
//! ```
//!
//! with F the number of all tokens. Pieces that never occur in a best segmentation go at once.

use rayon::prelude::*;

use super::edges::{Edge, Edges, walk_best};
use super::pieces::Pieces;
use super::words::Words;

/// What becomes of a piece.
enum Decision {
    Remove,
    Keep,
    Loss(f64),
}

/// Keeps `shrink` of the pieces, but not fewer than `least`.
pub(super) fn prune(
    pieces: &mut Pieces<'_>,
    edges: &Edges,
    words: &Words,
    least: usize,
    shrink: f64,
) {
    let counts = edges.count_best(pieces, words);
    let total: u64 = counts.iter().sum();
    let decisions: Vec<Decision> = (0..pieces.len())
        .into_par_iter()
        .map_init(Memory::default, |memory, id| {
            if pieces.is_alive(id) {
                decide(id, pieces, &counts, total, memory)
            } else {
                Decision::Remove
            }
        })
        .collect();
    let target = least.max((pieces.alive() as f64 * shrink) as usize);
    let kept = decisions.iter().filter(|decision| matches!(decision, Decision::Keep)).count();
    let mut losses: Vec<(f64, usize)> = decisions
        .iter()
        .enumerate()
        .filter_map(
            |(id, decision)| {
                if let Decision::Loss(loss) = decision { Some((*loss, id)) } else { None }
            },
        )
        .collect();
    losses.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, id) in losses.iter().skip(target.saturating_sub(kept)) {
        pieces.remove(id);
    }
    for (id, decision) in decisions.iter().enumerate() {
        if matches!(decision, Decision::Remove) {
            pieces.remove(id);
        }
    }
}

#[derive(Default)]
struct Memory {
    edges: Vec<Edge>,
    best: Vec<(f64, u32, u16)>,
    others: Vec<u32>,
}

fn decide(
    id: usize,
    pieces: &Pieces<'_>,
    counts: &[u64],
    total: u64,
    memory: &mut Memory,
) -> Decision {
    let length = pieces.characters(id);
    if length == 1 {
        return Decision::Keep;
    }
    if counts[id] == 0 {
        return Decision::Remove;
    }
    let Memory { edges, best, others } = memory;
    edges.clear();
    others.clear();
    pieces.find_in(pieces.text_of(id), |start, end, piece| {
        if piece as usize != id {
            edges.push(Edge { piece, start: start as u16, end: end as u16 });
        }
    });
    let score = walk_best(edges, length, pieces.scores(), best, |piece| others.push(piece));
    if others.is_empty() {
        return Decision::Keep;
    }
    if score > pieces.scores()[id] {
        return Decision::Remove;
    }
    let (count, total) = (counts[id] as f64, total as f64);
    let log_total = total.ln();
    let log_new_total = (total + count * (others.len() - 1) as f64).ln();
    let others: f64 = others
        .iter()
        .map(|&other| (counts[other as usize] as f64 + count).ln() - log_new_total)
        .sum();
    Decision::Loss(count / total * (count.ln() - log_total - others))
}
