//! Stages one after the other: judged, run, written down.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow};
use padir_base::file::write_atomically;
use serde::Serialize;

use super::aside::{make_parent, set_aside};
use super::child::{self, Signals};
use super::digest::Digests;
use super::recipe::Recipe;
use super::record::{Identity, Lock, Record, StageRecord, Standing};
use super::stage::Stage;
use super::verdict::{Verdict, Why, identify, judge, outputs};
use crate::commands::train::clock;
use crate::console::Console;
use crate::hint::WithHint;

/// Which stages are looked at, and which of them run whether or not anything changed.
pub(super) struct Selection {
    pub(super) chosen: BTreeSet<usize>,
    pub(super) asked: BTreeSet<usize>,
}

/// Somebody who runs a recipe.
pub(super) struct Worker<'a> {
    pub(super) console: &'a Console,
    pub(super) recipe: &'a Recipe,
    pub(super) selection: &'a Selection,
    pub(super) record: Record,
    pub(super) digests: Digests,
}

/// What became of a stage.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) reason: Option<String>,
    /// The time it took in all; of a stage that was skipped, when it ran.
    pub(super) seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    Ran,
    Skipped,
    Interrupted,
}

/// A stage that is about to run.
struct Attempt {
    identity: Identity,
    started: u64,
    /// Seconds of earlier attempts that this one goes on with.
    before: f64,
    clock: Instant,
}

