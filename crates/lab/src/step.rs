//! What a step of k-Gibbs costs against k.
//!
//! Drawing a block jointly sums qᵏ fillings. Given the others, parts of the block without couplings between them
//! are independent, so the sum splits over the connected parts of the block: Σ q^|part| fillings, few on sparse
//! graphs and for small k.

use padir_base::random::{Purpose, Seed};

use crate::graph::Edge;

/// Fillings of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepCost {
    /// k.
    pub k: usize,
    /// qᵏ.
    pub joint: f64,
    /// The mean of Σ q^|part| over the sets of size k.
    pub parts: f64,
    /// Whether sets were drawn instead of counted.
    pub sampled: bool,
}

/// Sets up to this number are counted, else so many drawn.
const MOST_SETS: f64 = 20_000.0;

/// The cost of a step for uniform k-subsets of a graph.
pub fn step_cost(sites: usize, symbols: usize, edges: &[Edge], k: usize) -> StepCost {
    let mut neighbours = vec![Vec::new(); sites];
    for &Edge(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let q = symbols as f64;
    let of = |set: &[usize]| -> f64 {
        parts(set, &neighbours).into_iter().map(|size| q.powf(size as f64)).sum()
    };
    let count = (0..k).fold(1.0, |c, i| c * (sites - i) as f64 / (i + 1) as f64);
    let sampled = count > MOST_SETS;
    let (mut sum, mut sets) = (0.0, 0.0);
    if sampled {
        let mut stream = Seed(0).stream(Purpose::Search, 3 + k as u64);
        let mut order: Vec<usize> = (0..sites).collect();
        while sets < MOST_SETS {
            stream.shuffle(&mut order);
            sum += of(&order[..k]);
            sets += 1.0;
        }
    } else {
        let mut set: Vec<usize> = (0..k).collect();
        loop {
            sum += of(&set);
            sets += 1.0;
            if !next_subset(&mut set, sites) {
                break;
            }
        }
    }
    StepCost { k, joint: q.powf(k as f64), parts: sum / sets, sampled }
}

/// The next set of the same size in lexicographic order.
fn next_subset(set: &mut [usize], sites: usize) -> bool {
    let k = set.len();
    let Some(i) = (0..k).rev().find(|&i| set[i] < sites - k + i) else { return false };
    set[i] += 1;
    for j in i + 1..k {
        set[j] = set[j - 1] + 1;
    }
    true
}

/// The sizes of the connected parts of a set.
fn parts(set: &[usize], neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = set.to_vec();
    let mut sizes = Vec::new();
    while let Some(first) = left.pop() {
        let (mut stack, mut size) = (vec![first], 0);
        while let Some(v) = stack.pop() {
            size += 1;
            for w in &neighbours[v] {
                if let Some(place) = left.iter().position(|u| u == w) {
                    stack.push(left.swap_remove(place));
                }
            }
        }
        sizes.push(size);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;

    #[test]
    fn parts_are_counted() {
        let chain = Shape::Chain { periodic: false }.edges(4).unwrap();
        // Pairs of a chain of four: three neighbours (4 fillings), three apart (2 + 2).
        let pairs = step_cost(4, 2, &chain, 2);
        assert!((pairs.parts - 4.0).abs() < 1e-15 && (pairs.joint - 4.0).abs() < 1e-15);
        // Triples: 012, 123 connected (8), 013, 023 a pair and a site (4 + 2).
        assert!((step_cost(4, 2, &chain, 3).parts - 7.0).abs() < 1e-15);
        let clique = Shape::Clique { size: None }.edges(5).unwrap();
        assert!((step_cost(5, 3, &clique, 4).parts - 81.0).abs() < 1e-12);
        assert!((step_cost(5, 3, &[], 4).parts - 12.0).abs() < 1e-12);
        let wide = step_cost(40, 2, &[], 20);
        assert!(wide.sampled && (wide.parts - 40.0).abs() < 1e-12);
    }
}
