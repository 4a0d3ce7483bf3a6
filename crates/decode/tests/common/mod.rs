//! Small models whose distributions are known: a denoiser and a causal model made of hashes, and a
//! denoiser that does as a function says.
#![allow(dead_code, reason = "every test file uses some of it")]

use std::convert::Infallible;

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Candidate, Denoiser, Query, Row};
use padir_base::random::{Purpose, Seed};

pub(crate) fn ids(tokens: &[TokenId]) -> Vec<u32> {
    tokens.iter().map(|t| t.0).collect()
}

pub(crate) fn tokens(ids: &[u32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId).collect()
}

/// Best first; ties: smaller id first.
fn ranked(log_probs: &[f64]) -> Vec<Candidate> {
    let mut list: Vec<Candidate> = (0..)
        .zip(log_probs)
        .map(|(id, &log_prob)| Candidate { token: TokenId(id), log_prob })
        .collect();
    list.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
    list
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let total = logits.iter().map(|l| l.exp()).sum::<f64>().ln();
    logits.iter().map(|l| l - total).collect()
}

/// A number that depends on everything it is given.
fn mix(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(17, |h, part| Seed(h).stream(Purpose::Test, part).next_u64())
}

fn logits(key: u64, vocabulary_size: usize, sharpness: f64) -> Vec<f64> {
    let mut stream = Seed(key).stream(Purpose::Test, 0);
    (0..vocabulary_size).map(|_| stream.normal() * sharpness).collect()
}

/// What was asked of a denoiser in one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) rows: Vec<Vec<u32>>,
    pub(crate) hidden: usize,
    pub(crate) wanted: usize,
    pub(crate) depth: usize,
}

/// At every position a distribution that depends on context, length, position, and the visible tokens
/// there and to its left.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) seed: u64,
    pub(crate) vocabulary_size: usize,
    pub(crate) sharpness: f64,
    pub(crate) calls: Vec<Call>,
}

impl Table {
    pub(crate) fn new(seed: u64, vocabulary_size: usize, sharpness: f64) -> Self {
        Self { seed, vocabulary_size, sharpness, calls: Vec::new() }
    }

    pub(crate) fn log_probs(&self, context: usize, seen: &[Option<u32>], i: usize) -> Vec<f64> {
        let at = |t: Option<u32>| t.map_or(999, u64::from);
        let left = i.checked_sub(1).map_or(998, |i| at(seen[i]));
        let (context, n) = (context as u64, seen.len() as u64);
        // The left neighbour matters only sometimes, so that sentences do settle.
        let left = if (context + i as u64).is_multiple_of(2) { left } else { 0 };
        let key = mix([self.seed, context, n, i as u64, at(seen[i]) % 2, left]);
        log_softmax(&logits(key, self.vocabulary_size, self.sharpness))
    }

    /// How probably what is said at a position is right.
    pub(crate) fn confidence(&self, context: usize, seen: &[Option<u32>], i: usize) -> f64 {
        let key = mix([!self.seed, context as u64, i as u64, seen[i].map_or(999, u64::from)]);
        Seed(key).stream(Purpose::Test, 0).uniform()
    }
}

fn seen(row: &Row<'_>) -> Vec<Option<u32>> {
    row.tokens.iter().zip(row.hidden).map(|(t, &hidden)| (!hidden).then_some(t.0)).collect()
}

fn note(query: &Query<'_>, depth: usize) -> Call {
    let rows = || (0..query.rows()).map(|r| query.row(r));
    Call {
        rows: rows().map(|row| ids(row.tokens)).collect(),
        hidden: rows().flat_map(|row| row.hidden).filter(|&&h| h).count(),
        wanted: query.wanted().iter().filter(|&&w| w).count(),
        depth,
    }
}

