//! What would run, and why.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decision::Decision;
use super::runner::Runner;
use crate::Error;

/// What would be done about a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// Nothing.
    Skip,
    /// It would run.
    Run,
    /// It reads what a stage makes that runs; if that comes out as before, it is skipped.
    Depends,
    /// It cannot run: something is not there.
    Missing,
}

/// A stage, and what would be done about it.
#[derive(Clone, Debug, Serialize)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// What would be done.
    pub plan: Plan,
    /// Why.
    pub reason: String,
    /// Its command line.
    pub command: String,
    /// What it reads.
    pub inputs: Vec<String>,
    /// What it makes.
    pub outputs: Vec<String>,
}

impl Runner<'_> {
    /// What would be done about each stage.
    ///
    /// # Errors
    /// If something that stages read or made cannot be read.
    pub fn plan(&mut self) -> Result<Vec<Planned>, Error> {
        let recipe = self.recipe;
        let mut plans: BTreeMap<usize, Plan> = BTreeMap::new();
        let mut planned = Vec::new();
        for &index in &self.selection.chosen {
            let stage = &recipe.stages[index];
            let runs = |need: &&usize| matches!(plans.get(*need), Some(Plan::Run | Plan::Depends));
            let waits_for = recipe.needs[index].iter().find(runs).copied();
            let (plan, reason) = match (self.decide(index)?.0, waits_for) {
                (Decision::Run(why), _) => (Plan::Run, why.to_string()),
                (_, Some(need)) if self.record.get(&stage.name).is_none() => {
                    (Plan::Run, format!("not run yet, after {}", recipe.stages[need].name))
                }
                (_, Some(need)) => {
                    (Plan::Depends, format!("if {} comes out otherwise", recipe.stages[need].name))
                }
                (Decision::Unchanged, None) => (Plan::Skip, "unchanged".to_owned()),
                (Decision::Missing(paths), None) => {
                    (Plan::Missing, format!("there is no {}", paths.join(", ")))
                }
            };
            plans.insert(index, plan);
            let inputs = stage.inputs.iter().map(|input| input.shown.clone());
            planned.push(Planned {
                name: stage.name.clone(),
                plan,
                reason,
                command: stage.line(),
                inputs: inputs.chain(stage.files.iter().cloned()).collect(),
                outputs: stage.outputs.clone(),
            });
        }
        Ok(planned)
    }
}
