//! Stages in their order, as many side by side as wanted: compared with the record, run, written down.
//!
//! One thread does all of it and asks the jobs that are running again and again how they are, so that the record has one writer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use padir_base::file::write_atomically;
use serde::Serialize;

use super::RecipeError;
use super::aside::{make_parent, set_aside};
use super::decision::{Decision, Why, decide, identify, outputs};
use super::digest::Digests;
use super::executor::{End, Executor, Job, Running};
use super::interrupts::Interrupts;
use super::recipe::Recipe;
use super::record::{Identity, Record, StageRecord, StageState};
use super::selection::Selection;
use super::stage::Stage;
use crate::Error;
use crate::numbers::clock;
use crate::progress::Progress;

/// How often jobs are asked whether they have ended.
const PATIENCE: Duration = Duration::from_millis(20);

/// Somebody who runs a recipe.
pub struct Runner<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) selection: &'a Selection,
    pub(super) record: Record,
    progress: &'a dyn Progress,
    digests: Digests,
}

/// What became of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The stage.
    pub name: String,
    /// What was done.
    pub action: Action,
    /// Why it ran.
    pub reason: Option<String>,
    /// The time it took in all; of a stage that was skipped, when it ran.
    pub seconds: f64,
}

/// What was done about a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It ran to its end.
    Ran,
    /// Nothing: it was unchanged.
    Skipped,
    /// It was stopped, or not begun because of a signal.
    Interrupted,
}

/// A stage that is running.
struct Attempt {
    index: usize,
    label: String,
    reason: String,
    identity: Identity,
    started: u64,
    /// Seconds of earlier attempts that this one goes on with.
    before: f64,
    clock: Instant,
    job: Box<dyn Running>,
    /// How many interrupts it was told of.
    interrupted: usize,
}

impl Attempt {
    fn seconds(&self) -> f64 {
        self.before + self.clock.elapsed().as_secs_f64()
    }

    fn record(&self, state: StageState) -> StageRecord {
        record(&self.identity, state, self.started, self.seconds())
    }
}

fn record(identity: &Identity, state: StageState, started: u64, seconds: f64) -> StageRecord {
    StageRecord {
        state,
        identity: identity.clone(),
        outputs: super::record::Hashes::new(),
        started,
        ended: (state != StageState::Begun).then(now),
        seconds,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// How far a run is.
struct Board<'e> {
    executor: &'e dyn Executor,
    interrupts: &'e Interrupts,
    /// Most stages at a time.
    jobs: usize,
    /// Not looked at yet, in order.
    waiting: Vec<usize>,
    running: Vec<Attempt>,
    outcomes: BTreeMap<usize, Outcome>,
    failure: Option<Error>,
}

impl Board<'_> {
    /// Whether nothing more may begin.
    fn is_stopping(&self) -> bool {
        let is_interrupted =
            || self.outcomes.values().any(|outcome| outcome.action == Action::Interrupted);
        self.failure.is_some() || self.interrupts.count() > 0 || is_interrupted()
    }

    /// The first stage that waits for nothing that is chosen and not done.
    fn next_ready(&self, needs: &[BTreeSet<usize>]) -> Option<usize> {
        let is_open = |need: &usize| {
            self.waiting.contains(need) || self.running.iter().any(|other| other.index == *need)
        };
        let at = self.waiting.iter().position(|&index| !needs[index].iter().any(is_open))?;
        Some(self.waiting[at])
    }

    fn fail(&mut self, progress: &dyn Progress, error: Error) {
        if self.failure.is_none() {
            if !self.running.is_empty() {
                progress.note(&format!("{error}; waiting for what else is running"));
            }
            self.failure = Some(error);
        } else {
            progress.note(&error.to_string());
        }
    }
}

impl<'a> Runner<'a> {
    /// Somebody who knows how the recipe's directory stands.
    ///
    /// # Errors
    /// If there is a record that cannot be read.
    pub fn new(
        recipe: &'a Recipe,
        selection: &'a Selection,
        progress: &'a dyn Progress,
    ) -> Result<Self, Error> {
        let record = Record::read(&recipe.dir)?;
        Ok(Self { recipe, selection, record, progress, digests: Digests::default() })
    }

