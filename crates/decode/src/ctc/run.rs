//! The loop: the slots of all sentences go through the denoiser together.

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser};

use super::collapse::{Tokens, collapse};
use super::{Ctc, Sentence, Symbols, prefix};
use crate::batch::Batch;
use crate::event::{Event, Observer, Status};
use crate::hypothesis::{Hypothesis, distinct, normalise, sort};
use crate::step::{Asked, DecodeError, ask};

/// Decodes sentences: for each, its hypotheses, best first, and none if it was cancelled.
///
/// The result of a sentence does not depend on the others.
///
/// # Errors
/// If the settings make no sense or the denoiser fails.
pub fn decode<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &Ctc,
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    settings.check()?; // also where there is nothing to decode
    decode_each(denoiser, &vec![settings; sentences.len()], symbols, sentences, observer)
}

/// [`decode`] with settings for each sentence.
///
/// # Errors
/// As there.
///
/// # Panics
/// If there are not as many settings as sentences.
pub fn decode_each<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &[&Ctc],
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    assert_eq!(settings.len(), sentences.len(), "every sentence has settings");
    settings.iter().try_for_each(|settings| settings.check())?;
    let size = denoiser.vocabulary_size();
    let alignment = |(settings, sentence): (&&Ctc, &Sentence)| Alignment {
        depth: settings.depth(size),
        context: sentence.context,
        tokens: vec![symbols.mask; sentence.slots],
        candidates: Vec::new(),
        changed: Vec::new(),
        steps: 0,
        status: Status::Live,
    };
    let mut alignments: Vec<Alignment> = settings.iter().zip(sentences).map(alignment).collect();
    let mut answers = Answers::default();
    loop {
        let live = live(&mut alignments, observer);
        if live.is_empty() {
            break;
        }
        for (depth, jobs) in live {
            let rows =
                jobs.iter().map(|&job| (alignments[job].context, alignments[job].tokens.clone()));
            let batch = Batch::new(rows);
            // The first pass knows nothing, later ones read all of the last.
            let hidden = jobs.iter().flat_map(|&job| {
                let alignment = &alignments[job];
                std::iter::repeat_n(alignment.steps == 0, alignment.tokens.len())
            });
            let hidden: Vec<bool> = hidden.collect();
            let wanted = vec![true; hidden.len()];
            let (batch, low_precision) = (&batch, false);
            let asked = Asked { batch, hidden: &hidden, wanted: &wanted, depth, low_precision };
            ask(denoiser, &asked, &mut answers)?;
            for (row, &job) in jobs.iter().enumerate() {
                let slots = batch.range(row).map(|slot| {
                    answers.at(slot).filter(|c| !c.is_empty()).ok_or(DecodeError::NoAnswer(slot))
                });
                let slots = slots.collect::<Result<Vec<_>, _>>()?;
                alignments[job].take(&slots, settings[job]);
                if observer.listens() {
                    observer.observe(alignments[job].event(job, settings[job]));
                }
            }
        }
    }
    let finish = |(alignment, settings): (Alignment, &&Ctc)| alignment.finish(settings, symbols);
    Ok(alignments.into_iter().zip(settings).map(finish).collect())
}

/// The sentences that go on, by the number of candidates they ask for; those that nobody wants any more are dropped.
fn live<O: Observer>(alignments: &mut [Alignment], observer: &O) -> BTreeMap<usize, Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (job, alignment) in alignments.iter_mut().enumerate() {
        if alignment.status == Status::Live && !observer.wants(job) {
            alignment.status = Status::Dropped;
        }
        if alignment.status == Status::Live {
            groups.entry(alignment.depth).or_default().push(job);
        }
    }
    groups
}

/// The slots of one sentence.
struct Alignment {
    depth: usize,
    context: usize,
    tokens: Vec<TokenId>,
    /// Of the last pass, `depth` for each slot.
    candidates: Vec<Candidate>,
    /// The slots that the last pass has changed.
    changed: Vec<usize>,
    steps: usize,
    status: Status,
}

impl Alignment {
    /// Takes the answers of a pass.
    fn take(&mut self, slots: &[&[Candidate]], settings: &Ctc) {
        self.steps += 1;
        self.candidates.clear();
        self.changed.clear();
        for (slot, candidates) in slots.iter().enumerate() {
            self.candidates.extend_from_slice(candidates);
            let token = candidates[0].token;
            if std::mem::replace(&mut self.tokens[slot], token) != token {
                self.changed.push(slot);
            }
        }
        let sure = settings.early_exit.is_some_and(|least| self.mean_log_prob() >= least);
        if self.steps == settings.steps || self.changed.is_empty() || sure {
            self.status = Status::Finished;
        }
    }

    /// The most probable token of each slot.
    fn best(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.candidates.iter().copied().step_by(self.depth.max(1))
    }

    fn mean_log_prob(&self) -> f64 {
        let sum: f64 = self.best().map(|best| best.log_prob).sum();
        sum / self.tokens.len().max(1) as f64
    }

    fn event(&self, job: usize, settings: &Ctc) -> Event {
        Event {
            job,
            hypothesis: 0,
            step: self.steps,
            max_steps: settings.steps,
            tokens: self.tokens.clone(),
            log_probs: self.best().map(|best| best.log_prob).collect(),
            changed: self.changed.clone(),
            rejected: Vec::new(),
            score: self.best().map(|best| best.log_prob).sum(),
            status: self.status,
            length: None,
        }
    }

    /// The hypotheses, best first.
    fn finish(self, settings: &Ctc, symbols: &Symbols) -> Vec<Hypothesis> {
        if self.status != Status::Finished {
            return Vec::new();
        }
        let found = if settings.num_beams == 1 {
            let log_prob = self.best().map(|best| best.log_prob).sum();
            vec![(collapse(self.best(), symbols), log_prob)]
        } else {
            prefix::search(&self.candidates, self.depth, settings.num_beams, symbols)
        };
        let hypothesis = |(mut found, log_prob): (Tokens, f64)| {
            found.drop_stutter(settings.stutter_phrase);
            let cut = found.cut(settings.max_length - 1);
            let Tokens { tokens, log_probs } = found;
            let score = normalise(log_prob, tokens.len() + 1, settings.length_penalty);
            // All come from one alignment, which is number 0 in the trace.
            let (steps, number, length) = (self.steps, 0, None);
            Hypothesis { tokens, log_probs, log_prob, score, steps, number, length, cut }
        };
        let mut list: Vec<Hypothesis> = found.into_iter().map(hypothesis).collect();
        sort(&mut list);
        distinct(&mut list);
        list
    }
}