impl Denoiser for Table {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        self.vocabulary_size
    }

    fn has_confidence_head(&self) -> bool {
        true
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
        self.calls.push(note(query, answers.depth()));
        let mut confidences = Vec::new();
        for row in (0..query.rows()).map(|r| query.row(r)) {
            let seen = seen(&row);
            for i in (0..seen.len()).filter(|&i| row.wanted[i]) {
                let list = ranked(&self.log_probs(row.context, &seen, i));
                let slots = answers.at_mut(row.start + i).unwrap();
                slots.iter_mut().zip(list).for_each(|(slot, candidate)| *slot = candidate);
                confidences.push(self.confidence(row.context, &seen, i).ln());
            }
        }
        answers.confidences_mut().copy_from_slice(&confidences);
        Ok(())
    }
}

/// Answers with what a function of (row, position) says: some tokens with probabilities, best first; the
/// others are impossible.
pub(crate) struct Scripted<F> {
    pub(crate) script: F,
    pub(crate) calls: Vec<Call>,
}

impl<F: Fn(&Row<'_>, usize) -> Vec<(u32, f64)>> Scripted<F> {
    pub(crate) fn new(script: F) -> Self {
        Self { script, calls: Vec::new() }
    }
}

impl<F: Fn(&Row<'_>, usize) -> Vec<(u32, f64)>> Denoiser for Scripted<F> {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        100
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
        self.calls.push(note(query, answers.depth()));
        for row in (0..query.rows()).map(|r| query.row(r)) {
            for i in (0..row.tokens.len()).filter(|&i| row.wanted[i]) {
                let slots = answers.at_mut(row.start + i).unwrap();
                let said = (self.script)(&row, i);
                let rest = (0..100).filter(|id| said.iter().all(|(known, _)| known != id));
                let all = said.iter().copied().chain(rest.map(|id| (id, 0.0)));
                for (slot, (id, p)) in slots.iter_mut().zip(all) {
                    *slot = Candidate { token: TokenId(id), log_prob: p.ln() };
                }
            }
        }
        Ok(())
    }
}

/// A language model made of hashes of whole prefixes.
#[derive(Clone, Debug)]
pub(crate) struct Language {
    pub(crate) seed: u64,
    pub(crate) vocabulary_size: usize,
    pub(crate) sharpness: f64,
    /// Context and tokens of the live rows; the first is the start.
    rows: Vec<(usize, Vec<u32>)>,
    /// The number of rows of each call.
    pub(crate) calls: Vec<usize>,
}

impl Language {
    pub(crate) fn new(seed: u64, vocabulary_size: usize, sharpness: f64) -> Self {
        Self { seed, vocabulary_size, sharpness, rows: Vec::new(), calls: Vec::new() }
    }

    /// The distribution after a prefix, the start not included.
    pub(crate) fn log_probs(&self, context: usize, prefix: &[u32]) -> Vec<f64> {
        let parts = [self.seed, context as u64].into_iter();
        let key = mix(parts.chain(prefix.iter().map(|&t| u64::from(t))));
        log_softmax(&logits(key, self.vocabulary_size, self.sharpness))
    }
}

/// What every sequence begins with.
pub(crate) const START: TokenId = TokenId(3);

impl CausalModel for Language {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        self.vocabulary_size
    }

    fn begin(&mut self, contexts: &[usize]) -> Result<(), Infallible> {
        self.rows = contexts.iter().map(|&context| (context, Vec::new())).collect();
        Ok(())
    }

    fn decode_step(
        &mut self,
        rows: &[DecodeStep],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), Infallible> {
        self.calls.push(rows.len());
        let grow = |advance: &DecodeStep| {
            let (context, mut prefix) = self.rows[advance.parent].clone();
            prefix.push(advance.token.0);
            (context, prefix)
        };
        self.rows = rows.iter().map(grow).collect();
        for (context, prefix) in &self.rows {
            assert_eq!(prefix[0], START.0, "the start comes first");
            answers.extend(ranked(&self.log_probs(*context, &prefix[1..])).into_iter().take(depth));
        }
        Ok(())
    }
}
