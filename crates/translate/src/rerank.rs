//! Reranking: an autoregressive model scores and orders the hypotheses of another one.
//!
//! Positions that are predicted at once do not know of each other, so a parallel model cannot tell well which of its hypotheses is
//! coherent. An autoregressive model can, and needs one forced-decoding pass over all of them (noisy parallel decoding, Gu et al. 2018). It
//! scores them as its beam search would have:
//!
//! ```text
//! Σᵢ ln p(yᵢ | x, y₁ … yᵢ₋₁) / ((5 + n)/6)^α,   the end included
//! ```

use std::path::Path;
use std::sync::Arc;

use padir_base::TokenId;
use padir_decode::{Decoding, Hypothesis, normalise, sort};
use padir_engine::{Engine, Session, Target};
use padir_text::vocab::Vocabulary;

use crate::error::TranslateError;
use crate::translator::{Options, Translator};

/// An autoregressive model that orders hypotheses.
pub struct Reranker {
    session: Session,
    vocabulary: Arc<Vocabulary>,
    length_penalty: f64,
    log_probs: Vec<f64>,
}

impl Reranker {
    /// Opens the model in a directory. Its length penalty is that of its beam search.
    ///
    /// # Errors
    /// As [`Translator::open`], or if the model is not autoregressive.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self, TranslateError> {
        let Translator { vocabulary, model: session, decoding, .. } =
            Translator::open(directory, Options { shortlist: false, ..options })?;
        let length_penalty = match decoding {
            Decoding::Beam(beam) => beam.length_penalty,
            Decoding::Sample(sample) => sample.length_penalty.unwrap_or(0.0),
            Decoding::Refine(_)
            | Decoding::MaskPredict(_)
            | Decoding::EasyFirst(_)
            | Decoding::Sundae(_)
            | Decoding::Gibbs(_)
            | Decoding::Ctc(_) => {
                return Err(TranslateError::ParallelReranker);
            }
        };
        let log_probs = Vec::new();
        Ok(Self { session, vocabulary, length_penalty, log_probs })
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.session.engine()
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// α.
    pub fn length_penalty(&self) -> f64 {
        self.length_penalty
    }

    /// Compares with another α from now on.
    ///
    /// # Errors
    /// If it is not finite.
    pub fn set_length_penalty(&mut self, alpha: f64) -> Result<(), TranslateError> {
        if !alpha.is_finite() {
            return Err(TranslateError::RerankerPenalty(alpha));
        }
        self.length_penalty = alpha;
        Ok(())
    }

    /// Scores the hypotheses of each source, and puts the best first; of equals the one that was before the other.
    pub(crate) fn order(
        &mut self,
        sources: &[&[TokenId]],
        lists: &mut [Vec<Hypothesis>],
    ) -> Result<(), TranslateError> {
        // One alone wins anyway, but its score should be the reranker's, too.
        self.session.encode(sources)?;
        let eos = self.session.engine().config().symbols.eos;
        let ended = |hypothesis: &Hypothesis| [&hypothesis.tokens[..], &[eos]].concat();
        let said: Vec<(usize, Vec<TokenId>)> = lists
            .iter()
            .enumerate()
            .flat_map(|(context, list)| list.iter().map(move |one| (context, ended(one))))
            .collect();
        let targets: Vec<Target<'_>> =
            said.iter().map(|(context, tokens)| Target { context: *context, tokens }).collect();
        self.session.score_targets(&targets, &mut self.log_probs)?;
        let mut rest = self.log_probs.as_slice();
        for list in lists {
            for hypothesis in &mut *list {
                let length = hypothesis.tokens.len() + 1;
                let (own, others) = rest.split_at(length);
                rest = others;
                hypothesis.log_prob = own.iter().sum();
                hypothesis.log_probs = own[..length - 1].to_vec();
                let alpha = Some(self.length_penalty);
                hypothesis.score = normalise(hypothesis.log_prob, length, alpha);
            }
            sort(list);
        }
        Ok(())
    }
}
