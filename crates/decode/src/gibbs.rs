//! Block Gibbs by sequential unmasking.
//!
//! A step hides a set K drawn from the law and fills it again, position after position, each
//! from its conditional given everything filled so far: by the chain rule `x_K` is then a draw from
//! `p(x_K` | x₋ₖ). A step costs |K| calls of the denoiser, whatever the number of rows.
//!
//! An adaptive law looks at the sequence it hides. Its block dynamics need
//! `p(y_K` | x₋ₖ, K) ∝ p(y) p(K | y), which is reached by rejection: a filling y is kept with
//! probability p(K | y), else K is filled anew.

use padir_base::denoise::{Answers, Denoiser};
use padir_base::mask::{Mask, MaskContext, MaskLaw};

use crate::batch::Batch;
use crate::chance::Chance;
use crate::step::{Asked, DecodeError, Step, ask};

/// An endless chain of steps.
#[derive(Debug)]
pub struct Gibbs<'a, D, C> {
    denoiser: &'a mut D,
    law: &'a MaskLaw,
    batch: Batch,
    chance: C,
    number: usize,
    log_probs: Vec<f64>,
    answers: Answers,
}

impl<'a, D: Denoiser, C: Chance> Gibbs<'a, D, C> {
    /// A chain that starts from a batch.
    pub fn new(denoiser: &'a mut D, law: &'a MaskLaw, start: Batch, chance: C) -> Self {
        let log_probs = vec![0.0; start.tokens().len()];
        Self {
            denoiser,
            law,
            batch: start,
            chance,
            number: 0,
            log_probs,
            answers: Answers::default(),
        }
    }

    /// The sequences as they stand.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    fn step(&mut self) -> Result<Step, DecodeError<D::Error>> {
        self.number += 1;
        let before = self.batch.tokens().to_vec();
        let hidden = self.draw_masks()?;
        let mut open: Vec<bool> = vec![true; self.batch.rows()];
        while open.contains(&true) {
            self.fill(&hidden, &open)?;
            for row in (0..self.batch.rows()).filter(|&row| open[row]).collect::<Vec<_>>() {
                open[row] = !self.keeps(row, &hidden[row])?;
            }
        }
        let tokens = self.batch.tokens().to_vec();
        let changed = tokens.iter().zip(&before).filter(|(a, b)| a != b).count();
        let log_probs = self.log_probs.clone();
        Ok(Step { number: self.number, tokens, hidden, log_probs, changed })
    }

    fn draw_masks(&mut self) -> Result<Vec<Mask>, DecodeError<D::Error>> {
        let mut masks = Vec::with_capacity(self.batch.rows());
        for row in 0..self.batch.rows() {
            let mask_context = MaskContext::of_tokens(self.batch.row(row)).at_step(self.number - 1);
            masks.push(self.chance.mask(row, self.law, &mask_context)?);
        }
        Ok(masks)
    }

    /// Fills the hidden positions of the open rows, one position of each row at a time.
    fn fill(&mut self, masks: &[Mask], open: &[bool]) -> Result<(), DecodeError<D::Error>> {
        let mut hidden = vec![false; self.batch.tokens().len()];
        let mut queues: Vec<Vec<usize>> = Vec::new();
        for (row, mask) in masks.iter().enumerate() {
            let start = self.batch.range(row).start;
            let mut queue: Vec<usize> =
                mask.positions().filter(|_| open[row]).map(|i| start + i).collect();
            for &i in &queue {
                hidden[i] = true;
            }
            // Popped from the end: leftmost first.
            queue.reverse();
            queues.push(queue);
        }
        while queues.iter().any(|queue| !queue.is_empty()) {
            let next: Vec<(usize, usize)> = queues
                .iter_mut()
                .enumerate()
                .filter_map(|(row, queue)| queue.pop().map(|position| (row, position)))
                .collect();
            let mut wanted = vec![false; hidden.len()];
            for &(_, position) in &next {
                wanted[position] = true;
            }
            let depth = self.denoiser.vocabulary_size();
            let (batch, wanted) = (&self.batch, &wanted[..]);
            let asked = Asked { batch, hidden: &hidden, wanted, depth, low_precision: false };
            ask(self.denoiser, &asked, &mut self.answers)?;
            for (row, position) in next {
                let candidates =
                    self.answers.at(position).ok_or(DecodeError::NoAnswer(position))?;
                let chosen = candidates[self.chance.candidate(row, candidates)?];
                self.batch.tokens_mut()[position] = chosen.token;
                self.log_probs[position] = chosen.log_prob;
                hidden[position] = false;
            }
        }
        Ok(())
    }

    /// Whether the filling of a row stands: always, unless the law depends on it.
    fn keeps(&mut self, row: usize, mask: &Mask) -> Result<bool, DecodeError<D::Error>> {
        if !self.law.is_adaptive() {
            return Ok(true);
        }
        let mask_context = MaskContext::of_tokens(self.batch.row(row)).at_step(self.number - 1);
        let again = self.law.enumerate(&mask_context)?.find(|(set, _)| set == mask);
        let p = again.map_or(0.0, |(_, p)| p);
        // A certainty is no decision.
        Ok(p > 0.0 && (p >= 1.0 || self.chance.accept(row, p)?))
    }
}

impl<D: Denoiser, C: Chance> Iterator for Gibbs<'_, D, C> {
    type Item = Result<Step, DecodeError<D::Error>>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.step())
    }
}
