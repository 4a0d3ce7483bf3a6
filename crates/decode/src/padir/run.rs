//! The loop: all live hypotheses of all sentences are one question to the denoiser.
//!
//! A step costs one call (two where the denoiser's first choice is never predicted) and O(tokens) besides.

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser};

use super::draft::{Draft, Rules, Turn};
use super::prune::prune;
use super::settings::{Rejecter, Replacement, Settings};
use super::start::{Sentence, Start, Symbols, plan};
use crate::batch::Batch;
use crate::chance::{Chance, ChanceError, Streams};
use crate::event::{Observer, Status};
use crate::hypothesis::{Hypothesis, sort};
use crate::refine::Input;
use crate::sampling::Picker;
use crate::settings::SettingsError;
use crate::step::{Asked, DecodeError, ask};

/// Refines sentences: for each, its finished hypotheses, best first (equal scores: the more probable
/// length first).
///
/// What becomes of a sentence does not depend on the others.
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
    settings.check()?;
    check_rejecter(denoiser, settings)?;
    let starts = plan(settings, symbols, sentences)?;
    let mut chance = Streams::numbered(settings.seed, starts.iter().map(|start| start.stream));
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
    settings.check()?;
    check_rejecter(denoiser, settings)?;
    let starts = plan(settings, symbols, sentences)?;
    Run::new(denoiser, settings, symbols, starts).finish(sentences, chance, observer)
}

/// A model that has not learnt to doubt cannot be asked to.
fn check_rejecter(denoiser: &impl Denoiser, settings: &Settings) -> Result<(), SettingsError> {
    let learned = matches!(settings.rejecter, Rejecter::Learned { .. });
    if learned && !denoiser.approves() { Err(SettingsError::NoRejecter) } else { Ok(()) }
}

/// All but those of the most probable length wait.
fn let_others_wait(drafts: &mut [Draft]) {
    let first = drafts[0].start.guess.length;
    for draft in drafts.iter_mut().filter(|draft| draft.start.guess.length != first) {
        draft.turn = Turn::Waiting;
    }
}

/// The hypotheses that wait begin, unless one of the first is good enough without them.
fn begin_others_unless(enough: f64, drafts: &mut [Draft]) {
    let good = |draft: &Draft| draft.turn == Turn::First && draft.mean_log_prob() >= enough;
    let done = drafts.iter().any(good);
    for draft in drafts.iter_mut().filter(|draft| draft.turn == Turn::Waiting) {
        draft.turn = Turn::Second;
        if done {
            draft.status = Status::Dropped;
        }
    }
}

struct Run<'a, D> {
    denoiser: &'a mut D,
    rules: Rules<'a>,
    drafts: Vec<Draft>,
    answers: Answers,
    picker: Picker,
    /// Of each context in which only candidates of the first step compete, ln of the share of probability that is theirs. What
    /// a denoiser does not restrict has 0: all compete.
    shares: BTreeMap<usize, f64>,
}

/// Those of a context that may compete.
#[derive(Default)]
struct Candidates {
    tokens: Vec<TokenId>,
    /// The largest share of the probability that the candidates of one position have together.
    share: f64,
}

/// Rows of a question, by the numbers of their drafts, and the positions that are asked for.
struct Question {
    rows: Vec<usize>,
    wanted: Vec<bool>,
}

impl<'a, D: Denoiser> Run<'a, D> {
    fn new(
        denoiser: &'a mut D,
        settings: &'a Settings,
        symbols: &'a Symbols,
        starts: Vec<Start>,
    ) -> Self {
        let (alphabet, drafts) = (denoiser.alphabet(), denoiser.drafts());
        let rules = Rules { settings, symbols, alphabet, step: 0, told: false, drafts };
        let drafts = starts.into_iter().map(|start| Draft::new(start, &rules)).collect();
        let (answers, picker) = (Answers::default(), Picker::default());
        Self { denoiser, rules, drafts, answers, picker, shares: BTreeMap::new() }
    }

