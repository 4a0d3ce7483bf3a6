//! What a run leaves: checkpoints to go on from, models to use, how it ended.

use std::time::{Duration, Instant};

use padir_checkpoint::{Extras, ModelCard};
use padir_model::Sentences;

use super::watching::Evaluated;
use super::{Ending, TrainError, Trainer};
use crate::learner::NotFinite;
use crate::objective::Pairs;
use crate::rundir::{RunState, Status};
use crate::state;

impl Trainer<'_> {
    pub(super) fn extras(&self) -> Extras<'_> {
        let (tokenizer, sentencepiece) = &self.vocabulary_files;
        let name =
            self.directory.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let card = ModelCard { title: name.unwrap_or_default(), ..ModelCard::default() };
        Extras {
            generation: Some(self.config.run.decode.generation()),
            card,
            tokenizer: Some(tokenizer),
            sentencepiece: Some(sentencepiece),
        }
    }

    /// Whether it is time for a checkpoint: by steps, or because the last one is old.
    pub(super) fn owes_checkpoint(&self) -> bool {
        let (step, run) = (self.progress.step, &self.config.run);
        let minutes = Duration::try_from_secs_f64(60.0 * run.save_minutes);
        let old =
            run.save_minutes > 0.0 && minutes.is_ok_and(|minutes| self.saved.elapsed() >= minutes);
        let due = step > 0 && step.is_multiple_of(run.save_every);
        (due || old && step > 0) && !self.is_saved()
    }

    /// Whether the newest checkpoint is of this step.
    fn is_saved(&self) -> bool {
        state::steps(self.directory.path()).last() == Some(&self.progress.step)
    }

    /// Writes a checkpoint.
    pub(super) fn save(&mut self) -> Result<(), TrainError> {
        let pause = Instant::now();
        let keep = self.config.run.keep.max(self.config.optimiser.average_last);
        let every = self.config.run.save_every;
        let (run, extras) = (self.directory.path(), self.extras());
        state::save(run, &self.learner, &self.progress, &extras, keep, every)
            .map_err(TrainError::Save)?;
        self.saved = Instant::now();
        self.speed.pause(pause, self.saved);
        Ok(())
    }

    /// The last evaluation, checkpoint and model. A run that is stopped meanwhile can be resumed, and then ends as it would have.
    pub(super) fn finish(&mut self, ending: Ending) -> Result<Ending, TrainError> {
        let owes = ending != Ending::Stopped && self.progress.evaluated != self.progress.step;
        let stopped = match ending {
            Ending::Stopped => true,
            _ if owes => self.evaluate()? == Evaluated::No,
            _ => false,
        };
        if owes || !self.is_saved() {
            self.save()?;
        }
        if stopped {
            return Ok(Ending::Stopped);
        }
        let run = self.directory.path();
        let (place, extras) = (run.join("final"), self.extras());
        let saved = match self.config.optimiser.average_last {
            last @ 2.. => state::export_average(run, &place, &self.learner, &extras, last),
            _ => state::export(&place, &self.learner, &extras),
        };
        saved.map_err(TrainError::Save)?;
        Ok(ending)
    }

    /// Saves the last good state and the batch that broke it.
    pub(super) fn dump(&mut self, found: NotFinite, parts: &[Pairs]) -> TrainError {
        let batch = self.directory.path().join(format!("not-finite-{}.json", found.step));
        let rows = |side: &Sentences| side.iter().map(<[u32]>::to_vec).collect::<Vec<_>>();
        let content: Vec<_> = parts
            .iter()
            .map(|pairs| serde_json::json!({"source": rows(&pairs.sources), "target": rows(&pairs.targets)}))
            .collect();
        let text = serde_json::Value::from(content).to_string();
        if let Err(error) = padir_base::file::write_atomically(&batch, text.as_bytes()) {
            self.observer.note(&format!("the batch could not be saved: {error}"));
        }
        if let Err(error) = self.save() {
            self.observer.note(&format!("the last good state could not be saved: {error}"));
        }
        TrainError::NotFinite { found, batch }
    }

    /// Writes down how the run ended.
    pub(super) fn close(&self, ending: &Result<Ending, TrainError>) -> Result<(), TrainError> {
        let (state, reason) = match ending {
            Ok(Ending::Stopped) => (RunState::Stopped, Ending::Stopped.reason().to_owned()),
            Ok(ending) => (RunState::Finished, ending.reason().to_owned()),
            Err(error) => (RunState::Failed, error.to_string()),
        };
        let parameters = self.learner.network().config().parameter_count();
        let status = Status { state, parameters, reason: Some(reason) };
        match self.directory.set_status(&status) {
            // What ended the run matters more than that it could not be written down.
            Err(_) if ending.is_err() => Ok(()),
            other => Ok(other?),
        }
    }
}
