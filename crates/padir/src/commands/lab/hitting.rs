//! `padir lab hitting`: how long from R₋₁ to R₁.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, block_matrix, parallel_matrix};
use padir_lab::distribution::Distribution;
use padir_lab::hitting::{self, Update, clique_hitting};
use padir_lab::model::{Clique, Model};
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use super::output::{human_wide, json_number, print_report, print_table, write_columns};
use crate::console::Console;
use crate::places::{Force, Places};

/// Expected steps from R₋₁ (all −1) to R₁ (all +1), for k-Gibbs and independent parallel.
///
/// For a clique model the modes are those of the clique; else name the vertices with --set.
/// Computed without a single subtraction, so that all digits are right at any coupling; numbers
/// beyond 1e308 are printed in full in JSON too, with their logarithm beside them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab hitting --n 10 --clique 4 --h 5 --j 6
  padir lab hitting --n 1000 --clique 50 --h 0.1 --j 2 --k 1,50,1000
  padir lab hitting --n 9 --graph grid --j 0.8 --set 0,1,2 --json")]
pub(crate) struct Hitting {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,

    /// The vertices that must all be +1 [default: the clique, or all].
    #[arg(long, value_name = "I,…", value_delimiter = ',', allow_negative_numbers = true)]
    set: Vec<usize>,

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
    Any(Distribution, Vec<usize>),
}

impl Hitting {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files();
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        let model = self.model.build()?;
        let sites = model.sites();
        let sizes: Vec<usize> =
            if self.k.is_empty() { (1..=sites).collect() } else { self.k.clone() };
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
            print_report(console, Some(&self.model), &report(&sizes, &found))
        } else {
            print(console, &sizes, &found)
        }
    }

    fn subject(&self, model: &Model) -> Result<Subject> {
        if self.set.is_empty()
            && let Model::Ising(ising) = model
            && let Some(clique) = ising.as_clique()
        {
            return Ok(Subject::Clique(clique));
        }
        ensure!(model.symbols() == 2, "hitting times from −1 to +1 need spins");
        let sites = model.sites();
        let set = if self.set.is_empty() { (0..sites).collect() } else { self.set.clone() };
        if let Some(vertex) = set.iter().find(|v| **v >= sites) {
            bail!("--set names vertex {vertex}, but the vertices are 0 to {}", sites - 1);
        }
        let p = model.enumerate()?;
        ensure!(
            p.space().size() <= LARGEST,
            "eliminating {} states takes {:.0e} operations and {:.1} GB; the limit is {LARGEST} states",
            p.space().size(),
            (p.space().size() as f64).powi(3) / 3.0,
            (p.space().size() as f64).powi(2) * 16e-9
        );
        Ok(Subject::Any(p, set))
    }

    fn solve(&self, subject: &Subject, update: Update) -> Result<Found> {
        let chain = match subject {
            Subject::Clique(clique) => clique_hitting(clique, update)?,
            Subject::Any(p, set) => {
                let matrix = match update {
                    Update::Parallel => parallel_matrix(p)?,
                    Update::Gibbs(k) => {
                        block_matrix(p, &Blocks::of(&MaskLaw::Exactly { k }, p.space())?)?
                    }
                };
                let hit = |x: usize| set.iter().all(|&i| x >> i & 1 == 1);
                let target = (0..p.space().size()).map(hit).collect();
                hitting::Hitting::new(matrix, 0, target)
            }
        };
        let (expected, deviation) = chain.moments()?;
        // Doubling a large matrix takes long; there the mean has to do.
        let short = match subject {
            Subject::Clique(_) => true,
            Subject::Any(p, _) => p.space().size() <= 64,
        };
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

fn report(sizes: &[usize], found: &[Found]) -> Report {
    let row = |k: Option<usize>, f: &Found| Row {
        k,
        expected: json_number(f.expected),
        ln_expected: f.expected.ln(),
        deviation: json_number(f.deviation),
        quantiles: f.quantiles.map(|quantiles| quantiles.map(json_number)),
    };
    Report {
        k: sizes.iter().zip(found).map(|(&k, f)| row(Some(k), f)).collect(),
        independent_parallel: row(None, &found[sizes.len()]),
        quantile_levels: LEVELS,
    }
}

fn print(console: &Console, sizes: &[usize], found: &[Found]) -> Result<()> {
    let names = sizes.iter().map(usize::to_string).chain(["parallel".to_owned()]);
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
    print_table(console, &["k", "expected", "deviation", "5 %", "median", "95 %"], &rows)
}
