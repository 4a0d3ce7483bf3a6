//! The network under training as a model that translates: dev sets are decoded by the code that users run.
//!
//! Nothing is cached: every step runs the decoder over whole sentences. Differences from the engine are those of rounding.

use std::collections::HashMap;

use std::sync::Arc;

use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::{ParallelTraining, TokenId};
use padir_checkpoint::ModelConfig;
use padir_model::{Encoded, Network, Pass, Sentences, ops};
use padir_translate::Model;
use thiserror::Error;

/// What a network cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkModelError {
    /// A token that it does not know.
    #[error("token {token} is not among the {vocabulary} of the model")]
    Token {
        /// The token.
        token: u32,
        /// How many there are.
        vocabulary: usize,
    },
    /// A source that was not encoded.
    #[error("there is no context {context}; there are {contexts}")]
    Context {
        /// The context.
        context: usize,
        /// How many there are.
        contexts: usize,
    },
    /// A row that continues nothing.
    #[error("there is no row {row} to continue; there are {rows}")]
    Row {
        /// The row.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// Hidden positions without a symbol for them.
    #[error("a position is hidden, but the model has no mask")]
    NoMask,
    /// A question with ranks to a model that has no use for them.
    #[error("the question ranks positions, but the model has no visibility by query")]
    NoRanks,
}

/// The most probable tokens of a position with their log-probabilities, the best first.
type Ranked = Vec<(u32, f32)>;

/// A network that translates.
#[derive(Debug)]
pub struct NetworkModel<'a> {
    network: &'a Network,
    fused: bool,
    encoded: Option<Encoded>,
    lengths: Vec<Vec<(usize, f64)>>,
    /// Target lengths by source, for models that predict none.
    known_lengths: HashMap<Vec<TokenId>, usize>,
    /// Autoregressive rows: their contexts and tokens.
    rows: Vec<(usize, Vec<u32>)>,
}

impl<'a> NetworkModel<'a> {
    /// A network as it is now.
    pub fn new(network: &'a Network, fused: bool) -> Self {
        let (encoded, lengths, rows) = (None, Vec::new(), Vec::new());
        Self { network, fused, encoded, lengths, known_lengths: HashMap::new(), rows }
    }

    /// Tells a model that predicts no lengths how long the targets of sources are, ends included.
    #[must_use]
    pub fn with_lengths(self, known_lengths: HashMap<Vec<TokenId>, usize>) -> Self {
        Self { known_lengths, ..self }
    }

    fn check_tokens<'t>(
        &self,
        tokens: impl IntoIterator<Item = &'t TokenId>,
    ) -> Result<(), NetworkModelError> {
        let vocabulary = self.network.config().symbols.vocab_size;
        let unknown = tokens.into_iter().find(|token| token.index() >= vocabulary);
        unknown.map_or(Ok(()), |token| Err(NetworkModelError::Token { token: token.0, vocabulary }))
    }

    fn contexts(&self) -> usize {
        self.encoded.as_ref().map_or(0, |encoded| encoded.rows.len())
    }

    fn check_contexts(&self, wanted: &[usize]) -> Result<(), NetworkModelError> {
        let contexts = self.contexts();
        let missing = wanted.iter().find(|&&context| context >= contexts);
        missing.map_or(Ok(()), |&context| Err(NetworkModelError::Context { context, contexts }))
    }

    /// The most probable tokens at some positions of decoder inputs, counted over all of them, and how probably the first is right.
    fn predict(
        &self,
        inputs: &[Vec<u32>],
        contexts: &[usize],
        positions: Vec<u32>,
        depth: usize,
        visible: Option<Arc<Vec<bool>>>,
    ) -> (Vec<Ranked>, Option<Vec<f32>>) {
        let Some(encoded) = self.encoded.as_ref().filter(|_| !positions.is_empty()) else {
            return (Vec::new(), None);
        };
        let pass = Pass::evaluation(self.fused);
        let inputs = Sentences::new(inputs.iter().map(Vec::as_slice));
        let encoded = encoded.choose(&pass, contexts);
        let states = self.network.decode_seeing(&pass, &inputs, &encoded, visible);
        let states = ops::pick(&pass, &states, &Arc::new(positions));
        (self.network.top(&states, depth), self.network.confidences(&states))
    }
}

