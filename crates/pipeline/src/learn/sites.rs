//! How a sequence model sees a state of a small model.
//!
//! ```text
//! source   EOS
//! target   x₀ x₁ … xₙ₋₁ EOS      symbol s is token 4 + s; MASK is the last token
//! ```
//!
//! [`Sites`] turns a denoiser of such a vocabulary into one of the symbols alone, so that the chains of the laboratory and the
//! samplers of `padir-decode` run on a network unchanged.

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query, QueryError};
use padir_checkpoint::Symbols;
use padir_lab::space::Space;
use thiserror::Error;

/// The token of symbol 0; those before it are reserved.
pub const FIRST: u32 = TokenId::BOS.0 + 1;

/// What the network translates from: nothing but an end.
pub const SOURCE: [TokenId; 1] = [TokenId::EOS];

/// The vocabulary of a space: reserved tokens, symbols, MASK.
pub fn vocabulary(space: Space) -> Symbols {
    let pieces = FIRST as usize + space.symbols();
    let random = FIRST..pieces as u32;
    Symbols { random, ..Symbols::of_vocabulary(pieces + 1, pieces) }
}

/// A state as a target, its end included.
pub fn target(space: Space, state: usize) -> Vec<u32> {
    space.symbols_of(state).map(|s| FIRST + s as u32).chain([TokenId::EOS.0]).collect()
}

/// What the denoiser below cannot answer.
#[derive(Debug, Error)]
pub enum SitesError<E: std::error::Error + 'static> {
    /// A token that is no symbol.
    #[error("token {token} is not among the {symbols} symbols")]
    Token {
        /// The token.
        token: u32,
        /// How many symbols there are.
        symbols: usize,
    },
    /// The question cannot be put.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The denoiser failed.
    #[error(transparent)]
    Denoiser(E),
}

/// A denoiser of sentences as one of states: symbols compete with nothing else.
#[derive(Debug)]
pub struct Sites<D> {
    inner: D,
    symbols: usize,
}

impl<D: Denoiser> Sites<D> {
    /// Of a denoiser whose context 0 is [`SOURCE`] and whose vocabulary is that of the space.
    pub fn new(inner: D, space: Space) -> Self {
        Self { inner, symbols: space.symbols() }
    }
}

impl<D: Denoiser> Denoiser for Sites<D> {
    type Error = SitesError<D::Error>;

    fn vocabulary_size(&self) -> usize {
        self.symbols
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
        let symbols = self.symbols;
        let (mut tokens, mut ends) = (Vec::new(), Vec::new());
        let (mut hidden, mut wanted) = (Vec::new(), Vec::new());
        for row in (0..query.rows()).map(|row| query.row(row)) {
            for (token, &hides) in row.tokens.iter().zip(row.hidden) {
                if !hides && token.index() >= symbols {
                    return Err(SitesError::Token { token: token.0, symbols });
                }
                tokens.push(TokenId(FIRST + if hides { 0 } else { token.0 }));
            }
            tokens.push(TokenId::EOS);
            hidden.extend(row.hidden.iter().copied().chain([false]));
            wanted.extend(row.wanted.iter().copied().chain([false]));
            ends.push(tokens.len());
        }
        let contexts = vec![0; ends.len()];
        let asked = Query::new(&tokens, &ends, &contexts, &hidden, &wanted)?;
        let mut found = Answers::default();
        found.prepare(&asked, self.inner.vocabulary_size());
        self.inner.denoise(&asked, &mut found).map_err(SitesError::Denoiser)?;
        for (row, start) in (0..query.rows()).map(|row| (query.row(row), asked.row(row).start)) {
            for site in (0..row.tokens.len()).filter(|&site| row.wanted[site]) {
                let ranked = symbols_of(found.at(start + site).unwrap_or_default(), symbols);
                let slots = answers.at_mut(row.start + site).into_iter().flatten();
                slots.zip(ranked).for_each(|(slot, candidate)| *slot = candidate);
            }
        }
        Ok(())
    }
}

/// The candidates that are symbols, sharing all probability, in their order.
fn symbols_of(candidates: &[Candidate], symbols: usize) -> Vec<Candidate> {
    let own = |candidate: &Candidate| {
        let symbol = candidate.token.0.checked_sub(FIRST)?;
        let is_one = (symbol as usize) < symbols;
        is_one.then_some(Candidate { token: TokenId(symbol), ..*candidate })
    };
    let mut ranked: Vec<Candidate> = candidates.iter().filter_map(own).collect();
    let top = ranked.first().map_or(0.0, |best| best.log_prob);
    let total = ranked.iter().map(|c| (c.log_prob - top).exp()).sum::<f64>().ln() + top;
    for candidate in &mut ranked {
        candidate.log_prob -= total;
    }
    ranked
}
