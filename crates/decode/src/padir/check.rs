//! Which settings make sense.

use super::settings::{Counted, Initial, Procedure, Prune, RemaskRule, Settings, StopRule, Wanted};
use crate::refine::Input;
use crate::settings::{MAX_HYPOTHESES, MAX_LENGTH, MAX_STEPS, SettingsError, bounded, counted};

/// Most candidates of a position that may be kept: as many as engines find without looking at all logits one by one.
const MAX_CANDIDATES: usize = 32;

impl Settings {
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("steps", self.steps, MAX_STEPS, "from 1 to 10000")?;
        let hypotheses = [
            ("lengths", self.lengths),
            ("beam_length", self.beam_length),
            ("parallel_decodes", self.parallel_decodes),
        ];
        for (key, value) in hypotheses {
            counted(key, value, MAX_HYPOTHESES, "from 1 to 1024")?;
        }
        let count = self.lengths * self.beam_length * self.parallel_decodes;
        if count > MAX_HYPOTHESES {
            return Err(SettingsError::TooMany { count });
        }
        counted("stutter_phrase", self.stutter_phrase, MAX_LENGTH, "from 1 to 65536")?;
        if let Some(candidates) = self.candidates {
            counted("candidates", candidates, MAX_CANDIDATES, "from 1 to 32")?;
        }
        let odd = !self.beam_length.is_multiple_of(2);
        bounded("beam_length", self.beam_length as f64, odd, "odd")?;
        let length = self.max_length;
        bounded(
            "max_length",
            length as f64,
            (2..=MAX_LENGTH).contains(&length),
            "from 2 to 65536",
        )?;
        self.sampling().check()?;
        self.check_rules()?;
        self.check_harmony()
    }

    /// Numbers inside of rules.
    fn check_rules(&self) -> Result<(), SettingsError> {
        let tilt = self.length_tilt;
        bounded("length_tilt", tilt, tilt.is_finite(), "finite")?;
        let share = self.length_share;
        bounded("length_share", share, share > 0.0 && share <= 1.0, "above 0 and at most 1")?;
        if let Some(early_exit) = self.early_exit {
            bounded("early_exit", early_exit, !early_exit.is_nan(), "a number")?;
        }
        if let RemaskRule::Share { share } = self.remask {
            bounded("remask.share", share, (0.0..=1.0).contains(&share), "from 0 to 1")?;
        }
        if let RemaskRule::Confidence { below } = self.remask {
            bounded("remask.below", below, (0.0..=1.0).contains(&below), "from 0 to 1")?;
        }
        if let RemaskRule::Threshold { commit } = self.remask {
            bounded("remask.commit", commit, (0.0..=1.0).contains(&commit), "from 0 to 1")?;
        }
        if let Wanted::Coloured { colours } = self.wanted {
            let sound = (2..=64).contains(&colours);
            bounded("wanted.colours", colours as f64, sound, "from 2 to 64")?;
        }
        for (key, alpha) in
            [("length_penalty", self.length_penalty), ("prune_penalty", self.prune_penalty)]
        {
            alpha.map_or(Ok(()), |alpha| bounded(key, alpha, alpha.is_finite(), "finite"))?;
        }
        let weight = self.length_weight;
        let sound = weight.is_finite() && weight >= 0.0;
        bounded("length_weight", weight, sound, "finite and at least 0")?;
        match self.prune {
            Prune::Margin { nats } => bounded("prune.nats", nats, nats > 0.0, "above 0"),
            Prune::Keep { most } => bounded("prune.most", most as f64, most > 0, "at least 1"),
            Prune::Share { share } => {
                bounded("prune.share", share, share > 0.0 && share <= 1.0, "above 0 and at most 1")
            }
            Prune::Never => Ok(()),
        }?;
        if let StopRule::Confident { min_log_prob } = self.stop {
            bounded("stop.min_log_prob", min_log_prob, !min_log_prob.is_nan(), "a number")?;
        }
        if let Wanted::Uncertain { below, .. } = self.wanted {
            bounded("wanted.below", below, !below.is_nan(), "a number")?;
        }
        if let Wanted::LeastConfident { share } = self.wanted {
            bounded("wanted.share", share, share > 0.0 && share <= 1.0, "above 0 and at most 1")?;
        }
        Ok(())
    }

    /// Settings that exclude each other.
    fn check_harmony(&self) -> Result<(), SettingsError> {
        if self.parallel_decodes > 1
            && self.initial != Initial::Random
            && self.sampling().is_cold()
            && !matches!(self.remask, RemaskRule::Law { .. })
        {
            return Err(SettingsError::SameStarts(self.parallel_decodes));
        }
        if self.input == Input::Hidden && self.wanted != Wanted::All {
            return Err(SettingsError::HiddenAndWanted);
        }
        if self.input == Input::Visible && matches!(self.remask, RemaskRule::Threshold { .. }) {
            return Err(SettingsError::VisibleThreshold);
        }
        if self.input == Input::Hidden && self.low_precision_steps > 0 {
            return Err(SettingsError::HiddenAndLowPrecision);
        }
        if self.procedure == Procedure::Paper {
            let extras = [
                ("low_precision_steps", self.low_precision_steps > 0),
                ("candidates", self.candidates.is_some()),
                ("length_tilt", self.length_tilt != 0.0),
                ("length_share", self.length_share < 1.0),
                ("early_exit", self.early_exit.is_some()),
                ("stutter_phrase", self.stutter_phrase != 1),
                ("input", self.input != Input::Visible),
                ("remask.law", matches!(self.remask, RemaskRule::Law { .. })),
                ("remask.commit", matches!(self.remask, RemaskRule::Threshold { .. })),
                ("length_weight", self.length_weight > 0.0),
                ("counted", self.counted != Counted::Kept),
                ("stop", self.stop != StopRule::Unchanged),
                ("prune", self.prune != Prune::Never),
                ("prune_penalty", self.prune_penalty.is_some()),
                ("wanted", self.wanted != Wanted::All),
            ];
            if let Some((key, _)) = extras.iter().find(|(_, set)| *set) {
                return Err(SettingsError::NotInPaper(key));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use padir_base::mask::MaskLaw;

    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let default = Settings::default;
        let paper = || default().exactly_as_in_the_paper();
        let cases = [
            (Settings { steps: 0, ..default() }, "`steps` is 0"),
            (Settings { beam_length: 2, ..default() }, "`beam_length` is 2; it must be odd"),
            (Settings { max_length: 1, ..default() }, "`max_length` is 1"),
            (Settings { lengths: 300, parallel_decodes: 9, ..default() }, "2700 hypotheses"),
            (Settings { remask: RemaskRule::Share { share: 2.0 }, ..default() }, "`remask.share`"),
            (
                Settings { remask: RemaskRule::Confidence { below: 1.5 }, ..default() },
                "`remask.below` is 1.5",
            ),
            (Settings { prune: Prune::Margin { nats: 0.0 }, ..default() }, "`prune.nats` is 0"),
            (Settings { length_share: 0.0, ..default() }, "`length_share` is 0"),
            (Settings { length_share: 0.5, ..paper() }, "`length_share`"),
            (Settings { low_precision_steps: 1, ..paper() }, "`low_precision_steps` is not part"),
            (Settings { stutter_phrase: 0, ..default() }, "`stutter_phrase` is 0"),
            (Settings { candidates: Some(0), ..default() }, "`candidates` is 0"),
            (Settings { candidates: Some(4), ..paper() }, "`candidates` is not part"),
            (Settings { stutter_phrase: 2, ..paper() }, "`stutter_phrase` is not part"),
            (Settings { length_tilt: f64::INFINITY, ..default() }, "`length_tilt` is inf"),
            (Settings { length_tilt: 0.5, ..paper() }, "`length_tilt` is not part"),
            (Settings { early_exit: Some(-0.1), ..paper() }, "`early_exit` is not part"),
            (Settings { early_exit: Some(f64::NAN), ..default() }, "`early_exit` is NaN"),
            (Settings { length_weight: -1.0, ..default() }, "`length_weight` is -1"),
            (Settings { length_weight: 0.3, ..paper() }, "`length_weight` is not part"),
            (Settings { prune_penalty: Some(f64::NAN), ..default() }, "`prune_penalty` is NaN"),
            (Settings { prune_penalty: Some(1.0), ..paper() }, "`prune_penalty` is not part"),
            (Settings { prune: Prune::Keep { most: 0 }, ..default() }, "`prune.most` is 0"),
            (Settings { prune: Prune::Share { share: 1.5 }, ..default() }, "`prune.share` is 1.5"),
            (Settings { prune: Prune::Keep { most: 2 }, ..paper() }, "`prune` is not part"),
            (
                Settings {
                    remask: RemaskRule::Law { law: MaskLaw::Rate { rate: 0.5 } },
                    ..paper()
                },
                "`remask.law` is not part",
            ),
            (Settings { stop: StopRule::Never, ..paper() }, "`stop` is not part"),
            (
                Settings { parallel_decodes: 2, initial: Initial::Mask, ..default() },
                "2 parallel decodes",
            ),
            (
                Settings {
                    wanted: Wanted::Uncertain { below: -1.0, neighbours: 0 },
                    ..Settings::mask_predict(4)
                },
                "with hidden input",
            ),
            (Settings { low_precision_steps: 1, ..Settings::mask_predict(4) }, "with hidden input"),
            (
                Settings { wanted: Wanted::Coloured { colours: 1 }, ..default() },
                "`wanted.colours` is 1; it must be from 2 to 64",
            ),
            (
                Settings { remask: RemaskRule::Threshold { commit: 0.9 }, ..default() },
                "`remask.rule` is \"threshold\"",
            ),
            (
                Settings {
                    remask: RemaskRule::Threshold { commit: 1.5 },
                    ..Settings::mask_predict(4)
                },
                "`remask.commit` is 1.5",
            ),
        ];
        for (settings, expected) in cases {
            let error = settings.check().expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(default().check(), Ok(()));
        assert_eq!(paper().check(), Ok(()));
        assert_eq!(Settings::mask_predict(10).check(), Ok(()));
        let extras =
            Settings { prune: Prune::Keep { most: 2 }, stop: StopRule::Never, ..default() };
        assert_eq!(extras.exactly_as_in_the_paper(), paper());
    }
}
