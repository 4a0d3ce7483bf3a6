//! `padir lab hitting`: how long from R₋₁ to R₁.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, Scan, block_matrix, parallel_matrix};
use padir_lab::distribution::Distribution;
use padir_lab::hitting::{self, SweepHitting, Update, clique_hitting};
use padir_lab::model::{Clique, Model};
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::{ModelArgs, parse_state};
use super::output::{human_wide, json_number, print_report, print_table, write_columns};
use super::scan::ScanArgs;
use super::target::TargetArgs;
use crate::console::Console;
use crate::places::{Force, Places};

/// Expected steps from R₋₁ (all −1) to R₁ (all +1), for k-Gibbs and independent parallel.
///
/// For a clique model the modes are those of the clique; else name the sites with --set, or any set of states with
/// --target. Potts models and tables start from all symbols 0. A scan in a fixed order counts updates of a block.
/// Computed without a single subtraction, so that all digits are right at any coupling; numbers
/// beyond 1e308 are printed in full in JSON too, with their logarithm beside them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab hitting --n 10 --clique 4 --h 5 --j 6
  padir lab hitting --n 1000 --clique 50 --h 0.1 --j 2 --k 1,50,1000
  padir lab hitting --n 9 --graph grid --j 0.8 --set 0,1,2 --json
  padir lab hitting --n 6 --graph ring --j 0.8 --scan colour
  padir lab hitting --n 4 --symbols 3 --graph chain --j 1 --target 0=2,1=2 --target 3=1")]
pub(crate) struct Hitting {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    scan: ScanArgs,

    /// The start: down (all symbol 0), up (all the last symbol), or the number of a state [default: down].
    #[arg(long, value_name = "STATE", allow_negative_numbers = true)]
    from: Option<String>,

    /// Write P(T > t) for t = 0 to STEPS, one column per chain, to --out.
    #[arg(long, value_name = "STEPS", requires = "out", allow_negative_numbers = true)]
    survival: Option<usize>,

    /// Where to write survival curves: .csv or .npy.
    #[arg(long, value_name = "FILE", requires = "survival")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    scan: Scan,
    k: Vec<Row>,
    independent_parallel: Row,
    quantile_levels: [f64; 3],
}

#[derive(Serialize)]
struct Row {
    /// None for independent parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    expected: Box<RawValue>,
    ln_expected: f64,
    deviation: Box<RawValue>,
    /// None where doubling the matrix would take too long.
    quantiles: Option<[Box<RawValue>; 3]>,
}

/// What is known about one chain.
struct Found {
    expected: Wide,
    deviation: Wide,
    quantiles: Option<[Wide; 3]>,
    survival: Vec<f64>,
}

const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];

/// The largest space that is eliminated state by state.
const LARGEST: usize = 1 << 10;

enum Subject {
    Clique(Clique),
    Any { model: Model, p: Distribution, start: usize, target: Vec<bool> },
}