impl Attempt {
    fn record(&self, standing: Standing) -> StageRecord {
        StageRecord {
            standing,
            identity: self.identity.clone(),
            outputs: super::record::Hashes::new(),
            started: self.started,
            ended: (standing != Standing::Begun).then(now),
            seconds: self.before + self.clock.elapsed().as_secs_f64(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Worker<'_> {
    /// What is to be done about a stage as things are.
    pub(super) fn judge(&mut self, index: usize) -> Result<(Verdict, Option<Identity>)> {
        let stage = &self.recipe.stages[index];
        let identity = match identify(self.recipe, stage, &mut self.digests)? {
            Ok(identity) => identity,
            Err(missing) => return Ok((Verdict::Missing(missing), None)),
        };
        let outputs = outputs(self.recipe, stage, &mut self.digests)?;
        let before = self.record.get(&stage.name);
        let is_asked = self.selection.asked.contains(&index);
        let verdict = match judge(stage, &identity, &outputs, before, is_asked) {
            Some(why) => Verdict::Run(why),
            None => Verdict::Unchanged,
        };
        Ok((verdict, Some(identity)))
    }

    /// Runs what must run. Ends with the first stage that fails or is interrupted.
    pub(super) fn work(&mut self, signals: &Signals, lock: &Lock) -> Result<Vec<Outcome>> {
        let (console, number) = (self.console, self.selection.chosen.len());
        let mut outcomes = Vec::with_capacity(number);
        for (place, &index) in self.selection.chosen.iter().enumerate() {
            let name = &self.recipe.stages[index].name;
            let label = format!("[{}/{number}] {name}", place + 1);
            let (verdict, identity) = self.judge(index)?;
            if signals.count() > 0 {
                let (name, action) = (name.clone(), Action::Interrupted);
                outcomes.push(Outcome { name, action, reason: None, seconds: 0.0 });
                break;
            }
            let (why, identity) = match (verdict, identity) {
                (Verdict::Run(why), Some(identity)) => (why, identity),
                (Verdict::Missing(missing), _) => {
                    return Err(anyhow!("stage {name:?}: there is no {}", missing.join(", ")));
                }
                (_, _) => {
                    self.console.note(format_args!("{label}: unchanged"));
                    let seconds = self.record.get(name).map_or(0.0, |record| record.seconds);
                    let (name, action) = (name.clone(), Action::Skipped);
                    outcomes.push(Outcome { name, action, reason: None, seconds });
                    continue;
                }
            };
            let mut outcome = Outcome {
                name: name.clone(),
                action: Action::Interrupted,
                reason: Some(why.to_string()),
                seconds: 0.0,
            };
            if signals.count() == 0 {
                let line = self.recipe.stages[index].line();
                self.console.note(format_args!("{label}: {line} ({why})"));
                let run = |dir: &Path, arguments: &[&str], stdout: Option<&Path>| {
                    child::run(console, dir, arguments, stdout, signals, lock)
                };
                (outcome.action, outcome.seconds) =
                    self.attempt(index, &why, identity, signals, run)?;
            }
            let is_interrupted = outcome.action == Action::Interrupted;
            if !is_interrupted {
                let time = clock(outcome.seconds);
                self.console.note(format_args!("{label}: done in {time}"));
            }
            outcomes.push(outcome);
            if is_interrupted {
                break;
            }
        }
        Ok(outcomes)
    }

    /// Runs one stage and writes down what became of it.
    fn attempt(
        &mut self,
        index: usize,
        why: &Why,
        identity: Identity,
        signals: &Signals,
        run: impl FnOnce(&Path, &[&str], Option<&Path>) -> Result<ExitStatus>,
    ) -> Result<(Action, f64)> {
        let stage = &self.recipe.stages[index];
        let before = self.record.get(&stage.name).filter(|_| why.goes_on(stage));
        let attempt = Attempt {
            identity,
            started: before.map_or_else(now, |record| record.started),
            before: before.map_or(0.0, |record| record.seconds),
            clock: Instant::now(),
        };
        self.prepare(stage, why)?;
        self.record.put(&stage.name, attempt.record(Standing::Begun))?;
        let stdout = stage.stdout.as_ref().map(|file| self.recipe.dir.join(file));
        let (dir, arguments) = (&self.recipe.dir, stage.arguments());
        let status = run(dir, &arguments, stdout.as_deref())?;
        let made = outputs(self.recipe, stage, &mut self.digests)?;
        let is_complete = stage.outputs.iter().all(|output| made.contains_key(output));
        let standing = match (status.success() && is_complete, signals.count()) {
            (true, _) => Standing::Done,
            (false, 0) => Standing::Failed,
            (false, _) => Standing::Begun,
        };
        let record = StageRecord { outputs: made, ..attempt.record(standing) };
        let seconds = record.seconds;
        let missing: Vec<&str> = stage
            .outputs
            .iter()
            .filter(|output| !record.outputs.contains_key(*output))
            .map(String::as_str)
            .collect();
        let failure = (standing == Standing::Failed).then(|| fail(stage, status, &missing));
        self.record.put(&stage.name, record)?;
        match (failure, standing) {
            (Some(failure), _) => failure,
            (None, Standing::Done) => Ok((Action::Ran, seconds)),
            (None, _) => Ok((Action::Interrupted, seconds)),
        }
    }

    /// Clears the way, makes directories and writes the files that a stage reads.
    fn prepare(&self, stage: &Stage, why: &Why) -> Result<()> {
        let dir = &self.recipe.dir;
        if !why.goes_on(stage)
            && let Some(place) = set_aside(dir, stage)?
        {
            let (name, place) = (&stage.name, place.display());
            self.console.note(format_args!("what {name} made before is now in {place}"));
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

fn write_if_other(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    write_atomically(path, content).context("cannot prepare the stage")
}

/// Says which stage failed, how, and what to do.
fn fail<T>(stage: &Stage, status: ExitStatus, missing: &[&str]) -> Result<T> {
    let (name, line) = (&stage.name, stage.line());
    if status.success() {
        let missing = missing.join(", ");
        return Err(anyhow!("stage {name:?} ended without making {missing}: {line}")).hint(format!(
            "if it was stopped, run the recipe again; if {missing} was removed, --from {name} begins anew; otherwise `outputs` \
             are not what it makes"
        ));
    }
    let end = match status.code() {
        Some(code) => format!("with exit code {code}"),
        None => format!("by {status}"),
    };
    Err(anyhow!("stage {name:?} ended {end}: {line}"))
        .hint("its own message is above; run the recipe again to go on with this stage")
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}
