//! Remasking rules are mask laws over predictions.

use padir_base::mask::{Mask, MaskContext, MaskLaw};

use super::settings::{RemaskRule, Settings};
use crate::chance::{Chance, ChanceError};

/// The positions of a sequence whose prediction is rejected after a step that is not the last. `confidences` are ln p that predictions are
/// right, as the model sees it.
pub(super) fn rejected<C: Chance>(
    settings: &Settings,
    mask_context: &MaskContext<'_>,
    confidences: &[f64],
    row: usize,
    chance: &mut C,
) -> Result<Mask, ChanceError> {
    let len = mask_context.len();
    match &settings.remask {
        // A threshold is about what was just predicted, which the state knows.
        RemaskRule::Nothing | RemaskRule::Threshold { .. } => Ok(Mask::none(len)),
        RemaskRule::Linear => {
            chance.mask(row, &MaskLaw::Linear { steps: settings.steps, least: 1 }, mask_context)
        }
        RemaskRule::Count { count } => least_confident(*count, mask_context, row, chance),
        RemaskRule::Share { share } => {
            let count = ((share * len as f64) as usize).max(1);
            least_confident(count, mask_context, row, chance)
        }
        RemaskRule::Confidence { below } => {
            let law = MaskLaw::Unsure { below: below.ln() };
            chance.mask(row, &law, &mask_context.with_confidence(confidences))
        }
        RemaskRule::Law { law } => chance.mask(row, law, mask_context),
    }
}

/// The open positions that are not committed: less probable than `commit` and not the most probable one.
pub(super) fn uncommitted(commit: f64, open: &[bool], confidence: &[f64]) -> Mask {
    let mut mask = Mask::none(open.len());
    let candidates = || (0..open.len()).filter(|&i| open[i]);
    let better = |best: Option<usize>, i: usize| match best {
        Some(best) if confidence[i] <= confidence[best] || confidence[i].is_nan() => Some(best),
        _ => Some(i),
    };
    let best = candidates().fold(None, better);
    let sure = |i: usize| confidence[i] >= commit.ln() || Some(i) == best;
    candidates().filter(|&i| !sure(i)).for_each(|i| mask.hide(i));
    mask
}

/// A schedule that has come to its end hides the least number it may.
fn least_confident<C: Chance>(
    count: usize,
    mask_context: &MaskContext<'_>,
    row: usize,
    chance: &mut C,
) -> Result<Mask, ChanceError> {
    chance.mask(row, &MaskLaw::Linear { steps: 1, least: count }, &mask_context.at_step(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Streams;
    use padir_base::TokenId;
    use padir_base::random::Seed;

    #[test]
    fn a_threshold_commits_the_sure_and_at_least_one() {
        let confidence = [0.95f64, 0.5, 0.8, 0.99, 0.1].map(f64::ln);
        let cases: [(&str, [bool; 5], f64, Vec<usize>); 4] = [
            ("the sure ones", [true; 5], 0.9, vec![1, 2, 4]),
            ("the best of the unsure", [false, true, true, false, true], 0.9, vec![1, 4]),
            ("all", [true; 5], 0.0, vec![]),
            ("nothing is open", [false; 5], 1.0, vec![]),
        ];
        for (name, open, commit, expected) in cases {
            let mask = uncommitted(commit, &open, &confidence);
            assert_eq!(mask.positions().collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn each_rule_rejects_what_it_says() {
        let tokens = [7, 8, 8, 9, 5].map(TokenId);
        let confidence = [-0.1, -2.0, -0.5, -3.0, -0.2];
        let confidences = [0.9f64, 0.6, 0.4, 0.5, 0.1].map(f64::ln);
        let learned = |below| RemaskRule::Confidence { below };
        let law = |law| RemaskRule::Law { law };
        let cases = [
            ("nothing", RemaskRule::Nothing, 1, vec![]),
            ("linear after 1 of 4: ⌊15/4⌋", RemaskRule::Linear, 1, vec![1, 2, 3]),
            ("linear after 2 of 4: ⌊10/4⌋", RemaskRule::Linear, 2, vec![1, 3]),
            ("linear after 3 of 4: ⌊5/4⌋", RemaskRule::Linear, 3, vec![3]),
            ("two", RemaskRule::Count { count: 2 }, 3, vec![1, 3]),
            ("more than there are", RemaskRule::Count { count: 9 }, 1, vec![0, 1, 2, 3, 4]),
            ("three fifths", RemaskRule::Share { share: 0.6 }, 1, vec![1, 2, 3]),
            ("hardly any, so one", RemaskRule::Share { share: 0.1 }, 1, vec![3]),
            ("repeats", law(MaskLaw::Repeats { phrase: 1 }), 1, vec![2]),
            ("all", law(MaskLaw::All), 1, vec![0, 1, 2, 3, 4]),
            ("improbable", law(MaskLaw::Unsure { below: -1.0 }), 1, vec![1, 3]),
            ("rather wrong", learned(0.5), 1, vec![2, 4]),
            ("not certain", learned(1.0), 1, vec![0, 1, 2, 3, 4]),
            ("never wrong", learned(0.0), 1, vec![]),
        ];
        for (name, remask, step, expected) in cases {
            let settings = Settings { remask, ..Settings::default() };
            let mask_context =
                MaskContext::of_tokens(&tokens).with_confidence(&confidence).at_step(step);
            let mut chance = Streams::new(Seed(0), 1);
            let mask = rejected(&settings, &mask_context, &confidences, 0, &mut chance).unwrap();
            assert_eq!(mask.positions().collect::<Vec<_>>(), expected, "{name}");
        }
    }
}
