//! The loop: all live hypotheses of all sentences go through the denoiser together.
//!
//! Sentences may have different settings. A step costs one call of the denoiser for each kind of question among them, which is one where
//! settings are equal (two where the denoiser's first choice is never predicted), and O(tokens) besides.

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser};

use super::prune::prune;
use super::settings::{RemaskRule, Replacement, Settings};
use super::start::{Sentence, Start, Symbols, plan, plan_from};
use super::state::{HypothesisState, Rules, Turn};
use super::template::Template;
use crate::batch::Batch;
use crate::chance::{Chance, ChanceError, Streams};
use crate::event::{Observer, Status};
use crate::hypothesis::{Hypothesis, sort};
use crate::refine::Input;
use crate::sampling::Picker;
use crate::settings::SettingsError;
use crate::step::{Asked, DecodeError, ask};

/// Refines sentences: for each, its finished hypotheses, best first (equal scores: the more probable
/// length first), and none if it was cancelled.
///
/// The result of a sentence does not depend on the others.
///
/// # Errors
/// If the settings make no sense or the denoiser fails.
pub fn refine<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &Settings,
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    // Also where there is nothing to refine.
    check(denoiser, &[settings])?;
    refine_each(denoiser, &vec![settings; sentences.len()], symbols, sentences, observer)
}

/// [`refine`] with settings for each sentence.
///
/// # Errors
/// As there.
///
/// # Panics
/// If there are not as many settings as sentences.
pub fn refine_each<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &[&Settings],
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    refine_from(denoiser, settings, symbols, sentences, &vec![None; sentences.len()], observer)
}

/// [`refine_each`] where sentences may start from templates: one that does has a single hypothesis, of the template's length.
///
/// # Errors
/// As there, or if a template does not fit its settings.
///
/// # Panics
/// If there are not as many settings and templates as sentences.
pub fn refine_from<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &[&Settings],
    symbols: &Symbols,
    sentences: &[Sentence],
    templates: &[Option<&Template>],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    check(denoiser, settings)?;
    let starts = plan_from(settings, symbols, sentences, templates)?;
    let streams = starts.iter().map(|start| (settings[start.sentence].seed, start.stream));
    let mut chance = Streams::keyed(streams);
    Run::new(denoiser, settings, symbols, starts).finish(sentences, &mut chance, observer)
}

/// [`refine`] with decisions from elsewhere: row r of `chance` is hypothesis r, counted over all sentences.
///
/// Random starts come from the seed nevertheless.
///
/// # Errors
/// If the settings make no sense, the denoiser fails or a decision cannot be made.
pub fn refine_by<D: Denoiser, C: Chance, O: Observer>(
    denoiser: &mut D,
    settings: &Settings,
    symbols: &Symbols,
    sentences: &[Sentence],
    chance: &mut C,
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    let settings = vec![settings; sentences.len()];
    check(denoiser, &settings)?;
    let starts = plan(&settings, symbols, sentences)?;
    Run::new(denoiser, &settings, symbols, starts).finish(sentences, chance, observer)
}

/// Settings must make sense, and confidences need a head that gives them.
fn check(denoiser: &impl Denoiser, settings: &[&Settings]) -> Result<(), SettingsError> {
    let mut before: Option<&Settings> = None;
    for &settings in settings {
        // Mostly they are one and the same.
        if before.is_some_and(|before| std::ptr::eq(before, settings)) {
            continue;
        }
        settings.check()?;
        let confidence = matches!(settings.remask, RemaskRule::Confidence { .. });
        if confidence && !denoiser.has_confidence_head() {
            return Err(SettingsError::NoConfidenceHead);
        }
        before = Some(settings);
    }
    Ok(())
}

/// All but the hypotheses of the most probable length wait.
fn hold_back_others(states: &mut [HypothesisState]) {
    let first = states[0].start.candidate.length;
    for state in states.iter_mut().filter(|state| state.start.candidate.length != first) {
        state.turn = Turn::Waiting;
    }
}

/// The hypotheses that wait begin, unless one of the first is good enough.
fn begin_others(early_exit: f64, states: &mut [HypothesisState]) {
    let good =
        |state: &HypothesisState| state.turn == Turn::First && state.mean_log_prob() >= early_exit;
    let done = states.iter().any(good);
    for state in states.iter_mut().filter(|state| state.turn == Turn::Waiting) {
        state.turn = Turn::Second;
        if done {
            state.status = Status::Dropped;
        }
    }
}

