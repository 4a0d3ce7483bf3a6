//! The denoiser: conditional distributions at the positions of partly hidden sequences.
//!
//! A [`Query`] holds a ragged batch of sequences, says which tokens are hidden (their value
//! carries no information) and which positions are wanted. A [`Denoiser`] answers with the most
//! probable tokens at every wanted position and their log-probabilities:
//!
//! ```text
//! log p(xᵢ = v | visible xⱼ, j ≠ i, context)
//! ```
//!
//! The exact laboratory models answer this to the last bit and never look at xᵢ itself. A neural
//! denoiser was trained on noisy inputs: to it a visible token is evidence, its own included.
//!
//! The trait is batch-first and its answers go into memory that is used again. How many
//! candidates are wanted is up to the caller: one for an arg-max refiner, which lets an engine
//! fuse its logits with the maximum and never store them; the whole vocabulary for a sampler.
//!
//! Some denoisers also know how far they may be believed: besides what is most probable, they say with which probability it is right.

use thiserror::Error;

use crate::TokenId;
use crate::ragged::RaggedTokens;

/// A batch of partly hidden sequences, concatenated without padding.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    tokens: &'a [TokenId],
    ends: &'a [usize],
    contexts: &'a [usize],
    hidden: &'a [bool],
    wanted: &'a [bool],
    low_precision: bool,
    ranks: Option<&'a [u32]>,
}

/// A query whose parts do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// A per-position list has the wrong length.
    #[error("{what} has {found} entries for {tokens} tokens")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The number of tokens.
        tokens: usize,
    },
    /// The rows do not cover the tokens in order.
    #[error("row {row} ends at {end}, which does not continue the rows before it")]
    Rows {
        /// The row.
        row: usize,
        /// Its end.
        end: usize,
    },
    /// Not one context per row.
    #[error("{contexts} contexts for {rows} rows")]
    Contexts {
        /// The number of contexts.
        contexts: usize,
        /// The number of rows.
        rows: usize,
    },
}

impl<'a> Query<'a> {
    /// Puts a batch together.
    ///
    /// `ends[r]` is where row r ends in `tokens`; `contexts[r]` is what row r is conditioned on
    /// (the number of its source sentence; 0 for models without a source); `hidden` and `wanted`
    /// have one entry per token.
    ///
    /// # Errors
    /// If the parts do not fit together.
    pub fn new(
        tokens: &'a [TokenId],
        ends: &'a [usize],
        contexts: &'a [usize],
        hidden: &'a [bool],
        wanted: &'a [bool],
    ) -> Result<Self, QueryError> {
        for (what, list) in [("hidden", hidden), ("wanted", wanted)] {
            if list.len() != tokens.len() {
                return Err(QueryError::Length { what, found: list.len(), tokens: tokens.len() });
            }
        }
        let mut start = 0;
        for (row, &end) in ends.iter().enumerate() {
            if end < start || end > tokens.len() {
                return Err(QueryError::Rows { row, end });
            }
            start = end;
        }
        if start != tokens.len() {
            return Err(QueryError::Rows { row: ends.len(), end: tokens.len() });
        }
        if contexts.len() != ends.len() {
            return Err(QueryError::Contexts { contexts: contexts.len(), rows: ends.len() });
        }
        Ok(Self { tokens, ends, contexts, hidden, wanted, low_precision: false, ranks: None })
    }

    /// Puts a batch of sequences together: [`Query::new`] with their tokens and ends.
    ///
    /// # Errors
    /// If the parts do not fit together.
    pub fn of(
        sequences: &'a RaggedTokens,
        contexts: &'a [usize],
        hidden: &'a [bool],
        wanted: &'a [bool],
    ) -> Result<Self, QueryError> {
        Self::new(sequences.tokens(), sequences.rows().ends(), contexts, hidden, wanted)
    }

    /// The same question, of which a low-precision answer of an answer will do: what comes of it is asked again. A denoiser that can answer faster at
    /// lower precision may do so; what a row's answer is must not depend on the other rows even then.
    #[must_use]
    pub fn at_low_precision(self, low_precision: bool) -> Self {
        Self { low_precision, ..self }
    }

    /// Whether a low-precision answer will do.
    pub fn is_low_precision(&self) -> bool {
        self.low_precision
    }

