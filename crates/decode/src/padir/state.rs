//! One hypothesis while it is refined.
//!
//! A step predicts the open positions, rejects some of the predictions and puts something else in their place:
//!
//! ```text
//! read x → predict y → reject R → x'ᵢ = yᵢ, or a replacement where i ∈ R
//! ```
//!
//! O(n) a step, and O(n log n) where confidences are sorted.

use padir_base::TokenId;
use padir_base::denoise::Candidate;
use padir_base::mask::{Mask, MaskContext, MaskLaw};

use super::remask::{rejected, uncommitted};
use super::settings::{Counted, Procedure, RemaskRule, Replacement, Settings, StopRule, Wanted};
use super::start::{Start, Symbols};
use crate::chance::{Chance, ChanceError};
use crate::event::{Event, Status};
use crate::hypothesis::{Hypothesis, normalise};
use crate::refine::Input;

/// What all hypotheses of a sentence share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) settings: &'a Settings,
    pub(super) symbols: &'a Symbols,
    pub(super) vocabulary_size: usize,
    /// The step, from 1.
    pub(super) step: usize,
    /// Whether what happens is told.
    pub(super) told: bool,
    /// Whether the denoiser has a low precision to answer at.
    pub(super) low_precision: bool,
}

impl Rules<'_> {
    /// Whether this step runs at low precision: a later one asks again.
    pub(super) fn is_low_precision(&self) -> bool {
        let settings = self.settings;
        let early = self.step <= settings.low_precision_steps && self.step < settings.steps;
        self.low_precision && early
    }
}

/// When a hypothesis is refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// From the beginning.
    First,
    /// Not yet, perhaps never: another one may suffice.
    Waiting,
    /// After that one was not.
    Second,
}

/// A hypothesis.
#[derive(Clone, Debug)]
pub(super) struct HypothesisState {
    pub(super) start: Start,
    /// What the next step reads.
    pub(super) tokens: Vec<TokenId>,
    /// Which positions the next step predicts.
    pub(super) open: Vec<bool>,
    pub(super) status: Status,
    pub(super) turn: Turn,
    pub(super) score: f64,
    /// The score that others are given up by.
    pub(super) prune_score: f64,
    /// Which tokens are accepted predictions, not initial tokens.
    accepted: Vec<bool>,
    predicted: Vec<TokenId>,
    log_probs: Vec<f64>,
    /// What remasking rules use: the probabilities of predictions, and their confidences.
    confidence: Vec<f64>,
    confidences: Vec<f64>,
    /// Σ ln p over all steps, n × |Ω|; empty unless wanted.
    totals: Vec<f64>,
    log_prob: f64,
    steps: usize,
    /// Steps since something changed.
    quiet: usize,
    changed: Vec<usize>,
    rejected: Vec<usize>,
}

/// What a hypothesis may become.
#[derive(Clone, Debug)]
struct Form {
    tokens: Vec<TokenId>,
    accepted: Vec<bool>,
}

