//! Greedy block shifts: move the block that saves most edits, as long as one saves any.
//!
//! Candidates, their order, their limits and the way ties are broken are Tercom's as sacrebleu
//! has them. At most [`MAX_CANDIDATES`] distances per pair.

use std::cmp::Reverse;

use super::distance::{Matrix, Operation};

/// The longest block that moves.
const MAX_BLOCK: usize = 10;
/// The farthest a block moves.
const MAX_DISTANCE: usize = 50;
/// How many shifts are tried before the search ends.
const MAX_CANDIDATES: usize = 1000;

/// A block of the hypothesis that also stands in the reference.
#[derive(Clone, Copy)]
struct Block {
    hypothesis: usize,
    reference: usize,
    length: usize,
}

/// Where the words of the reference went, and which words of either side are wrong.
#[derive(Default)]
struct Alignment {
    /// For every reference word the hypothesis word it was aligned with, or the one before; −1
    /// before the first.
    hypothesis_of: Vec<isize>,
    reference_errors: Vec<bool>,
    hypothesis_errors: Vec<bool>,
    operations: Vec<Operation>,
}

/// The two matrices of a search, kept from pair to pair.
#[derive(Default)]
pub(super) struct Workspace {
    /// The distances of the hypothesis as shifted so far.
    current: Matrix,
    /// The distances of a candidate; rows before its first difference are taken from `current`.
    trial: Matrix,
    alignment: Alignment,
}

/// The fewest edits found that turn the hypothesis into the reference.
pub(super) fn edits(workspace: &mut Workspace, hypothesis: &[u32], reference: &[u32]) -> u32 {
    if reference.is_empty() {
        return hypothesis.len() as u32;
    }
    workspace.current.resize(hypothesis.len(), reference.len());
    workspace.trial.resize(hypothesis.len(), reference.len());
    let mut words = hypothesis.to_vec();
    let mut distance = workspace.current.fill(&words, reference, 0);
    let mut search = Search { reference, workspace, tried: 0 };
    let mut shifts = 0;
    while let Some(candidate) = search.best_shift(&words, distance) {
        shifts += 1;
        words = shift(&words, candidate.block, candidate.target);
        distance = search.workspace.current.fill(&words, reference, 0);
    }
    shifts + distance
}

struct Search<'a> {
    reference: &'a [u32],
    workspace: &'a mut Workspace,
    /// Candidates so far, over all shifts of this pair.
    tried: usize,
}

impl Search<'_> {
    /// The shift that saves most; `None` if none saves any or the search has become too long.
    fn best_shift(&mut self, words: &[u32], distance: u32) -> Option<Candidate> {
        self.workspace.alignment.read(&self.workspace.current);
        let mut best = None;
        for start in 0..words.len() {
            let first = start.saturating_sub(MAX_DISTANCE);
            let end = self.reference.len().min(start + MAX_DISTANCE + 1);
            for target in first..end {
                let block = Block { hypothesis: start, reference: target, length: 0 };
                self.try_blocks(words, block, &mut best);
                if self.tried >= MAX_CANDIDATES {
                    return None;
                }
            }
        }
        best.filter(|candidate| candidate.distance < distance)
    }

    /// Tries the blocks of all lengths that agree at these two places.
    fn try_blocks(&mut self, words: &[u32], at: Block, best: &mut Option<Candidate>) {
        let agreeing = words[at.hypothesis..].iter().zip(&self.reference[at.reference..]);
        let longest = agreeing.take(MAX_BLOCK).take_while(|(a, b)| a == b).count();
        for length in 1..=longest {
            let block = Block { length, ..at };
            if self.tried >= MAX_CANDIDATES {
                return;
            }
            if self.workspace.alignment.is_movable(block) {
                self.try_targets(words, block, best);
            }
        }
    }

    fn try_targets(&mut self, words: &[u32], block: Block, best: &mut Option<Candidate>) {
        let Workspace { current, trial, alignment } = &mut *self.workspace;
        let mut previous = None;
        for target in alignment.targets(block) {
            if previous == Some(target) {
                continue;
            }
            previous = Some(target);
            let shifted = shift(words, block, target);
            let known = common_prefix(words, &shifted);
            trial.copy_row(current, known);
            let distance = trial.fill(&shifted, self.reference, known);
            self.tried += 1;
            let candidate = Candidate { distance, block, target };
            if best.as_ref().is_none_or(|best| candidate.rank() > best.rank()) {
                *best = Some(candidate);
            }
        }
    }
}

/// A shift that was tried.
struct Candidate {
    distance: u32,
    block: Block,
    target: usize,
}

impl Candidate {
    /// The smallest distance first; then the longest block, the earliest, the earliest target.
    fn rank(&self) -> impl Ord + use<> {
        let block = self.block;
        (Reverse(self.distance), block.length, Reverse(block.hypothesis), Reverse(self.target))
    }
}

impl Alignment {
    fn read(&mut self, matrix: &Matrix) {
        self.hypothesis_of.clear();
        self.reference_errors.clear();
        self.hypothesis_errors.clear();
        matrix.trace(&mut self.operations);
        let mut position = -1;
        for operation in self.operations.iter().rev() {
            let is_error = *operation != Operation::Keep;
            if !matches!(operation, Operation::Insert) {
                position += 1;
                self.hypothesis_errors.push(is_error);
            }
            if !matches!(operation, Operation::Delete) {
                self.hypothesis_of.push(position);
                self.reference_errors.push(is_error);
            }
        }
    }

    /// Whether the block is wrong where it is, missing where it would go, and not already there.
    fn is_movable(&self, block: Block) -> bool {
        let Block { hypothesis, reference, length } = block;
        let has_error = |errors: &[bool], start: usize| {
            errors.iter().skip(start).take(length).any(|&error| error)
        };
        let Some(&aligned) = self.hypothesis_of.get(reference) else { return false };
        let inside = hypothesis as isize..(hypothesis + length) as isize;
        has_error(&self.hypothesis_errors, hypothesis)
            && has_error(&self.reference_errors, reference)
            && !inside.contains(&aligned)
    }

    /// The positions to try: before the reference word, and after each word of the block.
    fn targets(&self, block: Block) -> impl Iterator<Item = usize> {
        let before = match block.reference.checked_sub(1) {
            None => Some(0),
            Some(previous) => self.after(previous),
        };
        let within = block.reference..block.reference + block.length;
        let within = within.map(|reference| self.after(reference));
        std::iter::once(before).chain(within).map_while(|target| target)
    }

    fn after(&self, reference: usize) -> Option<usize> {
        self.hypothesis_of.get(reference).map(|&h| (h + 1) as usize)
    }
}

/// The words with a block moved so that it stands before `target`.
fn shift(words: &[u32], block: Block, target: usize) -> Vec<u32> {
    let (start, end) = (block.hypothesis, block.hypothesis + block.length);
    let moved = &words[start..end];
    if target < start {
        [&words[..target], moved, &words[target..start], &words[end..]].concat()
    } else if target > end {
        [&words[..start], &words[end..target], moved, &words[target..]].concat()
    } else {
        // A target inside the block itself: the block moves on by as many words.
        let target = words.len().min(block.length + target);
        [&words[..start], &words[end..target], moved, &words[target..]].concat()
    }
}

fn common_prefix(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
