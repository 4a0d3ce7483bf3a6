//! `padir run`: from raw text to scores, by a recipe.

mod describe;

use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use padir_pipeline::numbers::clock;
use padir_pipeline::recipe::{
    Action, Interrupts, Local, Lock, Outcome, Output, Plan, Planned, Recipe, Runner, Selection,
};
use serde_json::json;

use crate::advice::{advise, advise_recipe};
use crate::console::Console;
use crate::interrupt::{self, Interrupted, Reaction};
use describe::CommandLine;

/// What `--manual` prints.
const MANUAL: &str = include_str!("run/manual.md");

/// Run a recipe: all stages from raw text to scores.
///
/// A recipe is one TOML file of stages, each a command line of padir with what it makes. A stage runs if it has not run yet, or if its
/// command, its files, what it reads or what it made have changed; what did not change is skipped. Ctrl-C stops and saves; the
/// same command goes on. What a stage made is not lost when it begins anew: it is moved to `replaced`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir run recipes/multi30k-en-de.toml
  padir run recipes/multi30k-en-de.toml --list
  padir run recipes/multi30k-en-de.toml --set data.root=/data/multi30k --set values.steps=5000
  padir run recipes/multi30k-en-de.toml --only vocabulary --only teacher
  padir run recipes/multi30k-en-de.toml --from distil
  padir run recipes/multi30k-ablations.toml --jobs 2
  padir run recipes/wmt14-en-de.toml --check
  padir run --manual

Paths of `dir` and [data] are relative to the working directory; commands run in `dir`, and all other paths are relative to it.")]
pub(crate) struct Run {
    /// The recipe.
    #[arg(value_name = "RECIPE", required_unless_present = "manual")]
    recipe: Option<PathBuf>,

    /// Change `dir`, a path of `[data]` or a value of `[values]`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Run this stage and all that need it even if nothing changed.
    #[arg(long, value_name = "STAGE", conflicts_with = "only")]
    from: Option<String>,

    /// Look at no other stage; may be repeated.
    #[arg(long, value_name = "STAGE")]
    only: Vec<String>,

    /// Run up to N stages side by side that do not need each other. They share the threads.
    #[arg(long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,

    /// Say what would run and why, and end.
    #[arg(long)]
    list: bool,

    /// Check the recipe, its command lines and training configurations, and end. Data need not be there.
    #[arg(long, conflicts_with = "list")]
    check: bool,

    /// Print the manual of recipes, with every key, and end.
    #[arg(long)]
    manual: bool,
}

impl Run {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if self.manual {
            return console.print(MANUAL);
        }
        let path = self.recipe.as_deref().context("there is no recipe")?;
        let recipe = Recipe::read(path, &self.set, &CommandLine).map_err(advise_recipe)?;
        let selection = Selection::of(&recipe, self.from.as_deref(), &self.only);
        let selection = selection.map_err(advise_recipe)?;
        if self.check {
            return self.confirm(console, &recipe);
        }
        let runner = || Runner::new(&recipe, &selection, console).map_err(advise);
        if self.list {
            return list(console, &runner()?.plan().map_err(advise)?);
        }
        selection.require_inputs(&recipe).map_err(advise_recipe)?;
        let directory = recipe.directory();
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let lock = Lock::take(directory).map_err(advise)?;
        let mut runner = runner()?;
        let interrupts = listen();
        let output = if console.is_quiet() { Output::Nowhere } else { Output::Stderr };
        let executor = Local::new(console.arguments_for(self.jobs.get()), output, lock);
        let outcomes = runner.run(&executor, self.jobs.get(), &interrupts).map_err(advise)?;
        self.report(console, &recipe, &outcomes)
    }

    fn report(&self, console: &Console, recipe: &Recipe, outcomes: &[Outcome]) -> Result<()> {
        let interrupted = outcomes.iter().find(|o| o.action == Action::Interrupted);
        if console.wants_json() {
            console.print_json(&json!({
                "recipe": self.recipe,
                "dir": recipe.directory(),
                "complete": interrupted.is_none(),
                "stages": outcomes,
            }))?;
        }
        if let Some(outcome) = interrupted {
            let (name, time) = (&outcome.name, clock(outcome.seconds));
            let again = if self.from.is_some() { ", without --from," } else { "" };
            console.note(format_args!(
                "stopped in stage {name} after {time}; the same command{again} goes on from there"
            ));
            return Err(Interrupted.into());
        }
        let ran = outcomes.iter().filter(|o| o.action == Action::Ran).count();
        let (skipped, dir) = (outcomes.len() - ran, recipe.directory().display());
        console.note(format_args!("{dir}: {ran} stages ran, {skipped} were unchanged"));
        Ok(())
    }

    /// Says that a recipe is in order.
    fn confirm(&self, console: &Console, recipe: &Recipe) -> Result<()> {
        let path = self.recipe.as_deref().unwrap_or(Path::new(""));
        let stages: Vec<_> = recipe
            .lines()
            .map(|(name, command)| json!({"name": name, "command": command}))
            .collect();
        if console.wants_json() {
            let dir = recipe.directory();
            return console.print_json(&json!({"recipe": path, "dir": dir, "stages": stages}));
        }
        let number = stages.len();
        console.note(format_args!("{}: {number} stages, all in order", path.display()));
        Ok(())
    }
}

/// Hears signals for stages from now on.
fn listen() -> Interrupts {
    let interrupts = Interrupts::default();
    let heard = interrupts.clone();
    interrupt::react(move || if heard.hear() { Reaction::End } else { Reaction::GoOn });
    interrupts
}

/// Prints what would be done about each stage.
fn list(console: &Console, planned: &[Planned]) -> Result<()> {
    if console.wants_json() {
        return console.print_json(&planned);
    }
    let names = planned.iter().map(|stage| stage.name.chars().count());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for Planned { name, plan, reason, .. } in planned {
        let plan = match plan {
            Plan::Skip => "skip",
            Plan::Run => "run",
            Plan::Depends => "maybe",
            Plan::Missing => "cannot",
        };
        let _ = writeln!(text, "{name:width$}  {plan:6}  {reason}");
    }
    console.print(&text)
}
