//! All alignments of one target: forward–backward sums and the best path.
//!
//! T slots, L labels, states 0..=2L: even states are BLANK, state 2j + 1 is label j. A path starts in state 0 or 1, ends in state 2L or
//! 2L − 1, and per slot stays, moves on by one, or by two between labels that differ. Its tokens collapse to the target: repeats are
//! merged, then blanks dropped. Sums are in log space and double precision. O(T·L).

use std::ops::Range;

const ZERO: f64 = f64::NEG_INFINITY;

/// The alignments of a target with some slots.
#[derive(Clone, Copy, Debug)]
pub struct Lattice<'a> {
    labels: &'a [u32],
    slots: usize,
}

impl<'a> Lattice<'a> {
    /// The alignments of labels with so many slots; `None` if there are too few slots.
    pub fn new(labels: &'a [u32], slots: usize) -> Option<Self> {
        (slots >= slots_needed(labels)).then_some(Self { labels, slots })
    }

    fn states(&self) -> usize {
        2 * self.labels.len() + 1
    }

    /// Log-probabilities come row by row, one row per slot: BLANK first, then each label.
    fn log_prob(&self, log_probs: &[f64], slot: usize, state: usize) -> f64 {
        let column = if state.is_multiple_of(2) { 0 } else { state / 2 + 1 };
        log_probs[slot * (self.labels.len() + 1) + column]
    }

    /// Whether a path may jump over the blank before a state.
    fn may_skip_to(&self, state: usize) -> bool {
        let label = state / 2;
        state % 2 == 1 && label > 0 && self.labels[label] != self.labels[label - 1]
    }

    /// The states a path may be in at a slot: those that the start has reached and from which the end can still be reached.
    fn alive(&self, slot: usize) -> Range<usize> {
        let states = self.states();
        let left = 2 * (self.slots - slot);
        states.saturating_sub(left)..states.min(2 * slot + 2)
    }

    /// Where a state may be entered from.
    fn parents(&self, state: usize) -> impl Iterator<Item = usize> + Clone {
        let skip = self.may_skip_to(state).then(|| state - 2);
        std::iter::once(state).chain(state.checked_sub(1)).chain(skip)
    }

    /// α\[t\]\[s\]: the log-probability of all beginnings of paths that are in state s at slot t.
    fn forward(&self, log_probs: &[f64]) -> Vec<f64> {
        let states = self.states();
        let mut alpha = vec![ZERO; self.slots * states];
        for slot in 0..self.slots {
            for state in self.alive(slot) {
                let before = match slot.checked_sub(1) {
                    None => 0.0, // the first slot has states 0 and 1
                    Some(last) => {
                        let row = &alpha[last * states..][..states];
                        log_sum(self.parents(state).map(|parent| row[parent]))
                    }
                };
                alpha[slot * states + state] = before + self.log_prob(log_probs, slot, state);
            }
        }
        alpha
    }

    /// ln p of the target: the sum over all alignments.
    pub fn log_likelihood(&self, log_probs: &[f64]) -> f64 {
        if self.slots == 0 {
            return 0.0;
        }
        self.total(&self.forward(log_probs))
    }

    fn total(&self, alpha: &[f64]) -> f64 {
        let last = &alpha[(self.slots - 1) * self.states()..];
        log_sum(last.iter().rev().take(2).copied())
    }

    /// ln p of the target, and for each slot the posterior probability of BLANK and of each label, in the order of `log_probs`.
    ///
    /// A target of probability 0 has posteriors 0.
    pub fn posteriors(&self, log_probs: &[f64]) -> (f64, Vec<f32>) {
        let (states, columns) = (self.states(), self.labels.len() + 1);
        let mut posteriors = vec![0.0; self.slots * columns];
        if self.slots == 0 {
            return (0.0, posteriors);
        }
        let alpha = self.forward(log_probs);
        let total = self.total(&alpha);
        if total == ZERO {
            return (total, posteriors);
        }
        // β[s]: the log-probability of all ends of paths after the slot, given its state.
        let mut beta = vec![ZERO; states];
        beta.iter_mut().rev().take(2).for_each(|last| *last = 0.0);
        for slot in (0..self.slots).rev() {
            if slot + 1 < self.slots {
                beta = self.backward(log_probs, slot + 1, &beta);
            }
            let row = &mut posteriors[slot * columns..][..columns];
            for state in self.alive(slot) {
                let share = (alpha[slot * states + state] + beta[state] - total).exp();
                let column = if state.is_multiple_of(2) { 0 } else { state / 2 + 1 };
                row[column] += share as f32;
            }
        }
        (total, posteriors)
    }

