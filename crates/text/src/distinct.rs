//! What is drawn at random, and never twice.
//!
//! Draw `i` of a seed depends on nothing but the seed and `i`; repetitions are left out in the order of `i`. The result is the same at
//! any number of threads.

use std::collections::{HashSet, VecDeque};

use padir_base::random::{Purpose, Seed, Stream};
use rayon::prelude::*;
use thiserror::Error;

use crate::hash::hash_text;

/// Something that turns chance into texts.
pub trait Draw: Sync {
    /// What is drawn.
    type Item: Send;

    /// Draws one; none if it came to nothing.
    fn draw(&self, stream: &mut Stream) -> Option<Self::Item>;

    /// What may not be repeated.
    fn text(item: &Self::Item) -> &str;
}

/// There was nothing new any more.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("there are no more new sentences after {found} in {drawn} draws")]
pub struct Exhausted {
    /// Distinct sentences found.
    pub found: u64,
    /// Draws to find them.
    pub drawn: u64,
}

/// Draws made by all threads at once.
const BLOCK: u64 = 1 << 12;

/// Repetitions in a row before there is nothing new any more.
const PATIENCE: u64 = 1 << 18;

/// Draws, no text twice. Memory: 8 bytes for each text.
pub struct Distinct<D: Draw> {
    what: D,
    seed: Seed,
    drawn: u64,
    found: u64,
    barren: u64,
    block: VecDeque<Option<D::Item>>,
    seen: HashSet<u64>,
}

impl<D: Draw> Distinct<D> {
    /// The draws of a seed.
    pub fn new(what: D, seed: Seed) -> Self {
        Self {
            what,
            seed,
            drawn: 0,
            found: 0,
            barren: 0,
            block: VecDeque::new(),
            seen: HashSet::new(),
        }
    }

    /// Never draws the text with this [fingerprint](hash_text).
    pub fn forbid(&mut self, fingerprint: u64) {
        self.seen.insert(fingerprint);
    }

    fn draw_block(&mut self) {
        let (what, seed) = (&self.what, self.seed);
        let draw = |index| what.draw(&mut seed.stream(Purpose::Synthesis, index));
        let block: Vec<_> = (self.drawn..self.drawn + BLOCK).into_par_iter().map(draw).collect();
        self.drawn += BLOCK;
        self.block = block.into();
    }
}

impl<D: Draw> Iterator for Distinct<D> {
    type Item = Result<D::Item, Exhausted>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.barren < PATIENCE {
            let Some(drawn) = self.block.pop_front() else {
                self.draw_block();
                continue;
            };
            if let Some(item) = drawn.filter(|item| self.seen.insert(hash_text(D::text(item)))) {
                self.found += 1;
                self.barren = 0;
                return Some(Ok(item));
            }
            self.barren += 1;
        }
        Some(Err(Exhausted { found: self.found, drawn: self.drawn }))
    }
}
