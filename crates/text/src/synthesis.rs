//! Parallel corpora made from nothing but a seed.
//!
//! A [`Task`] turns a random [`Stream`] into a pair whose source has exactly one right target,
//! so that a model's output is either right or wrong. The English–German tasks are small but
//! real: units before tens, agreement in case and gender, verbs that split and move.
//!
//! [`Distinct`](crate::distinct::Distinct) draws many of them, no source twice.

mod calendar;
mod clock;
mod dates;
pub mod english;
mod everyday;
pub mod german;
mod numbers;
mod symbols;

use padir_base::random::Stream;

pub use self::numbers::NumberRange;
pub use self::symbols::{Operation, Symbols};
use crate::distinct::Draw;
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

impl Draw for Task {
    type Item = Pair;

    fn draw(&self, stream: &mut Stream) -> Option<Pair> {
        Some(self.pair(stream))
    }

    fn text(pair: &Pair) -> &str {
        &pair.source
    }
}

#[cfg(test)]
mod tests;
