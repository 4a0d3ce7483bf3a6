//! `padir lab fit`: from samples to parameters.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use padir_lab::data::{read_rows, write_csv, write_npy_f64};
use padir_lab::estimate::{
    Fit as Fitted, FitOptions, Method, Samples, Separation, Settings, Verdict, fit,
};
use padir_lab::model::{Family, Model};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report, print_table};
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Fit a model's parameters to samples: maximum likelihood or any pseudolikelihood.
///
/// The graph comes from the model, its parameters do not matter. --k 1 is the classical
/// pseudolikelihood, --k N maximum likelihood, --law any weighted or adaptive one. An estimate that
/// does not exist is reported with the direction in which it runs off.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab fit samples.csv --n 6 --graph ring --k 1
  padir lab fit samples.npy --n 20 --k 2 --method lbfgs --json
  padir lab fit samples.parquet --n 30 --graph grid --rows 5 --k 8 --sampled-masks 20
  padir lab fit samples.csv --model mine.toml --law adaptive.toml --out parameters.csv")]
pub(crate) struct Fit {
    /// Samples: .csv, .npy or .parquet, one row each, −1/+1 or 0/1 (0 to q−1 for more symbols).
    #[arg(value_name = "SAMPLES")]
    samples: PathBuf,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// The method [default: Newton where Hessians are cheap, else L-BFGS].
    #[arg(long, value_enum)]
    method: Option<MethodName>,

    /// The largest number of iterations.
    #[arg(long, value_name = "I", default_value_t = 500, allow_negative_numbers = true)]
    iterations: usize,

    /// Stop when no entry of the gradient is larger.
    #[arg(long, value_name = "G", default_value_t = 1e-12, allow_negative_numbers = true)]
    tolerance: f64,

    /// The step of gradient descent.
    #[arg(long, value_name = "R", default_value_t = 0.1, allow_negative_numbers = true)]
    rate: f64,

    /// Draw this many masks for every sample instead of averaging over all.
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    sampled_masks: Option<usize>,

    /// The seed of sampled masks.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,

    /// Write the estimates to a .csv or .npy file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum MethodName {
    /// Newton.
    Newton,
    /// L-BFGS.
    Lbfgs,
    /// Gradient descent with a fixed step, as in the paper.
    Descent,
}

#[derive(Serialize)]
struct Report {
    verdict: &'static str,
    loss: f64,
    gradient: f64,
    iterations: usize,
    evaluations: usize,
    method: Method,
    samples: f64,
    distinct: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_identified: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_off: Option<RunsOff>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    estimate: f64,
    standard_error: Option<f64>,
    /// The sandwich from the samples' own scores.
    robust_error: Option<f64>,
}

#[derive(Serialize)]
struct RunsOff {
    proven: bool,
    direction: Vec<(String, f64)>,
}

impl Fit {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files().chain(self.law.files()).chain([self.samples.as_path()]);
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let model = self.model.build()?;
        let law = self.law.build(model.sites())?;
        let rows =
            read_rows(&self.samples).hint("samples are .csv, .npy or .parquet, one row each")?;
        let samples = Samples::from_numbers(model.sites(), model.symbols(), &rows)?;
        let options = FitOptions {
            law,
            method: self.method.map(MethodName::method),
            settings: Settings {
                iterations: self.iterations,
                tolerance: self.tolerance,
                rate: self.rate,
                ..Settings::default()
            },
            sampled_masks: self.sampled_masks,
            seed: self.seed,
        };
        let progress = console.progress("Fitting", 0);
        let started = std::time::Instant::now();
        let fitted =
            fit(&model, &samples, &options).hint("--sampled-masks M averages over drawn masks")?;
        let seconds = started.elapsed().as_secs_f64();
        progress.finish_and_clear();
        let report = report(&model, &samples, &fitted, seconds);
        self.write(&report)?;
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }

    fn write(&self, report: &Report) -> Result<()> {
        let Some(path) = &self.out else { return Ok(()) };
        if report.parameters.is_empty() {
            anyhow::bail!("there is no estimate to write to {}", path.display());
        }
        let error = |row: &Row| row.standard_error.unwrap_or(f64::NAN);
        let robust = |row: &Row| row.robust_error.unwrap_or(f64::NAN);
        if path.extension().is_some_and(|e| e == "npy") {
            let rows: Vec<Vec<f64>> =
                report.parameters.iter().map(|r| vec![r.estimate, error(r), robust(r)]).collect();
            write_npy_f64(path, &rows)?;
        } else {
            let names =
                ["parameter", "estimate", "standard_error", "robust_error"].map(str::to_owned);
            let rows = report.parameters.iter().map(|r| {
                vec![
                    format!("\"{}\"", r.name),
                    format!("{:?}", r.estimate),
                    format!("{:?}", error(r)),
                    format!("{:?}", robust(r)),
                ]
            });
            write_csv(path, &[], &names, rows)?;
        }
        Ok(())
    }
}

