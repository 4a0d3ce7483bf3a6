//! Beam search, and its diverse form.
//!
//! ```text
//! score(y) = ln p(y) / ((5 + n)/6)^α    n tokens, the end included
//! ```
//!
//! Imported models may be used to another [`Normalization`].
//!
//! The `num_beams` best continuations go on; an end counts if it is among them. The search stops when as many have
//! ended and nothing better can come: ln p only falls, so no continuation of a prefix can score more than
//! the prefix itself would at the length that flatters it most.
//!
//! Diverse search (Vijayakumar et al. 2016) divides the beam into groups. Each is searched like a beam of its own,
//! but choosing a token that another group has chosen in the same step costs `diversity` nats. The
//! costs decide what goes on; they are not part of any score.
//!
//! O(b²) a step and sentence for a beam of b; prefixes share their beginnings.

use std::collections::HashMap;

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::Candidate;
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use super::drive::{Search, by_depth, drive};
use super::{Source, Symbols};
use crate::chance::{Chance, ChanceError, Streams};
use crate::event::{Event, Observer, Status};
use crate::hypothesis::{Hypothesis, by_score, distinct, normalise, sort};
use crate::settings::{MAX_HYPOTHESES, MAX_LENGTH, SettingsError, bounded, counted};
use crate::step::DecodeError;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Beam {
    /// Width of the beam; 1 is greedy.
    pub num_beams: usize,
    /// α; larger favours longer translations.
    pub length_penalty: f64,
    /// What α is the exponent of.
    pub normalization: Normalization,
    /// Whether the search stops as soon as `num_beams` hypotheses have ended.
    pub early_stopping: bool,
    /// Tokens before which no target may end, its end not counted.
    pub min_length: usize,
    /// How many groups the beam is divided into; divides `num_beams`.
    pub groups: usize,
    /// What a token costs that another group has chosen, in nats.
    pub diversity: f64,
    /// Longest target, its end included.
    pub max_length: usize,
}

/// What a log-probability is divided by: a power α of this, for n tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// (5 + n)/6, the end included (Wu et al. 2016).
    #[default]
    Gnmt,
    /// n, the end included, as in transformers and CTranslate2.
    Length,
}

impl Default for Beam {
    fn default() -> Self {
        Self {
            num_beams: 5,
            length_penalty: 0.6,
            normalization: Normalization::default(),
            early_stopping: false,
            min_length: 0,
            groups: 1,
            diversity: 0.5,
            max_length: 256,
        }
    }
}

impl Beam {
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("num_beams", self.num_beams, MAX_HYPOTHESES, "from 1 to 1024")?;
        counted("max_length", self.max_length, MAX_LENGTH, "from 1 to 65536")?;
        let least = self.min_length;
        bounded("min_length", least as f64, least < self.max_length, "below `max_length`")?;
        let alpha = self.length_penalty;
        bounded("length_penalty", alpha, alpha.is_finite(), "finite")?;
        let divides = self.groups > 0 && self.num_beams.is_multiple_of(self.groups);
        bounded("groups", self.groups as f64, divides, "a divisor of `num_beams`")?;
        let diversity = self.diversity;
        let good = diversity.is_finite() && diversity >= 0.0;
        bounded("diversity", diversity, good, "at least 0 and finite")
    }

    /// The score of so many tokens, the end included.
    fn score(&self, log_prob: f64, length: usize) -> f64 {
        let alpha = self.length_penalty;
        match self.normalization {
            Normalization::Gnmt => normalise(log_prob, length, Some(alpha)),
            Normalization::Length => log_prob / (length.max(1) as f64).powf(alpha),
        }
    }

    /// The beam of one group.
    fn width(&self) -> usize {
        self.num_beams / self.groups
    }

    /// Enough candidates of a row: as many ends as can be, as many that go on, and those that other
    /// groups may have made too expensive.
    fn depth(&self, vocabulary_size: usize, never: usize) -> usize {
        let taken = if self.groups > 1 { self.num_beams } else { 0 };
        let barred = usize::from(self.min_length > 0);
        (2 * self.width() + taken + barred).saturating_add(never).min(vocabulary_size)
    }
}

