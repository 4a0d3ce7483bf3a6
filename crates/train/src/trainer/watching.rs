//! What is measured on the way: lines of the record, dev sets, the best model.

use std::time::Instant;

use super::speed::Speedometer;
use super::{Moment, TrainError, Trainer};
use crate::devset::{DevSet, Evaluation, Evaluator};
use crate::objective::Statistics;
use crate::record::{Kind, Row};
use crate::state;

/// Whether an evaluation came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluated {
    /// It is in the record.
    Wholly,
    /// The run was stopped in the middle of it: there is no trace of it.
    No,
}

impl Trainer<'_> {
    /// Tells of a step, and writes a line if it is time for one.
    pub(super) fn record(&mut self, rate: f64, norm: f64, epoch: u32) -> Result<(), TrainError> {
        let step = self.progress.step;
        let due = step.is_multiple_of(self.config.run.log_every);
        let now = Instant::now();
        let speed = self.speed.read(now);
        let statistics = self.progress.statistics;
        self.observer.stepped(&Moment {
            step,
            last: self.config.run.step_limit(),
            epoch,
            loss: statistics.mean_loss(),
            speed,
            rate,
            seconds: self.progress.seconds,
            recorded: due,
        });
        if due {
            let mut row = Row::now(Kind::Train, step, self.progress.seconds, self.progress.tokens)
                .with("loss", statistics.mean_loss())
                .with("entropy", statistics.mean_entropy())
                .with("accuracy", statistics.accuracy())
                .with("rate", rate)
                .with("norm", norm)
                .with("epoch", f64::from(epoch))
                .with("tokens_per_second", speed);
            if let Some(accuracy) = statistics.length_accuracy() {
                row = row.with("length_accuracy", accuracy);
            }
            if statistics.unfit > 0 {
                row = row.with("unfit", statistics.unfit as f64);
            }
            if let Some(confidence_accuracy) = statistics.confidence_accuracy() {
                row = row
                    .with("confidence_accuracy", confidence_accuracy)
                    .with("confidence_loss", statistics.mean_confidence_loss());
            }
            self.recorder.append(&row)?;
            self.progress.statistics = Statistics::default();
            self.speed = Speedometer::start(now);
        }
        Ok(())
    }

    /// Whether this step is one to evaluate and was not.
    pub(super) fn owes_evaluation(&self) -> bool {
        let step = self.progress.step;
        step > 0
            && step.is_multiple_of(self.config.run.eval_every)
            && self.progress.evaluated != step
            && !self.is_stopped()
    }

    /// Evaluates all dev sets, or none if the run is stopped meanwhile.
    pub(super) fn evaluate(&mut self) -> Result<Evaluated, TrainError> {
        let pause = Instant::now();
        self.learner.swap_average();
        let found = self.measure();
        self.learner.swap_average();
        let Some(found) = found? else { return Ok(Evaluated::No) };
        let step = self.progress.step;
        let mut row = Row::now(Kind::Eval, step, self.progress.seconds, self.progress.tokens);
        for (set, evaluation) in &found {
            row = add(row, set, evaluation);
            self.observer.evaluated(step, set, evaluation);
        }
        self.progress.evaluated = step;
        self.judge(&row)?;
        self.recorder.append(&row)?;
        // Evaluations are no part of the speed of training.
        self.speed.pause(pause, Instant::now());
        Ok(Evaluated::Wholly)
    }

    fn measure(&self) -> Result<Option<Vec<(String, Evaluation)>>, TrainError> {
        let evaluator = Evaluator {
            network: self.learner.network(),
            objective: self.learner.objective(),
            decode: &self.config.run.decode,
            vocabulary: &self.vocabulary,
            fused: self.learner.fused(),
            stop: self.stop,
        };
        let named = |set: &DevSet, found| (set.name.clone(), found);
        let evaluate = |set: &DevSet| Ok(evaluator.evaluate(set)?.map(|found| named(set, found)));
        self.dev_sets.iter().map(evaluate).collect()
    }

    /// Keeps the model if it is the best so far.
    fn judge(&mut self, row: &Row) -> Result<(), TrainError> {
        let Some(metric) = &self.config.run.metric else { return Ok(()) };
        let Some(&value) = row.values.get(&metric.to_string()) else {
            return Err(TrainError::Unmeasured { step: row.step, metric: metric.to_string() });
        };
        if self.progress.best.is_none_or(|best| metric.improves(best, value)) {
            self.progress.best = Some(value);
            self.progress.best_step = self.progress.step;
            self.progress.waited = 0;
            let place = self.directory.path().join("best");
            state::export(&place, &self.learner, &self.extras()).map_err(TrainError::Save)?;
        } else {
            self.progress.waited += 1;
        }
        Ok(())
    }
}

/// Adds the numbers of a dev set to a row.
fn add(row: Row, set: &str, evaluation: &Evaluation) -> Row {
    let name = |measure: &str| format!("{set}.{measure}");
    let statistics = &evaluation.statistics;
    let mut row = row
        .with(name("loss"), statistics.mean_loss())
        .with(name("entropy"), statistics.mean_entropy())
        .with(name("accuracy"), statistics.accuracy());
    if let Some(accuracy) = statistics.length_accuracy() {
        row = row.with(name("length_accuracy"), accuracy);
    }
    if let Some(accuracy) = statistics.length_accuracy_at_5() {
        row = row.with(name("length_accuracy_at_5"), accuracy);
    }
    if statistics.unfit > 0 {
        row = row.with(name("unfit"), statistics.unfit as f64);
    }
    if let Some(confidence_accuracy) = statistics.confidence_accuracy() {
        row = row.with(name("confidence_accuracy"), confidence_accuracy);
        row = row.with(name("confidence_loss"), statistics.mean_confidence_loss());
    }
    for (measure, value) in &evaluation.scores {
        row = row.with(name(measure), *value);
    }
    row
}
