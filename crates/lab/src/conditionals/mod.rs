//! The conditionals of any denoiser as a table: what a learned model says, beside what is true.
//!
//! A masked model is known by q(xᵢ | visible) for every way to hide some sites, i among them: (|Ω| + 1)ᴺ partly
//! hidden states. They are read off a [`Denoiser`] once; errors, chains and the nearest joint distribution follow
//! without asking it again.
//!
//! | module | question |
//! |---|---|
//! | [`Conditionals::errors`] | how far the conditionals are from those of p, by the number of hidden sites |
//! | [`Conditionals::transitions`] | the chain that a sampler of `padir-decode` runs on them |
//! | [`split`] | how much of the chain's error is the denoiser's, and how much the sampler's |
//! | [`Conditionals::best_joint`] | whether they are the conditionals of any joint distribution |
//! | [`Conditionals::couplings`] | how strongly a site depends on another |

mod chain;
mod error;
mod joint;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query};
use thiserror::Error;

pub use chain::{Sampler, Split, split};
pub use error::ConditionalError;
pub use joint::BestJoint;

use crate::chain::Matrix;
use crate::denoise::ExactDenoiser;
use crate::distribution::Distribution;
use crate::space::Space;

/// The largest space whose conditionals are tabulated.
pub const MOST_STATES: usize = 256;

/// Rows of one query.
const ROWS: usize = 256;

/// Conditionals that cannot be read.
#[derive(Debug, Error)]
pub enum ConditionalsError<E: std::error::Error + 'static> {
    /// Too many states.
    #[error("{0} states are too many for a table of conditionals; the limit is {MOST_STATES}")]
    TooLarge(usize),
    /// Another alphabet.
    #[error("the denoiser has {found} symbols, the space {wanted}")]
    Symbols {
        /// Those of the denoiser.
        found: usize,
        /// Those of the space.
        wanted: usize,
    },
    /// The answer is no distribution.
    #[error("the denoiser gives no distribution at site {site}")]
    Answer {
        /// The site.
        site: usize,
    },
    /// The denoiser failed.
    #[error(transparent)]
    Denoiser(E),
}

/// ln q(xᵢ = s | visible) for every set of hidden sites that contains i.
#[derive(Clone, Debug)]
pub struct Conditionals {
    space: Space,
    /// By partly hidden state, site and symbol; NaN where there is no conditional.
    logs: Vec<f64>,
}

impl Conditionals {
    /// Asks a denoiser whose tokens are the symbols 0 to |Ω| − 1.
    ///
    /// # Errors
    /// If the space is too large or another than the denoiser's, or if the denoiser fails.
    pub fn of<D: Denoiser>(
        denoiser: &mut D,
        space: Space,
    ) -> Result<Self, ConditionalsError<D::Error>> {
        let (found, wanted) = (denoiser.vocabulary_size(), space.symbols());
        if found != wanted {
            return Err(ConditionalsError::Symbols { found, wanted });
        }
        if space.size() > MOST_STATES {
            return Err(ConditionalsError::TooLarge(space.size()));
        }
        let mut table = Self::empty(space);
        let partly: Vec<(usize, u64)> = (1..1_u64 << space.sites())
            .flat_map(|hidden| space.groups(hidden).into_iter().map(move |state| (state, hidden)))
            .collect();
        for rows in partly.chunks(ROWS) {
            table.ask(denoiser, rows)?;
        }
        Ok(table)
    }

    /// Those of p itself; a context of probability zero has none.
    ///
    /// # Panics
    /// If p has more than [`MOST_STATES`] states.
    pub fn exact(p: &Distribution) -> Self {
        let space = p.space();
        assert!(space.size() <= MOST_STATES, "the table would be too large");
        let mut table = Self::empty(space);
        let denoiser = ExactDenoiser::new(p);
        for hidden in 1..1_u64 << space.sites() {
            for state in space.groups(hidden) {
                for site in sites_of(hidden) {
                    if let Some(logs) = denoiser.conditional(state, hidden, site) {
                        let start = table.start(state, hidden, site);
                        table.logs[start..start + logs.len()].copy_from_slice(&logs);
                    }
                }
            }
        }
        table
    }

    /// Ωᴺ.
    pub fn space(&self) -> Space {
        self.space
    }

