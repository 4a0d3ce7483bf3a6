//! `padir lab exact`: Γ, Poincaré constants and the orders between them, for every k.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use padir_base::mask::MaskLaw;
use padir_lab::asymptotics::{self, BlockSize, Cost, by_block_size};
use padir_lab::chain::{Matrix, parallel_matrix};
use padir_lab::data::write_npy_array;
use padir_lab::decay::distance;
use padir_lab::distribution::Distribution;
use padir_lab::gth;
use padir_lab::model::{Family, Model};
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::mixing::{Mixing, print_mixing};
use super::model::ModelArgs;
use super::output::{
    human, human_wide_within, human_within, json_number, print_report, print_table, write_columns,
};
use super::scan::ScanName;
use super::scans::{ScanRow, print_scans};
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Asymptotic variances Γ, Poincaré constants and the theory's inequalities, for every k.
///
/// Parameters are the field of every site and the coupling of every edge. `trace` is tr Γᵏ, `trace J`
/// its part over the couplings. `mono` is the smallest μ with (Γᵏ − Γᵏ⁺¹) v = μ Γᵏ v, `bound` the same
/// for (C·I⁻¹ − Γᵏ) v = μ C·I⁻¹ v: the theory says that neither is negative. `gap gain` is `gap_k`/(k·gap₁), at least 1.
/// A table is its own saturated family, up to 256 states. Only digits that are right are printed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab exact --n 4 --clique 4 --j 0.3 --h 0
  padir lab exact --n 10 --clique 4 --h 5 --j 6
  padir lab exact --n 9 --graph grid --j 0.4 --json
  padir lab exact --n 4 --j 0.3 --mixing --epsilon 0.05
  padir lab exact --n 6 --graph ring --j 0.5 --scan systematic,colour
  padir lab exact --n 16 --graph ring --j 0.2 --k 8  # 65536 states, matrix-free
  padir lab exact --model mine.toml --law adaptive.toml")]
pub(crate) struct Exact {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,

    /// Also analyse this mask law (.toml or .json), adaptive ones included.
    #[arg(long, value_name = "FILE")]
    law: Option<PathBuf>,

    /// Also these scans of single sites beside random 1-Gibbs, up to 1024 states.
    #[arg(long, value_enum, value_name = "SCAN,…", value_delimiter = ',')]
    pub(super) scan: Vec<ScanName>,

    /// Also log-Sobolev, modified log-Sobolev and tensorisation constants, and mixing times.
    #[arg(long)]
    pub(super) mixing: bool,

    /// The ε of mixing times, `t_mix(ε)`.
    #[arg(long, value_name = "ε", default_value_t = 0.25, allow_negative_numbers = true)]
    pub(super) epsilon: f64,

    /// Write the table to a .csv file, or the matrices Γᵏ to a .npy file of shape (k, d, d).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) k: Vec<Row>,
    states: usize,
    log_partition: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<LawRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scans: Vec<ScanRow>,
    /// How far the stationary law of independent parallel is from p.
    #[serde(skip_serializing_if = "Option::is_none")]
    independent_parallel_tv: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) k: usize,
    trace: Option<f64>,
    trace_j: Option<f64>,
    poincare: Box<RawValue>,
    poincare_error: f64,
    /// An estimate of the relative error of the traces.
    trace_error: f64,
    mono_min_eig: Option<f64>,
    bound_min_eig: Option<f64>,
    mono_relative: Option<f64>,
    bound_relative: Option<f64>,
    /// How far the relative orders may be off.
    order_error: f64,
    /// `gap_k` / (k · gap₁), which the theory says is at least 1; with k = 1 among the sizes.
    pub(super) gap_gain: Option<f64>,
    /// max |∇²L − Cov(score)| / max |∇²L| at the truth: the information-matrix equality. None where it would take long.
    information_gap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mixing: Option<Mixing>,
}