impl MethodName {
    fn method(self) -> Method {
        match self {
            Self::Newton => Method::Newton,
            Self::Lbfgs => Method::Lbfgs,
            Self::Descent => Method::Descent,
        }
    }
}

fn report(model: &Model, samples: &Samples, fitted: &Fitted, seconds: f64) -> Report {
    let names = model.family().map_or_else(Vec::new, |family: Family| {
        family.parameters().iter().map(ToString::to_string).collect()
    });
    let (verdict, runs_off) = match &fitted.verdict {
        Verdict::Found => ("found", None),
        Verdict::NotUnique => ("not-unique", None),
        Verdict::NotIdentified(_) => ("not-identified", None),
        Verdict::Unfinished => ("unfinished", None),
        Verdict::DoesNotExist(separation) => ("does-not-exist", Some(off(&names, separation))),
    };
    let unknown: &[usize] = match &fitted.verdict {
        Verdict::NotIdentified(unknown) => unknown,
        _ => &[],
    };
    let found = matches!(fitted.verdict, Verdict::Found | Verdict::NotIdentified(_));
    let parameters = names
        .iter()
        .zip(&fitted.minimum.parameters)
        .enumerate()
        .filter(|(i, _)| found && !unknown.contains(i))
        .map(|(i, (name, &estimate))| Row {
            name: name.clone(),
            estimate,
            standard_error: fitted.standard_errors.as_ref().map(|errors| errors[i]),
            robust_error: fitted.robust_errors.as_ref().map(|errors| errors[i]),
        })
        .collect();
    Report {
        verdict,
        loss: fitted.minimum.value,
        gradient: fitted.minimum.gradient,
        iterations: fitted.minimum.iterations,
        evaluations: fitted.minimum.evaluations,
        method: fitted.method,
        samples: samples.total(),
        distinct: samples.distinct(),
        seconds,
        parameters,
        not_identified: unknown.iter().filter_map(|&i| names.get(i).cloned()).collect(),
        runs_off,
    }
}

/// The parameters that take part in running off.
fn off(names: &[String], separation: &Separation) -> RunsOff {
    let parts = names.iter().zip(&separation.direction).filter(|(_, d)| d.abs() > 1e-3);
    RunsOff {
        proven: separation.exact,
        direction: parts.map(|(name, d)| (name.clone(), *d)).collect(),
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .parameters
        .iter()
        .map(|r| {
            let error = r.standard_error.map_or_else(|| "–".to_owned(), human);
            let robust = r.robust_error.map_or_else(|| "–".to_owned(), human);
            vec![r.name.clone(), human(r.estimate), error, robust]
        })
        .collect();
    if !rows.is_empty() {
        print_table(console, &["parameter", "estimate", "std. error ≤", "robust"], &rows)?;
    }
    let mut out = console.out();
    match report.verdict {
        "does-not-exist" => {
            writeln!(out, "the estimate does not exist: the data are separated")?;
            if let Some(off) = &report.runs_off {
                let parts: Vec<String> =
                    off.direction.iter().map(|(n, d)| format!("{n} {}", human(*d))).collect();
                writeln!(out, "parameters run off to infinity along {}", parts.join(", "))?;
                let how = if off.proven { "exactly, by whole numbers" } else { "numerically" };
                writeln!(out, "this was checked {how} on every sample and block")?;
            }
        }
        "not-identified" => writeln!(
            out,
            "no mask hides a site of {}: the data say nothing about them",
            report.not_identified.join(", ")
        )?,
        "not-unique" => writeln!(out, "the estimate is not unique: some parameters do not matter")?,
        "unfinished" => writeln!(
            out,
            "no minimum within the iterations; the gradient is {:e}",
            report.gradient
        )?,
        _ => {}
    }
    out.flush()?;
    console.note(format!(
        "loss {}, gradient {:.1e}, {} iterations, {} evaluations, {} of {} samples distinct, {:.3} s",
        human(report.loss), report.gradient, report.iterations, report.evaluations,
        report.distinct, report.samples, report.seconds
    ));
    Ok(())
}
