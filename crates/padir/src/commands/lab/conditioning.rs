//! `padir lab conditioning`: what seeing the mask says about what it hides.

use anyhow::{Result, ensure};
use padir_lab::chain::Blocks;
use padir_lab::conditioning::{Effect, effects, looks_inside, marginalisation_gap};
use padir_lab::space::Space;
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report, print_table};
use crate::console::Console;

/// Conditioning on the mask: `p(x_K | x₋ₖ, K)` beside `p(x_K | x₋ₖ)`, where a law that looks at x makes them differ; and their
/// average over masks, which does not.
///
/// States are written site by site, what is hidden in brackets.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab conditioning --model table.toml --law adaptive.toml
  padir lab conditioning --n 3 --graph chain --j 0.5 --law adaptive.toml --most 5 --json")]
pub(crate) struct Conditioning {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// Print so many conditionals, the largest differences first.
    #[arg(long = "most", value_name = "R", default_value_t = 20, allow_negative_numbers = true)]
    most: usize,
}

#[derive(Serialize)]
struct Report {
    /// Whether p(K | x) depends on what K hides.
    looks_inside: bool,
    largest_effect: f64,
    /// The largest difference between `p(x_K | x₋ₖ)` and the average over masks.
    marginalisation_gap: f64,
    conditionals: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    hidden: Vec<usize>,
    state: Vec<usize>,
    given_mask: f64,
    without_mask: f64,
}

/// Larger spaces take too long.
const LARGEST: usize = 1024;

impl Conditioning {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let (_, p) = self.model.enumerate()?;
        let space = p.space();
        ensure!(
            space.size() <= LARGEST,
            "{} states take too long; the limit is {LARGEST}",
            space.size()
        );
        let blocks = Blocks::of(&self.law.build(space.sites())?, space)?;
        let mut found = effects(&p, &blocks);
        found.sort_by(|a, b| b.size().total_cmp(&a.size()));
        let report = Report {
            looks_inside: looks_inside(&blocks),
            largest_effect: found.first().map_or(0.0, Effect::size),
            marginalisation_gap: marginalisation_gap(&p, &blocks),
            conditionals: found.len(),
            rows: found.iter().take(self.most).map(|effect| row(space, effect)).collect(),
        };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn row(space: Space, effect: &Effect) -> Row {
    Row {
        hidden: (0..space.sites()).filter(|i| effect.block >> i & 1 == 1).collect(),
        state: space.symbols_of(effect.state).collect(),
        given_mask: effect.given,
        without_mask: effect.plain,
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .rows
        .iter()
        .map(|r| {
            let symbol = |(i, s): (usize, &usize)| {
                if r.hidden.contains(&i) { format!("[{s}]") } else { s.to_string() }
            };
            let state: Vec<String> = r.state.iter().enumerate().map(symbol).collect();
            vec![
                state.join(" "),
                human(r.given_mask),
                human(r.without_mask),
                human(r.given_mask - r.without_mask),
            ]
        })
        .collect();
    print_table(console, &["state", "given K", "without", "difference"], &rows)?;
    if !report.looks_inside {
        console
            .note("the law does not look at what it hides, so conditioning on K changes nothing");
    }
    console.note(format!(
        "{} conditionals; the average over masks gives p(x_K | x₋ₖ) to {:.1e}",
        report.conditionals, report.marginalisation_gap
    ));
    Ok(())
}