#[derive(Serialize)]
struct LawRow {
    trace: f64,
    trace_j: f64,
    trace_error: f64,
    poincare: Box<RawValue>,
    poincare_error: f64,
    bound_min_eig: f64,
    bound_relative: f64,
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
        let equalities = equalities(&model, &p, family.as_ref(), &sizes)?;
        let scans = self.scans(&model, &p)?;
        let law =
            self.law.as_ref().map(|path| analyse_law(path, &p, family.as_ref())).transpose()?;
        let parallel = stationary_distance(&p)?;
        let mixing = self.mixing(console, &p, &sizes)?;
        if let Some(path) = &self.out {
            write(path, &rows)?;
        }
        let first = rows.iter().find(|size| size.k == 1).map(|size| size.poincare.constant);
        let (mut mixing, mut equalities) = (mixing.into_iter(), equalities.into_iter());
        let found = rows.iter().map(|size| Row {
            information_gap: equalities.next(),
            ..row(size, first, mixing.next())
        });
        let report = Report {
            k: found.collect(),
            states: p.space().size(),
            log_partition: p.log_partition(),
            law,
            scans,
            independent_parallel_tv: parallel,
        };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &rows, &report)
        }
    }
}

const NAMES: [&str; 8] = [
    "k",
    "trace",
    "trace_j",
    "poincare",
    "mono_min_eig",
    "bound_min_eig",
    "mono_relative",
    "bound_relative",
];

/// The table as .csv, Γᵏ as .npy.
fn write(path: &Path, rows: &[BlockSize]) -> Result<()> {
    if path.extension().is_none_or(|e| e != "npy") {
        return write_columns(path, &NAMES, &rows.iter().map(numbers).collect::<Vec<_>>());
    }
    let matrices: Option<Vec<&Matrix<f64>>> = rows.iter().map(|r| r.variance.as_ref()).collect();
    let matrices = matrices.context("a table of more than 256 states has no Γ to write")?;
    let size = matrices.first().map_or(0, |m| m.size());
    let entries = matrices.iter().flat_map(|m| (0..size).flat_map(|i| m.row(i))).copied();
    Ok(write_npy_array(path, &[rows.len(), size, size], entries)?)
}

/// States time and memory where they will be felt, and refuses what does not fit.
fn announce(
    console: &Console,
    p: &Distribution,
    family: Option<&Family>,
    sizes: &[usize],
) -> Result<()> {
    let cost = Cost::of(p, family, sizes)?;
    if cost.seconds > 2.0 || cost.gigabytes > 0.5 {
        console.note(format!(
            "{} states: some {:.0} s on one core and {:.1} GB",
            p.space().size(),
            cost.seconds.max(1.0),
            cost.gigabytes
        ));
    }
    Ok(())
}

/// The information-matrix equality for every size; none if that would take long.
fn equalities(
    model: &Model,
    p: &Distribution,
    family: Option<&Family>,
    sizes: &[usize],
) -> Result<Vec<f64>> {
    let Some(family) = family else { return Ok(Vec::new()) };
    let squares = (family.dimension() as f64).powi(2) * p.space().size() as f64;
    if squares * 2_f64.powi(p.space().sites() as i32) > MOST_SQUARES {
        return Ok(Vec::new());
    }
    let parameters = model.parameters();
    let gap = |&k: &usize| {
        let law = MaskLaw::Exactly { k };
        Ok(asymptotics::information_gap(p, family, &parameters, &law)?)
    };
    sizes.iter().map(gap).collect()
}

/// Multiplications up to which the information-matrix equality is checked along with the rest.
const MOST_SQUARES: f64 = 2e8;