    /// β of the slot before `slot` from that of `slot`.
    fn backward(&self, log_probs: &[f64], slot: usize, beta: &[f64]) -> Vec<f64> {
        let states = self.states();
        let rest: Vec<f64> =
            (0..states).map(|state| beta[state] + self.log_prob(log_probs, slot, state)).collect();
        let sum = |state: usize| {
            let skip = (state + 2 < states && self.may_skip_to(state + 2)).then_some(state + 2);
            let children = std::iter::once(state).chain((state + 1 < states).then_some(state + 1));
            log_sum(children.chain(skip).map(|child| rest[child]))
        };
        let mut before = vec![ZERO; states];
        for state in self.alive(slot - 1) {
            before[state] = sum(state);
        }
        before
    }

    /// The likeliest alignment: its log-probability, and for each slot the label it stands for, or `None` for BLANK.
    ///
    /// Of equally likely ones, that which stays longest in its states, seen from the end.
    pub fn viterbi(&self, log_probs: &[f64]) -> (f64, Vec<Option<usize>>) {
        let states = self.states();
        if self.slots == 0 {
            return (0.0, Vec::new());
        }
        let mut best = vec![ZERO; states];
        let mut parents = vec![0_usize; self.slots * states];
        for slot in 0..self.slots {
            let mut next = vec![ZERO; states];
            for state in self.alive(slot) {
                let (parent, before) = if slot == 0 {
                    (state, 0.0)
                } else {
                    let moves = self.parents(state).map(|parent| (parent, best[parent]));
                    moves.fold((state, ZERO), |a, b| if b.1 > a.1 { b } else { a })
                };
                next[state] = before + self.log_prob(log_probs, slot, state);
                parents[slot * states + state] = parent;
            }
            best = next;
        }
        let ends = (states.saturating_sub(2)..states).rev();
        let mut state = ends.reduce(|a, b| if best[b] > best[a] { b } else { a }).unwrap_or(0);
        let total = best[state];
        let mut path = vec![None; self.slots];
        for slot in (0..self.slots).rev() {
            path[slot] = (state % 2 == 1).then_some(state / 2);
            state = parents[slot * states + state];
        }
        (total, path)
    }
}

