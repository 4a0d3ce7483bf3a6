//! Refinement: predict all chosen positions at once, independently of each other.
//!
//! One call of the denoiser per step. With [`Input::Visible`] the denoiser sees the whole old
//! sequence (PaDIR, independent parallel); with [`Input::Hidden`] the chosen positions are hidden
//! from it (mask-predict).

use padir_base::denoise::{Answers, Candidate, Denoiser};
use padir_base::mask::{Mask, MaskContext, MaskLaw};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::chance::Chance;
use crate::step::{Asked, DecodeError, Step, ask};

/// What the denoiser sees at the positions it is to predict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The old tokens.
    #[default]
    Visible,
    /// Nothing.
    Hidden,
}

/// How a token is picked from its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pick {
    /// The most probable; ties go to the smaller id.
    ArgMax,
    /// By chance, with probability proportional to p^(1/temperature).
    Sample {
        /// 1 samples from the denoiser's own distribution; towards 0 it becomes arg-max.
        temperature: f64,
    },
}

/// How to refine.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// Which positions are predicted in a step; it sees tokens, confidences and the step.
    pub law: MaskLaw,
    /// What the denoiser sees there.
    pub input: Input,
    /// How tokens are picked.
    pub pick: Pick,
}

impl Refinement {
    /// Independent parallel: every position from its conditional given the old others.
    pub fn independent_parallel() -> Self {
        let pick = Pick::Sample { temperature: 1.0 };
        Self { law: MaskLaw::All, input: Input::Visible, pick }
    }
}

/// An endless sequence of refinement steps.
#[derive(Debug)]
pub struct Refiner<'a, D, C> {
    denoiser: &'a mut D,
    how: &'a Refinement,
    batch: Batch,
    chance: C,
    number: usize,
    log_probs: Vec<f64>,
    answers: Answers,
    tempered: Vec<Candidate>,
}

impl<'a, D: Denoiser, C: Chance> Refiner<'a, D, C> {
    /// A refiner that starts from a batch.
    pub fn new(denoiser: &'a mut D, how: &'a Refinement, start: Batch, chance: C) -> Self {
        let log_probs = vec![0.0; start.tokens().len()];
        let answers = Answers::default();
        let tempered = Vec::new();
        Self { denoiser, how, batch: start, chance, number: 0, log_probs, answers, tempered }
    }

    /// The sequences as they stand.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    fn step(&mut self) -> Result<Step, DecodeError<D::Error>> {
        self.number += 1;
        let masks = self.draw_masks()?;
        let mut wanted = vec![false; self.batch.tokens().len()];
        for (row, mask) in masks.iter().enumerate() {
            let start = self.batch.range(row).start;
            mask.positions().for_each(|i| wanted[start + i] = true);
        }
        let hidden = match self.how.input {
            Input::Hidden => wanted.clone(),
            Input::Visible => vec![false; wanted.len()],
        };
        let depth = match self.how.pick {
            Pick::ArgMax => 1,
            Pick::Sample { .. } => self.denoiser.vocabulary_size(),
        };
        let (batch, hidden, wanted) = (&self.batch, &hidden[..], &wanted[..]);
        let asked = Asked { batch, hidden, wanted, depth, low_precision: false };
        ask(self.denoiser, &asked, &mut self.answers)?;
        let mut changed = 0;
        for row in 0..self.batch.rows() {
            for position in self.batch.range(row).filter(|&i| wanted[i]) {
                let chosen = self.pick(row, position)?;
                let token = &mut self.batch.tokens_mut()[position];
                changed += usize::from(*token != chosen.token);
                *token = chosen.token;
                self.log_probs[position] = chosen.log_prob;
            }
        }
        let tokens = self.batch.tokens().to_vec();
        let log_probs = self.log_probs.clone();
        Ok(Step { number: self.number, tokens, hidden: masks, log_probs, changed })
    }

    /// The law may look at confidences once there are any.
    fn draw_masks(&mut self) -> Result<Vec<Mask>, DecodeError<D::Error>> {
        let mut masks = Vec::with_capacity(self.batch.rows());
        for row in 0..self.batch.rows() {
            let mut mask_context =
                MaskContext::of_tokens(self.batch.row(row)).at_step(self.number - 1);
            if self.number > 1 {
                mask_context = mask_context.with_confidence(&self.log_probs[self.batch.range(row)]);
            }
            masks.push(self.chance.mask(row, &self.how.law, &mask_context)?);
        }
        Ok(masks)
    }

    fn pick(&mut self, row: usize, position: usize) -> Result<Candidate, DecodeError<D::Error>> {
        let candidates = self.answers.at(position).ok_or(DecodeError::NoAnswer(position))?;
        match self.how.pick {
            Pick::ArgMax => candidates.first().copied().ok_or(DecodeError::NoAnswer(position)),
            Pick::Sample { temperature } => {
                self.tempered.clear();
                let temper = |c: &Candidate| Candidate { log_prob: c.log_prob / temperature, ..*c };
                self.tempered.extend(candidates.iter().map(temper));
                Ok(candidates[self.chance.candidate(row, &self.tempered)?])
            }
        }
    }
}

impl<D: Denoiser, C: Chance> Iterator for Refiner<'_, D, C> {
    type Item = Result<Step, DecodeError<D::Error>>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.step())
    }
}
