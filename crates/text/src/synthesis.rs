//! Parallel corpora made from nothing but a seed.
//!
//! A [`Task`] turns a random [`Stream`] into a pair whose source has exactly one right target,
//! so that a model's output is either right or wrong. The English–German tasks are small but
//! real: units before tens, agreement in case and gender, verbs that split and move.
//!
//! Pair `i` of a seed depends on nothing but the seed and `i`; [`Distinct`] leaves out repeated
//! sources in the order of `i`. The result is the same at any number of threads.

mod calendar;
mod clock;
mod dates;
pub mod english;
mod everyday;
pub mod german;
mod numbers;
mod symbols;

use std::collections::{HashSet, VecDeque};

use padir_base::random::{Purpose, Seed, Stream};
use rayon::prelude::*;
use thiserror::Error;

pub use self::numbers::NumberRange;
pub use self::symbols::{Operation, Symbols};
use crate::hash::hash_text;
use crate::pair::Pair;

/// A little translation task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// English number words become German ones.
    Numbers(NumberRange),
    /// Calendar dates, in eight forms.
    Dates,
    /// Times of the day, alone and in sentences.
    Clock,
    /// Sentences about counts and prices.
    Everyday,
    /// The four above in equal parts.
    Mixed(NumberRange),
    /// Sequences of symbols, copied, reversed or sorted.
    Symbols(Operation, Symbols),
}

impl Task {
    /// Draws a pair.
    pub fn pair(&self, stream: &mut Stream) -> Pair {
        match self {
            Self::Numbers(range) => numbers::pair(*range, stream),
            Self::Dates => dates::pair(stream),
            Self::Clock => clock::pair(stream),
            Self::Everyday => everyday::pair(stream),
            Self::Mixed(range) => match stream.below(4) {
                0 => numbers::pair(*range, stream),
                1 => dates::pair(stream),
                2 => clock::pair(stream),
                _ => everyday::pair(stream),
            },
            Self::Symbols(operation, symbols) => symbols.pair(*operation, stream),
        }
    }

    /// What the two sides are called in file names.
    pub fn languages(&self) -> [&'static str; 2] {
        match self {
            Self::Symbols(..) => ["src", "tgt"],
            _ => ["en", "de"],
        }
    }
}

/// A task ran out of sentences that have not been seen.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the task has no more new sentences after {found} in {drawn} draws")]
pub struct Exhausted {
    /// Distinct sentences found.
    pub found: u64,
    /// Pairs drawn to find them.
    pub drawn: u64,
}

/// Pairs drawn by all threads at once.
const BLOCK: u64 = 1 << 12;

/// Repetitions in a row before a task counts as exhausted.
const PATIENCE: u64 = 1 << 18;

/// Pairs of a task, no source twice. Memory: 8 bytes for each source.
pub struct Distinct {
    task: Task,
    seed: Seed,
    drawn: u64,
    barren: u64,
    block: VecDeque<Pair>,
    seen: HashSet<u64>,
}

impl Distinct {
    /// The pairs of a task for a seed.
    pub fn new(task: Task, seed: Seed) -> Self {
        Self { task, seed, drawn: 0, barren: 0, block: VecDeque::new(), seen: HashSet::new() }
    }

    fn draw_block(&mut self) {
        let (task, seed) = (self.task, self.seed);
        let draw = |index| task.pair(&mut seed.stream(Purpose::Synthesis, index));
        let block: Vec<Pair> = (self.drawn..self.drawn + BLOCK).into_par_iter().map(draw).collect();
        self.drawn += BLOCK;
        self.block = block.into();
    }
}

impl Iterator for Distinct {
    type Item = Result<Pair, Exhausted>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.barren < PATIENCE {
            let Some(pair) = self.block.pop_front() else {
                self.draw_block();
                continue;
            };
            if self.seen.insert(hash_text(&pair.source)) {
                self.barren = 0;
                return Some(Ok(pair));
            }
            self.barren += 1;
        }
        Some(Err(Exhausted { found: self.seen.len() as u64, drawn: self.drawn }))
    }
}

#[cfg(test)]
mod tests;