    /// What is to be done about a stage as things are.
    pub(super) fn decide(&mut self, index: usize) -> Result<(Decision, Option<Identity>), Error> {
        let stage = &self.recipe.stages[index];
        let identity = match identify(self.recipe, stage, &mut self.digests)? {
            Ok(identity) => identity,
            Err(missing) => return Ok((Decision::Missing(missing), None)),
        };
        let outputs = outputs(self.recipe, stage, &mut self.digests)?;
        let before = self.record.get(&stage.name);
        let is_asked = self.selection.asked.contains(&index);
        let decision = match decide(stage, &identity, &outputs, before, is_asked) {
            Some(why) => Decision::Run(why),
            None => Decision::Unchanged,
        };
        Ok((decision, Some(identity)))
    }

    /// Runs what must run, at most `jobs` stages at a time. After the first stage that fails or is interrupted nothing begins; what is
    /// running then is waited for.
    ///
    /// # Errors
    /// If a stage fails, or cannot be run.
    pub fn run(
        &mut self,
        executor: &dyn Executor,
        jobs: usize,
        interrupts: &Interrupts,
    ) -> Result<Vec<Outcome>, Error> {
        let mut board = Board {
            executor,
            interrupts,
            jobs: jobs.max(1),
            waiting: self.selection.chosen.iter().copied().collect(),
            running: Vec::new(),
            outcomes: BTreeMap::new(),
            failure: None,
        };
        loop {
            self.start_ready(&mut board);
            interrupts.set_busy(!board.running.is_empty());
            if board.running.is_empty() {
                break;
            }
            self.pass_interrupts_on(&mut board);
            if !self.collect(&mut board) {
                std::thread::sleep(PATIENCE);
            }
            interrupts.set_busy(!board.running.is_empty());
        }
        if let Some(error) = board.failure {
            return Err(error);
        }
        let is_told = board.outcomes.values().any(|outcome| outcome.action == Action::Interrupted);
        if let Some(&index) = board.waiting.first().filter(|_| !is_told) {
            let name = self.recipe.stages[index].name.clone();
            let (action, reason, seconds) = (Action::Interrupted, None, 0.0);
            board.outcomes.insert(index, Outcome { name, action, reason, seconds });
        }
        Ok(board.outcomes.into_values().collect())
    }

    /// Starts stages as long as there are some that can, and a place for them.
    fn start_ready(&mut self, board: &mut Board<'_>) {
        while board.running.len() < board.jobs && !board.is_stopping() {
            let Some(index) = board.next_ready(&self.recipe.needs) else { return };
            if let Err(error) = self.start(index, board) {
                board.fail(self.progress, error);
            }
        }
    }

    /// Compares a stage with the record and starts it, if it must run.
    fn start(&mut self, index: usize, board: &mut Board<'_>) -> Result<(), Error> {
        let name = self.recipe.stages[index].name.clone();
        let number = self.selection.chosen.len();
        let place = self.selection.chosen.range(..index).count() + 1;
        let label = format!("[{place}/{number}] {name}");
        let (decision, identity) = self.decide(index)?;
        // It waits no more, unless somebody asked to stop meanwhile.
        if board.interrupts.count() > 0 {
            return Ok(());
        }
        board.waiting.retain(|&other| other != index);
        match (decision, identity) {
            (Decision::Run(why), Some(identity)) => {
                let line = self.recipe.stages[index].line();
                self.progress.note(&format!("{label}: {line} ({why})"));
                board.interrupts.set_busy(true);
                let attempt = self.attempt(index, label, &why, identity, board.executor)?;
                board.running.push(attempt);
            }
            (Decision::Missing(missing), _) => {
                return Err(RecipeError::Missing { stage: name, missing }.into());
            }
            (_, _) => {
                self.progress.note(&format!("{label}: unchanged"));
                let seconds = self.record.get(&name).map_or(0.0, |record| record.seconds);
                let (action, reason) = (Action::Skipped, None);
                board.outcomes.insert(index, Outcome { name, action, reason, seconds });
            }
        }
        Ok(())
    }

    /// Starts a stage and writes down that it has begun.
    fn attempt(
        &mut self,
        index: usize,
        label: String,
        why: &Why,
        identity: Identity,
        executor: &dyn Executor,
    ) -> Result<Attempt, Error> {
        let stage = &self.recipe.stages[index];
        let earlier = self.record.get(&stage.name).filter(|_| why.goes_on(stage));
        let started = earlier.map_or_else(now, |record| record.started);
        let before = earlier.map_or(0.0, |record| record.seconds);
        self.prepare(stage, why)?;
        self.record.put(&stage.name, record(&identity, StageState::Begun, started, before))?;
        let job = Job {
            stage: &stage.name,
            directory: &self.recipe.dir,
            arguments: stage.arguments(),
            stdout: stage.stdout.as_ref().map(|file| self.recipe.dir.join(file)),
        };
        let (clock, reason) = (Instant::now(), why.to_string());
        let job = executor.start(&job)?;
        Ok(Attempt { index, label, reason, identity, started, before, clock, job, interrupted: 0 })
    }