impl HypothesisState {
    pub(super) fn new(start: Start, rules: &Rules<'_>) -> Self {
        let tokens = start.tokens.clone();
        let n = tokens.len();
        let accumulates = rules.settings.replacement == Replacement::Accumulated;
        let mut open = vec![true; n];
        if let (Input::Hidden, Some(end)) = (rules.settings.input, open.last_mut()) {
            // The end is where it is: it is not hidden, and nobody asks for it.
            *end = false;
        }
        close(&mut open, start.forced.as_deref());
        let done = !open.contains(&true);
        Self {
            open,
            // Where all is forced, there is nothing to predict.
            status: if done { Status::Finished } else { Status::Live },
            turn: Turn::First,
            score: if done { 0.0 } else { f64::NEG_INFINITY },
            prune_score: f64::NEG_INFINITY,
            accepted: start.forced.clone().unwrap_or_else(|| vec![false; n]),
            predicted: tokens.clone(),
            log_probs: vec![0.0; n],
            confidence: vec![0.0; n],
            confidences: vec![0.0; n],
            totals: vec![0.0; if accumulates { n * rules.vocabulary_size } else { 0 }],
            log_prob: 0.0,
            steps: 0,
            quiet: 0,
            changed: Vec::new(),
            rejected: Vec::new(),
            start,
            tokens,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.status == Status::Live && self.turn != Turn::Waiting
    }

    /// Whether a template holds a position.
    fn is_forced(&self, position: usize) -> bool {
        self.start.forced.as_ref().is_some_and(|forced| forced[position])
    }

    /// What the last step predicted.
    pub(super) fn predicted(&self) -> &[TokenId] {
        &self.predicted
    }

    /// The mean of ln p over all positions, dropped ones too.
    pub(super) fn mean_log_prob(&self) -> f64 {
        self.log_probs.iter().sum::<f64>() / self.log_probs.len() as f64
    }

    /// Takes note of what was picked for a position.
    pub(super) fn predict(
        &mut self,
        rules: &Rules<'_>,
        position: usize,
        picked: Candidate,
        candidates: &[Candidate],
        confidence: Option<f64>,
    ) {
        self.predicted[position] = picked.token;
        self.confidences[position] = confidence.unwrap_or(0.0);
        self.log_probs[position] = picked.log_prob;
        self.confidence[position] = match rules.settings.procedure {
            Procedure::Paper => candidates.first().map_or(picked.log_prob, |top| top.log_prob),
            Procedure::Corrected => picked.log_prob,
        };
        if !self.totals.is_empty() {
            let row = &mut self.totals[position * rules.vocabulary_size..][..rules.vocabulary_size];
            for candidate in candidates {
                if let Some(total) = row.get_mut(candidate.token.index()) {
                    *total += candidate.log_prob;
                }
            }
        }
    }

    /// Makes a step of what was predicted.
    pub(super) fn settle<C: Chance>(
        &mut self,
        rules: &Rules<'_>,
        row: usize,
        chance: &mut C,
    ) -> Result<(), ChanceError> {
        self.steps = rules.step;
        let mut rejects = Mask::none(self.tokens.len());
        if rules.settings.remask_stutter {
            let mask_context = MaskContext::of_tokens(&self.predicted[..self.free(rules)]);
            let law = MaskLaw::Repeats { phrase: rules.settings.stutter_phrase };
            let repeats = chance.mask(row, &law, &mask_context)?;
            repeats.positions().filter(|&i| !self.is_forced(i)).for_each(|i| rejects.hide(i));
        }
        match rules.settings.procedure {
            Procedure::Paper => self.settle_as_in_the_paper(rules, rejects, row, chance),
            Procedure::Corrected => self.settle_corrected(rules, rejects, row, chance),
        }
    }

    fn settle_as_in_the_paper<C: Chance>(
        &mut self,
        rules: &Rules<'_>,
        mut rejects: Mask,
        row: usize,
        chance: &mut C,
    ) -> Result<(), ChanceError> {
        let last = rules.step == rules.settings.steps;
        if !last {
            self.reject(rules, &mut rejects, row, chance)?;
        }
        let next = self.form(rules, &rejects);
        if last || next.tokens == self.tokens {
            self.status = Status::Finished;
        }
        self.rate(rules, &next);
        self.turn_into(next, &rejects, rules);
        Ok(())
    }

    fn settle_corrected<C: Chance>(
        &mut self,
        rules: &Rules<'_>,
        mut rejects: Mask,
        row: usize,
        chance: &mut C,
    ) -> Result<(), ChanceError> {
        let ending = self.form(rules, &rejects);
        self.rate(rules, &ending);
        self.quiet = if ending.tokens == self.tokens { self.quiet + 1 } else { 0 };
        if rules.step == rules.settings.steps || self.stops(rules, &rejects) {
            self.status = Status::Finished;
            self.turn_into(ending, &rejects, rules);
            return Ok(());
        }
        self.reject(rules, &mut rejects, row, chance)?;
        let next = self.form(rules, &rejects);
        self.turn_into(next, &rejects, rules);
        self.open(rules, &rejects);
        if !self.open.contains(&true) {
            self.status = Status::Finished;
        }
        Ok(())
    }

    /// How many positions laws may look at.
    fn free(&self, rules: &Rules<'_>) -> usize {
        self.tokens.len() - usize::from(rules.settings.input == Input::Hidden)
    }

    /// Adds what the remask rejects.
    fn reject<C: Chance>(
        &self,
        rules: &Rules<'_>,
        rejects: &mut Mask,
        row: usize,
        chance: &mut C,
    ) -> Result<(), ChanceError> {
        let free = self.free(rules);
        if let RemaskRule::Threshold { commit } = rules.settings.remask {
            let more = uncommitted(commit, &self.open[..free], &self.confidence[..free]);
            more.positions().for_each(|i| rejects.hide(i));
            return Ok(());
        }
        let mask_context = MaskContext::of_tokens(&self.predicted[..free])
            .with_confidence(&self.confidence[..free])
            .at_step(rules.step);
        let more = rejected(rules.settings, &mask_context, &self.confidences[..free], row, chance)?;
        more.positions().filter(|&i| !self.is_forced(i)).for_each(|i| rejects.hide(i));
        Ok(())
    }

    /// The predictions, with replacements where they are rejected.
    fn form(&self, rules: &Rules<'_>, rejects: &Mask) -> Form {
        let mut tokens = self.predicted.clone();
        let mut accepted = vec![true; tokens.len()];
        for i in rejects.positions() {
            (tokens[i], accepted[i]) = match (rules.settings.input, rules.settings.replacement) {
                (Input::Hidden, _) => (self.predicted[i], false),
                (_, Replacement::Initial) => (self.start.tokens[i], false),
                (_, Replacement::Previous) => (self.tokens[i], self.accepted[i]),
                (_, Replacement::Accumulated) => (self.accumulated(rules, i), true),
            };
        }
        Form { tokens, accepted }
    }

    /// The token of the largest sum of log-probabilities; ties go to the smaller id.
    ///
    /// Logits and log-probabilities differ by a constant in each step, so their sums have the same arg-max.
    fn accumulated(&self, rules: &Rules<'_>, position: usize) -> TokenId {
        let row = &self.totals[position * rules.vocabulary_size..][..rules.vocabulary_size];
        let totals = (0..).map(TokenId).zip(row).filter(|(t, _)| !rules.symbols.never.contains(t));
        let better = |best: (TokenId, f64), (token, &total): (TokenId, &f64)| {
            if total > best.1 { (token, total) } else { best }
        };
        totals.fold((self.predicted[position], f64::NEG_INFINITY), better).0
    }

    fn stops(&self, rules: &Rules<'_>, stutter: &Mask) -> bool {
        if rules.is_low_precision() {
            return false;
        }
        let unchanged = || self.quiet >= rules.settings.wanted.round();
        match rules.settings.stop {
            StopRule::Never => false,
            StopRule::Unchanged => unchanged(),
            StopRule::Confident { min_log_prob } => {
                let confident = self.confidence.iter().all(|&c| c >= min_log_prob);
                confident && stutter.count() == 0 || unchanged()
            }
        }
    }

    /// Whether a position counts as part of the translation.
    fn keeps(&self, rules: &Rules<'_>, form: &Form, position: usize) -> bool {
        let settings = rules.settings;
        !settings.drop_unchanged
            || match settings.procedure {
                // The tokens of a template mean something, and may well stay.
                Procedure::Paper => {
                    self.start.forced.is_some()
                        || form.tokens[position] != self.start.tokens[position]
                }
                Procedure::Corrected => form.accepted[position],
            }
    }

    /// Scores the hypothesis as if it ended in this form.
    fn rate(&mut self, rules: &Rules<'_>, form: &Form) {
        let all = rules.settings.counted == Counted::Every;
        let (mut sum, mut count) = (0.0, 0);
        for i in (0..self.tokens.len()).filter(|&i| all || self.keeps(rules, form, i)) {
            sum += self.log_probs[i];
            count += 1;
        }
        let Settings { length_weight, length_penalty, prune_penalty, .. } = *rules.settings;
        self.log_prob = sum;
        // A length without any probability is not zero times infinitely bad.
        let of_length = if length_weight > 0.0 { self.start.candidate.log_prob } else { 0.0 };
        let joint = sum + length_weight * of_length;
        self.score = normalise(joint, count, length_penalty);
        self.prune_score = normalise(joint, count, prune_penalty.or(length_penalty));
    }

    fn turn_into(&mut self, form: Form, rejects: &Mask, rules: &Rules<'_>) {
        if rules.told {
            let differs = |&i: &usize| form.tokens[i] != self.tokens[i];
            self.changed = (0..self.tokens.len()).filter(differs).collect();
            self.rejected = rejects.positions().collect();
        }
        self.tokens = form.tokens;
        self.accepted = form.accepted;
    }

    /// Chooses what the next step predicts.
    fn open(&mut self, rules: &Rules<'_>, rejects: &Mask) {
        match (rules.settings.input, rules.settings.wanted) {
            (Input::Hidden, _) => {
                self.open.iter_mut().enumerate().for_each(|(i, open)| *open = rejects.hides(i));
            }
            (Input::Visible, _) if rules.is_low_precision() => self.open.fill(true),
            (Input::Visible, Wanted::All) => {}
            (Input::Visible, Wanted::Uncertain { below, neighbours }) => {
                // What is not a number is not certain.
                let unsure = |p: f64| p < below || p.is_nan();
                let uncertain = |i: usize| rejects.hides(i) || unsure(self.confidence[i]);
                let near: Vec<bool> = (0..self.tokens.len()).map(uncertain).collect();
                self.open = widen(&near, neighbours);
            }
            (Input::Visible, Wanted::Coloured { colours }) => {
                self.open = coloured(self.tokens.len(), colours, rules.step - 1, rejects);
            }
            (Input::Visible, Wanted::LeastConfident { share }) => {
                let n = self.tokens.len();
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| self.confidence[a].total_cmp(&self.confidence[b]));
                self.open.fill(false);
                let count = (share * n as f64).ceil() as usize;
                order.iter().take(count).for_each(|&i| self.open[i] = true);
            }
        }
        close(&mut self.open, self.start.forced.as_deref());
    }

