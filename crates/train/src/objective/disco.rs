//! Disentangled context (`DisCo`, Kasai et al. 2020): every token from a set of others of its own.
//!
//! ```text
//! position i ─► decoder over the tokens of a random set Vᵢ ─► loss at i, for all i but the end
//! ```
//!
//! In a target of N tokens, Vᵢ always has the end, never i itself, and ⌊(N − 1)·u⌋ + 1 tokens with u uniform, drawn for each position. The decoder
//! reads tokens as keys and values before any context, so no token reaches a position that may not see it.

use std::sync::Arc;

use padir_base::mask::{MaskContext, MaskLaw};
use padir_base::random::Stream;
use padir_model::{Network, Pass};

use super::stages::{Smoothing, Stages};
use super::{Losses, Objective, Pairs};
use crate::config::LengthObjective;

/// −Σ log p(yᵢ | y in Vᵢ, x).
#[derive(Clone, Debug)]
pub struct Disco {
    /// How lengths are learnt.
    pub length: LengthObjective,
    /// Label smoothing and z-loss.
    pub smoothing: Smoothing,
}

/// Which tokens each position of a target of n tokens sees: queries × keys.
fn visible_sets(n: usize, chance: &mut Stream) -> Vec<bool> {
    let mut visible = vec![false; n * n];
    for (i, row) in visible.chunks_exact_mut(n.max(1)).enumerate() {
        if i + 1 == n {
            // Nobody asks for the end; it may see everything else.
            row[..i].fill(true);
            continue;
        }
        // Others but the end: of the first n − 1 tokens all but i.
        let others: Vec<usize> = (0..n - 1).filter(|&j| j != i).collect();
        let more = ((n - 1) as f64 * chance.uniform()) as usize;
        let law = MaskLaw::Exactly { k: more.min(others.len()) };
        if let Ok(set) = law.sample(&MaskContext::of_length(others.len()), chance) {
            set.positions().for_each(|j| row[others[j]] = true);
        }
        row[n - 1] = true;
    }
    visible
}

impl Objective for Disco {
    fn losses(&self, network: &Network, pass: &Pass, pairs: &Pairs, chance: &mut Stream) -> Losses {
        let mut visible = Vec::new();
        let mut counts = Vec::with_capacity(pairs.targets.ids.len());
        for n in pairs.targets.rows.lengths() {
            visible.extend(visible_sets(n, chance));
            counts.extend((0..n).map(|i| i + 1 < n));
        }
        let mut stages = Stages::begin(network, pass, pairs, self.length, self.smoothing);
        let read = pairs.targets.ids.to_vec();
        stages.learn_seeing(read, counts, 1.0, None, Some(Arc::new(visible)));
        stages.finish()
    }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    #[test]
    fn visible_sets_have_the_stated_sizes() {
        let mut chance = Seed(1).stream(Purpose::Corruption, 0);
        let n = 6;
        let mut sizes = vec![0_u32; n];
        for _ in 0..4000 {
            let visible = visible_sets(n, &mut chance);
            for (i, row) in visible.chunks_exact(n).enumerate().take(n - 1) {
                assert!(!row[i] && row[n - 1]);
                sizes[row.iter().filter(|&&seen| seen).count()] += 1;
            }
        }
        // One to five of the others, equally often.
        assert_eq!(sizes[0], 0);
        for &count in &sizes[1..] {
            assert!((f64::from(count) / 20_000.0 - 0.2).abs() < 0.015, "{sizes:?}");
        }
        assert_eq!(visible_sets(1, &mut chance), [false]);
        assert_eq!(visible_sets(2, &mut chance), [false, true, true, false]);
        assert_eq!(visible_sets(0, &mut chance), [false; 0]);
    }
}
