//! A session that takes the time of each of its steps, so that they are measured as they run within a sentence.

use std::time::Instant;

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_engine::{EngineError, Session};

/// A session, and the seconds of its steps since it was made.
pub(super) struct Timed<'a> {
    session: &'a mut Session,
    pub(super) seconds: Vec<f64>,
}

impl<'a> Timed<'a> {
    pub(super) fn new(session: &'a mut Session) -> Self {
        Self { session, seconds: Vec::new() }
    }

    fn time<T>(&mut self, step: impl FnOnce(&mut Session) -> T) -> T {
        let start = Instant::now();
        let done = step(self.session);
        self.seconds.push(start.elapsed().as_secs_f64());
        done
    }

    /// The mean of its steps: later ones may look back at more.
    pub(super) fn mean(&self) -> f64 {
        self.seconds.iter().sum::<f64>() / self.seconds.len() as f64
    }
}

impl Denoiser for Timed<'_> {
    type Error = EngineError;

    fn vocabulary_size(&self) -> usize {
        Denoiser::vocabulary_size(self.session)
    }

    fn has_low_precision(&self) -> bool {
        self.session.has_low_precision()
    }

    fn set_candidates(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<bool, EngineError> {
        self.session.set_candidates(context, tokens)
    }

    fn has_confidence_head(&self) -> bool {
        self.session.has_confidence_head()
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), EngineError> {
        self.time(|session| session.denoise(query, answers))
    }
}

impl CausalModel for Timed<'_> {
    type Error = EngineError;

    fn vocabulary_size(&self) -> usize {
        CausalModel::vocabulary_size(self.session)
    }

    fn begin(&mut self, contexts: &[usize]) -> Result<(), EngineError> {
        self.session.begin(contexts)
    }

    fn decode_step(
        &mut self,
        rows: &[DecodeStep],
        depth: usize,
        answers: &mut Vec<Candidate>,
    ) -> Result<(), EngineError> {
        self.time(|session| session.decode_step(rows, depth, answers))
    }
}