fn analyse_law(path: &Path, p: &Distribution, family: Option<&Family>) -> Result<LawRow> {
    let law = padir_lab::model::read_config(path)
        .hint("a law looks like { law = \"exactly\", k = 2 }")?;
    let Some(family) = family else {
        anyhow::bail!("a table of more than 256 states has no parameters here")
    };
    let found = asymptotics::of_law(p, family, &law)?;
    Ok(LawRow {
        trace: found.trace,
        trace_j: found.trace_j,
        poincare: json_number(found.poincare.constant),
        trace_error: found.error,
        poincare_error: found.poincare.error,
        bound_min_eig: found.bound.absolute,
        bound_relative: found.bound.relative,
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

fn row(size: &BlockSize, first: Option<Wide>, mixing: Option<Mixing>) -> Row {
    Row {
        k: size.k,
        trace: size.trace,
        trace_j: size.trace_j,
        poincare: json_number(size.poincare.constant),
        poincare_error: size.poincare.error,
        trace_error: size.error,
        mono_min_eig: size.mono.map(|order| order.absolute),
        bound_min_eig: size.bound.map(|order| order.absolute),
        mono_relative: size.mono.map(|order| order.relative),
        bound_relative: size.bound.map(|order| order.relative),
        order_error: size.error + size.poincare.error,
        gap_gain: first.map(|first| (first / size.poincare.constant).to_f64() / size.k as f64),
        information_gap: None,
        mixing,
    }
}

fn numbers(size: &BlockSize) -> Vec<f64> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    vec![
        size.k as f64,
        or_nan(size.trace),
        or_nan(size.trace_j),
        size.poincare.constant(),
        or_nan(size.mono.map(|order| order.absolute)),
        or_nan(size.bound.map(|order| order.absolute)),
        or_nan(size.mono.map(|order| order.relative)),
        or_nan(size.bound.map(|order| order.relative)),
    ]
}

fn print(console: &Console, rows: &[BlockSize], report: &Report) -> Result<()> {
    let within = |value: Option<f64>, error| {
        value.map_or_else(|| "–".to_owned(), |value| human_within(value, error))
    };
    // What is below the error of a difference of numbers of order one is no digit of it.
    let order = |value: Option<f64>, error: f64| {
        let known = value.map(|v| if v.abs() <= error { 0.0 } else { v });
        known.map_or_else(|| "–".to_owned(), |v| human_within(v, error / v.abs().max(error)))
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .zip(&report.k)
        .map(|(row, reported)| {
            vec![
                row.k.to_string(),
                within(row.trace, row.error),
                within(row.trace_j, row.error),
                human_wide_within(row.poincare.constant, row.poincare.error),
                order(row.mono.map(|order| order.relative), row.error),
                order(row.bound.map(|order| order.relative), row.error + row.poincare.error),
                within(reported.gap_gain, row.poincare.error),
            ]
        })
        .collect();
    print_table(
        console,
        &["k", "trace", "trace J", "Poincaré", "mono", "bound", "gap gain"],
        &cells,
    )?;
    console.note(
        "trace: tr Γᵏ; trace J: its couplings; mono: 1 − largest ratio of Γᵏ⁺¹ to Γᵏ; \
         bound: 1 − largest ratio of Γᵏ to C·I⁻¹; gap gain: gap_k/(k·gap₁); theory: mono ≥ 0, bound ≥ 0, gap gain ≥ 1",
    );
    let gaps = report.k.iter().filter_map(|row| row.information_gap);
    if let Some(largest) = gaps.reduce(f64::max) {
        console.note(format!(
            "information-matrix equality: relative difference at most {largest:.1e}"
        ));
    }
    print_scans(console, &report.scans)?;
    print_mixing(console, report)?;
    if let Some(law) = &report.law {
        console.note(format!(
            "law: trace {}, trace J {}, Poincaré {}, bound {}, information-matrix gap {:.1e}",
            human_within(law.trace, law.trace_error),
            human_within(law.trace_j, law.trace_error),
            law.poincare,
            human(law.bound_relative),
            law.information_gap
        ));
    }
    if let Some(tv) = report.independent_parallel_tv {
        console
            .note(format!("independent parallel settles {tv:.6} away from p in total variation"));
    }
    Ok(())
}
