//! `padir lab decay`: how fast a chain forgets its start.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, Chain, schedule, schedule_length};
use padir_lab::decay::{
    self, Distance, chi_squared_bound, kullback_leibler_bound, point_mass, sweep_chi_squared_bound,
};
use padir_lab::distribution::Distribution;
use padir_lab::inequality::{Inequality, SearchSettings, UpperBound, tensorisation, upper_bound};
use padir_lab::spectrum::{DENSE_STATES, SweepSpectrum, poincare, sweep_spectrum};
use serde::Serialize;

use super::law::LawArgs;
use super::model::{ModelArgs, parse_state};
use super::output::{finite, human, human_option, print_report, print_table, write_columns};
use super::scan::ScanArgs;
use crate::console::Console;
use crate::places::{Force, Places};

/// TV, KL and χ² distance from p, step by step, beside their bounds.
///
/// χ² is bounded by (1 − 1/C)²ᵗ χ²₀ with the Poincaré constant C; KL by (1 − `1/C_AT)ᵗ` KL₀ with a
/// proven upper bound of the tensorisation constant, up to 1024 states. (The paper prints
/// `e^(−2t/C_AT)`, which is not true; see docs/lab.md.) A scan in a fixed order is not reversible: its χ² falls by σ₂² a
/// sweep at least, and KL has no bound. A law with a schedule is followed step by step, without bounds.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab decay --n 4 --j 0.3 --k 1 --steps 20
  padir lab decay --n 8 --graph ring --j 0.5 --k 2 --from up --out decay.csv
  padir lab decay --n 6 --graph ring --j 0.5 --scan colour --steps 12
  padir lab decay --n 4 --j 0.8 --law linear.toml       # law = \"linear\", steps = 4
  padir lab decay --n 4 --j 0.8 --parallel --json")]
pub(crate) struct Decay {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    #[command(flatten)]
    scan: ScanArgs,

    /// Independent parallel instead of block dynamics; it has no bound, and p is not its limit.
    #[arg(long, conflicts_with_all = ["k", "law", "scan"])]
    parallel: bool,

    /// The number of steps; of a scan, updates of a block [default: 20, or as many as a schedule has].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    steps: Option<usize>,

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
    /// Updates of a sweep, if the scan has a fixed order.
    #[serde(skip_serializing_if = "Option::is_none")]
    updates: Option<usize>,
    /// The factor σ₂² by which a sweep makes χ² smaller at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    contraction: Option<f64>,
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
    /// Of a scan: the updates of a sweep, and 1/(1 − σ₂²) if it is known.
    sweep: Option<(usize, Option<SweepSpectrum>)>,
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
        let (model, p) = self.model.enumerate()?;
        let start = self.start(&p)?;
        let law = self.law.build(p.space().sites())?;
        let sweep = self.scan.sweep(&model, &law)?;
        let (chain, steps) = self.chain(&law, sweep.as_deref(), p.space().sites())?;
        let progress = console.progress("Stepping", steps as u64);
        let start = point_mass(p.space().size(), start);
        let curve = decay::decay(&p, &chain, &start, steps, || progress.inc(1))?;
        progress.finish_and_clear();
        let known = match &chain {
            Chain::Blocks(law) => constants(&p, law)?,
            Chain::Parallel => Constants::default(),
            Chain::Cycle(_) => sweep_constants(&p, sweep.as_deref())?,
        };
        let rows: Vec<Row> = curve.iter().map(|d| row(d, &curve[0], &known)).collect();
        if let Some(path) = &self.out {
            let names = ["t", "tv", "kl", "kl_bound", "chi2", "chi2_bound"];
            let cells: Vec<Vec<f64>> = rows.iter().map(numbers).collect();
            write_columns(path, &names, &cells)?;
        }
        let report = Report {
            poincare: known.poincare,
            updates: known.sweep.map(|sweep| sweep.0),
            contraction: known.sweep.and_then(|sweep| sweep.1).map(|found| found.contraction),
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

    /// The chain, and how many steps of it.
    fn chain(
        &self,
        law: &MaskLaw,
        sweep: Option<&[Vec<usize>]>,
        sites: usize,
    ) -> Result<(Chain, usize)> {
        let steps = self.steps.unwrap_or(20);
        if self.parallel {
            return Ok((Chain::Parallel, steps));
        }
        if let Some(sweep) = sweep {
            return Ok((Chain::sweep(sweep), steps));
        }
        let Some(length) = schedule_length(law) else {
            return Ok((Chain::Blocks(law.clone()), steps));
        };
        let steps = self.steps.unwrap_or(length);
        ensure!(steps <= length, "--steps {steps} goes beyond the schedule of {length} steps");
        Ok((Chain::Cycle(schedule(law, sites)?), steps))
    }

    fn start(&self, p: &Distribution) -> Result<usize> {
        parse_state(&self.from, p.space().size())
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

/// What is known of a scan; nothing of a schedule.
fn sweep_constants(p: &Distribution, sweep: Option<&[Vec<usize>]>) -> Result<Constants> {
    let Some(sweep) = sweep else { return Ok(Constants::default()) };
    let small = p.space().size() <= DENSE_STATES;
    let found = if small { Some(sweep_spectrum(p, sweep)?) } else { None };
    Ok(Constants { sweep: Some((sweep.len(), found)), ..Constants::default() })
}

fn row(d: &Distance, first: &Distance, known: &Constants) -> Row {
    let (kl, chi2) = (first.kullback_leibler, first.chi_squared);
    Row {
        t: d.step,
        tv: d.total_variation,
        kl: finite(d.kullback_leibler),
        kl_bound: known.upper.and_then(|c| finite(kullback_leibler_bound(c.value, kl, d.step))),
        chi2: finite(d.chi_squared),
        chi2_bound: match (known.poincare, known.sweep) {
            (Some(c), _) => finite(chi_squared_bound(c, chi2, d.step)),
            (None, Some((updates, Some(found)))) => {
                finite(sweep_chi_squared_bound(found.reversible.to_f64(), chi2, d.step, updates))
            }
            _ => None,
        },
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
    if let Some(updates) = report.updates {
        console.note(format!("a sweep is {updates} updates; t counts updates"));
    }
    if let Some(contraction) = report.contraction {
        console.note(format!(
            "every sweep makes χ² at least {} times as small",
            human(1.0 / contraction)
        ));
    }
    if let Some(lower) = report.tensorisation_lower {
        console.note(format!("tensorisation constant at least {}", human(lower)));
    }
    Ok(())
}
