//! How to refine: one plain struct, every choice an enum.
//!
//! Its keys are those of `generation_config.json` (under `padir`), of `[run.decode]` and of `--set`.

use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::mask_predict::MaskPredict;
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
    /// Whether the paper's text or its program decides where they differ.
    pub procedure: Procedure,
    /// Most steps T.
    pub steps: usize,
    /// How many of the first steps may run at low precision: an engine that computes in f32 takes them in int8. No hypothesis ends
    /// with such a step, and the last step never is one, so every returned token was predicted in full precision.
    #[serde(alias = "draft_steps")]
    pub low_precision_steps: usize,
    /// After the first step only those tokens compete that were among so many of the most probable ones at any position of any
    /// hypothesis of their sentence (or of another one of the same context); none means all. Logits of the other steps then cost next to
    /// nothing, and a token that no position considered in the first step seldom wins in a later one. Without effect where samples or
    /// accumulated replacements need the probabilities of all tokens.
    pub candidates: Option<usize>,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// β: the lengths that are tried, and the two most probable after them, are ranked by ln p(n) + β·n, so that above 0 longer ones are
    /// tried; where little is known of a length, more so. A superfluous position stutters and is dropped; a word without a
    /// position is lost.
    pub length_tilt: f64,
    /// Fewer lengths, if their probabilities add up to this share before; 1 for no fewer.
    pub length_share: f64,
    /// The most probable length is refined alone, and the others only if the mean of ln p over its positions ends below this; none
    /// means all at once.
    #[serde(alias = "enough")]
    pub early_exit: Option<f64>,
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
    /// The remasking rule: which predictions are rejected.
    #[serde(alias = "rejecter")]
    pub remask: RemaskRule,
    /// What a rejected position becomes. Hidden input hides it instead.
    pub replacement: Replacement,
    /// Whether a prediction that equals its left neighbour's is rejected, after the last step too.
    pub remask_stutter: bool,
    /// The longest phrase, in tokens, that stutters when it is repeated at once; 1 for single tokens, as in the paper.
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
    /// λ of the score [`normalise`](crate::normalise)(Σ ln p + λ·ln p(n), α): the weight of the length's own log-probability.
    /// With 1 and no α the score is the joint probability of a length and its tokens, which favours short ones.
    pub length_weight: f64,
    /// Which positions are part of the score.
    pub counted: Counted,
    /// The stop rule: when a hypothesis is finished before its last step.
    #[serde(alias = "halt")]
    pub stop: StopRule,
    /// Which hypotheses are pruned between steps.
    pub prune: Prune,
    /// α that pruning uses; none means `length_penalty`. Uncertain tokens cost long hypotheses more than short ones, and after the
    /// first step most are uncertain: a larger α than at the end prunes fewer that would have won.
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
/// | confidence, for remasking rules | of the most probable token | of the predicted token; another one only if sampled |
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

/// The remasking rule: which predictions are rejected after a step that is not the last. Each is a mask law: it sees the
/// predicted tokens, their confidences and the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RemaskRule {
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
    /// Those that the model's confidence head calls wrong. The head rates the most probable token of a position; a token that was
    /// sampled or taken from a shortlist instead gets the same verdict.
    #[serde(alias = "learned")]
    Confidence {
        /// Rejected is what is right with a lower probability than this.
        #[serde(default = "half")]
        below: f64,
    },
    /// Of the positions that were just predicted, all but the most probable one that are less probable than this: confident tokens are committed, at least
    /// one in each step, and stay. Needs hidden input.
    Threshold {
        /// The probability from which on a token is committed.
        #[serde(default = "confident")]
        commit: f64,
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

fn confident() -> f64 {
    0.9
}

fn two() -> usize {
    2
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
pub enum StopRule {
    /// When a step changes nothing. With arg-max and a constant remask nothing is lost.
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

/// Which hypotheses are pruned after a step: live ones that are too far behind the others of their
/// sentence, each scored as if it ended here. The best is never pruned.
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
    /// A share of the positions, rounded up: those of which the last prediction was least probable.
    LeastConfident {
        /// Above 0, at most 1.
        share: f64,
    },
    /// Chromatic refinement: positions have colours in turn, and each step predicts those of one colour, so that neighbours never change in the same step
    /// and each is predicted from what the others have become. What was rejected comes first, and its neighbours wait. A step that changes nothing ends a
    /// hypothesis only if the steps of all other colours before it did not either. Low-precision steps predict all positions.
    Coloured {
        /// How many colours: positions that are less than this apart never change together.
        #[serde(default = "two")]
        colours: usize,
    },
}

impl Wanted {
    /// Steps until every position was predicted again.
    pub(super) fn round(&self) -> usize {
        match self {
            Self::Coloured { colours } => *colours,
            _ => 1,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            procedure: Procedure::default(),
            steps: 4,
            low_precision_steps: 0,
            candidates: None,
            lengths: 5,
            length_tilt: 0.0,
            length_share: 1.0,
            early_exit: None,
            beam_length: 1,
            parallel_decodes: 1,
            max_length: 128,
            initial: Initial::default(),
            input: Input::default(),
            remask: RemaskRule::Nothing,
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
            stop: StopRule::default(),
            prune: Prune::default(),
            prune_penalty: None,
            wanted: Wanted::default(),
            seed: Seed(0),
        }
    }
}

impl Settings {
    /// [`MaskPredict`] with so many steps, as refinement.
    #[must_use]
    pub fn mask_predict(steps: usize) -> Self {
        MaskPredict { steps, ..MaskPredict::default() }.settings()
    }

    /// The same settings under the paper's exact procedure, without anything it does not know.
    #[must_use]
    pub fn exactly_as_in_the_paper(self) -> Self {
        Self {
            procedure: Procedure::Paper,
            low_precision_steps: 0,
            candidates: None,
            length_tilt: 0.0,
            length_share: 1.0,
            early_exit: None,
            stutter_phrase: 1,
            input: Input::Visible,
            remask: match self.remask {
                RemaskRule::Law { .. } | RemaskRule::Threshold { .. } => RemaskRule::Nothing,
                known => known,
            },
            length_weight: 0.0,
            counted: Counted::Kept,
            stop: StopRule::Unchanged,
            prune: Prune::Never,
            prune_penalty: None,
            wanted: Wanted::All,
            ..self
        }
    }

    /// The same settings with shortcuts: the first two steps run at low precision, after the first only its 16 best candidates of each
    /// position compete, after each step the better half of the hypotheses goes on (of five three, two and one, chosen with α + 3), and
    /// a confident hypothesis stops. Eleven passes instead of twenty, six of them almost without logits, at some loss of quality: scores
    /// after the first step predict the final ones poorly.
    #[must_use]
    pub fn fast(self) -> Self {
        Self {
            procedure: Procedure::Corrected,
            low_precision_steps: if self.input == Input::Visible { 2 } else { 0 },
            candidates: Some(16),
            prune: Prune::Share { share: 0.5 },
            prune_penalty: Some(self.length_penalty.unwrap_or(0.0) + 3.0),
            stop: StopRule::Confident { min_log_prob: -0.2 },
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
        assert_eq!(fast.stop, StopRule::Confident { min_log_prob: -0.2 });
        assert_eq!(
            (fast.low_precision_steps, Settings::mask_predict(4).fast().low_precision_steps),
            (2, 0)
        );
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
            "remask": {"rule": "law", "law": {"law": "rate", "rate": 0.7}},
            "stop": {"rule": "confident", "min_log_prob": -0.1},
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