    /// The same question to a model with visibility by query (`DisCo`): a position sees those of a lower rank, and the last of its row.
    ///
    /// # Errors
    /// If there is not one rank per token.
    pub fn with_ranks(self, ranks: &'a [u32]) -> Result<Self, QueryError> {
        if ranks.len() != self.tokens.len() {
            let (found, tokens) = (ranks.len(), self.tokens.len());
            return Err(QueryError::Length { what: "ranks", found, tokens });
        }
        Ok(Self { ranks: Some(ranks), ..self })
    }

    /// Whether positions have ranks.
    pub fn has_ranks(&self) -> bool {
        self.ranks.is_some()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// One row.
    pub fn row(&self, row: usize) -> Row<'a> {
        let range = if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row];
        Row {
            start: range.start,
            context: self.contexts[row],
            tokens: &self.tokens[range.clone()],
            hidden: &self.hidden[range.clone()],
            wanted: &self.wanted[range.clone()],
            ranks: self.ranks.map(|ranks| &ranks[range]),
        }
    }

    /// All tokens, row after row.
    pub fn tokens(&self) -> &'a [TokenId] {
        self.tokens
    }

    /// Where each row ends.
    pub fn ends(&self) -> &'a [usize] {
        self.ends
    }

    /// Which tokens are wanted.
    pub fn wanted(&self) -> &'a [bool] {
        self.wanted
    }
}

/// A row of a [`Query`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Where the row starts among all tokens of the query.
    pub start: usize,
    /// What the row is conditioned on.
    pub context: usize,
    /// Its tokens.
    pub tokens: &'a [TokenId],
    /// Which of them are hidden.
    pub hidden: &'a [bool],
    /// Which positions are wanted.
    pub wanted: &'a [bool],
    /// In which order positions see each other, if that was said.
    pub ranks: Option<&'a [u32]>,
}

impl Row<'_> {
    /// Whether position i sees position j in a model with visibility by query: never itself, always the last one; of the others those of a lower
    /// rank, or without ranks those that are not hidden.
    pub fn sees(&self, i: usize, j: usize) -> bool {
        let seen = || self.ranks.map_or(!self.hidden[j], |ranks| ranks[j] < ranks[i]);
        i != j && (j + 1 == self.tokens.len() || seen())
    }
}

/// One candidate for a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The token.
    pub token: TokenId,
    /// The natural logarithm of its conditional probability.
    pub log_prob: f64,
}

/// The answers to a query: for every wanted position the same number of candidates, most
/// probable first (ties: smaller id first).
#[derive(Clone, Debug, Default)]
pub struct Answers {
    depth: usize,
    slots: Vec<Option<u32>>,
    candidates: Vec<Candidate>,
    /// One for each wanted position, or none at all.
    confidences: Vec<f64>,
}

impl Answers {
    /// Makes room for a query: `depth` candidates at each wanted position.
    pub fn prepare(&mut self, query: &Query<'_>, depth: usize) {
        const NOTHING: Candidate = Candidate { token: TokenId::PAD, log_prob: f64::NEG_INFINITY };
        self.depth = depth;
        let mut count = 0;
        self.slots.clear();
        self.slots.extend(query.wanted().iter().map(|&wanted| {
            wanted.then(|| {
                count += 1;
                count - 1
            })
        }));
        self.candidates.clear();
        self.candidates.resize(count as usize * depth, NOTHING);
        self.confidences.clear();
    }

    /// The number of candidates per position.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The candidates at a position, counted over all tokens of the query; none if it was not
    /// wanted.
    #[inline]
    pub fn at(&self, position: usize) -> Option<&[Candidate]> {
        let slot = (*self.slots.get(position)?)? as usize;
        self.candidates.get(slot * self.depth..(slot + 1) * self.depth)
    }

    /// The same, to be filled in by a denoiser.
    #[inline]
    pub fn at_mut(&mut self, position: usize) -> Option<&mut [Candidate]> {
        let slot = (*self.slots.get(position)?)? as usize;
        self.candidates.get_mut(slot * self.depth..(slot + 1) * self.depth)
    }

    /// All candidates, wanted position after wanted position.
    pub fn candidates_mut(&mut self) -> &mut [Candidate] {
        &mut self.candidates
    }

    /// ln of the probability that the first candidate at a position is right, as a denoiser with a [confidence head](Denoiser::has_confidence_head) rates it.
    #[inline]
    pub fn confidence(&self, position: usize) -> Option<f64> {
        let slot = (*self.slots.get(position)?)? as usize;
        self.confidences.get(slot).copied()
    }

