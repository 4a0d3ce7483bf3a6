//! How to refine: one plain struct, every choice an enum.
//!
//! The names are those under `padir` of a model's `generation_config.json`.

use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::refine::Input;
use crate::sampling::Sampling;

/// Lengths beyond those that are tried among which tilting may choose. Few: what a predictor that learnt with label smoothing says of far
/// lengths is a constant, over which any tilt wins in the end.
const SPARE_LENGTHS: usize = 2;

/// How to refine. The default is the paper's (four steps, five lengths, stutter dropped) with its traps
/// mended, see [`Procedure`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whose rules apply in the corners.
    pub procedure: Procedure,
    /// Most steps T.
    pub steps: usize,
    /// Steps, the first ones, of which drafts will do: an engine that computes in f32 may take them in 8 bits. Nothing ends with a
    /// draft, and the last step never is one, so that what is returned was predicted in full precision.
    pub draft_steps: usize,
    /// After the first step only those tokens compete that were among so many of the most probable ones at any position of any
    /// hypothesis of their sentence (or of another one of the same context); none means all. Logits of the other steps then cost next to
    /// nothing, and what nobody thought of in the first step seldom wins in a later one. Without effect where samples or accumulated
    /// replacements need the probabilities of all tokens.
    pub candidates: Option<usize>,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// β: the lengths that are tried, and the two most probable after them, are ranked by ln p(n) + β·n, so that above 0 longer ones are
    /// tried; where little is known of a length, more so. What stands in place of a word that is not needed stutters and is
    /// dropped; a word that has no place is lost.
    pub length_tilt: f64,
    /// Fewer of them, if their probabilities add up to this share before; 1 for no fewer.
    pub length_share: f64,
    /// The most probable length is refined alone, and the others only if the mean of ln p over its positions ends below this; none
    /// means all at once. Sooner where the first is good: of what is certain of itself the others seldom say better.
    pub enough: Option<f64>,
    /// How many neighbouring lengths each of them is widened to; odd.
    pub beam_length: usize,
    /// How many starts each length gets.
    pub parallel_decodes: usize,
    /// Longest target, its end included.
    pub max_length: usize,
    /// What the first step reads.
    pub initial: Initial,
    /// Whether a position that is to be predicted is shown as it was or hidden (mask-predict).
    pub input: Input,
    /// Which predictions are rejected.
    pub rejecter: Rejecter,
    /// What a rejected position becomes. Hidden input hides it instead.
    pub replacement: Replacement,
    /// Whether a prediction that equals its left neighbour's is rejected, after the last step too.
    pub remask_stutter: bool,
    /// The longest phrase, in tokens, that stutters when it is said twice in a row; 1 for single tokens, as in the paper. What two
    /// positions apart are predicted without knowing of each other is said twice as easily as what stands side by side.
    pub stutter_phrase: usize,
    /// Whether a position that ends as its initial token is dropped.
    pub drop_unchanged: bool,
    /// Below [`COLD`](crate::COLD) the most probable token is taken, else one is sampled.
    pub temperature: f64,
    /// Sample from this many of the most probable tokens only.
    pub top_k: Option<usize>,
    /// Sample from the fewest most probable tokens that have this share together.
    pub top_p: Option<f64>,
    /// α of [`normalise`](crate::normalise); none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// λ of the score [`normalise`](crate::normalise)(Σ ln p + λ·ln p(n), α): how much is held against a length that was not foretold.
    /// With 1 and no α it is the joint probability of a length and its tokens, which favours short ones.
    pub length_weight: f64,
    /// Which positions are part of the score.
    pub counted: Counted,
    /// When a hypothesis is finished before its last step.
    pub halt: Halt,
    /// Which hypotheses are given up between steps.
    pub prune: Prune,
    /// α that hypotheses are given up by; none means `length_penalty`. What is unsure costs long ones more than short ones, and
    /// nothing is sure after the first step: a larger α than at the end gives up fewer that would have won.
    pub prune_penalty: Option<f64>,
    /// Which positions are predicted again.
    pub wanted: Wanted,
    /// Where random starts and samples come from.
    pub seed: Seed,
}

/// Whose rules apply where the paper's program does something its text does not mean.
///
/// | | paper | corrected |
/// |---|---|---|
/// | dropped at the end | every position whose token equals its initial one | positions that hold their initial token because no prediction was accepted there |
/// | a predicted token that happens to equal its random initial one | dropped | kept |
/// | a row ends | when its tokens, replacements included, did not change | when they would not have changed had it been the last step, and is then as after a last step |
/// | counted | what is not dropped, so the end only where it was not predicted | every accepted prediction, the end included |
/// | confidence, for rejecters | of the most probable token | of the predicted token; another one only if sampled |
///
/// Under both, padding is never predicted (the next candidate is taken: the paper's program would
/// treat a predicted id 0 as absent from then on), the first position never stutters (there it is
/// compared with the last one), and ends and padding are not part of what is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// What the paper's program does.
    Paper,
    /// What it is meant to do.
    #[default]
    Corrected,
}

