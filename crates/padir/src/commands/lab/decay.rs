//! `padir lab decay`: how fast a chain forgets its start.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, Chain};
use padir_lab::decay::{self, Distance, chi_squared_bound, kullback_leibler_bound, point_mass};
use padir_lab::distribution::Distribution;
use padir_lab::inequality::{Inequality, SearchSettings, UpperBound, tensorisation, upper_bound};
use padir_lab::spectrum::{DENSE_STATES, poincare};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{finite, human, human_option, print_report, print_table, write_columns};
use crate::console::Console;
use crate::places::{Force, Places};

/// TV, KL and χ² distance from p, step by step, beside their bounds.
///
/// χ² is bounded by (1 − 1/C)²ᵗ χ²₀ with the Poincaré constant C; KL by (1 − `1/C_AT)ᵗ` KL₀ with a
/// proven upper bound of the tensorisation constant, up to 1024 states. (The paper prints
/// `e^(−2t/C_AT)`, which is not true; see docs/lab.md.)
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab decay --n 4 --j 0.3 --k 1 --steps 20
  padir lab decay --n 8 --graph ring --j 0.5 --k 2 --from up --out decay.csv
  padir lab decay --n 4 --j 0.8 --parallel --json")]
pub(crate) struct Decay {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// Independent parallel instead of block dynamics; it has no bound, and p is not its limit.
    #[arg(long, conflicts_with_all = ["k", "law"])]
    parallel: bool,

    /// The number of steps.
    #[arg(long, value_name = "T", default_value_t = 20, allow_negative_numbers = true)]
    steps: usize,

    /// The start: down (all symbol 0), up (all the last symbol), or the number of a state.
    #[arg(long, value_name = "STATE", default_value = "down", allow_negative_numbers = true)]
    from: String,

    /// Write the table to a .csv or .npy file too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    poincare: Option<f64>,
    /// The largest quotient found: `C_AT` is at least this.
    tensorisation_lower: Option<f64>,
    /// What is proven: `C_AT` is at most this. The bound on KL uses it.
    tensorisation_upper: Option<f64>,
    tensorisation_rule: Option<&'static str>,
    steps: Vec<Row>,
}

/// The constants of block dynamics, as far as they are known.
#[derive(Default)]
struct Constants {
    poincare: Option<f64>,
    lower: Option<f64>,
    upper: Option<UpperBound>,
}

#[derive(Serialize)]
struct Row {
    t: usize,
    tv: f64,
    kl: Option<f64>,
    kl_bound: Option<f64>,
    chi2: Option<f64>,
    chi2_bound: Option<f64>,
}

/// Spaces up to this size get a lower bound of the tensorisation constant too.
const TENSOR_STATES: usize = 64;

impl Decay {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files().chain(self.law.files());
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let (_, p) = self.model.enumerate()?;
        let start = self.start(&p)?;
        let law = self.law.build(p.space().sites())?;
        let chain = if self.parallel { Chain::Parallel } else { Chain::Blocks(law.clone()) };
        let progress = console.progress("Stepping", self.steps as u64);
        let start = point_mass(p.space().size(), start);
        let curve = decay::decay(&p, &chain, &start, self.steps, || progress.inc(1))?;
        progress.finish_and_clear();
        let known = if self.parallel { Constants::default() } else { constants(&p, &law)? };
        let rows: Vec<Row> = curve.iter().map(|d| row(d, &curve[0], &known)).collect();
        if let Some(path) = &self.out {
            let names = ["t", "tv", "kl", "kl_bound", "chi2", "chi2_bound"];
            let cells: Vec<Vec<f64>> = rows.iter().map(numbers).collect();
            write_columns(path, &names, &cells)?;
        }
        let report = Report {
            poincare: known.poincare,
            tensorisation_lower: known.lower,
            tensorisation_upper: known.upper.map(|u| u.value),
            tensorisation_rule: known.upper.map(|u| u.rule.name()),
            steps: rows,
        };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }

    fn start(&self, p: &Distribution) -> Result<usize> {
        let size = p.space().size();
        Ok(match self.from.as_str() {
            "down" => 0,
            "up" => size - 1,
            number => {
                let Ok(state) = number.parse() else {
                    bail!("--from {number} is neither down, up nor the number of a state");
                };
                ensure!(state < size, "--from {state} is not among the states 0 to {}", size - 1);
                state
            }
        })
    }
}

fn constants(p: &Distribution, law: &MaskLaw) -> Result<Constants> {
    let constant = poincare(p, law, || ())?;
    let mut known = Constants { poincare: Some(constant.constant()), ..Constants::default() };
    if p.space().size() <= TENSOR_STATES {
        let found = tensorisation(p, law, &SearchSettings::default(), || ())?;
        (known.lower, known.upper) = (Some(found.lower), found.upper);
    } else if p.space().size() <= DENSE_STATES {
        let blocks = Blocks::of(law, p.space())?;
        known.upper = upper_bound(Inequality::Tensorisation, p, &blocks, &constant)?;
    }
    Ok(known)
}

fn row(d: &Distance, first: &Distance, known: &Constants) -> Row {
    let (kl, chi2) = (first.kullback_leibler, first.chi_squared);
    Row {
        t: d.step,
        tv: d.total_variation,
        kl: finite(d.kullback_leibler),
        kl_bound: known.upper.and_then(|c| finite(kullback_leibler_bound(c.value, kl, d.step))),
        chi2: finite(d.chi_squared),
        chi2_bound: known.poincare.and_then(|c| finite(chi_squared_bound(c, chi2, d.step))),
    }
}

fn numbers(row: &Row) -> Vec<f64> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    vec![
        row.t as f64,
        row.tv,
        or_nan(row.kl),
        or_nan(row.kl_bound),
        or_nan(row.chi2),
        or_nan(row.chi2_bound),
    ]
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .steps
        .iter()
        .map(|r| {
            vec![
                r.t.to_string(),
                human(r.tv),
                human_option(r.kl),
                human_option(r.kl_bound),
                human_option(r.chi2),
                human_option(r.chi2_bound),
            ]
        })
        .collect();
    print_table(console, &["t", "TV", "KL", "KL bound", "χ²", "χ² bound"], &rows)?;
    if let Some(constant) = report.poincare {
        console.note(format!("Poincaré constant {}", human(constant)));
    }
    if let (Some(upper), Some(rule)) = (report.tensorisation_upper, report.tensorisation_rule) {
        console.note(format!(
            "tensorisation constant at most {} ({rule}), which the KL bound uses",
            human(upper)
        ));
    } else if report.poincare.is_some() {
        console.note("no upper bound of the tensorisation constant is known, so none for KL");
    }
    if let Some(lower) = report.tensorisation_lower {
        console.note(format!("tensorisation constant at least {}", human(lower)));
    }
    Ok(())
}
