//! `padir lab sample`: run the chains.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use padir_base::mask::{Block, MaskLaw};
use padir_base::random::{Purpose, Seed};
use padir_lab::chain::Scan;
use padir_lab::data::{write_csv, write_npy_i8};
use padir_lab::model::Model;
use padir_lab::sample::{
    AnyBlocks, AnyParallel, BlockSweep, CliqueBlocks, Kernel, Parallel, Plan, SingleSite,
    SiteSweep, Start, local, run, run_until,
};
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{finite, human_option, print_report, write_columns};
use super::scan::ScanArgs;
use super::target::TargetArgs;
use crate::console::Console;
use crate::places::{Force, Places};

/// Draw samples: exactly, by block Gibbs with any mask law, or by independent parallel.
///
/// Each chain draws from its own stream, so the same seed gives the same samples at any number
/// of threads. Spins are written as −1 and +1, other symbols as 0 to q − 1. A step of a scan in a fixed order is a whole sweep,
/// a step of a law with a schedule the whole schedule.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab sample --n 6 --graph ring --j 0.4 --exact --samples 10000 --out samples.csv
  padir lab sample --n 1024 --graph torus --j 0.3 --k 1 --thin 1024 --burn-in 100000 --out grid.npy
  padir lab sample --n 100 --clique 40 --h 0.1 --j 0.05 --k 30 --samples 100 --chains 8 > s.csv
  padir lab sample --n 10 --clique 4 --h 5 --j 2 --parallel --samples 5
  padir lab sample --n 1024 --graph torus --j 0.4 --scan colour --samples 100 --out grid.npy
  padir lab sample --n 8 --symbols 3 --graph ring --j 1 --k 2 --samples 5
  padir lab sample --n 6 --graph ring --j 0.8 --until --set 0,1,2 --from down --chains 1000")]
pub(crate) struct Sample {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    #[command(flatten)]
    scan: ScanArgs,

    /// Independent draws from the enumerated distribution.
    #[arg(long, conflicts_with_all = ["k", "law", "parallel", "scan", "until"])]
    exact: bool,

    /// Independent parallel updates.
    #[arg(long, conflicts_with_all = ["k", "law", "scan"])]
    parallel: bool,

    /// Run each chain until its target and write the number of steps instead of samples.
    #[arg(long)]
    until: bool,

    #[command(flatten)]
    target: TargetArgs,

    /// With --until: give up after so many steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1_000_000, allow_negative_numbers = true)]
    budget: u64,

    /// Samples per chain.
    #[arg(long, value_name = "S", default_value_t = 1000, allow_negative_numbers = true)]
    samples: usize,

    /// Independent chains.
    #[arg(long, value_name = "C", default_value_t = 1, allow_negative_numbers = true)]
    chains: usize,

    /// Steps before the first sample.
    #[arg(long, value_name = "B", default_value_t = 1000, allow_negative_numbers = true)]
    burn_in: u64,

    /// Steps from one sample to the next.
    #[arg(long, value_name = "T", default_value_t = 1, allow_negative_numbers = true)]
    thin: u64,

    /// Where chains start.
    #[arg(long, value_enum, default_value = "random")]
    from: From,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,

    /// Write to a .csv or .npy file instead of CSV on stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum From {
    /// All −1, or symbol 0.
    Down,
    /// All +1, or the last symbol.
    Up,
    /// Symbols drawn uniformly.
    Random,
}

/// How long chains took to their target.
#[derive(Serialize)]
struct Arrivals {
    chains: usize,
    arrived: usize,
    budget: u64,
    /// Over the chains that arrived.
    mean: Option<f64>,
    standard_error: Option<f64>,
    /// Chain by chain; null where the budget ran out.
    steps: Vec<Option<u64>>,
}

#[derive(Serialize)]
struct Report {
    samples: usize,
    sites: usize,
    steps: u64,
    seconds: f64,
    steps_per_second: f64,
    /// The mean of every site.
    means: Vec<f64>,
}

