//! `padir lab tensorise`: the constant of block approximate tensorisation.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_base::random::Seed;
use padir_lab::chain::Blocks;
use padir_lab::inequality::{Constant, Inequality, SearchSettings, ratio_of, tensorisation};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{finite, human, print_report, write_columns};
use crate::console::Console;
use crate::places::{Force, Places};

/// The block approximate tensorisation constant: the supremum over r of
/// KL(r‖q) / E KL(conditionals), with the r that reaches it.
///
/// A numerical supremum is a lower bound with a proof: the certificate's own ratio, or the Poincaré
/// constant, which is the limit r → q. Up to 1024 states a theorem gives an upper bound too. On a
/// product measure both are N/k.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab tensorise --n 4 --j 0.3 --k 1
  padir lab tensorise --n 5 --graph independent --h 0.7 --k 2      # exactly 5/2
  padir lab tensorise --n 4 --j 0.5 --k 2 --starts 64 --out certificate.csv")]
pub(crate) struct Tensorise {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// Random starts of the search, two of each kind, beside the systematic ones.
    #[arg(long, value_name = "S", default_value_t = 8, allow_negative_numbers = true)]
    starts: usize,

    /// The seed of the random starts.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,

    /// Write the certificate, state by state, to a .csv or .npy file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    /// `C_AT` is at least this.
    lower: f64,
    /// `C_AT` is at most this.
    upper: Option<f64>,
    upper_rule: Option<&'static str>,
    /// The ratio of the certificate, computed afresh.
    certified: Option<f64>,
    poincare: f64,
    origin: String,
    starts: usize,
    /// How many starts came within a millionth of the best.
    agreeing_starts: usize,
    certificate: Vec<f64>,
}

/// Larger spaces take too long to search.
const LARGEST: usize = 4096;

/// More starts than this find nothing new.
const MOST_STARTS: usize = 100_000;

impl Tensorise {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files().chain(self.law.files());
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let (_, p) = self.model.enumerate()?;
        ensure!(
            p.space().size() <= LARGEST,
            "a search over distributions on {} states takes too long; the limit is {LARGEST}",
            p.space().size()
        );
        ensure!(self.starts <= MOST_STARTS, "--starts {} is more than {MOST_STARTS}", self.starts);
        let law = self.law.build(p.space().sites())?;
        let settings = SearchSettings {
            starts: self.starts,
            seed: Seed(self.seed),
            ..SearchSettings::default()
        };
        let progress = console.progress("Climbing", 0);
        let found = tensorisation(&p, &law, &settings, || progress.inc(1))?;
        progress.finish_and_clear();
        let blocks = Blocks::of(&law, p.space())?;
        let certified = ratio_of(Inequality::Tensorisation, &p, &blocks, &found.log_certificate);
        if let Some(path) = &self.out {
            let rows: Vec<Vec<f64>> = (0..p.space().size())
                .map(|x| vec![x as f64, p.log_prob(x).exp(), found.log_certificate[x].exp()])
                .collect();
            write_columns(path, &["state", "q", "r"], &rows)?;
        }
        let report = report(&found, finite(certified));
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        print(console, &report)
    }
}

fn report(found: &Constant, certified: Option<f64>) -> Report {
    Report {
        lower: found.lower,
        upper: found.upper.map(|u| u.value),
        upper_rule: found.upper.map(|u| u.rule.name()),
        certified,
        poincare: found.poincare.constant(),
        origin: format!("{:?}", found.origin),
        starts: found.starts.len(),
        agreeing_starts: found.agreeing(),
        certificate: found.log_certificate.iter().map(|l| l.exp()).collect(),
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let mut out = console.out();
    match report.certified {
        Some(ratio) => {
            writeln!(out, "C_AT ≥ {}   (certified ratio {})", human(report.lower), human(ratio))?;
        }
        // A point mass: no other r is absolutely continuous.
        None => writeln!(out, "C_AT ≥ {}   (the limit r → q)", human(report.lower))?,
    }
    match (report.upper, report.upper_rule) {
        (Some(upper), Some(rule)) => writeln!(out, "C_AT ≤ {}   ({rule})", human(upper))?,
        _ => writeln!(out, "C_AT ≤ unknown")?,
    }
    writeln!(out, "Poincaré {}", human(report.poincare))?;
    out.flush()?;
    console.note(format!(
        "best start: {}; {} of {} starts agree to a millionth",
        report.origin, report.agreeing_starts, report.starts
    ));
    Ok(())
}
