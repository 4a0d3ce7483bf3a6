//! What a mask law may look at.

use crate::TokenId;

/// A sequence as a mask law sees it.
#[derive(Clone, Copy, Debug)]
pub struct MaskContext<'a> {
    len: usize,
    tokens: Option<&'a [TokenId]>,
    confidence: Option<&'a [f64]>,
    step: usize,
}

impl<'a> MaskContext<'a> {
    /// A sequence of which only the length matters.
    pub fn of_length(len: usize) -> Self {
        Self { len, tokens: None, confidence: None, step: 0 }
    }

    /// A sequence of tokens.
    pub fn of_tokens(tokens: &'a [TokenId]) -> Self {
        Self { tokens: Some(tokens), ..Self::of_length(tokens.len()) }
    }

    /// The same context with the confidence of each token, larger being surer.
    ///
    /// # Panics
    /// If there is not exactly one confidence per position.
    #[must_use]
    pub fn with_confidence(self, confidence: &'a [f64]) -> Self {
        assert_eq!(confidence.len(), self.len, "one confidence per position");
        Self { confidence: Some(confidence), ..self }
    }

    /// The same context at a step of a schedule, counted from 0.
    #[must_use]
    pub fn at_step(self, step: usize) -> Self {
        Self { step, ..self }
    }

    /// The number of positions.
    #[expect(clippy::len_without_is_empty, reason = "reads as `context.len()` in formulas only")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The tokens, if they are known.
    pub fn tokens(&self) -> Option<&'a [TokenId]> {
        self.tokens
    }

    /// The confidences, if they are known.
    pub fn confidence(&self) -> Option<&'a [f64]> {
        self.confidence
    }

    /// The step of a schedule.
    pub fn step(&self) -> usize {
        self.step
    }
}
