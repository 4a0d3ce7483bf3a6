//! How to decode a CTC model.
//!
//! Its keys are those of `generation_config.json` (under `padir`), of `[run.decode]` and of `--set`.

use serde::{Deserialize, Serialize};

use crate::settings::{MAX_HYPOTHESES, MAX_LENGTH, MAX_STEPS, SettingsError, bounded, counted};

/// How to decode alignments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ctc {
    /// Passes of the decoder. Every pass after the first reads the alignment before it; one that changes nothing is the last.
    pub steps: usize,
    /// 1 takes the best path: the most probable token of each slot, collapsed. More is prefix beam search over the last pass, which
    /// adds up the alignments of a target, and gives an n-best list.
    pub num_beams: usize,
    /// How many of the most probable tokens of each slot prefix beam search looks at.
    pub slot_candidates: usize,
    /// α of [`normalise`](crate::normalise), by which the hypotheses of a prefix beam search are compared; none means their plain
    /// log-probabilities.
    pub length_penalty: Option<f64>,
    /// No further pass is made if the mean ln p of an alignment's slots is at least this; none means never.
    pub early_exit: Option<f64>,
    /// The longest phrase, in tokens, of which an immediate repetition in the collapsed output is dropped; 0 drops nothing. A model
    /// that means a repetition puts a blank into it, so that most repetitions are meant.
    pub stutter_phrase: usize,
    /// Longest target, its end included.
    pub max_length: usize,
}

impl Default for Ctc {
    /// One pass, best path.
    fn default() -> Self {
        Self {
            steps: 1,
            num_beams: 1,
            slot_candidates: 16,
            length_penalty: None,
            early_exit: None,
            stutter_phrase: 0,
            max_length: 128,
        }
    }
}

impl Ctc {
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("steps", self.steps, MAX_STEPS, "from 1 to 10000")?;
        counted("num_beams", self.num_beams, MAX_HYPOTHESES, "from 1 to 1024")?;
        counted("slot_candidates", self.slot_candidates, MAX_LENGTH, "from 1 to 65536")?;
        counted("max_length", self.max_length, MAX_LENGTH, "from 1 to 65536")?;
        let alpha = self.length_penalty.unwrap_or(0.0);
        bounded("length_penalty", alpha, alpha.is_finite(), "finite")?;
        let early_exit = self.early_exit.unwrap_or(0.0);
        bounded("early_exit", early_exit, early_exit <= 0.0, "a logarithm, at most 0")?;
        let phrase = self.stutter_phrase;
        bounded("stutter_phrase", phrase as f64, phrase <= MAX_LENGTH, "from 0 to 65536")
    }

    /// Candidates of each slot that are asked for.
    pub(super) fn depth(&self, vocabulary_size: usize) -> usize {
        if self.num_beams == 1 { 1 } else { self.slot_candidates.min(vocabulary_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senseless_settings_are_told_by_their_keys() {
        let default = Ctc::default;
        let cases = [
            (Ctc { steps: 0, ..default() }, "`steps` is 0"),
            (Ctc { num_beams: 0, ..default() }, "`num_beams` is 0"),
            (Ctc { num_beams: 1025, ..default() }, "`num_beams` is 1025"),
            (Ctc { slot_candidates: 0, ..default() }, "`slot_candidates` is 0"),
            (Ctc { max_length: 0, ..default() }, "`max_length` is 0"),
            (Ctc { length_penalty: Some(f64::NAN), ..default() }, "`length_penalty` is NaN"),
            (Ctc { early_exit: Some(0.5), ..default() }, "`early_exit` is 0.5"),
            (Ctc { early_exit: Some(f64::NAN), ..default() }, "`early_exit` is NaN"),
            (Ctc { stutter_phrase: 1 << 20, ..default() }, "`stutter_phrase` is 1048576"),
        ];
        for (settings, expected) in cases {
            let error = settings.check().expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(default().check(), Ok(()));
    }

    #[test]
    fn a_misspelt_key_is_named() {
        let error = serde_json::from_str::<Ctc>(r#"{"num_beam": 4}"#).unwrap_err().to_string();
        assert!(error.contains("`num_beam`"), "{error}");
    }
}