    /// The same for all wanted positions, one after the other, to be filled in by such a denoiser.
    pub fn confidences_mut(&mut self) -> &mut [f64] {
        let wanted = self.slots.iter().flatten().count();
        self.confidences.resize(wanted, f64::NEG_INFINITY);
        &mut self.confidences
    }
}

/// Something that knows conditional distributions.
pub trait Denoiser {
    /// Why it may fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The vocabulary size |Ω|.
    fn vocabulary_size(&self) -> usize;

    /// Whether its [low-precision](Query::at_low_precision) answers differ from the others. If not, nothing need be asked again.
    fn has_low_precision(&self) -> bool {
        false
    }

    /// From now on only these tokens compete for the positions of a context, and share out its probability among them, if that
    /// spares the denoiser something; with `None` as before. Says whether it is so: a denoiser may as well go on with all of them.
    ///
    /// # Errors
    /// If a token or the context lies outside of what the model knows, or there is no token.
    fn set_candidates(&mut self, _: usize, _: Option<&[TokenId]>) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Whether it says of its answers how probably they are right, in [`Answers::confidences_mut`].
    fn has_confidence_head(&self) -> bool {
        false
    }

    /// Fills in the `answers.depth()` most probable tokens at every wanted position.
    ///
    /// The answers have been [prepared](Answers::prepare) for the query, with a depth of at most
    /// the vocabulary size. A row's answers must not depend on the other rows.
    ///
    /// # Errors
    /// If a token, a context or a length lies outside of what the model knows.
    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [TokenId; 3] = [TokenId(5), TokenId(6), TokenId(7)];

    #[test]
    fn a_query_checks_its_parts() {
        let ok = [true, false, true];
        let query = |ends, contexts, hidden, wanted| {
            Query::new(&TOKENS, ends, contexts, hidden, wanted).err().map(|e| e.to_string())
        };
        let cases: [(&str, Option<String>, Option<&str>); 6] = [
            ("fits", query(&[1, 3], &[0, 0], &ok, &ok), None),
            ("empty row", query(&[0, 3], &[0, 0], &ok, &ok), None),
            (
                "short mask",
                query(&[3], &[0], &ok[..2], &ok),
                Some("hidden has 2 entries for 3 tokens"),
            ),
            (
                "rows go back",
                query(&[2, 1], &[0, 0], &ok, &ok),
                Some("row 1 ends at 1, which does not continue the rows before it"),
            ),
            (
                "tokens left over",
                query(&[2], &[0], &ok, &ok),
                Some("row 1 ends at 3, which does not continue the rows before it"),
            ),
            ("no context", query(&[3], &[], &ok, &ok), Some("0 contexts for 1 rows")),
        ];
        for (name, found, expected) in cases {
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn answers_have_room_for_wanted_positions_only() {
        let hidden = [false; 3];
        let wanted = [true, false, true];
        let query = Query::new(&TOKENS, &[1, 3], &[0, 1], &hidden, &wanted).unwrap();
        let mut answers = Answers::default();
        answers.prepare(&query, 2);
        answers.at_mut(2).unwrap()[1].token = TokenId(9);
        assert_eq!(answers.at(2).unwrap()[1].token, TokenId(9));
        assert_eq!(answers.at(0).unwrap().len(), 2);
        assert!(answers.at(1).is_none());
        assert!(answers.at(3).is_none());
        assert_eq!((query.row(1).start, query.row(1).context), (1, 1));
        assert_eq!(query.row(1).tokens, &TOKENS[1..]);
    }

    #[test]
    fn approvals_are_of_wanted_positions_and_of_one_answer() {
        let query = |wanted| Query::new(&TOKENS, &[3], &[0], &[false; 3], wanted).unwrap();
        let mut answers = Answers::default();
        answers.prepare(&query(&[false, true, true]), 1);
        assert_eq!(answers.confidence(1), None, "nobody said anything");
        answers.confidences_mut().copy_from_slice(&[-0.5, -2.0]);
        let all = [0, 1, 2, 3].map(|position| answers.confidence(position));
        assert_eq!(all, [None, Some(-0.5), Some(-2.0), None]);
        answers.prepare(&query(&[true; 3]), 1);
        assert_eq!(answers.confidence(1), None, "of the question before");
    }
}
