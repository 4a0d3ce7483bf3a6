//! What would run, and why; and that a recipe is in order.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::recipe::Recipe;
use super::verdict::Verdict;
use super::work::Worker;
use crate::console::Console;

/// What would be done about a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Plan {
    Skip,
    Run,
    /// It reads what a stage makes that runs; if that comes out as before, it is skipped.
    Depends,
    Missing,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    plan: Plan,
    reason: String,
    command: String,
    inputs: Vec<&'a str>,
    outputs: &'a [String],
}

/// Prints what would be done about each stage.
pub(super) fn list(mut worker: Worker<'_>) -> Result<()> {
    let recipe = worker.recipe;
    let mut plans: BTreeMap<usize, Plan> = BTreeMap::new();
    let mut listed = Vec::new();
    for &index in &worker.selection.chosen {
        let stage = &recipe.stages[index];
        let runs = |need: &&usize| matches!(plans.get(*need), Some(Plan::Run | Plan::Depends));
        let waits_for = recipe.needs[index].iter().find(runs).copied();
        let (plan, reason) = match (worker.judge(index)?.0, waits_for) {
            (Verdict::Run(why), _) => (Plan::Run, why.to_string()),
            (_, Some(need)) if worker.record.get(&stage.name).is_none() => {
                (Plan::Run, format!("not run yet, after {}", recipe.stages[need].name))
            }
            (_, Some(need)) => {
                (Plan::Depends, format!("if {} comes out otherwise", recipe.stages[need].name))
            }
            (Verdict::Unchanged, None) => (Plan::Skip, "unchanged".to_owned()),
            (Verdict::Missing(paths), None) => {
                (Plan::Missing, format!("there is no {}", paths.join(", ")))
            }
        };
        plans.insert(index, plan);
        let inputs = stage.inputs.iter().map(|input| input.shown.as_str());
        let inputs = inputs.chain(stage.files.iter().map(String::as_str)).collect();
        let (command, outputs) = (stage.line(), stage.outputs.as_slice());
        listed.push(Listed { name: &stage.name, plan, reason, command, inputs, outputs });
    }
    print(worker.console, &listed)
}

fn print(console: &Console, listed: &[Listed<'_>]) -> Result<()> {
    if console.wants_json() {
        return console.print_json(&listed);
    }
    let names = listed.iter().map(|stage| stage.name.chars().count());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for stage in listed {
        let plan = match stage.plan {
            Plan::Skip => "skip",
            Plan::Run => "run",
            Plan::Depends => "maybe",
            Plan::Missing => "cannot",
        };
        let (name, reason) = (stage.name, &stage.reason);
        let _ = writeln!(text, "{name:width$}  {plan:6}  {reason}");
    }
    console.print(&text)
}

/// Says that a recipe is in order.
pub(super) fn confirm(console: &Console, path: &Path, recipe: &Recipe) -> Result<()> {
    if console.wants_json() {
        let stages =
            recipe.stages.iter().map(|stage| json!({"name": stage.name, "command": stage.line()}));
        let stages: Vec<_> = stages.collect();
        return console.print_json(&json!({"recipe": path, "dir": recipe.dir, "stages": stages}));
    }
    let number = recipe.stages.len();
    console.note(format_args!("{}: {number} stages, all in order", path.display()));
    Ok(())
}