struct Run<'a, D> {
    denoiser: &'a mut D,
    symbols: &'a Symbols,
    /// Of each sentence, with its own step.
    rules: Vec<Rules<'a>>,
    /// Sentence after sentence.
    states: Vec<HypothesisState>,
    answers: Answers,
    picker: Picker,
    /// Of each context in which only candidates of the first step compete, ln of the share of probability that is theirs. What
    /// a denoiser does not restrict has 0: all compete.
    shares: BTreeMap<usize, f64>,
}

/// Tokens that may compete in a context.
#[derive(Default)]
struct Candidates {
    tokens: Vec<TokenId>,
    /// The largest share of the probability that the candidates of one position have together.
    share: f64,
}

/// What a step asks of the denoiser: rows with the same wishes are one question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    depth: usize,
    low_precision: bool,
    /// Whether the answers become the candidates of later steps.
    keeps_candidates: bool,
}

/// Rows of a question, by the numbers of their hypotheses, and the positions that are asked for.
struct Question {
    rows: Vec<usize>,
    wanted: Vec<bool>,
    low_precision: bool,
}

impl<'a, D: Denoiser> Run<'a, D> {
    fn new(
        denoiser: &'a mut D,
        settings: &[&'a Settings],
        symbols: &'a Symbols,
        starts: Vec<Start>,
    ) -> Self {
        let (vocabulary_size, low_precision) =
            (denoiser.vocabulary_size(), denoiser.has_low_precision());
        let rules: Vec<Rules<'a>> = settings
            .iter()
            .map(|&settings| Rules {
                settings,
                symbols,
                vocabulary_size,
                step: 0,
                told: false,
                low_precision,
            })
            .collect();
        let new = |start: Start| {
            let rules = &rules[start.sentence];
            HypothesisState::new(start, rules)
        };
        let states = starts.into_iter().map(new).collect();
        let (answers, picker) = (Answers::default(), Picker::default());
        Self { denoiser, symbols, rules, states, answers, picker, shares: BTreeMap::new() }
    }

    fn finish<C: Chance, O: Observer>(
        mut self,
        sentences: &[Sentence],
        chance: &mut C,
        observer: &mut O,
    ) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
        let told = observer.listens();
        self.rules.iter_mut().for_each(|rules| rules.told = told);
        self.begin();
        let outcome = self.steps(sentences, chance, observer);
        // Whatever happened, all tokens compete again.
        for context in std::mem::take(&mut self.shares).into_keys() {
            self.denoiser.set_candidates(context, None).map_err(DecodeError::Denoiser)?;
        }
        outcome?;
        let mut lists = vec![Vec::new(); sentences.len()];
        for state in self.states.into_iter().filter(|state| state.status == Status::Finished) {
            let sentence = state.start.sentence;
            lists[sentence].push(state.finish(&self.rules[sentence]));
        }
        for list in &mut lists {
            sort(list);
        }
        Ok(lists)
    }