    /// ln q(xᵢ = · | what is visible of a state). The site must be among the hidden ones; `None` where there is no
    /// conditional.
    pub fn at(&self, state: usize, hidden: u64, site: usize) -> Option<&[f64]> {
        let start = self.start(state, hidden, site);
        let logs = &self.logs[start..start + self.space.symbols()];
        (!logs[0].is_nan()).then_some(logs)
    }

    /// For spins, J̃ᵢⱼ = E ¼ [ℓᵢ(xⱼ = +1) − ℓᵢ(xⱼ = −1)] with the log-odds ℓᵢ of site i given all others, the expectation
    /// under p: Jᵢⱼ for the conditionals of an Ising model. `None` for other alphabets.
    pub fn couplings(&self, p: &Distribution) -> Option<Matrix<f64>> {
        let space = self.space;
        if space.symbols() != 2 {
            return None;
        }
        let mut couplings = Matrix::zero(space.sites());
        for (i, j) in (0..space.sites()).flat_map(|i| (0..space.sites()).map(move |j| (i, j))) {
            if i == j {
                continue;
            }
            let odds = |state: usize| self.at(state, 1 << i, i).map(|logs| logs[1] - logs[0]);
            // Contexts without conditionals are left out of the mean.
            let (mut sum, mut mass) = (0.0, 0.0);
            for state in 0..space.size() {
                let (up, down) = (odds(state | 1 << j), odds(state & !(1 << j)));
                if let (Some(up), Some(down)) = (up, down)
                    && (up - down).is_finite()
                {
                    let weight = p.log_prob(state).exp();
                    sum += weight * (up - down) / 4.0;
                    mass += weight;
                }
            }
            couplings.set(i, j, if mass > 0.0 { sum / mass } else { f64::NAN });
        }
        Some(couplings)
    }

    fn empty(space: Space) -> Self {
        let partly = (space.symbols() + 1).pow(space.sites() as u32);
        Self { space, logs: vec![f64::NAN; partly * space.sites() * space.symbols()] }
    }

    /// Where the conditional of a site stands: partly hidden states count in base |Ω| + 1, the last digit being "hidden".
    fn start(&self, state: usize, hidden: u64, site: usize) -> usize {
        let q = self.space.symbols();
        let code = (0..self.space.sites()).rev().fold(0, |code, j| {
            let digit = if hidden >> j & 1 == 1 { q } else { self.space.symbol(state, j) };
            code * (q + 1) + digit
        });
        (code * self.space.sites() + site) * q
    }

    fn ask<D: Denoiser>(
        &mut self,
        denoiser: &mut D,
        rows: &[(usize, u64)],
    ) -> Result<(), ConditionalsError<D::Error>> {
        let (sites, symbols) = (self.space.sites(), self.space.symbols());
        let tokens: Vec<TokenId> =
            rows.iter().flat_map(|&(state, _)| self.space.tokens_of(state)).collect();
        let hidden: Vec<bool> = rows
            .iter()
            .flat_map(|&(_, hidden)| (0..sites).map(move |i| hidden >> i & 1 == 1))
            .collect();
        let ends: Vec<usize> = (1..=rows.len()).map(|row| row * sites).collect();
        let contexts = vec![0; rows.len()];
        let fits = "one entry per token";
        let query = Query::new(&tokens, &ends, &contexts, &hidden, &hidden).expect(fits);
        let mut answers = Answers::default();
        answers.prepare(&query, symbols);
        denoiser.denoise(&query, &mut answers).map_err(ConditionalsError::Denoiser)?;
        for (row, &(state, hides)) in rows.iter().enumerate() {
            for site in sites_of(hides) {
                let start = self.start(state, hides, site);
                let logs = &mut self.logs[start..start + symbols];
                let mut total = 0.0;
                for candidate in answers.at(row * sites + site).unwrap_or_default() {
                    let slot = logs.get_mut(candidate.token.index());
                    *slot.ok_or(ConditionalsError::Answer { site })? = candidate.log_prob;
                    total += candidate.log_prob.exp();
                }
                // A token that is missing or came twice would show here; rounding of single precision may.
                if !((total - 1.0).abs() < 1e-3 && logs.iter().all(|log| !log.is_nan())) {
                    return Err(ConditionalsError::Answer { site });
                }
                for log in logs {
                    *log -= total.ln();
                }
            }
        }
        Ok(())
    }
}

/// The sites of a bit pattern.
fn sites_of(block: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |&i| block >> i & 1 == 1)
}