/// What the first step reads; the end stands at the last position in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Uniformly random tokens.
    #[default]
    Random,
    /// The mask symbol everywhere.
    Mask,
    /// A mask symbol for each position; those of the first positions again when there are no more.
    NumberedMask,
}

/// What a rejected position becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// Its initial token.
    Initial,
    /// What it was before this step.
    Previous,
    /// The arg-max of its logits summed over all steps, this one included.
    ///
    /// The denoiser is asked for whole distributions, and positions × |Ω| sums are kept.
    Accumulated,
}

/// Which predictions are rejected after a step that is not the last. Each is a mask law: it sees the
/// predicted tokens, their confidences and the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rejecter {
    /// None.
    Nothing,
    /// After step t of T the ⌊n(T − t)/T⌋ least probable, at least one.
    Linear,
    /// The least probable ones, always as many.
    Count {
        /// How many.
        count: usize,
    },
    /// The least probable ones, always the same share ⌊s·n⌋ of the sentence, at least one.
    Share {
        /// Between 0 and 1.
        share: f64,
    },
    /// Those of which the model itself, which has learnt to tell, believes that they are wrong. It judges the most probable token of all at
    /// a position; another one that is picked by chance or from a shortlist shares its fate.
    Learned {
        /// Rejected is what is right with a lower probability than this.
        #[serde(default = "half")]
        below: f64,
    },
    /// Those a law hides.
    Law {
        /// The law.
        law: MaskLaw,
    },
}

fn half() -> f64 {
    0.5
}

/// Which positions are part of the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Those that are not dropped. What a length that is too long stutters away is not held against it.
    #[default]
    Kept,
    /// All.
    Every,
}

/// When a hypothesis is finished before its last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Halt {
    /// When a step changes nothing. With arg-max and a constant rejecter nothing is lost.
    #[default]
    Unchanged,
    /// That, or when nothing stutters and no prediction is less probable than this.
    Confident {
        /// ln p that every position must reach.
        min_log_prob: f64,
    },
    /// Never: all steps are taken.
    Never,
}

/// Which hypotheses are given up after a step: live ones that are too far behind the others of their
/// sentence, each scored as if it ended here. The best is never given up.
///
/// Scores of all lengths are sums of log-probabilities and mostly rise with refinement; a rule assumes that
/// they rise together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Prune {
    /// None.
    #[default]
    Never,
    /// Those whose score is this far below the best, or further.
    Margin {
        /// The distance, in the units of the score: nats unless it is normalised.
        nats: f64,
    },
    /// Those that are not among this many best.
    Keep {
        /// How many.
        most: usize,
    },
    /// All but this share of them, rounded up, each time: of five remain with 0.5 three, two, one, and with 0.4 two, one.
    Share {
        /// Above 0, at most 1.
        share: f64,
    },
}

/// Which positions are predicted again after the first step; the others keep their token and its
/// probability. It saves logits, not attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wanted {
    /// All.
    #[default]
    All,
    /// Those near a prediction that was rejected or not probable enough. A hypothesis without
    /// any is finished.
    Uncertain {
        /// ln p below which a prediction is not probable enough.
        below: f64,
        /// How far to either side "near" reaches.
        neighbours: usize,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            procedure: Procedure::default(),
            steps: 4,
            draft_steps: 0,
            candidates: None,
            lengths: 5,
            length_tilt: 0.0,
            length_share: 1.0,
            enough: None,
            beam_length: 1,
            parallel_decodes: 1,
            max_length: 128,
            initial: Initial::default(),
            input: Input::default(),
            rejecter: Rejecter::Nothing,
            replacement: Replacement::Initial,
            remask_stutter: true,
            stutter_phrase: 1,
            drop_unchanged: true,
            temperature: 0.0,
            top_k: None,
            top_p: None,
            length_penalty: None,
            length_weight: 0.0,
            counted: Counted::default(),
            halt: Halt::default(),
            prune: Prune::default(),
            prune_penalty: None,
            wanted: Wanted::default(),
            seed: Seed(0),
        }
    }
}

impl Settings {
    /// Mask-predict (Ghazvininejad et al. 2019): start from nothing, hide the ⌊n(T − t)/T⌋ least probable tokens
    /// after step t and predict only those again. Lengths are compared with α = 1, where the original divides by n;
    /// the end stays visible.
    #[must_use]
    pub fn mask_predict(steps: usize) -> Self {
        Self {
            steps,
            initial: Initial::Mask,
            input: Input::Hidden,
            rejecter: Rejecter::Linear,
            remask_stutter: false,
            halt: Halt::Never,
            length_penalty: Some(1.0),
            ..Self::default()
        }
    }

