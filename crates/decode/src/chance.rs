//! Where decisions come from.

use padir_base::denoise::Candidate;
use padir_base::mask::{LawError, Mask, MaskContext, MaskLaw};
use padir_base::random::{Purpose, Seed, Stream};
use thiserror::Error;

/// A decision that cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ChanceError {
    /// The mask law makes no sense for the sequence.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The candidates carry no probability.
    #[error("no candidate for position {0} has a positive probability")]
    NoCandidate(usize),
    /// A network that is damaged or overflows.
    #[error("a candidate for position {0} has a probability that is not a number")]
    NotANumber(usize),
    /// An exact law is not followed further into outcomes this unlikely.
    #[error("the outcome is less likely than the cut-off")]
    Unlikely,
}

/// A source of decisions; each row of a batch has its own.
pub trait Chance {
    /// Draws the hidden positions of a row.
    ///
    /// # Errors
    /// If the law makes no sense for the context.
    fn mask(
        &mut self,
        row: usize,
        law: &MaskLaw,
        mask_context: &MaskContext<'_>,
    ) -> Result<Mask, ChanceError>;

    /// Draws one of the candidates with probability proportional to e^(log-probability).
    ///
    /// # Errors
    /// If none has a positive probability.
    fn candidate(&mut self, row: usize, candidates: &[Candidate]) -> Result<usize, ChanceError>;

    /// Is true with probability `p`.
    ///
    /// # Errors
    /// If the outcome need not be followed.
    fn accept(&mut self, row: usize, p: f64) -> Result<bool, ChanceError>;
}

/// Reproducible randomness: row r draws from streams number r + `first` of the seed.
#[derive(Clone, Debug)]
pub struct Streams {
    blocks: Vec<Stream>,
    draws: Vec<Stream>,
    weights: Vec<f64>,
}

impl Streams {
    /// Streams for a number of rows.
    pub fn new(seed: Seed, rows: usize) -> Self {
        Self::starting_at(seed, rows, 0)
    }

    /// Streams for rows that are part of something larger: row r is number `first` + r of it.
    pub fn starting_at(seed: Seed, rows: usize, first: u64) -> Self {
        Self::numbered(seed, (0..rows as u64).map(|row| first + row))
    }

    /// Streams for rows that have numbers of their own: what a row draws depends on its number and
    /// on nothing that is decoded beside it.
    pub fn numbered(seed: Seed, numbers: impl IntoIterator<Item = u64>) -> Self {
        Self::keyed(numbers.into_iter().map(|number| (seed, number)))
    }

    /// Streams for rows that have seeds of their own, too.
    pub fn keyed(keys: impl IntoIterator<Item = (Seed, u64)>) -> Self {
        let pair = |(seed, n): (Seed, u64)| {
            (seed.stream(Purpose::Block, n), seed.stream(Purpose::Chain, n))
        };
        let (blocks, draws) = keys.into_iter().map(pair).unzip();
        Self { blocks, draws, weights: Vec::new() }
    }
}

impl Chance for Streams {
    fn mask(
        &mut self,
        row: usize,
        law: &MaskLaw,
        mask_context: &MaskContext<'_>,
    ) -> Result<Mask, ChanceError> {
        Ok(law.sample(mask_context, &mut self.blocks[row])?)
    }

    fn candidate(&mut self, row: usize, candidates: &[Candidate]) -> Result<usize, ChanceError> {
        let top = candidates.iter().map(|c| c.log_prob).fold(f64::NEG_INFINITY, f64::max);
        self.weights.clear();
        self.weights.extend(candidates.iter().map(|c| (c.log_prob - top).exp()));
        self.draws[row].weighted(&self.weights).ok_or(ChanceError::NoCandidate(row))
    }

    fn accept(&mut self, row: usize, p: f64) -> Result<bool, ChanceError> {
        Ok(self.draws[row].chance(p))
    }
}

impl<C: Chance + ?Sized> Chance for &mut C {
    fn mask(
        &mut self,
        row: usize,
        law: &MaskLaw,
        mask_context: &MaskContext<'_>,
    ) -> Result<Mask, ChanceError> {
        (**self).mask(row, law, mask_context)
    }

    fn candidate(&mut self, row: usize, candidates: &[Candidate]) -> Result<usize, ChanceError> {
        (**self).candidate(row, candidates)
    }

    fn accept(&mut self, row: usize, p: f64) -> Result<bool, ChanceError> {
        (**self).accept(row, p)
    }
}