impl Model for NetworkModel<'_> {
    fn config(&self) -> &ModelConfig {
        self.network.config()
    }

    fn encode(&mut self, sources: &[&[TokenId]]) -> Result<(), NetworkModelError> {
        self.encoded = None;
        self.rows.clear();
        self.check_tokens(sources.iter().copied().flatten())?;
        let ids: Vec<Vec<u32>> =
            sources.iter().map(|source| source.iter().map(|token| token.0).collect()).collect();
        let rows = Sentences::new(ids.iter().map(Vec::as_slice));
        let encoded = self.network.encode(&Pass::evaluation(self.fused), &rows);
        let longest = self.network.config().parallel().map_or(0, |p| p.max_positions);
        let predicted = self.network.predict_lengths(&encoded, longest);
        self.lengths = predicted
            .into_iter()
            .zip(sources)
            .map(|(lengths, source)| {
                let known = self.known_lengths.get(*source).map(|&length| (length, 0.0));
                lengths.into_iter().chain(known.filter(|_| self.predicts_no_lengths())).collect()
            })
            .collect();
        self.encoded = Some(encoded);
        Ok(())
    }

    fn lengths(&self, context: usize, most: usize) -> Vec<(usize, f64)> {
        let all = self.lengths.get(context).map_or(&[][..], Vec::as_slice);
        all[..all.len().min(most)].to_vec()
    }

    /// All tokens compete: dev sets need no shortlists.
    fn set_shortlist(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), NetworkModelError> {
        self.check_contexts(&[context])?;
        self.check_tokens(tokens.unwrap_or_default())
    }
}

impl NetworkModel<'_> {
    fn predicts_no_lengths(&self) -> bool {
        let oracle = padir_checkpoint::LengthPredictor::Oracle;
        self.network.config().parallel().is_some_and(|parallel| parallel.length == oracle)
    }
}

impl Denoiser for NetworkModel<'_> {
    type Error = NetworkModelError;

    fn vocabulary_size(&self) -> usize {
        self.network.config().symbols.vocab_size
    }

    fn has_confidence_head(&self) -> bool {
        self.network.config().parallel().is_some_and(|parallel| parallel.confidence_head)
    }

    fn denoise(
        &mut self,
        query: &Query<'_>,
        answers: &mut Answers,
    ) -> Result<(), NetworkModelError> {
        self.check_tokens(query.tokens())?;
        let config = self.network.config();
        let mut inputs = Vec::with_capacity(query.rows());
        let mut contexts = Vec::with_capacity(query.rows());
        let training = config.parallel().map(|parallel| parallel.training);
        let by_query = training == Some(ParallelTraining::Disco);
        if query.has_ranks() && !by_query {
            return Err(NetworkModelError::NoRanks);
        }
        let mut visible = Vec::new();
        for row in (0..query.rows()).map(|row| query.row(row)) {
            let mut ids = Vec::with_capacity(row.tokens.len());
            for (position, (token, &hidden)) in row.tokens.iter().zip(row.hidden).enumerate() {
                let shown = if hidden { config.mask_at(position) } else { Some(*token) };
                ids.push(shown.ok_or(NetworkModelError::NoMask)?.0);
            }
            if by_query {
                let n = ids.len();
                let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                visible.extend(pairs.map(|(i, j)| row.sees(i, j)));
            }
            inputs.push(ids);
            contexts.push(row.context);
        }
        self.check_contexts(&contexts)?;
        let wanted = query.wanted().iter().enumerate().filter(|(_, wanted)| **wanted);
        let positions: Vec<u32> = wanted.map(|(position, _)| position as u32).collect();
        let visible = by_query.then(|| Arc::new(visible));
        let depth = answers.depth();
        let (tokens, confidences) = self.predict(&inputs, &contexts, positions, depth, visible);
        let slots = answers.candidates_mut().iter_mut();
        for (slot, (token, log_prob)) in slots.zip(tokens.into_iter().flatten()) {
            *slot = Candidate { token: TokenId(token), log_prob: f64::from(log_prob) };
        }
        if let Some(confidences) = confidences {
            let slots = answers.confidences_mut().iter_mut();
            slots.zip(confidences).for_each(|(slot, ln_p)| *slot = f64::from(ln_p));
        }
        Ok(())
    }
}

impl CausalModel for NetworkModel<'_> {
    type Error = NetworkModelError;

    fn vocabulary_size(&self) -> usize {
        self.network.config().symbols.vocab_size
    }

    fn begin(&mut self, contexts: &[usize]) -> Result<(), NetworkModelError> {
        self.check_contexts(contexts)?;
        self.rows = contexts.iter().map(|&context| (context, Vec::new())).collect();
        Ok(())
    }

    fn decode_step(
        &mut self,
        rows: &[DecodeStep],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), NetworkModelError> {
        self.check_tokens(rows.iter().map(|row| &row.token))?;
        let mut longer = Vec::with_capacity(rows.len());
        for row in rows {
            let missing = NetworkModelError::Row { row: row.parent, rows: self.rows.len() };
            let (context, tokens) = self.rows.get(row.parent).ok_or(missing)?;
            longer.push((*context, [tokens.as_slice(), &[row.token.0]].concat()));
        }
        self.rows = longer;
        let (contexts, inputs): (Vec<usize>, Vec<Vec<u32>>) = self.rows.iter().cloned().unzip();
        let mut end = 0;
        let last = inputs.iter().map(|input| {
            end += input.len();
            end as u32 - 1
        });
        let last = last.collect();
        let (tokens, _) = self.predict(&inputs, &contexts, last, depth, None);
        let candidate = |(token, log_prob): (u32, f32)| Candidate {
            token: TokenId(token),
            log_prob: f64::from(log_prob),
        };
        answers.extend(tokens.into_iter().flatten().map(candidate));
        Ok(())
    }
}