    /// Where the most probable length may suffice, the others wait.
    fn begin(&mut self) {
        let rules = &self.rules;
        for states in self.states.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence) {
            if rules[states[0].start.sentence].settings.early_exit.is_some() {
                hold_back_others(states);
            }
        }
    }

    /// Takes all steps that live hypotheses need.
    fn steps<C: Chance, O: Observer>(
        &mut self,
        sentences: &[Sentence],
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), DecodeError<D::Error>> {
        loop {
            self.cancel_unwanted(observer);
            self.begin_second_turns(sentences)?;
            let live: Vec<usize> =
                (0..self.states.len()).filter(|&i| self.states[i].is_live()).collect();
            if live.is_empty() {
                return Ok(());
            }
            let mut last = None;
            for sentence in live.iter().map(|&i| self.states[i].start.sentence) {
                if last.replace(sentence) != Some(sentence) {
                    self.rules[sentence].step += 1;
                }
            }
            self.step(&live, sentences, chance)?;
            if observer.listens() {
                for state in live.iter().map(|&i| &self.states[i]) {
                    let sentence = state.start.sentence;
                    observer.observe(state.event(sentence, &self.rules[sentence]));
                }
            }
        }
    }

    /// Drops the hypotheses of sentences that nobody wants any more.
    fn cancel_unwanted<O: Observer>(&mut self, observer: &O) {
        for states in self.states.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence) {
            let open = |state: &HypothesisState| state.status == Status::Live;
            if states.iter().any(open) && !observer.wants(states[0].start.sentence) {
                for state in states {
                    state.status = Status::Dropped;
                }
            }
        }
    }

    /// Where the hypotheses of a context have come to their end, all tokens compete again, and those that waited begin if
    /// they are needed.
    fn begin_second_turns(&mut self, sentences: &[Sentence]) -> Result<(), DecodeError<D::Error>> {
        let waits =
            |state: &HypothesisState| state.turn == Turn::Waiting && state.status == Status::Live;
        if !self.states.iter().any(waits) {
            return Ok(());
        }
        let busy: Vec<usize> = self
            .states
            .iter()
            .filter(|state| state.is_live())
            .map(|state| sentences[state.start.sentence].context)
            .collect();
        for states in self.states.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence) {
            let sentence = states[0].start.sentence;
            let context = sentences[sentence].context;
            if busy.contains(&context) || !states.iter().any(waits) {
                continue;
            }
            if self.shares.remove(&context).is_some() {
                self.denoiser.set_candidates(context, None).map_err(DecodeError::Denoiser)?;
            }
            if let Some(early_exit) = self.rules[sentence].settings.early_exit {
                begin_others(early_exit, states);
                self.rules[sentence].step = 0;
            }
        }
        Ok(())
    }

    fn step<C: Chance>(
        &mut self,
        live: &[usize],
        sentences: &[Sentence],
        chance: &mut C,
    ) -> Result<(), DecodeError<D::Error>> {
        let mut questions: BTreeMap<Wish, Vec<usize>> = BTreeMap::new();
        for &i in live {
            let wish = self.wish(&self.rules[self.states[i].start.sentence]);
            questions.entry(wish).or_default().push(i);
        }
        for (wish, rows) in questions {
            self.predict(wish, rows, sentences, chance)?;
        }
        for &i in live {
            let rules = self.rules[self.states[i].start.sentence];
            self.states[i].settle(&rules, i, chance)?;
        }
        let rules = &self.rules;
        for states in self.states.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence) {
            prune(rules[states[0].start.sentence].settings.prune, states);
        }
        Ok(())
    }

    /// What the next step of a sentence asks for.
    fn wish(&self, rules: &Rules<'_>) -> Wish {
        let settings = rules.settings;
        let sampling = settings.sampling();
        let depth = match settings.replacement {
            Replacement::Accumulated => rules.vocabulary_size,
            // What is never predicted hardly ever comes first: an engine that need not look for the second
            // best is worth the rare second question.
            _ if sampling.is_cold() => 1,
            _ => sampling.depth(rules.vocabulary_size, self.symbols.never.len()),
        };
        let first = rules.step == 1 && rules.step < settings.steps;
        let kept = settings.kept_candidates().filter(|_| first);
        Wish {
            depth: depth.max(kept.unwrap_or(0)),
            low_precision: rules.is_low_precision(),
            keeps_candidates: kept.is_some(),
        }
    }

    /// Predicts the open positions of live hypotheses.
    fn predict<C: Chance>(
        &mut self,
        wish: Wish,
        rows: Vec<usize>,
        sentences: &[Sentence],
        chance: &mut C,
    ) -> Result<(), DecodeError<D::Error>> {
        let wanted = rows.iter().flat_map(|&i| self.states[i].open.iter().copied()).collect();
        let question = Question { rows, wanted, low_precision: wish.low_precision };
        self.ask(&question, sentences, wish.depth)?;
        let candidates = wish.keeps_candidates.then(|| self.candidates(&question, sentences));
        if let Some(again) = self.read(&question, sentences, chance)? {
            // Deep enough for the best that may be predicted, whatever comes before it.
            let deeper = wish.depth.saturating_add(self.symbols.never.len());
            self.ask(&again, sentences, deeper)?;
            if let Some(still) = self.read(&again, sentences, chance)? {
                return Err(ChanceError::NoCandidate(still.rows[0]).into());
            }
        }
        candidates.map_or(Ok(()), |found| self.set_candidates(found, &question.rows, sentences))
    }

    /// All tokens that were answered for the hypotheses of each context.
    fn candidates(
        &self,
        question: &Question,
        sentences: &[Sentence],
    ) -> BTreeMap<usize, Candidates> {
        let mut all: BTreeMap<usize, Candidates> = BTreeMap::new();
        let mut start = 0;
        for state in question.rows.iter().map(|&i| &self.states[i]) {
            let end = start + state.tokens.len();
            let own = all.entry(sentences[state.start.sentence].context).or_default();
            for answer in (start..end).filter_map(|at| self.answers.at(at)) {
                // Behind a shortlist follows what is impossible.
                let possible = answer.iter().filter(|one| one.log_prob > f64::NEG_INFINITY);
                own.tokens.extend(possible.clone().map(|one| one.token));
                own.share = own.share.max(possible.map(|one| one.log_prob.exp()).sum());
            }
            start = end;
        }
        all
    }

    /// Lets candidates and what was picked compete alone.
    ///
    /// They share out the probability of all among them. A model that was trained with label smoothing keeps some for every other token,
    /// wherever it is, and scores of restricted steps would be better than those of the first by that: it is set aside again, as much as
    /// was left where the model was surest.
    fn set_candidates(
        &mut self,
        mut candidates: BTreeMap<usize, Candidates>,
        rows: &[usize],
        sentences: &[Sentence],
    ) -> Result<(), DecodeError<D::Error>> {
        for state in rows.iter().map(|&i| &self.states[i]) {
            let context = sentences[state.start.sentence].context;
            candidates.entry(context).or_default().tokens.extend(state.predicted());
        }
        for (context, Candidates { mut tokens, share }) in candidates {
            tokens.sort_unstable();
            tokens.dedup();
            let restricted = self.denoiser.set_candidates(context, Some(&tokens));
            let restricted = restricted.map_err(DecodeError::Denoiser)?;
            let share = if restricted && share > 0.0 { share.min(1.0).ln() } else { 0.0 };
            self.shares.insert(context, share);
        }
        Ok(())
    }

    fn ask(
        &mut self,
        question: &Question,
        sentences: &[Sentence],
        depth: usize,
    ) -> Result<(), DecodeError<D::Error>> {
        let mut hidden = Vec::with_capacity(question.wanted.len());
        for state in question.rows.iter().map(|&i| &self.states[i]) {
            match self.rules[state.start.sentence].settings.input {
                Input::Visible => hidden.resize(hidden.len() + state.tokens.len(), false),
                Input::Hidden => hidden.extend_from_slice(&state.open),
            }
        }
        let rows = question.rows.iter().map(|&i| &self.states[i]);
        let context = |state: &HypothesisState| sentences[state.start.sentence].context;
        let batch = Batch::new(rows.map(|state| (context(state), state.tokens.clone())));
        let (wanted, low_precision) = (&question.wanted, question.low_precision);
        let asked = Asked { batch: &batch, hidden: &hidden, wanted, depth, low_precision };
        ask(self.denoiser, &asked, &mut self.answers)
    }

    /// Picks from the answers; what none of them may be picked for is to be asked again.
    fn read<C: Chance>(
        &mut self,
        question: &Question,
        sentences: &[Sentence],
        chance: &mut C,
    ) -> Result<Option<Question>, DecodeError<D::Error>> {
        let never = &self.symbols.never;
        let (rows, wanted) = (Vec::new(), Vec::new());
        let mut again = Question { rows, wanted, low_precision: question.low_precision };
        let mut start = 0;
        for &i in &question.rows {
            let state = &mut self.states[i];
            let rules = &self.rules[state.start.sentence];
            let sampling = rules.settings.sampling();
            let context = sentences[state.start.sentence].context;
            let share = self.shares.get(&context).copied().unwrap_or(0.0);
            let end = start + state.tokens.len();
            let mut missing = Vec::new();
            for at in (start..end).filter(|&at| question.wanted[at]) {
                let candidates = self.answers.at(at).ok_or(DecodeError::NoAnswer(at))?;
                match self.picker.pick(&sampling, candidates, never, i, chance)? {
                    Some(mut picked) => {
                        picked.log_prob += share;
                        let confidence = self.answers.confidence(at);
                        state.predict(rules, at - start, picked, candidates, confidence);
                    }
                    None => missing.push(at - start),
                }
            }
            if !missing.is_empty() {
                again.rows.push(i);
                let first = again.wanted.len();
                again.wanted.resize(first + state.tokens.len(), false);
                for position in missing {
                    again.wanted[first + position] = true;
                }
            }
            start = end;
        }
        Ok((!again.rows.is_empty()).then_some(again))
    }
}
