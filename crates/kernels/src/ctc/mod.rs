//! Connectionist temporal classification: −ln p of a target, summed over all of its alignments with slots.
//!
//! A slot t has logits l = scale·y·Eᵀ over tokens, of which one is BLANK. With its softmax p and the posterior probability q of its
//! tokens, given that the alignment collapses to the target, and the weight w:
//!
//! ```text
//! loss = w·( (1−ε)·(−ln p(target)) + Σₜ( ε·(log Z − mean(l)) + ζ·(log Z)² ) )
//! dl   = w·( (1 + 2ζ log Z)·p − (1−ε)·q − ε/V )
//! ```
//!
//! A target that needs more slots than there are is [counted](Outcome::unfit) and otherwise ignored: loss 0, gradient 0.
//!
//! As in [cross-entropy](crate::cross_entropy), logits exist for about [`ROWS`] slots at a time, whole sentences together; the lattice
//! reads those of the target's tokens and the normaliser.

mod lattice;

use std::ops::Range;

use rayon::prelude::*;

use crate::cross_entropy::{ROWS, scale_and_shift, spread};
use crate::matrix::{Matrix, Product};
use crate::simd::{exponentiate, survey};
use crate::slot::Slot;
use padir_base::ragged::Ragged;

pub use lattice::{Lattice, slots_needed};

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ctc {
    /// The token that stands for nothing.
    pub blank: u32,
    /// Multiplies the logits.
    pub scale: f32,
    /// ε: the mass spread over all tokens, slot by slot.
    pub smoothing: f32,
    /// ζ: pulls log Z towards 0.
    pub z_loss: f32,
    /// w.
    pub weight: f32,
    /// Whether the likeliest alignments are wanted.
    pub viterbi: bool,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The slots of each sentence.
    pub slots: &'a Ragged,
    /// The tokens of all targets, without BLANK.
    pub ids: &'a [u32],
    /// Where targets end.
    pub rows: &'a Ragged,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The loss.
    pub loss: f64,
    /// Σ −ln p(target), in nats, not weighted.
    pub nll: f64,
    /// The targets that count.
    pub counted: usize,
    /// Their tokens.
    pub tokens: usize,
    /// The targets that need more slots than there are.
    pub unfit: usize,
    /// The likeliest token of each slot.
    pub best: Vec<u32>,
    /// The token of each slot in the likeliest alignment of the target, if that was asked for. Slots of targets that do not fit have
    /// their likeliest token.
    pub aligned: Vec<u32>,
}

/// A row of logits that has become e^(l − max).
struct RowSurvey {
    best: u32,
    log_z: f64,
    mean: f64,
    sum: f32,
    /// Of BLANK and of each label of its sentence.
    log_probs: Vec<f64>,
}

/// The lattice of a sentence.
struct SentenceOutcome {
    log_likelihood: f64,
    posteriors: Vec<f32>,
    path: Vec<Option<usize>>,
}

impl Ctc {
    /// The loss without gradients.
    pub fn evaluate(&self, y: &[f32], table: &[f32], width: usize, labels: Labels<'_>) -> Outcome {
        self.run(y, table, width, labels, None)
    }

    /// The loss, the gradient of y, and that of the table in its slot.
    pub fn differentiate(
        &self,
        y: &[f32],
        table: &[f32],
        width: usize,
        labels: Labels<'_>,
        dtable: Slot<'_>,
    ) -> (Outcome, Vec<f32>) {
        let mut dy = vec![0.0; y.len()];
        let outcome = self.run(y, table, width, labels, Some((&mut dy, dtable)));
        (outcome, dy)
    }

