//! `padir lab sandwich`: the best member of a family, and how estimates scatter around it.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_lab::asymptotics::{self, Sandwich as Found};
use padir_lab::model::{Family, Model, ModelSpec};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report, print_table};
use crate::console::Console;
use crate::hint::WithHint;

/// Godambe's sandwich: the best parameters of a family that need not contain the truth, and the asymptotic
/// variance of their estimates.
///
/// The model is the truth; --family is what is fitted (its parameters do not matter). `estimate` minimises the population
/// loss, and √n times its error tends to a normal law with standard deviation `one mask` (H⁻¹VH⁻¹, one mask per sample),
/// `all masks` (the loss averaged over all masks of a sample), or `H⁻¹` if the family were right.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab sandwich --n 4 --graph ring --j 0.4 --k 1
  padir lab sandwich --n 4 --graph ring --j 0.8 --k 2 --family chain.toml
  padir lab sandwich --model table.toml --k 1 --json")]
pub(crate) struct Sandwich {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// The family that is fitted, as a model file [default: the model's own].
    #[arg(long, value_name = "FILE")]
    family: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    /// KL of the truth from the best member.
    divergence: f64,
    tv: f64,
    loss: f64,
    conditional_entropy: f64,
    /// max |H − V| / max |H|: zero if the family contains the truth.
    information_gap: f64,
    trace_one_mask: f64,
    trace_all_masks: f64,
    trace_naive: f64,
    parameters: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    estimate: f64,
    deviation_one_mask: f64,
    deviation_all_masks: f64,
    deviation_naive: f64,
}

/// Larger spaces take too long.
const LARGEST: usize = 4096;

/// The family of a file, or a model's own.
pub(super) fn family_of(model: &Model, file: Option<&PathBuf>) -> Result<Family> {
    let fitted = match file {
        Some(path) => ModelSpec::read(path).hint("docs/lab.md shows the form of a model file")?,
        None => model.clone(),
    };
    ensure!(
        fitted.sites() == model.sites() && fitted.symbols() == model.symbols(),
        "the family has {} sites of {} symbols, the model {} of {}",
        fitted.sites(),
        fitted.symbols(),
        model.sites(),
        model.symbols()
    );
    fitted.family().context("a table of more than 256 states has no family here")
}

impl Sandwich {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let (model, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(states <= LARGEST, "{states} states take too long; the limit is {LARGEST}");
        let family = family_of(&model, self.family.as_ref())?;
        let law = self.law.build(model.sites())?;
        let found = asymptotics::sandwich(&p, &family, &law)?;
        let report = report(&family, &found);
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn report(family: &Family, found: &Found) -> Report {
    let row = |(i, name): (usize, String)| Row {
        name,
        estimate: found.parameters[i],
        deviation_one_mask: found.variance.at(i, i).sqrt(),
        deviation_all_masks: found.averaged.at(i, i).sqrt(),
        deviation_naive: found.naive.at(i, i).sqrt(),
    };
    Report {
        divergence: found.divergence,
        tv: found.total_variation,
        loss: found.loss.cross_entropy(),
        conditional_entropy: found.loss.entropy,
        information_gap: found.information_gap,
        trace_one_mask: Found::trace(&found.variance),
        trace_all_masks: Found::trace(&found.averaged),
        trace_naive: Found::trace(&found.naive),
        parameters: family
            .parameters()
            .iter()
            .map(ToString::to_string)
            .enumerate()
            .map(row)
            .collect(),
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .parameters
        .iter()
        .map(|r| {
            vec![
                r.name.clone(),
                human(r.estimate),
                human(r.deviation_one_mask),
                human(r.deviation_all_masks),
                human(r.deviation_naive),
            ]
        })
        .collect();
    print_table(console, &["parameter", "estimate", "one mask", "all masks", "H⁻¹"], &rows)?;
    console.note(format!(
        "KL(p, pθ) {}, TV {}; information-matrix gap {:.1e}; traces {}, {}, {}",
        human(report.divergence),
        human(report.tv),
        report.information_gap,
        human(report.trace_one_mask),
        human(report.trace_all_masks),
        human(report.trace_naive)
    ));
    Ok(())
}