impl Sample {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let inputs = self.model.files().chain(self.law.files());
        Places::default().reads(inputs).writes(&self.out).check(self.force)?;
        ensure!(self.samples > 0 && self.chains > 0, "there is nothing to draw: 0 samples");
        ensure!(
            u32::try_from(self.samples as u64).is_ok() && u32::try_from(self.chains as u64).is_ok(),
            "more than 2^32 samples or chains"
        );
        ensure!(self.until || !self.target.is_given(), "--set and --target need --until");
        let model = self.model.build()?;
        ensure!(
            model.symbols() <= MOST_SYMBOLS,
            "{} symbols are more than the {MOST_SYMBOLS} that samples are written with",
            model.symbols()
        );
        if self.until {
            return self.arrivals(console, &model);
        }
        let per_chain = self.burn_in.max(1) + self.thin.max(1) * (self.samples as u64 - 1);
        let steps = if self.exact { 0 } else { per_chain * self.chains as u64 };
        let started = std::time::Instant::now();
        let rows =
            if self.exact { self.exactly(&model)? } else { self.chain(console, &model, steps)? };
        let seconds = started.elapsed().as_secs_f64();
        let rows: Vec<Vec<i8>> = rows.into_iter().map(|row| signed(row, model.symbols())).collect();
        let means = (0..model.sites())
            .map(|i| rows.iter().map(|r| f64::from(r[i])).sum::<f64>() / rows.len() as f64)
            .collect();
        if let Some(path) = &self.out {
            write_file(path, &rows)?;
        }
        let report = Report {
            samples: rows.len(),
            sites: model.sites(),
            steps,
            seconds,
            steps_per_second: steps as f64 / seconds.max(1e-9),
            means,
        };
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        if self.out.is_none() {
            print_rows(console, &rows)?;
        }
        if steps > 0 {
            console.note(format!(
                "{steps} steps in {seconds:.2} s: {:.3e} a second",
                report.steps_per_second
            ));
        }
        Ok(())
    }

    fn exactly(&self, model: &Model) -> Result<Vec<Vec<u8>>> {
        let p = model.enumerate()?;
        let sampler = p.sampler();
        let draw = |chain: usize| {
            let mut stream = Seed(self.seed).stream(Purpose::Synthesis, chain as u64);
            let one = |_| -> Vec<u8> {
                p.space().symbols_of(sampler.draw(&mut stream)).map(|s| s as u8).collect()
            };
            (0..self.samples).map(one).collect::<Vec<_>>()
        };
        Ok((0..self.chains).flat_map(draw).collect())
    }

    /// The chain that was asked for.
    fn kernel(&self, model: &Model) -> Result<Box<dyn Kernel>> {
        let local = || local(model);
        if self.parallel {
            return Ok(match model {
                Model::Ising(ising) => Box::new(Parallel::new(ising)),
                _ => Box::new(AnyParallel::new(local()?)),
            });
        }
        let law = self.law.build(model.sites())?;
        if let Some(sweep) = self.scan.sweep(model, &law)? {
            let coloured = self.scan.scan() == Scan::Colour;
            let single = coloured || sweep.iter().all(|block| block.len() == 1);
            return Ok(match model {
                Model::Ising(ising) if single => {
                    Box::new(SiteSweep::new(SingleSite::new(ising), sweep.concat()))
                }
                _ if coloured => Box::new(BlockSweep::coloured(local()?, &sweep)),
                _ => {
                    // The law is only asked whether its blocks can be enumerated.
                    let blocks = sweep.iter().map(|b| Block { positions: b.clone(), weight: 1.0 });
                    AnyBlocks::new(local()?, &MaskLaw::Blocks { blocks: blocks.collect() })?;
                    Box::new(BlockSweep::new(local()?, sweep))
                }
            });
        }
        let Model::Ising(ising) = model else {
            return Ok(Box::new(AnyBlocks::new(local()?, &law)?));
        };
        Ok(match (law, ising.as_clique()) {
            (MaskLaw::Exactly { k: 1 }, _) => Box::new(SingleSite::new(ising)),
            (MaskLaw::Exactly { k }, Some(clique))
                if clique.common_field().is_some() && clique.size() <= 255 =>
            {
                Box::new(CliqueBlocks::new(&clique, k)?)
            }
            (law, _) => Box::new(AnyBlocks::new(ising.clone(), &law)?),
        })
    }

    fn plan(&self) -> Plan {
        Plan {
            chains: self.chains,
            samples: self.samples,
            burn_in: self.burn_in,
            thin: self.thin,
            start: match self.from {
                From::Down => Start::Down,
                From::Up => Start::Up,
                From::Random => Start::Random,
            },
            seed: Seed(self.seed),
        }
    }

    /// Steps of every chain to the target.
    fn arrivals(&self, console: &Console, model: &Model) -> Result<()> {
        let clique = match model {
            Model::Ising(ising) => ising.as_clique(),
            _ => None,
        };
        let target = self.target.build(model, 0..clique.map_or(model.sites(), |c| c.size()))?;
        let kernel = self.kernel(model)?;
        let done = |state: &[u8]| target.holds(state);
        let steps = run_until(kernel.as_ref(), &self.plan(), self.budget, done);
        let arrived: Vec<f64> = steps.iter().flatten().map(|&s| s as f64).collect();
        let count = arrived.len() as f64;
        let mean = arrived.iter().sum::<f64>() / count;
        let spread = arrived.iter().map(|s| (s - mean).powi(2)).sum::<f64>();
        let report = Arrivals {
            chains: steps.len(),
            arrived: arrived.len(),
            budget: self.budget,
            mean: finite(mean),
            standard_error: finite((spread / count / (count - 1.0)).sqrt()),
            steps,
        };
        if let Some(path) = &self.out {
            let rows = report.steps.iter().enumerate();
            let rows = rows.map(|(c, s)| vec![c as f64, s.map_or(f64::NAN, |s| s as f64)]);
            write_columns(path, &["chain", "steps"], &rows.collect::<Vec<_>>())?;
        }
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        if self.out.is_none() {
            let mut out = console.out();
            writeln!(out, "chain,steps")?;
            for (chain, steps) in report.steps.iter().enumerate() {
                writeln!(out, "{chain},{}", steps.map_or_else(String::new, |s| s.to_string()))?;
            }
            out.flush()?;
        }
        console.note(format!(
            "{} of {} chains arrived within {} steps; mean {} ± {}",
            report.arrived,
            report.chains,
            report.budget,
            human_option(report.mean),
            human_option(report.standard_error)
        ));
        Ok(())
    }

    fn chain(&self, console: &Console, model: &Model, steps: u64) -> Result<Vec<Vec<u8>>> {
        let kernel = self.kernel(model)?;
        let plan = self.plan();
        let progress = console.progress("Sampling", steps);
        let rows = run(kernel.as_ref(), &plan, |steps| progress.inc(steps));
        progress.finish_and_clear();
        Ok(rows)
    }
}

/// Samples are written as signed bytes.
const MOST_SYMBOLS: usize = 128;

fn signed(row: Vec<u8>, symbols: usize) -> Vec<i8> {
    row.into_iter().map(|s| if symbols == 2 { 2 * s as i8 - 1 } else { s as i8 }).collect()
}

fn write_file(path: &Path, rows: &[Vec<i8>]) -> Result<()> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => write_npy_i8(path, rows)?,
        Some("csv") => {
            let names: Vec<String> = (0..rows[0].len()).map(|i| format!("x{i}")).collect();
            let cells = rows.iter().map(|row| row.iter().map(ToString::to_string).collect());
            write_csv(path, &[], &names, cells)?;
        }
        _ => bail!("{} is neither .csv nor .npy", path.display()),
    }
    Ok(())
}

fn print_rows(console: &Console, rows: &[Vec<i8>]) -> Result<()> {
    let mut out = console.out();
    let names: Vec<String> = (0..rows[0].len()).map(|i| format!("x{i}")).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(out.flush()?)
}
