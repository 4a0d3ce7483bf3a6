//! `padir run`: from raw text to scores, by a recipe.
//!
//! ```text
//! file ─► source ─► recipe ─► check, graph ─► work ─► child
//! --set ┘  names ┘            faults: all of them  │  └► the same program, in `dir`
//!                              verdict ◄─ digest ◄─┴► record: stages.json
//! ```

mod aside;
mod check;
mod child;
pub(super) mod digest;
mod faults;
mod graph;
mod list;
mod names;
pub(super) mod recipe;
pub(super) mod record;
mod source;
pub(super) mod stage;
mod template;
mod verdict;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use serde_json::json;

use super::train::clock;
use crate::console::Console;
use crate::hint::WithHint;
use crate::interrupt::Interrupted;
use child::Signals;
use digest::Digests;
use graph::overlap;
use recipe::Recipe;
use record::{Lock, Record};
use work::{Action, Outcome, Selection, Worker};

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
  padir run recipes/wmt14-en-de.toml --check

Paths of `dir` and [data] are relative to the working directory; commands run in `dir`, and all other paths are relative to it.")]
pub(crate) struct Run {
    /// The recipe.
    #[arg(value_name = "RECIPE")]
    recipe: PathBuf,

    /// Change `dir`, a path of `[data]` or a value of `[values]`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Run this stage and all that need it even if nothing changed.
    #[arg(long, value_name = "STAGE", conflicts_with = "only")]
    from: Option<String>,

    /// Look at no other stage; may be repeated.
    #[arg(long, value_name = "STAGE")]
    only: Vec<String>,

    /// Say what would run and why, and end.
    #[arg(long)]
    list: bool,

    /// Check the recipe, its command lines and training configurations, and end. Data need not be there.
    #[arg(long, conflicts_with = "list")]
    check: bool,
}

impl Run {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let recipe = Recipe::read(&self.recipe, &self.set)?;
        let selection = self.select(&recipe)?;
        if self.check {
            return list::confirm(console, &self.recipe, &recipe);
        }
        if self.list {
            let record = Record::read(&recipe.dir)?;
            let digests = Digests::default();
            let (recipe, selection) = (&recipe, &selection);
            return list::list(Worker { console, recipe, selection, record, digests });
        }
        require_inputs(&recipe, &selection)?;
        fs::create_dir_all(&recipe.dir)
            .with_context(|| format!("cannot make {}", recipe.dir.display()))?;
        let lock = Lock::take(&recipe.dir)?;
        let record = Record::read(&recipe.dir)?;
        let signals = Signals::listen();
        let digests = Digests::default();
        let mut worker =
            Worker { console, recipe: &recipe, selection: &selection, record, digests };
        let outcomes = worker.work(&signals, &lock)?;
        self.report(console, &recipe, &outcomes)
    }

    fn select(&self, recipe: &Recipe) -> Result<Selection> {
        let mut asked = BTreeSet::new();
        if let Some(name) = &self.from {
            asked.extend(recipe.named(name)?);
            // Stages are in order, so that one pass finds all that follow.
            for (index, needs) in recipe.needs.iter().enumerate() {
                if !needs.is_disjoint(&asked) {
                    asked.insert(index);
                }
            }
        }
        let mut chosen = BTreeSet::new();
        for name in &self.only {
            chosen.extend(recipe.named(name)?);
        }
        if self.only.is_empty() {
            chosen.extend(0..recipe.stages.len());
        }
        Ok(Selection { chosen, asked })
    }

    fn report(&self, console: &Console, recipe: &Recipe, outcomes: &[Outcome]) -> Result<()> {
        let interrupted = outcomes.iter().find(|o| o.action == Action::Interrupted);
        if console.wants_json() {
            console.print_json(&json!({
                "recipe": self.recipe,
                "dir": recipe.dir,
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
        let (skipped, dir) = (outcomes.len() - ran, recipe.dir.display());
        console.note(format_args!("{dir}: {ran} stages ran, {skipped} were unchanged"));
        Ok(())
    }
}

/// Everything that no chosen stage makes must be there before anything runs.
fn require_inputs(recipe: &Recipe, selection: &Selection) -> Result<()> {
    let mut readers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut needs_data = false;
    let mut makers = BTreeSet::new();
    for &index in &selection.chosen {
        let stage = &recipe.stages[index];
        for input in &stage.inputs {
            // A directory may be filled by several.
            let is_maker = |&&other: &&usize| {
                recipe.stages[other].owned().any(|own| overlap(&input.full, own))
            };
            let maker = recipe.needs[index].iter().find(is_maker);
            let will_be_made = maker.is_some_and(|maker| selection.chosen.contains(maker));
            if will_be_made || recipe.dir.join(&input.full).exists() {
                continue;
            }
            readers.entry(&input.full).or_default().push(&stage.name);
            needs_data |= input.shown.contains("{data.");
            makers.extend(maker.map(|&maker| recipe.stages[maker].name.as_str()));
        }
    }
    if readers.is_empty() {
        return Ok(());
    }
    let lines = readers.into_iter().map(|(path, stages)| {
        let plural = if stages.len() == 1 { "" } else { "s" };
        format!("\n  {path} (stage{plural} {})", stages.join(", "))
    });
    let missing = Err(anyhow!("what stages read is not there:{}", lines.collect::<String>()));
    match &recipe.needs_data {
        Some(words) if needs_data => missing.hint(words.trim()),
        _ if needs_data => missing.hint("--set data.NAME=PATH says where data is"),
        _ if !makers.is_empty() => {
            let makers = Vec::from_iter(makers).join(", ");
            missing.hint(format!("made by: {makers}; leave --only out, or choose these, too"))
        }
        _ => missing,
    }
}