/// Searches for the best translations of sentences: for each at most `num_beams`, best first, and none only if
/// nothing that may be chosen is possible, or if it was cancelled.
///
/// # Errors
/// If the settings make no sense, the causal model fails or its probabilities are not numbers.
pub fn beam<K: CausalModel, O: Observer>(
    causal_model: &mut K,
    how: &Beam,
    symbols: &Symbols,
    sources: &[Source],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    beam_each(causal_model, &vec![how; sources.len()], symbols, sources, observer)
}

/// [`beam`] with settings for each sentence. Sentences with beams of one width are searched together.
///
/// # Errors
/// As there.
///
/// # Panics
/// If there are not as many settings as sentences.
pub fn beam_each<K: CausalModel, O: Observer>(
    causal_model: &mut K,
    hows: &[&Beam],
    symbols: &Symbols,
    sources: &[Source],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    assert_eq!(hows.len(), sources.len(), "every sentence has settings");
    hows.iter().try_for_each(|how| how.check())?;
    let (vocabulary_size, never) = (causal_model.vocabulary_size(), symbols.never.len());
    let mut lists = vec![Vec::new(); sources.len()];
    // Nothing is left to chance.
    let mut chance = Streams::new(Seed(0), 0);
    for (depth, jobs) in by_depth(hows.iter().map(|how| how.depth(vocabulary_size, never))) {
        let contexts: Vec<usize> = jobs.iter().map(|&job| sources[job].context).collect();
        let new = |&job: &usize| Beams::new(job, hows[job], symbols, &sources[job]);
        let mut searches: Vec<Beams<'_>> = jobs.iter().map(new).collect();
        drive(causal_model, &contexts, &mut searches, depth, &mut chance, observer)?;
        for (job, search) in jobs.into_iter().zip(searches) {
            lists[job] = search.finish();
        }
    }
    Ok(lists)
}

/// The search for one sentence.
#[derive(Debug)]
struct Beams<'a> {
    job: usize,
    how: &'a Beam,
    symbols: &'a Symbols,
    source: &'a Source,
    nodes: Vec<Node>,
    groups: Vec<Group>,
    advances: Vec<DecodeStep>,
    ended: Vec<Hypothesis>,
    length: usize,
}

/// The last token of a prefix.
#[derive(Clone, Copy, Debug)]
struct Node {
    before: Option<usize>,
    token: TokenId,
    log_prob: f64,
}

/// A prefix that goes on.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// Its last token; none if it is empty.
    node: Option<usize>,
    log_prob: f64,
}

#[derive(Clone, Debug)]
struct Group {
    live: Vec<Prefix>,
    /// How many have ended, and the best score among them.
    ended: usize,
    best: f64,
}

/// A prefix and what may follow it.
#[derive(Clone, Copy, Debug)]
struct Choice {
    from: usize,
    next: Candidate,
    log_prob: f64,
    /// What choices are ordered by.
    merit: f64,
}

impl<'a> Beams<'a> {
    fn new(job: usize, how: &'a Beam, symbols: &'a Symbols, source: &'a Source) -> Self {
        let empty = Prefix { node: None, log_prob: 0.0 };
        let group = Group { live: vec![empty], ended: 0, best: f64::NEG_INFINITY };
        Self {
            job,
            how,
            symbols,
            source,
            nodes: Vec::new(),
            groups: vec![group; how.groups],
            advances: vec![DecodeStep { parent: 0, token: symbols.start }; how.groups],
            ended: Vec::new(),
            length: 0,
        }
    }

