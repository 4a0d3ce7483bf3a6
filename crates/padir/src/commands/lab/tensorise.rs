//! `padir lab tensorise`: the constant of block approximate tensorisation.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_base::random::Seed;
use padir_lab::chain::Blocks;
use padir_lab::spectrum::poincare;
use padir_lab::tensor::{TensorSettings, Tensorisation, ratio_of, tensorisation};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, write_columns};
use crate::console::Console;
use crate::places::{Force, Places};

/// The block approximate tensorisation constant: the supremum over r of
/// KL(r‖q) / E KL(conditionals), with the r that reaches it.
///
/// A numerical supremum is a lower bound with a proof: the certificate's own ratio. On a product
/// measure the constant is N/k exactly.
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

    /// Random starts of the search, beside the systematic ones.
    #[arg(long, value_name = "S", default_value_t = 16)]
    starts: usize,

    /// The seed of the random starts.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// Write the certificate, state by state, to a .csv or .npy file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    constant: f64,
    /// The ratio of the certificate, computed afresh.
    certified: f64,
    poincare: f64,
    origin: String,
    starts: usize,
    /// How many starts came within a millionth of the best.
    agreeing_starts: usize,
    certificate: Vec<f64>,
}

/// Larger spaces take too long to search.
const LARGEST: usize = 4096;

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
        let law = self.law.build(p.space().sites())?;
        let blocks = Blocks::of(&law, p.space())?;
        let settings = TensorSettings {
            starts: self.starts,
            seed: Seed(self.seed),
            ..TensorSettings::default()
        };
        let progress = console.progress("Climbing", 0);
        let found = tensorisation(&p, &blocks, &settings, || progress.inc(1))?;
        progress.finish_and_clear();
        let certified = ratio_of(&p, &blocks, &found.log_certificate);
        let poincare = poincare(&p, &law, || ())?.constant();
        if let Some(path) = &self.out {
            let rows: Vec<Vec<f64>> = (0..p.space().size())
                .map(|x| vec![x as f64, p.log_prob(x).exp(), found.log_certificate[x].exp()])
                .collect();
            write_columns(path, &["state", "q", "r"], &rows)?;
        }
        let report = report(&found, certified, poincare);
        if console.wants_json() {
            return console.print_json(&report);
        }
        let mut out = console.out();
        writeln!(out, "C_AT ≥ {}   (certified ratio {})", human(found.constant), human(certified))?;
        writeln!(out, "Poincaré {}", human(poincare))?;
        out.flush()?;
        console.note(format!(
            "best start: {}; {} of {} starts agree to a millionth",
            report.origin, report.agreeing_starts, report.starts
        ));
        Ok(())
    }
}

fn report(found: &Tensorisation, certified: f64, poincare: f64) -> Report {
    let close = |value: &f64| (value / found.constant - 1.0).abs() < 1e-6;
    Report {
        constant: found.constant,
        certified,
        poincare,
        origin: format!("{:?}", found.origin),
        starts: found.starts.len(),
        agreeing_starts: found.starts.iter().filter(|(_, value)| close(value)).count(),
        certificate: found.log_certificate.iter().map(|l| l.exp()).collect(),
    }
}
