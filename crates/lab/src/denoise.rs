//! The exact model as a denoiser: what a perfect network would answer.
//!
//! At a wanted position it gives p(xᵢ | visible xⱼ, j ≠ i), hidden positions summed out. An
//! answer costs O(q^(h+1)) for h hidden positions.

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query, Row};
use thiserror::Error;

use crate::distribution::{Distribution, log_sum_exp};

/// A query outside of what the model knows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExactError {
    /// A sequence of the wrong length.
    #[error("row {row} has {found} tokens; the model has {sites} sites")]
    Length {
        /// The row.
        row: usize,
        /// Its length.
        found: usize,
        /// N.
        sites: usize,
    },
    /// A token outside of Ω.
    #[error("token {token} at position {position} of row {row} is not in 0..{symbols}")]
    Token {
        /// The row.
        row: usize,
        /// The position.
        position: usize,
        /// The token.
        token: TokenId,
        /// q.
        symbols: usize,
    },
    /// The visible tokens have probability zero.
    #[error("the visible tokens of row {row} have probability zero")]
    Impossible {
        /// The row.
        row: usize,
    },
}

/// Exact conditionals of an enumerated distribution.
#[derive(Clone, Debug)]
pub struct ExactDenoiser<'a> {
    p: &'a Distribution,
}

impl<'a> ExactDenoiser<'a> {
    /// The denoiser of a distribution.
    pub fn new(p: &'a Distribution) -> Self {
        Self { p }
    }

    /// The state of the visible tokens, and the hidden positions as bits.
    fn read(&self, number: usize, row: &Row<'_>) -> Result<(usize, u64), ExactError> {
        let space = self.p.space();
        let (sites, symbols) = (space.sites(), space.symbols());
        if row.tokens.len() != sites {
            return Err(ExactError::Length { row: number, found: row.tokens.len(), sites });
        }
        let (mut state, mut hidden) = (0, 0);
        for (position, (&token, &hides)) in row.tokens.iter().zip(row.hidden).enumerate() {
            if hides {
                hidden |= 1 << position;
            } else if token.index() >= symbols {
                return Err(ExactError::Token { row: number, position, token, symbols });
            } else {
                state += token.index() * space.stride(position);
            }
        }
        Ok((state, hidden))
    }

    /// ln p(xᵢ = s | visible), for every symbol s.
    pub(crate) fn conditional(&self, state: usize, hidden: u64, site: usize) -> Option<Vec<f64>> {
        let space = self.p.space();
        let others = hidden & !(1 << site);
        let base = space.outside(state, hidden | 1 << site);
        let fillings = space.fillings(others);
        let stride = space.stride(site);
        let mut logs: Vec<f64> = (0..space.symbols())
            .map(|symbol| {
                let start = base + symbol * stride;
                let terms: Vec<f64> = fillings.iter().map(|f| self.p.log_prob(start + f)).collect();
                log_sum_exp(&terms)
            })
            .collect();
        let total = log_sum_exp(&logs);
        for log in &mut logs {
            *log -= total;
        }
        total.is_finite().then_some(logs)
    }
}

impl Denoiser for ExactDenoiser<'_> {
    type Error = ExactError;

    fn vocabulary_size(&self) -> usize {
        self.p.space().symbols()
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), ExactError> {
        for number in 0..query.rows() {
            let row = query.row(number);
            let (state, hidden) = self.read(number, &row)?;
            for site in (0..row.tokens.len()).filter(|&i| row.wanted[i]) {
                let logs = self
                    .conditional(state, hidden, site)
                    .ok_or(ExactError::Impossible { row: number })?;
                let mut ranked: Vec<Candidate> = (0_u32..)
                    .zip(logs)
                    .map(|(id, log_prob)| Candidate { token: TokenId(id), log_prob })
                    .collect();
                ranked.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
                if let Some(slots) = answers.at_mut(row.start + site) {
                    slots.iter_mut().zip(ranked).for_each(|(slot, candidate)| *slot = candidate);
                }
            }
        }
        Ok(())
    }
}
