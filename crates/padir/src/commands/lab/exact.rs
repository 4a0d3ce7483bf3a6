//! `padir lab exact`: Γ, Poincaré constants and the orders between them, for every k.

use std::path::{Path, PathBuf};

use anyhow::Result;
use padir_base::mask::MaskLaw;
use padir_lab::asymptotics::{self, BlockSize, by_block_size};
use padir_lab::chain::{BlockOperator, parallel_matrix};
use padir_lab::decay::distance;
use padir_lab::distribution::Distribution;
use padir_lab::gth;
use padir_lab::model::Family;
use padir_lab::spectrum::DENSE_STATES;
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use super::output::{human_option, human_wide, json_number, print_table, write_columns};
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Asymptotic variances Γ, Poincaré constants and the theory's inequalities, for every k.
///
/// Parameters are the field of every site and the coupling of every edge. `trace` is tr Γᵏ, `trace J`
/// its part over the couplings; `mono` the smallest eigenvalue of Γᵏ − Γᵏ⁺¹, `bound` that of
/// C·I⁻¹ − Γᵏ: the theory says that neither is negative.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab exact --n 4 --clique 4 --j 0.3 --h 0
  padir lab exact --n 9 --graph grid --j 0.4 --json
  padir lab exact --n 16 --graph ring --j 0.2 --k 8  # 65536 states, matrix-free
  padir lab exact --model mine.toml --law adaptive.toml")]
pub(crate) struct Exact {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    k: Vec<usize>,

    /// Also analyse this mask law (.toml or .json), adaptive ones included.
    #[arg(long, value_name = "FILE")]
    law: Option<PathBuf>,

    /// Write the table to a .csv or .npy file too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    k: Vec<Row>,
    states: usize,
    log_partition: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<LawRow>,
    /// How far the stationary law of independent parallel is from p.
    #[serde(skip_serializing_if = "Option::is_none")]
    independent_parallel_tv: Option<f64>,
}

#[derive(Serialize)]
struct Row {
    k: usize,
    trace: Option<f64>,
    trace_j: Option<f64>,
    poincare: Box<RawValue>,
    poincare_error: f64,
    mono_min_eig: Option<f64>,
    bound_min_eig: Option<f64>,
}

#[derive(Serialize)]
struct LawRow {
    trace: f64,
    trace_j: f64,
    poincare: Box<RawValue>,
    bound_min_eig: f64,
    information_gap: f64,
}

impl Exact {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files().chain(self.law.as_deref());
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let (model, p) = self.model.enumerate()?;
        let family = model.family();
        let sizes =
            if self.k.is_empty() { (1..=p.space().sites()).collect() } else { self.k.clone() };
        announce(console, &p, family.as_ref(), &sizes)?;
        let progress = console.progress("Analysing", 0);
        let rows = by_block_size(&p, family.as_ref(), &sizes, || progress.inc(1))?;
        progress.finish_and_clear();
        let law =
            self.law.as_ref().map(|path| analyse_law(path, &p, family.as_ref())).transpose()?;
        let parallel = stationary_distance(&p)?;
        if let Some(path) = &self.out {
            write_columns(path, &NAMES, &rows.iter().map(numbers).collect::<Vec<_>>())?;
        }
        let report = Report {
            k: rows.iter().map(row).collect(),
            states: p.space().size(),
            log_partition: p.log_partition(),
            law,
            independent_parallel_tv: parallel,
        };
        if console.wants_json() {
            console.print_json(&report)
        } else {
            print(console, &rows, &report)
        }
    }
}

const NAMES: [&str; 6] = ["k", "trace", "trace_j", "poincare", "mono_min_eig", "bound_min_eig"];

/// States the cost where it will be felt: flops per application of the operator, and how many.
fn announce(
    console: &Console,
    p: &Distribution,
    family: Option<&Family>,
    sizes: &[usize],
) -> Result<()> {
    let space = p.space();
    if space.size() <= DENSE_STATES {
        return Ok(());
    }
    // Some sixty steps of Lanczos, and the Hessians of k and k + 1.
    let applications = 60 + 2 * family.map_or(0, Family::dimension);
    let mut work = 0.0;
    for &k in sizes {
        work += BlockOperator::work(space, &MaskLaw::Exactly { k })? * applications as f64;
    }
    console.note(format!(
        "{} states: about {applications} applications of the operator per k, \
         2 Σ_d Σ_j C(d,j) q^(N−j) additions each: {work:.1e} in all, some {:.0} s on one core",
        space.size(),
        work / 2e9
    ));
    Ok(())
}

fn analyse_law(path: &Path, p: &Distribution, family: Option<&Family>) -> Result<LawRow> {
    let law = padir_lab::model::read_config(path)
        .hint("a law looks like { law = \"exactly\", k = 2 }")?;
    let Some(family) = family else { anyhow::bail!("a table has no parameters to estimate") };
    let found = asymptotics::of_law(p, family, &law)?;
    Ok(LawRow {
        trace: found.trace,
        trace_j: found.trace_j,
        poincare: json_number(found.poincare.constant),
        bound_min_eig: found.bound_min_eig,
        information_gap: found.information_gap,
    })
}

/// TV between p and the stationary law of independent parallel, on small spaces.
fn stationary_distance(p: &Distribution) -> Result<Option<f64>> {
    if p.space().size() > 512 {
        return Ok(None);
    }
    let matrix = parallel_matrix::<Wide>(p)?;
    let law = gth::stationary(&matrix);
    Ok(law.map(|logs| {
        let law: Vec<f64> = logs.iter().map(|l| l.exp()).collect();
        distance(0, &law, p).total_variation
    }))
}

fn row(size: &BlockSize) -> Row {
    Row {
        k: size.k,
        trace: size.trace,
        trace_j: size.trace_j,
        poincare: json_number(size.poincare.constant),
        poincare_error: size.poincare.error,
        mono_min_eig: size.mono_min_eig,
        bound_min_eig: size.bound_min_eig,
    }
}

fn numbers(size: &BlockSize) -> Vec<f64> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    vec![
        size.k as f64,
        or_nan(size.trace),
        or_nan(size.trace_j),
        size.poincare.constant(),
        or_nan(size.mono_min_eig),
        or_nan(size.bound_min_eig),
    ]
}

fn print(console: &Console, rows: &[BlockSize], report: &Report) -> Result<()> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.k.to_string(),
                human_option(row.trace),
                human_option(row.trace_j),
                human_wide(row.poincare.constant),
                human_option(row.mono_min_eig),
                human_option(row.bound_min_eig),
            ]
        })
        .collect();
    print_table(console, &["k", "trace", "trace J", "Poincaré", "mono", "bound"], &cells)?;
    if let Some(law) = &report.law {
        console.note(format!(
            "law: trace {}, trace J {}, Poincaré {}, bound {}, information-matrix gap {:.1e}",
            law.trace, law.trace_j, law.poincare, law.bound_min_eig, law.information_gap
        ));
    }
    if let Some(tv) = report.independent_parallel_tv {
        console
            .note(format!("independent parallel settles {tv:.6} away from p in total variation"));
    }
    Ok(())
}