    fn finish<C: Chance, O: Observer>(
        mut self,
        sentences: &[Sentence],
        chance: &mut C,
        observer: &mut O,
    ) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
        self.rules.told = observer.listens();
        if let Some(enough) = self.rules.settings.enough {
            self.sentences().for_each(let_others_wait);
            self.turn(sentences, chance, observer)?;
            self.sentences().for_each(|drafts| begin_others_unless(enough, drafts));
        }
        self.turn(sentences, chance, observer)?;
        let mut lists = vec![Vec::new(); sentences.len()];
        for draft in self.drafts.into_iter().filter(|draft| draft.status == Status::Finished) {
            lists[draft.start.sentence].push(draft.finish(&self.rules));
        }
        for list in &mut lists {
            sort(list);
        }
        Ok(lists)
    }

    /// The hypotheses of each sentence, those of the most probable length first.
    fn sentences(&mut self) -> impl Iterator<Item = &mut [Draft]> {
        self.drafts.chunk_by_mut(|a, b| a.start.sentence == b.start.sentence)
    }

    /// Takes all steps that live hypotheses need, and lets all tokens compete again.
    fn turn<C: Chance, O: Observer>(
        &mut self,
        sentences: &[Sentence],
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), DecodeError<D::Error>> {
        let outcome = self.steps(sentences, chance, observer);
        for context in std::mem::take(&mut self.shares).into_keys() {
            self.denoiser.restrict(context, None).map_err(DecodeError::Denoiser)?;
        }
        outcome
    }

    /// Takes all steps that live hypotheses need.
    fn steps<C: Chance, O: Observer>(
        &mut self,
        sentences: &[Sentence],
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), DecodeError<D::Error>> {
        for step in 1..=self.rules.settings.steps {
            self.rules.step = step;
            let live: Vec<usize> =
                (0..self.drafts.len()).filter(|&i| self.drafts[i].is_live()).collect();
            if live.is_empty() {
                break;
            }
            self.step(&live, sentences, chance)?;
            if self.rules.told {
                for draft in live.iter().map(|&i| &self.drafts[i]) {
                    observer.observe(draft.event(sentences[draft.start.sentence].number));
                }
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
        self.predict(live, sentences, chance)?;
        for &i in live {
            self.drafts[i].settle(&self.rules, i, chance)?;
        }
        let rule = self.rules.settings.prune;
        self.sentences().for_each(|drafts| prune(rule, drafts));
        Ok(())
    }

    /// Predicts the open positions of live hypotheses.
    fn predict<C: Chance>(
        &mut self,
        live: &[usize],
        sentences: &[Sentence],
        chance: &mut C,
    ) -> Result<(), DecodeError<D::Error>> {
        let open = live.iter().flat_map(|&i| self.drafts[i].open.iter().copied());
        let question = Question { rows: live.to_vec(), wanted: open.collect() };
        let sampling = self.rules.settings.sampling();
        let never = self.rules.symbols.never.len();
        let depth = match self.rules.settings.replacement {
            Replacement::Accumulated => self.rules.alphabet,
            // What is never predicted hardly ever comes first: an engine that need not look for the second
            // best is worth the rare second question.
            _ if sampling.is_cold() => 1,
            _ => sampling.depth(self.rules.alphabet, never),
        };
        let more_to_come = self.rules.step < self.rules.settings.steps;
        let kept = self.rules.settings.kept_candidates();
        let kept = kept.filter(|_| self.rules.step == 1 && more_to_come);
        self.ask(&question, sentences, depth.max(kept.unwrap_or(0)))?;
        let candidates = kept.map(|_| self.candidates(&question, sentences));
        if let Some(again) = self.read(&question, sentences, chance)? {
            self.ask(&again, sentences, sampling.depth(self.rules.alphabet, never))?;
            if let Some(still) = self.read(&again, sentences, chance)? {
                return Err(ChanceError::NoCandidate(still.rows[0]).into());
            }
        }
        candidates.map_or(Ok(()), |candidates| self.restrict(candidates, live, sentences))
    }

    /// All tokens that were answered for the hypotheses of each context.
    fn candidates(
        &self,
        question: &Question,
        sentences: &[Sentence],
    ) -> BTreeMap<usize, Candidates> {
        let mut all: BTreeMap<usize, Candidates> = BTreeMap::new();
        let mut start = 0;
        for draft in question.rows.iter().map(|&i| &self.drafts[i]) {
            let end = start + draft.tokens.len();
            let own = all.entry(sentences[draft.start.sentence].context).or_default();
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
    /// They share out the probability of all among them. A model that learnt with label smoothing keeps some for every other token, wherever it
    /// is, and scores of restricted steps would be better than those of the first by that: it is set aside again, as much as was left where
    /// the model was surest.
    fn restrict(
        &mut self,
        mut candidates: BTreeMap<usize, Candidates>,
        live: &[usize],
        sentences: &[Sentence],
    ) -> Result<(), DecodeError<D::Error>> {
        for draft in live.iter().map(|&i| &self.drafts[i]) {
            let context = sentences[draft.start.sentence].context;
            candidates.entry(context).or_default().tokens.extend(draft.predicted());
        }
        for (context, Candidates { mut tokens, share }) in candidates {
            tokens.sort_unstable();
            tokens.dedup();
            let restricted = self.denoiser.restrict(context, Some(&tokens));
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
        let drafts = || question.rows.iter().map(|&i| &self.drafts[i]);
        let hidden: Vec<bool> = match self.rules.settings.input {
            Input::Visible => vec![false; question.wanted.len()],
            Input::Hidden => drafts().flat_map(|draft| draft.open.iter().copied()).collect(),
        };
        let context = |draft: &Draft| sentences[draft.start.sentence].context;
        let batch = Batch::new(drafts().map(|draft| (context(draft), draft.tokens.clone())));
        let draft = self.rules.is_draft();
        let asked =
            Asked { batch: &batch, hidden: &hidden, wanted: &question.wanted, depth, draft };
        ask(self.denoiser, &asked, &mut self.answers)
    }

    /// Picks from the answers; what none of them may be picked for is to be asked again.
    fn read<C: Chance>(
        &mut self,
        question: &Question,
        sentences: &[Sentence],
        chance: &mut C,
    ) -> Result<Option<Question>, DecodeError<D::Error>> {
        let sampling = self.rules.settings.sampling();
        let never = &self.rules.symbols.never;
        let mut again = Question { rows: Vec::new(), wanted: Vec::new() };
        let mut start = 0;
        for &i in &question.rows {
            let draft = &mut self.drafts[i];
            let context = sentences[draft.start.sentence].context;
            let share = self.shares.get(&context).copied().unwrap_or(0.0);
            let end = start + draft.tokens.len();
            let mut missing = Vec::new();
            for at in (start..end).filter(|&at| question.wanted[at]) {
                let candidates = self.answers.at(at).ok_or(DecodeError::NoAnswer(at))?;
                match self.picker.pick(&sampling, candidates, never, i, chance)? {
                    Some(mut picked) => {
                        picked.log_prob += share;
                        let approval = self.answers.approval(at);
                        draft.predict(&self.rules, at - start, picked, candidates, approval);
                    }
                    None => missing.push(at - start),
                }
            }
            if !missing.is_empty() {
                again.rows.push(i);
                let first = again.wanted.len();
                again.wanted.resize(first + draft.tokens.len(), false);
                for position in missing {
                    again.wanted[first + position] = true;
                }
            }
            start = end;
        }
        Ok((!again.rows.is_empty()).then_some(again))
    }
}
