//! `padir lab regularity`: are the conditions of asymptotic normality met?

use anyhow::{Context, Result, ensure};
use padir_lab::asymptotics::{Regularity as Found, RegularitySettings};
use padir_lab::model::Family;
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report, print_table};
use crate::console::Console;

/// Regularity and identifiability of a model's family under a mask law, condition by condition, and whether the loss is
/// convex.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab regularity --n 4 --graph ring --j 0.4 --k 1
  padir lab regularity --n 3 --law law.toml --radius 5 --points 100
  padir lab regularity --model table.toml --json")]
pub(crate) struct Regularity {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// Convexity is tried at random parameters in [−R, R].
    #[arg(long, value_name = "R", default_value_t = 2.0, allow_negative_numbers = true)]
    radius: f64,

    /// How many pairs of them.
    #[arg(long, value_name = "P", default_value_t = 16, allow_negative_numbers = true)]
    points: usize,

    /// Their seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
}

#[derive(Serialize)]
struct Report {
    /// Whether all conditions are met.
    regular: bool,
    dimension: usize,
    rank: usize,
    /// Directions along which the distribution does not change.
    silent: Vec<Vec<(String, f64)>>,
    /// Parameters whose sites the law never hides.
    never_hidden: Vec<String>,
    realisable: f64,
    gradient: f64,
    curvature_smallest: f64,
    curvature_largest: f64,
    lipschitz: f64,
    every_state_possible: bool,
    convexity: f64,
    midpoint: f64,
}

/// Larger spaces take too long.
const LARGEST: usize = 1024;

impl Regularity {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(
            self.radius.is_finite() && self.radius > 0.0,
            "--radius {} is not a positive number",
            self.radius
        );
        ensure!(
            (1..=100_000).contains(&self.points),
            "--points {} is not between 1 and 100000",
            self.points
        );
        let (model, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(states <= LARGEST, "{states} states take too long; the limit is {LARGEST}");
        let family =
            model.family().context("a table of more than 256 states has no family here")?;
        let law = self.law.build(model.sites())?;
        let settings =
            RegularitySettings { radius: self.radius, points: self.points, seed: self.seed };
        let found = Found::of(&p, &family, &model.parameters(), &law, &settings)?;
        let report = report(&family, &found);
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn report(family: &Family, found: &Found) -> Report {
    let name = |i: usize| family.parameters()[i].to_string();
    let direction = |v: &Vec<f64>| {
        let size = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let parts = v.iter().enumerate().filter(|(_, x)| x.abs() > 1e-6 * size);
        parts.map(|(i, x)| (name(i), x / size)).collect()
    };
    Report {
        regular: found.holds(),
        dimension: found.dimension,
        rank: found.rank,
        silent: found.silent.iter().map(direction).collect(),
        never_hidden: found.untouched.iter().map(|&i| name(i)).collect(),
        realisable: found.divergence,
        gradient: found.gradient,
        curvature_smallest: found.curvature.first().copied().unwrap_or(0.0),
        curvature_largest: found.curvature.last().copied().unwrap_or(0.0),
        lipschitz: found.lipschitz,
        every_state_possible: found.positive,
        convexity: found.convexity,
        midpoint: found.midpoint,
    }
}

fn print(console: &Console, r: &Report) -> Result<()> {
    let yes = |truth: bool| if truth { "holds" } else { "FAILS" }.to_owned();
    let list =
        |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let silent: Vec<String> = r
        .silent
        .iter()
        .map(|parts| {
            parts.iter().map(|(n, x)| format!("{n} {}", human(*x))).collect::<Vec<_>>().join(", ")
        })
        .collect();
    let rows = [
        (
            yes(r.rank == r.dimension),
            "identifiable: rank of the statistics",
            format!("{} of {}", r.rank, r.dimension),
        ),
        (yes(silent.is_empty()), "directions that change nothing", list(&silent)),
        (
            yes(r.never_hidden.is_empty()),
            "parameters whose sites are never hidden",
            list(&r.never_hidden),
        ),
        (yes(r.realisable < 1e-12), "realisable: KL(p, pθ*)", human(r.realisable)),
        (yes(r.gradient < 1e-9), "θ* minimises the loss: largest |∇L(θ*)|", human(r.gradient)),
        (
            yes(r.curvature_smallest > 1e-14 * r.curvature_largest),
            "∇²L(θ*) ≻ 0: smallest and largest eigenvalue",
            format!("{} and {}", human(r.curvature_smallest), human(r.curvature_largest)),
        ),
        (yes(r.lipschitz.is_finite()), "gradients are bounded, at any θ, by", human(r.lipschitz)),
        (
            yes(r.convexity > -1e-10),
            "convex: smallest relative eigenvalue of ∇²L, random θ",
            human(r.convexity),
        ),
        (
            yes(r.midpoint < 1e-10),
            "convex: largest relative excess at midpoints",
            human(r.midpoint),
        ),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(verdict, what, value)| vec![verdict, what.to_owned(), value])
        .collect();
    print_table(console, &["verdict", "condition", "value"], &rows)?;
    if !r.every_state_possible {
        console.note("some states are impossible; the family has the same possible states");
    }
    let says = if r.regular { "regular" } else { "NOT regular" };
    console.note(format!(
        "{says}: asymptotic normality {}",
        if r.regular { "applies" } else { "does not apply" }
    ));
    Ok(())
}