    /// The same settings under the paper's exact procedure, without anything it does not know.
    #[must_use]
    pub fn exactly_as_in_the_paper(self) -> Self {
        Self {
            procedure: Procedure::Paper,
            draft_steps: 0,
            candidates: None,
            length_tilt: 0.0,
            length_share: 1.0,
            enough: None,
            stutter_phrase: 1,
            input: Input::Visible,
            rejecter: match self.rejecter {
                Rejecter::Law { .. } => Rejecter::Nothing,
                known => known,
            },
            length_weight: 0.0,
            counted: Counted::Kept,
            halt: Halt::Unchanged,
            prune: Prune::Never,
            prune_penalty: None,
            wanted: Wanted::All,
            ..self
        }
    }

    /// The same settings with shortcuts: the first two steps are drafts, after the first only its 16 best candidates of each position
    /// compete, after each step the better half of the hypotheses goes on, of five three, two and one, chosen with α + 3, and there is
    /// no further step for what is certain already. Eleven passes instead of twenty, six of them almost without logits, at some loss of
    /// quality: the scores of a first step, made from nothing, say little about the last.
    #[must_use]
    pub fn fast(self) -> Self {
        Self {
            procedure: Procedure::Corrected,
            draft_steps: if self.input == Input::Visible { 2 } else { 0 },
            candidates: Some(16),
            prune: Prune::Share { share: 0.5 },
            prune_penalty: Some(self.length_penalty.unwrap_or(0.0) + 3.0),
            halt: Halt::Confident { min_log_prob: -0.2 },
            ..self
        }
    }

    /// How many of the most probable lengths must be known to choose those that are tried.
    pub fn lengths_to_know(&self) -> usize {
        if self.length_tilt == 0.0 {
            self.lengths
        } else {
            self.lengths.saturating_add(SPARE_LENGTHS)
        }
    }

    /// How many candidates of a position compete after the first step; none where probabilities of all tokens are needed.
    pub(super) fn kept_candidates(&self) -> Option<usize> {
        let looks_at_all =
            !self.sampling().is_cold() || self.replacement == Replacement::Accumulated;
        self.candidates.filter(|_| !looks_at_all)
    }

    /// How tokens are picked.
    pub fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_k: self.top_k, top_p: self.top_p }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_named() {
        let error = serde_json::from_str::<Settings>(r#"{"stepps": 4}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `stepps`"), "{error}");
        let error = serde_json::from_str::<Settings>(r#"{"prune": {"rule": "keep", "least": 2}}"#);
        assert!(error.unwrap_err().to_string().contains("least"));
    }

    #[test]
    fn shortcuts_change_what_they_say_and_the_paper_undoes_them() {
        let own =
            Settings { steps: 3, lengths: 7, length_penalty: Some(2.0), ..Settings::default() };
        let fast = own.clone().fast();
        assert_eq!((fast.steps, fast.lengths, fast.length_penalty), (3, 7, Some(2.0)));
        assert_eq!((fast.prune, fast.prune_penalty), (Prune::Share { share: 0.5 }, Some(5.0)));
        assert_eq!(fast.halt, Halt::Confident { min_log_prob: -0.2 });
        assert_eq!((fast.draft_steps, Settings::mask_predict(4).fast().draft_steps), (2, 0));
        assert_eq!((fast.candidates, fast.kept_candidates()), (Some(16), Some(16)));
        let drawn = Settings { temperature: 1.0, ..own.clone() }.fast();
        assert_eq!(drawn.kept_candidates(), None, "chance looks at all tokens");
        let exact = Settings { stutter_phrase: 3, ..fast }.exactly_as_in_the_paper();
        assert_eq!(exact, Settings { procedure: Procedure::Paper, ..own });
    }

    #[test]
    fn what_is_written_is_read() {
        let text = r#"{
            "steps": 10, "initial": "mask", "replacement": "accumulated", "input": "visible",
            "rejecter": {"rule": "law", "law": {"law": "rate", "rate": 0.7}},
            "halt": {"rule": "confident", "min_log_prob": -0.1},
            "prune": {"rule": "margin", "nats": 3.5},
            "wanted": {"rule": "uncertain", "below": -0.5, "neighbours": 2}
        }"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.steps, 10);
        assert_eq!(settings.lengths, 5);
        assert_eq!(settings.check(), Ok(()));
        let again = serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
        assert_eq!(settings, again);
    }
}
