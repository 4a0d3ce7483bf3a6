//! Parallel easy-first (`DisCo`, Kasai et al. 2020), for models with visibility by query.
//!
//! ```text
//! 1. predict everything from the end alone; rank positions by probability, the most probable first; the ranks stay
//! 2. predict everything again, each position from those before it in that order; and so on
//! ```
//!
//! Steps are parallel, and after at most n of them every prediction has seen all easier ones as they are: a fixed point. A sentence ends when its best
//! hypothesis does not change any more, or after so many steps. Lengths are compared with α = 1, where the original divides by n.

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::chance::ChanceError;
use crate::event::{Event, Observer, Status};
use crate::hypothesis::{Hypothesis, normalise, sort};
use crate::padir::{self, Initial, Sentence, Start, Symbols, plan};
use crate::settings::{MAX_STEPS, SettingsError, counted};
use crate::step::DecodeError;

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EasyFirst {
    /// Most steps.
    pub steps: usize,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// Longest target, its end included.
    pub max_length: usize,
    /// α of [`normalise`](crate::normalise); none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
}

impl Default for EasyFirst {
    fn default() -> Self {
        Self { steps: 10, lengths: 5, max_length: 128, length_penalty: Some(1.0) }
    }
}

impl EasyFirst {
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("steps", self.steps, MAX_STEPS, "from 1 to 10000")?;
        self.start().check()
    }

    fn start(&self) -> padir::Settings {
        padir::Settings {
            lengths: self.lengths,
            max_length: self.max_length,
            length_penalty: self.length_penalty,
            initial: Initial::Mask,
            seed: Seed(0),
            ..padir::Settings::default()
        }
    }
}

/// Decodes sentences: for each its hypotheses, best first, and none if it was cancelled.
///
/// The result of a sentence does not depend on the others.
///
/// # Errors
/// If the settings make no sense or the denoiser fails.
pub fn easy_first_each<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &[&EasyFirst],
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    settings.iter().try_for_each(|settings| settings.check())?;
    let starts: Vec<padir::Settings> = settings.iter().map(|settings| settings.start()).collect();
    let starts = plan(&starts.iter().collect::<Vec<_>>(), symbols, sentences)?;
    let mut states: Vec<State<'_>> =
        starts.into_iter().map(|start| State::new(start, settings)).collect();
    let mut answers = Answers::default();
    loop {
        for state in &mut states {
            state.cancelled |= !observer.wants(state.start.sentence);
        }
        let live: Vec<usize> = (0..states.len()).filter(|&i| states[i].is_live()).collect();
        if live.is_empty() {
            break;
        }
        step(denoiser, symbols, sentences, &mut states, &live, &mut answers)?;
        for states in states.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence) {
            freeze(states);
        }
        if observer.listens() {
            for &i in &live {
                observer.observe(states[i].event());
            }
        }
    }
    let mut lists = vec![Vec::new(); sentences.len()];
    for state in states.into_iter().filter(|state| !state.cancelled) {
        lists[state.start.sentence].push(state.finish(symbols));
    }
    for list in &mut lists {
        sort(list);
    }
    Ok(lists)
}

/// One hypothesis.
struct State<'a> {
    how: &'a EasyFirst,
    start: Start,
    tokens: Vec<TokenId>,
    log_probs: Vec<f64>,
    /// 0 for the end; all others 1 until they are ranked.
    ranks: Vec<u32>,
    changed: Vec<usize>,
    step: usize,
    done: bool,
    cancelled: bool,
}