    /// What listeners are told.
    pub(super) fn event(&self, job: usize, rules: &Rules<'_>) -> Event {
        Event {
            job,
            hypothesis: self.start.number,
            step: self.steps,
            max_steps: rules.settings.steps,
            tokens: self.tokens.clone(),
            log_probs: self.log_probs.clone(),
            changed: self.changed.clone(),
            rejected: self.rejected.clone(),
            score: self.score,
            status: self.status,
            length: Some(self.start.candidate),
        }
    }

    /// The translation: what is kept, without ends and padding.
    pub(super) fn finish(self, rules: &Rules<'_>) -> Hypothesis {
        let form = Form { tokens: self.tokens.clone(), accepted: self.accepted.clone() };
        let keep = |i: &usize| self.keeps(rules, &form, *i) && is_text(rules, form.tokens[*i]);
        let kept: Vec<usize> = (0..form.tokens.len()).filter(keep).collect();
        Hypothesis {
            tokens: kept.iter().map(|&i| self.tokens[i]).collect(),
            log_probs: kept.iter().map(|&i| self.log_probs[i]).collect(),
            log_prob: self.log_prob,
            score: self.score,
            steps: self.steps,
            number: self.start.number,
            length: Some(self.start.candidate),
            cut: false,
        }
    }
}