    /// The choices of a group, best first; impossible ones are none.
    fn choices(
        &self,
        group: &Group,
        answers: &[Candidate],
        depth: usize,
        taken: &HashMap<TokenId, usize>,
    ) -> Vec<Choice> {
        let mut choices = Vec::with_capacity(answers.len());
        // An end that may not come yet leaves its probability to the others.
        let barred = self.length <= self.how.min_length && self.how.min_length > 0;
        let is_barred = |candidate: &&Candidate| barred && candidate.token == self.symbols.eos;
        for (from, (prefix, row)) in group.live.iter().zip(answers.chunks_exact(depth)).enumerate()
        {
            let lost = row.iter().find(is_barred).map_or(0.0, |end| end.log_prob.exp());
            let rest = if lost < 1.0 { (-lost).ln_1p() } else { 0.0 };
            let may_follow =
                |c: &&Candidate| !is_barred(c) && !self.symbols.never.contains(&c.token);
            for &next in row.iter().filter(may_follow) {
                let next = Candidate { log_prob: next.log_prob - rest, ..next };
                let log_prob = prefix.log_prob + next.log_prob;
                let others = taken.get(&next.token).copied().unwrap_or(0);
                let merit = log_prob - self.how.diversity * others as f64;
                if log_prob > f64::NEG_INFINITY {
                    choices.push(Choice { from, next, log_prob, merit });
                }
            }
        }
        choices.sort_by(|a, b| {
            by_score(a.merit, b.merit).then((a.from, a.next.token).cmp(&(b.from, b.next.token)))
        });
        choices
    }

    /// Moves a group on by one token. Its rows are appended to `advances`, their parents being its rows of the last
    /// call, which begin with number `first`.
    fn advance(&mut self, group: &mut Group, choices: &[Choice], first: usize) {
        let width = self.how.width();
        let last = self.length >= self.source.max_length;
        let mut cut = vec![false; group.live.len()];
        let mut live = Vec::with_capacity(width);
        for (rank, choice) in choices.iter().enumerate() {
            let ends = choice.next.token == self.symbols.eos;
            let before = group.live[choice.from].node;
            if last && !cut[choice.from] || !last && ends && rank < width {
                cut[choice.from] = true;
                self.end(group, before, choice.log_prob, !ends);
            }
            if !ends && !last && live.len() < width {
                let Candidate { token, log_prob } = choice.next;
                self.nodes.push(Node { before, token, log_prob });
                self.advances.push(DecodeStep { parent: first + choice.from, token });
                let node = Some(self.nodes.len() - 1);
                live.push(Prefix { node, log_prob: choice.log_prob });
            }
        }
        group.live = live;
    }

    fn end(&mut self, group: &mut Group, node: Option<usize>, log_prob: f64, cut: bool) {
        let score = self.how.score(log_prob, self.length);
        group.ended += 1;
        group.best = group.best.max(score);
        let (tokens, log_probs) = self.trace(node);
        let (steps, number) = (self.length, self.ended.len());
        self.ended.push(Hypothesis {
            tokens,
            log_probs,
            log_prob,
            score,
            steps,
            number,
            length: None,
            cut,
        });
    }

    /// Whether nothing better can come of a group.
    fn is_settled(&self, group: &Group) -> bool {
        if group.ended < self.how.width() {
            return false;
        }
        // Greedy search ends with its first end.
        self.how.width() == 1 || self.how.early_stopping || group.best >= self.hope(group)
    }

    /// The best score that a continuation of a live prefix may have.
    fn hope(&self, group: &Group) -> f64 {
        let top = group.live.iter().map(|p| p.log_prob).fold(f64::NEG_INFINITY, f64::max);
        let at = |length| self.how.score(top, length);
        // The penalty is monotone in the length.
        at(self.length + 1).max(at(self.source.max_length))
    }

    /// The tokens of a prefix.
    fn trace(&self, mut node: Option<usize>) -> (Vec<TokenId>, Vec<f64>) {
        let (mut tokens, mut log_probs) = (Vec::new(), Vec::new());
        while let Some(Node { before, token, log_prob }) = node.map(|i| self.nodes[i]) {
            tokens.push(token);
            log_probs.push(log_prob);
            node = before;
        }
        tokens.reverse();
        log_probs.reverse();
        (tokens, log_probs)
    }

    fn finish(self) -> Vec<Hypothesis> {
        let mut list = self.ended;
        sort(&mut list);
        distinct(&mut list);
        list.truncate(self.how.num_beams);
        list
    }