impl<'a> State<'a> {
    fn new(start: Start, settings: &[&'a EasyFirst]) -> Self {
        let tokens = start.tokens.clone();
        let n = tokens.len();
        let mut ranks = vec![1; n];
        ranks[n - 1] = 0;
        Self {
            how: settings[start.sentence],
            log_probs: vec![0.0; n],
            ranks,
            changed: Vec::new(),
            step: 0,
            done: false,
            cancelled: false,
            start,
            tokens,
        }
    }

    fn is_live(&self) -> bool {
        !self.cancelled && !self.done
    }

    fn body(&self) -> usize {
        self.tokens.len() - 1
    }

    /// Ranks positions by what the first step found; equal ones from left to right.
    fn rank(&mut self) {
        let mut order: Vec<usize> = (0..self.body()).collect();
        order.sort_by(|&a, &b| self.log_probs[b].total_cmp(&self.log_probs[a]));
        for (rank, i) in (1..).zip(order) {
            self.ranks[i] = rank;
        }
    }

    fn score(&self) -> f64 {
        normalise(self.log_probs.iter().sum(), self.tokens.len(), self.how.length_penalty)
    }

    fn event(&self) -> Event {
        Event {
            job: self.start.sentence,
            hypothesis: self.start.number,
            step: self.step,
            max_steps: self.how.steps,
            tokens: self.tokens.clone(),
            log_probs: self.log_probs.clone(),
            changed: self.changed.clone(),
            rejected: Vec::new(),
            score: self.score(),
            status: if self.done { Status::Finished } else { Status::Live },
            length: Some(self.start.candidate),
        }
    }

    fn finish(self, symbols: &Symbols) -> Hypothesis {
        let (tokens, log_probs) = symbols.text_of(&self.tokens, &self.log_probs);
        Hypothesis {
            tokens,
            log_probs,
            log_prob: self.log_probs.iter().sum(),
            score: self.score(),
            steps: self.step,
            number: self.start.number,
            length: Some(self.start.candidate),
            cut: false,
        }
    }
}

/// Ends a sentence whose best hypothesis did not change, or whose steps are used up.
fn freeze(states: &mut [State<'_>]) {
    let best = states.iter().max_by(|a, b| a.score().total_cmp(&b.score()));
    let settled = best.is_some_and(|best| best.step > 1 && best.changed.is_empty());
    for state in states {
        state.done |= settled || state.step >= state.how.steps;
    }
}

/// Predicts all positions but the ends.
fn step<D: Denoiser>(
    denoiser: &mut D,
    symbols: &Symbols,
    sentences: &[Sentence],
    states: &mut [State<'_>],
    live: &[usize],
    answers: &mut Answers,
) -> Result<(), DecodeError<D::Error>> {
    let (mut tokens, mut ranks, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wanted, mut ends, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
    for state in live.iter().map(|&i| &states[i]) {
        tokens.extend_from_slice(&state.tokens);
        ranks.extend_from_slice(&state.ranks);
        hidden.extend((0..=state.body()).map(|i| state.step == 0 && i < state.body()));
        wanted.extend((0..=state.body()).map(|i| i < state.body()));
        ends.push(tokens.len());
        contexts.push(sentences[state.start.sentence].context);
    }
    let query = Query::new(&tokens, &ends, &contexts, &hidden, &wanted)?.with_ranks(&ranks)?;
    let depth = (1 + symbols.never.len()).min(denoiser.vocabulary_size());
    answers.prepare(&query, depth);
    denoiser.denoise(&query, answers).map_err(DecodeError::Denoiser)?;
    for (place, &i) in live.iter().enumerate() {
        let first = if place == 0 { 0 } else { ends[place - 1] };
        let state = &mut states[i];
        state.changed.clear();
        for position in 0..state.body() {
            let at = first + position;
            let candidates = answers.at(at).ok_or(DecodeError::NoAnswer(at))?;
            let allowed = candidates.iter().find(|c| !symbols.never.contains(&c.token));
            let picked = allowed.ok_or(ChanceError::NoCandidate(i))?;
            if state.tokens[position] != picked.token {
                state.changed.push(position);
            }
            state.tokens[position] = picked.token;
            state.log_probs[position] = picked.log_prob;
        }
        state.step += 1;
        if state.step == 1 {
            state.rank();
        }
    }
    Ok(())
}