/// Closes the positions that a template holds.
fn close(open: &mut [bool], forced: Option<&[bool]>) {
    for (open, &forced) in open.iter_mut().zip(forced.unwrap_or_default()) {
        *open &= !forced;
    }
}

/// Ends and padding are no text, and a mask only to the paper's program.
fn is_text(rules: &Rules<'_>, token: TokenId) -> bool {
    let corrected = rules.settings.procedure == Procedure::Corrected;
    let mask = corrected && rules.symbols.is_mask(token);
    token != TokenId::EOS && token != TokenId::PAD && !mask
}

/// Positions that may change together: rejected ones, then those of a colour, each only if nothing less than `colours` away was chosen before.
fn coloured(count: usize, colours: usize, turn: usize, rejects: &Mask) -> Vec<bool> {
    let mut open = vec![false; count];
    let first = rejects.positions().filter(|&i| i < count);
    // A colour that no position has would end the hypothesis.
    let colour = turn % colours.min(count.max(1));
    let second = (0..count).filter(|i| i % colours == colour);
    for i in first.chain(second) {
        let near = i.saturating_sub(colours - 1)..count.min(i + colours);
        if !open[near].contains(&true) {
            open[i] = true;
        }
    }
    open
}

/// Marks everything within `reach` of a mark, in two sweeps.
fn widen(marks: &[bool], reach: usize) -> Vec<bool> {
    let mut wide = vec![false; marks.len()];
    let mut sweep = |positions: &mut dyn Iterator<Item = usize>| {
        let mut left = 0;
        for i in positions {
            left = if marks[i] { reach.saturating_add(1) } else { left };
            wide[i] |= left > 0;
            left = left.saturating_sub(1);
        }
    };
    sweep(&mut (0..marks.len()));
    sweep(&mut (0..marks.len()).rev());
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_together_is_far_apart() {
        let shown = |count, colours, turn, rejected: &[usize]| -> String {
            let mut rejects = Mask::none(count);
            for &i in rejected {
                rejects.hide(i);
            }
            let open = coloured(count, colours, turn, &rejects);
            open.iter().map(|&open| if open { 'x' } else { '.' }).collect()
        };
        assert_eq!(shown(7, 2, 0, &[]), "x.x.x.x");
        assert_eq!(shown(7, 2, 1, &[]), ".x.x.x.");
        assert_eq!(shown(7, 3, 2, &[]), "..x..x.");
        assert_eq!(shown(7, 2, 0, &[1]), ".x..x.x", "neighbours of the rejected wait");
        assert_eq!(shown(7, 2, 0, &[2, 3, 4]), "x.x.x.x", "so do rejected neighbours");
        assert_eq!(shown(2, 5, 2, &[]), "x.", "no turn is empty");
        assert_eq!(shown(0, 2, 0, &[]), "");
    }

    #[test]
    fn widening_reaches_to_both_sides() {
        let marks = [false, false, true, false, false, false, false, true];
        let wide = |reach| -> String {
            widen(&marks, reach).iter().map(|&w| if w { 'x' } else { '.' }).collect()
        };
        assert_eq!(wide(0), "..x....x");
        assert_eq!(wide(1), ".xxx..xx");
        assert_eq!(wide(2), "xxxxxxxx");
        assert_eq!(wide(usize::MAX), "xxxxxxxx");
        assert_eq!(widen(&[false; 3], 5), [false; 3]);
    }
}