    /// Tells of what has just ended and of what goes on or was given up.
    fn tell<O: Observer>(&self, ended: usize, live: &[(Prefix, Status)], observer: &mut O) {
        let event = |hypothesis, tokens: Vec<TokenId>, log_probs, changed, score, status| Event {
            job: self.job,
            hypothesis,
            step: self.length,
            max_steps: self.source.max_length,
            tokens,
            log_probs,
            changed,
            rejected: Vec::new(),
            score,
            status,
            length: None,
        };
        for h in &self.ended[ended..] {
            let (tokens, log_probs) = (h.tokens.clone(), h.log_probs.clone());
            observer.observe(event(h.number, tokens, log_probs, vec![], h.score, Status::Finished));
        }
        for (place, (prefix, status)) in live.iter().enumerate() {
            let (tokens, log_probs) = self.trace(prefix.node);
            let changed = vec![tokens.len() - 1];
            let score = self.how.score(prefix.log_prob, self.length);
            observer.observe(event(place, tokens, log_probs, changed, score, *status));
        }
    }
}

impl Search for Beams<'_> {
    fn job(&self) -> usize {
        self.job
    }

    fn cancel(&mut self) {
        self.advances.clear();
        self.ended.clear();
    }

    fn advances(&self) -> &[DecodeStep] {
        &self.advances
    }

    fn take<C: Chance, O: Observer>(
        &mut self,
        answers: &[Candidate],
        depth: usize,
        _: &mut C,
        observer: &mut O,
    ) -> Result<(), ChanceError> {
        if answers.iter().any(|candidate| candidate.log_prob.is_nan()) {
            return Err(ChanceError::NotANumber(self.length));
        }
        self.length += 1;
        self.advances.clear();
        let already = self.ended.len();
        let mut told = Vec::new();
        let mut taken = HashMap::new();
        let mut groups = std::mem::take(&mut self.groups);
        let mut first = 0;
        for group in &mut groups {
            let rows = group.live.len();
            let own = &answers[first * depth..(first + rows) * depth];
            let choices = self.choices(group, own, depth, &taken);
            let begin = self.advances.len();
            self.advance(group, &choices, first);
            let settled = self.is_settled(group);
            if observer.listens() {
                let status = if settled { Status::Dropped } else { Status::Live };
                told.extend(group.live.iter().map(|&prefix| (prefix, status)));
            }
            for row in &self.advances[begin..] {
                *taken.entry(row.token).or_insert(0) += 1;
            }
            if settled {
                group.live.clear();
                self.advances.truncate(begin);
            }
            first += rows;
        }
        self.groups = groups;
        if observer.listens() {
            self.tell(already, &told, observer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_and_read() {
        let cases = [
            (Beam { num_beams: 0, ..Beam::default() }, "`num_beams` is 0"),
            (Beam { length_penalty: f64::INFINITY, ..Beam::default() }, "`length_penalty` is inf"),
            (Beam { groups: 2, ..Beam::default() }, "`groups` is 2; it must be a divisor"),
            (Beam { groups: 0, ..Beam::default() }, "`groups` is 0"),
            (Beam { min_length: 256, ..Beam::default() }, "`min_length` is 256; it must be below"),
            (Beam { diversity: -1.0, ..Beam::default() }, "`diversity` is -1"),
        ];
        for (how, expected) in cases {
            let error = how.check().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(Beam::default().check(), Ok(()));
        let length = Beam { normalization: Normalization::Length, ..Beam::default() };
        let length = Beam { length_penalty: 1.0, ..length };
        assert!((length.score(-6.0, 4) + 1.5).abs() < 1e-12);
        let error = serde_json::from_str::<Beam>(r#"{"beams": 3}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `beams`"), "{error}");
    }

    #[test]
    fn candidates_suffice_for_ends_and_other_groups() {
        let depth =
            |num_beams, groups| Beam { num_beams, groups, ..Beam::default() }.depth(1000, 1);
        assert_eq!((depth(1, 1), depth(5, 1), depth(6, 3)), (3, 11, 11));
    }
}
