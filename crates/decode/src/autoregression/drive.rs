//! The loop: the live rows of all sentences are one question to the causal model.

use std::collections::BTreeMap;

use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::Candidate;

use crate::chance::{Chance, ChanceError};
use crate::event::Observer;
use crate::step::DecodeError;

/// The search for the translation of one sentence.
pub(super) trait Search {
    /// Which of the sentences it is.
    fn job(&self) -> usize;

    /// Ends without any translation: nobody wants one.
    fn cancel(&mut self);

    /// How it goes on: parents are its own rows of the last call. None when it is done.
    fn advances(&self) -> &[DecodeStep];

    /// Takes what may follow each of the rows, `depth` candidates row after row.
    fn take<C: Chance, O: Observer>(
        &mut self,
        answers: &[Candidate],
        depth: usize,
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), ChanceError>;
}

/// Lets all searches come to their end.
pub(super) fn drive<K: CausalModel, S: Search, C: Chance, O: Observer>(
    causal_model: &mut K,
    contexts: &[usize],
    searches: &mut [S],
    depth: usize,
    chance: &mut C,
    observer: &mut O,
) -> Result<(), DecodeError<K::Error>> {
    causal_model.begin(contexts).map_err(DecodeError::CausalModel)?;
    // Where the rows of each search begin in the last call.
    let mut firsts: Vec<usize> = (0..searches.len()).collect();
    let mut rows = Vec::new();
    let mut answers = Vec::new();
    loop {
        rows.clear();
        for search in searches.iter_mut().filter(|search| !search.advances().is_empty()) {
            if !observer.wants(search.job()) {
                search.cancel();
            }
        }
        for (search, first) in searches.iter().zip(&mut firsts) {
            let begin = rows.len();
            let own = search.advances().iter();
            rows.extend(own.map(|row| DecodeStep { parent: *first + row.parent, ..*row }));
            *first = begin;
        }
        if rows.is_empty() {
            return Ok(());
        }
        answers.clear();
        causal_model.decode_step(&rows, depth, &mut answers).map_err(DecodeError::CausalModel)?;
        if answers.len() != rows.len() * depth {
            let (found, rows) = (answers.len(), rows.len());
            return Err(DecodeError::Answers { found, rows, depth });
        }
        let mut rest = &answers[..];
        for search in searches.iter_mut().filter(|search| !search.advances().is_empty()) {
            let (own, others) = rest.split_at(search.advances().len() * depth);
            rest = others;
            search.take(own, depth, chance, observer)?;
        }
    }
}

/// Sentences by the number of candidates that their searches ask for: those that ask for as many go on together, so that the
/// answers of a sentence do not depend on the others.
pub(super) fn by_depth(depths: impl Iterator<Item = usize>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (job, depth) in depths.enumerate() {
        groups.entry(depth).or_default().push(job);
    }
    groups
}