/// The number of slots a target needs: one per label, and a blank between equal neighbours.
pub fn slots_needed(labels: &[u32]) -> usize {
    labels.len() + labels.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// ln Σ eˣ.
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(ZERO, f64::max);
    if most == ZERO {
        return ZERO;
    }
    most + terms.map(|term| (term - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Columns of an alignment's tokens, collapsed to labels.
    fn collapse(path: &[usize], labels: &[u32]) -> Vec<u32> {
        let token = |column: usize| column.checked_sub(1).map(|label| labels[label]);
        let mut merged: Vec<Option<u32>> = path.iter().map(|&column| token(column)).collect();
        merged.dedup();
        merged.into_iter().flatten().collect()
    }

    /// All sequences over the distinct columns, one column for each distinct label.
    fn paths(columns: &[usize], slots: usize) -> Vec<Vec<usize>> {
        let mut paths = vec![Vec::new()];
        for _ in 0..slots {
            paths = paths
                .iter()
                .flat_map(|path| columns.iter().map(move |&c| [path.as_slice(), &[c]].concat()))
                .collect();
        }
        paths
    }

    /// Log-probabilities with equal columns for equal labels.
    fn table(labels: &[u32], slots: usize, numbers: &[f64]) -> Vec<f64> {
        let number = |slot: usize, token: usize| numbers[(slot * 7 + token) % numbers.len()];
        let tokens = std::iter::once(0).chain(labels.iter().map(|&label| label as usize + 1));
        let tokens: Vec<usize> = tokens.collect();
        (0..slots).flat_map(|slot| tokens.iter().map(move |&token| number(slot, token))).collect()
    }

    proptest! {
        /// Sum, posteriors and maximum are those of the enumerated alignments.
        #[test]
        fn the_lattice_holds_all_alignments(
            labels in prop::collection::vec(0_u32..3, 0..4),
            slots in 0_usize..6,
            numbers in prop::collection::vec(-6.0_f64..0.0, 42),
        ) {
            let Some(lattice) = Lattice::new(&labels, slots) else {
                let any: Vec<usize> = (0..=labels.len()).collect();
                for path in paths(&any, slots) {
                    prop_assert_ne!(collapse(&path, &labels), labels.clone());
                }
                return Ok(());
            };
            let log_probs = table(&labels, slots, &numbers);
            let columns = labels.len() + 1;
            let first = |label: u32| 1 + labels.iter().position(|&l| l == label).unwrap();
            let mut distinct: Vec<usize> = labels.iter().map(|&label| first(label)).collect();
            distinct.push(0);
            distinct.sort_unstable();
            distinct.dedup();
            let (mut sum, mut most) = (0.0, f64::NEG_INFINITY);
            let mut shares = vec![0.0; slots * columns];
            for path in paths(&distinct, slots) {
                if collapse(&path, &labels) != labels {
                    continue;
                }
                let columns_of = path.iter().enumerate();
                let log_p: f64 = columns_of.map(|(slot, &c)| log_probs[slot * columns + c]).sum();
                sum += log_p.exp();
                most = most.max(log_p);
                for (slot, &column) in path.iter().enumerate() {
                    shares[slot * columns + column] += log_p.exp();
                }
            }
            prop_assert!((lattice.log_likelihood(&log_probs) - sum.ln()).abs() < 1e-9);
            let (log_p, posteriors) = lattice.posteriors(&log_probs);
            prop_assert!((log_p - sum.ln()).abs() < 1e-9);
            // Equal labels share one column of the enumeration.
            let mut merged = vec![0.0; slots * columns];
            for slot in 0..slots {
                merged[slot * columns] = f64::from(posteriors[slot * columns]);
                for (label, &id) in labels.iter().enumerate() {
                    let share = f64::from(posteriors[slot * columns + 1 + label]);
                    merged[slot * columns + first(id)] += share;
                }
            }
            for (found, wanted) in merged.iter().zip(&shares) {
                prop_assert!((found - wanted / sum).abs() < 1e-6, "{found} {}", wanted / sum);
            }
            let (log_p, path) = lattice.viterbi(&log_probs);
            prop_assert!((log_p - most).abs() < 1e-9);
            let path: Vec<usize> = path.iter().map(|label| label.map_or(0, |l| l + 1)).collect();
            prop_assert_eq!(collapse(&path, &labels), labels.clone());
            let of_path: f64 =
                path.iter().enumerate().map(|(slot, &c)| log_probs[slot * columns + c]).sum();
            prop_assert!((of_path - most).abs() < 1e-9);
        }
    }

    #[test]
    fn what_does_not_fit_has_no_lattice() {
        assert_eq!(slots_needed(&[5, 5, 6, 6, 6]), 8);
        assert!(Lattice::new(&[5, 5], 2).is_none());
        assert!(Lattice::new(&[5, 5], 3).is_some());
        assert!(Lattice::new(&[5], 0).is_none());
        let empty = Lattice::new(&[], 0).unwrap();
        assert_eq!((empty.posteriors(&[]), empty.viterbi(&[])), ((0.0, vec![]), (0.0, vec![])));
    }

    #[test]
    fn a_target_of_probability_nothing_has_no_posteriors() {
        let lattice = Lattice::new(&[3], 2).unwrap();
        let never = [0.0, ZERO, 0.0, ZERO];
        assert_eq!(lattice.posteriors(&never), (ZERO, vec![0.0; 4]));
        assert_eq!(lattice.viterbi(&never).1.len(), 2);
    }
}