impl Hitting {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files();
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let model = self.model.build()?;
        let sites = model.sites();
        let sizes: Vec<usize> = match (self.scan.scan(), self.k.is_empty()) {
            // Classes have the size they have.
            (Scan::Colour, true) => vec![1],
            (_, true) => (1..=sites).collect(),
            (_, false) => self.k.clone(),
        };
        if let Some(k) = sizes.iter().find(|k| !(1..=sites).contains(*k)) {
            bail!("k = {k} is not between 1 and N = {sites}");
        }
        let subject = self.subject(&model)?;
        let progress = console.progress("Eliminating", sizes.len() as u64 + 1);
        let mut found = Vec::new();
        for update in sizes.iter().map(|&k| Update::Gibbs(k)).chain([Update::Parallel]) {
            found.push(self.solve(&subject, update)?);
            progress.inc(1);
        }
        progress.finish_and_clear();
        self.write(&sizes, &found)?;
        if console.wants_json() {
            print_report(console, Some(&self.model), &report(self.scan.scan(), &sizes, &found))
        } else {
            print(console, self.scan.scan(), &sizes, &found)
        }
    }

    fn subject(&self, model: &Model) -> Result<Subject> {
        let clique = match model {
            Model::Ising(ising) => ising.as_clique(),
            _ => None,
        };
        let plain = !self.target.is_given() && self.from.is_none();
        if plain
            && self.scan.scan() == Scan::Random
            && let Some(clique) = clique
        {
            return Ok(Subject::Clique(clique));
        }
        let size = clique.as_ref().map_or(model.sites(), Clique::size);
        let target = self.target.build(model, 0..size)?;
        let p = model.enumerate()?;
        let states = p.space().size();
        ensure!(
            states <= LARGEST,
            "eliminating {states} states takes {:.0e} operations and {:.1} GB; the limit is {LARGEST} states",
            (states as f64).powi(3) / 3.0,
            (states as f64).powi(2) * 16e-9
        );
        let start = parse_state(self.from.as_deref().unwrap_or("down"), states)?;
        Ok(Subject::Any { target: target.flags(p.space()), model: model.clone(), p, start })
    }

    fn solve(&self, subject: &Subject, update: Update) -> Result<Found> {
        match subject {
            Subject::Clique(clique) => self.found(&clique_hitting(clique, update)?, true),
            Subject::Any { model, p, start, target } => {
                // Doubling a large matrix takes long; there the mean has to do.
                let short = p.space().size() <= 64;
                let law = |k| MaskLaw::Exactly { k };
                let matrix = match update {
                    Update::Parallel => parallel_matrix(p)?,
                    Update::Gibbs(k) => match self.scan.sweep(model, &law(k))? {
                        Some(sweep) => {
                            let chain = SweepHitting::new(p, &sweep, *start, target.clone())?;
                            return self.found_sweep(&chain, short);
                        }
                        None => block_matrix(p, &Blocks::of(&law(k), p.space())?)?,
                    },
                };
                self.found(&hitting::Hitting::new(matrix, *start, target.clone()), short)
            }
        }
    }

    fn found_sweep(&self, chain: &SweepHitting, short: bool) -> Result<Found> {
        let (expected, deviation) = chain.moments()?;
        let quantiles = short.then(|| chain.quantiles(&LEVELS)).map(|q| [q[0], q[1], q[2]]);
        let survival = self.survival.map_or_else(Vec::new, |steps| chain.survival(steps));
        Ok(Found { expected, deviation, quantiles, survival })
    }

    fn found(&self, chain: &hitting::Hitting, short: bool) -> Result<Found> {
        let (expected, deviation) = chain.moments()?;
        let quantiles = short.then(|| chain.quantiles(&LEVELS)).map(|q| [q[0], q[1], q[2]]);
        let survival = self.survival.map_or_else(Vec::new, |steps| chain.survival(steps));
        Ok(Found { expected, deviation, quantiles, survival })
    }

    fn write(&self, sizes: &[usize], found: &[Found]) -> Result<()> {
        let (Some(path), Some(steps)) = (&self.out, self.survival) else { return Ok(()) };
        let mut names = vec!["t".to_owned()];
        names.extend(sizes.iter().map(|k| format!("k{k}")));
        names.push("parallel".to_owned());
        let rows: Vec<Vec<f64>> = (0..=steps)
            .map(|t| std::iter::once(t as f64).chain(found.iter().map(|f| f.survival[t])).collect())
            .collect();
        write_columns(path, &names.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
    }
}

fn report(scan: Scan, sizes: &[usize], found: &[Found]) -> Report {
    let row = |k: Option<usize>, f: &Found| Row {
        k,
        expected: json_number(f.expected),
        ln_expected: f.expected.ln(),
        deviation: json_number(f.deviation),
        quantiles: f.quantiles.map(|quantiles| quantiles.map(json_number)),
    };
    Report {
        scan,
        k: sizes.iter().zip(found).map(|(&k, f)| row(Some(k), f)).collect(),
        independent_parallel: row(None, &found[sizes.len()]),
        quantile_levels: LEVELS,
    }
}

fn print(console: &Console, scan: Scan, sizes: &[usize], found: &[Found]) -> Result<()> {
    let name = |k: &usize| if scan == Scan::Colour { "colour".to_owned() } else { k.to_string() };
    let names = sizes.iter().map(name).chain(["parallel".to_owned()]);
    let rows: Vec<Vec<String>> = names
        .zip(found)
        .map(|(name, f)| {
            let mut row = vec![name, human_wide(f.expected), human_wide(f.deviation)];
            match f.quantiles {
                Some(quantiles) => row.extend(quantiles.map(human_wide)),
                None => row.extend(["–"; 3].map(str::to_owned)),
            }
            row
        })
        .collect();
    print_table(console, &["k", "expected", "deviation", "5 %", "median", "95 %"], &rows)?;
    if scan != Scan::Random {
        console.note("updates of a block in a fixed order; parallel counts updates of all sites");
    }
    Ok(())
}