    /// Tells all that is running of every interrupt they were not told of.
    fn pass_interrupts_on(&self, board: &mut Board<'_>) {
        let count = board.interrupts.count();
        if count > 0 && board.running.iter().all(|attempt| attempt.interrupted == 0) {
            self.progress.note("stopping; a second Ctrl-C stops at once");
        }
        for attempt in &mut board.running {
            while attempt.interrupted < count {
                attempt.job.interrupt(attempt.interrupted);
                attempt.interrupted += 1;
            }
        }
    }

    /// Writes down what has ended; says whether anything has.
    fn collect(&mut self, board: &mut Board<'_>) -> bool {
        let before = board.running.len();
        for attempt in std::mem::take(&mut board.running) {
            let mut attempt = attempt;
            match attempt.job.poll() {
                Ok(None) => board.running.push(attempt),
                Ok(Some(end)) => self.settle(&attempt, &end, board),
                Err(error) => board.fail(self.progress, error),
            }
        }
        board.running.len() < before
    }

    /// Writes down what became of a stage.
    fn settle(&mut self, attempt: &Attempt, end: &End, board: &mut Board<'_>) {
        match self.finish(attempt, end, board.interrupts) {
            Ok((action, seconds)) => {
                if action != Action::Interrupted {
                    let (label, time) = (&attempt.label, clock(seconds));
                    self.progress.note(&format!("{label}: done in {time}"));
                }
                let name = self.recipe.stages[attempt.index].name.clone();
                let reason = Some(attempt.reason.clone());
                board.outcomes.insert(attempt.index, Outcome { name, action, reason, seconds });
            }
            Err(error) => board.fail(self.progress, error),
        }
    }

    fn finish(
        &mut self,
        attempt: &Attempt,
        end: &End,
        interrupts: &Interrupts,
    ) -> Result<(Action, f64), Error> {
        let stage = &self.recipe.stages[attempt.index];
        let made = outputs(self.recipe, stage, &mut self.digests)?;
        let is_missing = |output: &&String| !made.contains_key(*output);
        let missing: Vec<String> = stage.outputs.iter().filter(is_missing).cloned().collect();
        let is_good = *end == End::Success && missing.is_empty();
        let state = match (is_good, interrupts.count()) {
            (true, _) => StageState::Done,
            (false, 0) => StageState::Failed,
            (false, _) => StageState::Begun,
        };
        let record = StageRecord { outputs: made, ..attempt.record(state) };
        let seconds = record.seconds;
        self.record.put(&stage.name, record)?;
        match state {
            StageState::Done => Ok((Action::Ran, seconds)),
            StageState::Begun => Ok((Action::Interrupted, seconds)),
            StageState::Failed => Err(failure(stage, end, missing).into()),
        }
    }

    /// Clears the way, makes directories and writes the files that a stage reads.
    fn prepare(&self, stage: &Stage, why: &Why) -> Result<(), Error> {
        let dir = &self.recipe.dir;
        if !why.goes_on(stage)
            && let Some(place) = set_aside(dir, stage)?
        {
            let (name, place) = (&stage.name, place.display());
            self.progress.note(&format!("what {name} made before is now in {place}"));
        }
        for path in stage.owned().chain(&stage.files) {
            make_parent(&dir.join(path))?;
        }
        for name in &stage.files {
            let Some(text) = self.recipe.files.get(name) else { continue };
            write_if_other(&dir.join(name), text.full.as_bytes())?;
        }
        Ok(())
    }
}

fn write_if_other(path: &Path, content: &[u8]) -> Result<(), RecipeError> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    write_atomically(path, content).map_err(RecipeError::Prepare)
}

/// Which stage failed, and how.
fn failure(stage: &Stage, end: &End, missing: Vec<String>) -> RecipeError {
    let (stage, line) = (stage.name.clone(), stage.line());
    match end {
        End::Success => RecipeError::Incomplete { stage, missing, line },
        other => RecipeError::Failed { stage, end: other.clone(), line },
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}