    /// # Panics
    /// If the sizes do not fit or a token is outside of the table.
    fn run(
        &self,
        y: &[f32],
        table: &[f32],
        width: usize,
        labels: Labels<'_>,
        mut gradients: Option<(&mut [f32], Slot<'_>)>,
    ) -> Outcome {
        let classes = table.len() / width;
        assert_eq!(y.len(), labels.slots.tokens() * width, "a state for every slot");
        assert_eq!(labels.slots.len(), labels.rows.len(), "a target for every sentence");
        let table = Matrix::new(table, classes, width);
        let mut outcome = Outcome::default();
        let mut logits = Vec::new();
        for sentences in pieces(labels.slots) {
            let first = labels.slots.range(sentences.start).start;
            let rows = labels.slots.range(sentences.end - 1).end - first;
            logits.resize(rows * classes, 0.0);
            let piece = &y[first * width..(first + rows) * width];
            let y = Matrix::new(piece, rows, width);
            Product::new(y, table.transposed(), &mut logits).scaled(self.scale).run();
            self.piece(&mut logits, classes, labels, sentences, gradients.is_some(), &mut outcome);
            if let Some((dy, slot)) = &mut gradients {
                let dlogits = Matrix::new(&logits, rows, classes);
                let dy = &mut dy[first * width..(first + rows) * width];
                spread(dlogits, y, table, self.scale, dy, slot);
            }
        }
        if let Some((_, slot)) = &mut gradients {
            slot.sum(); // without slots the gradient is 0
        }
        outcome
    }

    /// The losses of some sentences, whose logits become their gradients if those are wanted.
    fn piece(
        &self,
        logits: &mut [f32],
        classes: usize,
        labels: Labels<'_>,
        sentences: Range<usize>,
        gradient: bool,
        outcome: &mut Outcome,
    ) {
        let first = labels.slots.range(sentences.start).start;
        let owners: Vec<usize> =
            sentences.clone().flat_map(|s| labels.slots.range(s).map(move |_| s)).collect();
        let surveys: Vec<RowSurvey> = logits
            .par_chunks_exact_mut(classes.max(1))
            .zip(&owners)
            .map(|(row, &sentence)| self.survey(row, &labels.ids[labels.rows.range(sentence)]))
            .collect();
        let solved: Vec<Option<SentenceOutcome>> = sentences
            .clone()
            .into_par_iter()
            .map(|s| {
                let slots = labels.slots.range(s);
                let surveys = &surveys[slots.start - first..slots.end - first];
                self.solve(surveys, &labels.ids[labels.rows.range(s)], gradient)
            })
            .collect();
        for (sentence, solved) in sentences.clone().zip(&solved) {
            let slots = labels.slots.range(sentence);
            let ids = &labels.ids[labels.rows.range(sentence)];
            let surveys = &surveys[slots.start - first..slots.end - first];
            self.take(solved.as_ref(), surveys, ids, outcome);
        }
        if gradient {
            logits.par_chunks_exact_mut(classes.max(1)).enumerate().for_each(|(row, logits)| {
                let sentence = owners[row];
                let ids = &labels.ids[labels.rows.range(sentence)];
                let Some(solved) = &solved[sentence - sentences.start] else {
                    logits.fill(0.0);
                    return;
                };
                let slot = row + first - labels.slots.range(sentence).start;
                let columns = ids.len() + 1;
                let shares = &solved.posteriors[slot * columns..][..columns];
                self.gradient(logits, &surveys[row], ids, shares);
            });
        }
    }

    fn survey(&self, logits: &mut [f32], labels: &[u32]) -> RowSurvey {
        let (most, best, total) = survey(logits);
        let mean = f64::from(total) / logits.len() as f64;
        let tokens = std::iter::once(&self.blank).chain(labels);
        let mut log_probs: Vec<f64> =
            tokens.map(|&token| f64::from(logits[token as usize])).collect();
        let sum = exponentiate(logits, most);
        let log_z = f64::from(most) + f64::from(sum).ln();
        for logit in &mut log_probs {
            *logit -= log_z;
        }
        RowSurvey { best: best as u32, log_z, mean, sum, log_probs }
    }

    fn solve(
        &self,
        surveys: &[RowSurvey],
        labels: &[u32],
        gradient: bool,
    ) -> Option<SentenceOutcome> {
        let lattice = Lattice::new(labels, surveys.len())?;
        let log_probs: Vec<f64> =
            surveys.iter().flat_map(|row| row.log_probs.iter().copied()).collect();
        let (log_likelihood, posteriors) = if gradient {
            lattice.posteriors(&log_probs)
        } else {
            (lattice.log_likelihood(&log_probs), Vec::new())
        };
        let path = if self.viterbi { lattice.viterbi(&log_probs).1 } else { Vec::new() };
        Some(SentenceOutcome { log_likelihood, posteriors, path })
    }

    fn take(
        &self,
        solved: Option<&SentenceOutcome>,
        surveys: &[RowSurvey],
        labels: &[u32],
        outcome: &mut Outcome,
    ) {
        let best = surveys.iter().map(|row| row.best);
        outcome.best.extend(best.clone());
        let Some(solved) = solved else {
            outcome.unfit += 1;
            if self.viterbi {
                outcome.aligned.extend(best);
            }
            return;
        };
        let (e, z) = (f64::from(self.smoothing), f64::from(self.z_loss));
        let rows = surveys.iter().map(|row| e * (row.log_z - row.mean) + z * row.log_z.powi(2));
        let loss = rows.sum::<f64>() - (1.0 - e) * solved.log_likelihood;
        outcome.loss += f64::from(self.weight) * loss;
        outcome.nll -= solved.log_likelihood;
        outcome.counted += 1;
        outcome.tokens += labels.len();
        let token = |label: &Option<usize>| label.map_or(self.blank, |label| labels[label]);
        outcome.aligned.extend(solved.path.iter().map(token));
    }

    fn gradient(&self, row: &mut [f32], survey: &RowSurvey, labels: &[u32], shares: &[f32]) {
        let (w, e, z) = (f64::from(self.weight), f64::from(self.smoothing), f64::from(self.z_loss));
        let factor = (w * (1.0 + 2.0 * z * survey.log_z) / f64::from(survey.sum)) as f32;
        let spread = (w * e) as f32 / row.len() as f32;
        scale_and_shift(row, factor, spread);
        let part = (w * (1.0 - e)) as f32;
        for (&token, share) in std::iter::once(&self.blank).chain(labels).zip(shares) {
            row[token as usize] -= part * share;
        }
    }
}

/// Groups of whole sentences of at most [`ROWS`] slots; longer sentences are groups of their own.
pub fn pieces(slots: &Ragged) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for (sentence, length) in slots.lengths().enumerate() {
        match pieces.last_mut() {
            Some(piece) if taken + length <= ROWS => {
                piece.end = sentence + 1;
                taken += length;
            }
            _ => {
                pieces.push(sentence..sentence + 1);
                taken = length;
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
