//! `padir lab concentration`: the generalisation theorem and its lemmas beside data.

use anyhow::{Context, Result, ensure};
use padir_lab::experiment::{self, Concentration as Found, ConcentrationSettings, Lemma};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{finite, human, human_option, print_report, print_table};
use crate::console::Console;

/// The generalisation theorem and its lemmas beside data: each bound, and how large the bounded quantity was in many
/// data sets.
///
/// A model is learned from a first data set and then held fixed. `bound` holds with probability 1 − δ (or always); `quantile` is
/// the empirical 1 − δ quantile of the quantity, `largest` its largest value, `failures` how often the bound was
/// exceeded.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab concentration --n 4 --clique 4 --j 0.3 --k 1
  padir lab concentration --n 3 --graph chain --j 0.5 --k 2 --samples 100000 --masks 2 --repeats 50
  padir lab concentration --model table.toml --k 1 --json")]
pub(crate) struct Concentration {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// Samples of a data set.
    #[arg(long, value_name = "n", default_value_t = 1000, allow_negative_numbers = true)]
    samples: usize,

    /// Masks of a sample.
    #[arg(long, value_name = "m", default_value_t = 10, allow_negative_numbers = true)]
    masks: usize,

    /// The probability δ with which a bound may fail.
    #[arg(long, value_name = "δ", default_value_t = 0.1, allow_negative_numbers = true)]
    delta: f64,

    /// The resolution ε of the covering.
    #[arg(long, value_name = "ε", default_value_t = 0.01, allow_negative_numbers = true)]
    epsilon: f64,

    /// Parameters lie in [−R, R] [default: the model's largest].
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Data sets.
    #[arg(long, value_name = "D", default_value_t = 200, allow_negative_numbers = true)]
    repeats: usize,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
}

#[derive(Serialize)]
struct Report {
    learned: bool,
    ln_margin: f64,
    tensorisation_upper: Option<f64>,
    lemmas: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    label: &'static str,
    quantity: &'static str,
    /// Null beyond all floats.
    bound: Option<f64>,
    quantile: f64,
    largest: f64,
    failures: usize,
    repeats: usize,
    allowed: f64,
    holds: bool,
}

/// Larger spaces take too long.
const LARGEST: usize = 256;

impl Concentration {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(
            self.delta > 0.0 && self.delta < 1.0,
            "--delta {} is not between 0 and 1",
            self.delta
        );
        for (name, value) in [("--epsilon", Some(self.epsilon)), ("--radius", self.radius)] {
            if let Some(value) = value {
                ensure!(
                    value.is_finite() && value > 0.0,
                    "{name} {value} is not a positive number"
                );
            }
        }
        for (name, value) in
            [("--samples", self.samples), ("--masks", self.masks), ("--repeats", self.repeats)]
        {
            ensure!(
                (1..=10_000_000).contains(&value),
                "{name} {value} is not between 1 and 10000000"
            );
        }
        let (model, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(states <= LARGEST, "{states} states take too long; the limit is {LARGEST}");
        let family =
            model.family().context("a table of more than 256 states has no family here")?;
        let law = self.law.build(model.sites())?;
        let truth = model.parameters();
        let largest = truth.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let settings = ConcentrationSettings {
            samples: self.samples,
            masks: self.masks,
            delta: self.delta,
            epsilon: self.epsilon,
            radius: self.radius.unwrap_or(if largest > 0.0 { largest } else { 1.0 }),
            repeats: self.repeats,
            seed: self.seed,
            ..ConcentrationSettings::default()
        };
        let progress = console.progress("Drawing", self.repeats as u64);
        let found =
            experiment::concentration(&p, &family, &truth, &law, &settings, || progress.inc(1))?;
        progress.finish_and_clear();
        let report = report(&found);
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn report(found: &Found) -> Report {
    let row = |lemma: &Lemma| Row {
        label: lemma.label,
        quantity: lemma.quantity,
        bound: finite(lemma.bound),
        quantile: lemma.quantile,
        largest: lemma.largest,
        failures: lemma.failures,
        repeats: lemma.repeats,
        allowed: lemma.allowed,
        holds: lemma.holds(),
    };
    Report {
        learned: found.is_learned,
        ln_margin: found.log_margin,
        tensorisation_upper: found.tensorisation,
        lemmas: found.lemmas.iter().map(row).collect(),
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .lemmas
        .iter()
        .map(|r| {
            vec![
                r.quantity.to_owned(),
                human_option(r.bound),
                human(r.quantile),
                human(r.largest),
                format!("{} of {}", r.failures, r.repeats),
                human(r.allowed),
                if r.holds { "holds" } else { "FAILS" }.to_owned(),
                r.label.to_owned(),
            ]
        })
        .collect();
    let head =
        ["quantity", "bound", "quantile", "largest", "failures", "allowed", "verdict", "lemma"];
    print_table(console, &head, &rows)?;
    let learned = if report.learned {
        "learned from the first data set"
    } else {
        "the truth: the first estimate does not exist"
    };
    console.note(format!("θ is {learned}; ln 1/β {}", human(report.ln_margin)));
    match report.tensorisation_upper {
        Some(constant) => console.note(format!("C_AT(pθ) ≤ {}", human(constant))),
        None => console.note("no upper bound of C_AT(pθ) is known: bounds by it are left out"),
    }
    Ok(())
}
