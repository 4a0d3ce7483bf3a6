//! `padir lab normality`: many estimates beside the normal law that the theory predicts.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_lab::experiment::{self, Normality as Found, NormalitySettings};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report};
use super::sandwich::family_of;
use crate::console::Console;

/// Asymptotic normality, seen: a fit repeated on many data sets beside its asymptotic law.
///
/// If √n (θ̂ − θ°) is normal with the predicted covariance, its squared length in that metric is χ². `KS` is the
/// Kolmogorov–Smirnov distance from that, beside what chance alone exceeds once in a thousand times.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab normality --n 4 --clique 4 --j 0.3 --k 1
  padir lab normality --n 4 --graph ring --j 0.4 --k 2 --samples 1000 --all-masks
  padir lab normality --n 3 --graph ring --j 0.8 --k 3 --family chain.toml --json")]
pub(crate) struct Normality {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// The family that is fitted, as a model file [default: the model's own].
    #[arg(long, value_name = "FILE")]
    family: Option<PathBuf>,

    /// Samples of a data set.
    #[arg(long, value_name = "n", default_value_t = 10_000, allow_negative_numbers = true)]
    samples: usize,

    /// Data sets.
    #[arg(long, value_name = "R", default_value_t = 400, allow_negative_numbers = true)]
    repeats: usize,

    /// Masks of a sample.
    #[arg(long, value_name = "m", default_value_t = 1, allow_negative_numbers = true)]
    masks: usize,

    /// Average over all masks of a sample instead.
    #[arg(long, conflicts_with = "masks")]
    all_masks: bool,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
}

#[derive(Serialize)]
struct Report {
    estimates: usize,
    nonexistent: usize,
    trace: f64,
    mean_square: f64,
    mean_square_error: f64,
    largest_bias: f64,
    ks: f64,
    ks_critical: f64,
    normal: bool,
    coverage_95: f64,
    within_trace: f64,
    quantile_99_over_trace: f64,
}

/// Larger spaces take too long.
const LARGEST: usize = 256;

impl Normality {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(
            (1..=10_000_000).contains(&self.samples),
            "--samples {} is not between 1 and 10000000",
            self.samples
        );
        ensure!(
            (2..=100_000).contains(&self.repeats),
            "--repeats {} is not between 2 and 100000",
            self.repeats
        );
        ensure!(
            (1..=10_000).contains(&self.masks),
            "--masks {} is not between 1 and 10000",
            self.masks
        );
        let (model, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(states <= LARGEST, "{states} states take too long; the limit is {LARGEST}");
        let family = family_of(&model, self.family.as_ref())?;
        let law = self.law.build(model.sites())?;
        let settings = NormalitySettings {
            samples: self.samples,
            repeats: self.repeats,
            masks: (!self.all_masks).then_some(self.masks),
            seed: self.seed,
        };
        let progress = console.progress("Fitting", self.repeats as u64);
        let found = experiment::normality(&p, &family, &law, &settings, || progress.inc(1))?;
        progress.finish_and_clear();
        let report = report(&found);
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            self.print(console, &report)
        }
    }

    fn print(&self, console: &Console, r: &Report) -> Result<()> {
        let mut out = console.out();
        let verdict = if r.normal { "normal" } else { "NOT normal" };
        writeln!(out, "{verdict}: KS {} (critical {})", human(r.ks), human(r.ks_critical))?;
        writeln!(
            out,
            "n·mean squared error {} ± {}, predicted {}",
            human(r.mean_square),
            human(r.mean_square_error),
            human(r.trace)
        )?;
        writeln!(out, "largest bias {} standard errors", human(r.largest_bias))?;
        writeln!(out, "inside of the 95 % ellipsoid: {}", human(r.coverage_95))?;
        writeln!(out, "squared error ≤ tr/n: {} (the paper says 0.99)", human(r.within_trace))?;
        writeln!(
            out,
            "99 % of them are below {} · tr/n (Markov: 100)",
            human(r.quantile_99_over_trace)
        )?;
        out.flush()?;
        console.note(format!(
            "{} estimates of n = {} samples; {} do not exist",
            r.estimates, self.samples, r.nonexistent
        ));
        Ok(())
    }
}

fn report(found: &Found) -> Report {
    Report {
        estimates: found.found,
        nonexistent: found.missing,
        trace: found.trace,
        mean_square: found.mean_square,
        mean_square_error: found.mean_square_error,
        largest_bias: found.largest_bias,
        ks: found.distance,
        ks_critical: found.critical,
        normal: found.distance < found.critical,
        coverage_95: found.coverage,
        within_trace: found.within_trace,
        quantile_99_over_trace: found.quantile,
    }
}
