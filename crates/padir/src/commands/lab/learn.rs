//! `padir lab learn`: a small network beside the distribution it learns.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use padir_lab::chain::Matrix;
use padir_lab::conditionals::{ConditionalError, Conditionals, MOST_STATES, Split};
use padir_lab::distribution::Distribution;
use padir_lab::model::read_config;
use padir_pipeline::learn::figures::figures;
use padir_pipeline::learn::{Objective, Outcome, Settings, Study};
use serde::Serialize;

use super::figures::{Made, save};
use super::model::ModelArgs;
use super::output::{human_within, print_report, print_table};
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Train small masked networks on samples of the model, and compare what they learned with the truth.
///
/// Every network is asked for all its conditionals, with every set of sites hidden. `TV 1` and `TV N` are their mean distance from the
/// exact ones with one site and with all sites hidden. `inconsistent` is how far the conditionals of single sites are from those of any joint
/// distribution, `TV joint` how far the nearest joint is from p. The chain of a network hides sites by its training law and starts from all symbols 0: `total` is its
/// distance from p after T steps, `denoiser` that from the same chain on exact conditionals, `sampler` that of the exact chain from p; first if
/// hidden sites are filled one after the other, then if all at once, as parallel decoders do.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab learn --n 3 --graph chain --j 0.8 --samples 1000 --k any
  padir lab learn --n 4 --clique 4 --j 0.3 --samples 100,1000,10000 --out figures
  padir lab learn --n 3 --symbols 3 --graph chain --j 0.8 --k 1,3,any --objective padir --json
  padir lab learn --n 4 --law law.toml --train-steps 500 --width 16")]
pub(crate) struct Learn {
    #[command(flatten)]
    model: ModelArgs,

    /// Numbers of training samples.
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_values_t = [100, 1000, 10_000],
        allow_negative_numbers = true
    )]
    samples: Vec<usize>,

    /// Hide so many sites in training, all sets equally likely; `any` draws the number too [default: 1 to N and any].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<String>,

    /// Hide by a mask law from a .toml or .json file, too; may be given several times.
    #[arg(long, value_name = "FILE")]
    law: Vec<PathBuf>,

    /// What is learned: hidden sites from visible ones, or all sites in two stages.
    #[arg(long, value_enum, default_value_t = ObjectiveName::Cmlm)]
    objective: ObjectiveName,

    /// Networks for each number of samples and law, with seeds of their own.
    #[arg(long, value_name = "R", default_value_t = 1, allow_negative_numbers = true)]
    repeats: usize,

    /// Steps T of the chains.
    #[arg(long, value_name = "T", default_value_t = 20, allow_negative_numbers = true)]
    steps: usize,

    /// Write figures with their numbers and captions to this directory; it is made if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    force: Force,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Network")]
struct NetworkArgs {
    /// Steps of training.
    #[arg(long, value_name = "STEPS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    train_steps: u64,

    /// Samples of a training step.
    #[arg(long, value_name = "B", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,

    /// The largest learning rate.
    #[arg(long, value_name = "RATE", default_value_t = 3e-3, allow_negative_numbers = true)]
    rate: f64,

    /// The width.
    #[arg(long, value_name = "D", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    width: u32,

    /// Layers of the decoder.
    #[arg(long, value_name = "L", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=24))]
    layers: u32,

    /// Heads of every attention.
    #[arg(long, value_name = "H", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    heads: u32,

    /// The seed of samples, parameters and masks.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ObjectiveName {
    /// Hidden sites from visible ones.
    Cmlm,
    /// All sites, and again from the network's own argmax.
    Padir,
}

#[derive(Serialize)]
struct Report {
    /// True couplings, or those of the exact conditionals; spins only.
    couplings: Option<Vec<Vec<f64>>>,
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<Made>,
}

#[derive(Serialize)]
struct Run {
    samples: usize,
    law: String,
    repeat: usize,
    /// Of the last tenth of training, in nats.
    cross_entropy: f64,
    /// Of the samples themselves from p.
    empirical_tv: f64,
    conditionals: Vec<ConditionalRow>,
    inconsistency_kl: f64,
    inconsistency_tv: f64,
    joint_tv: f64,
    unmasking: Vec<ChainRow>,
    parallel: Vec<ChainRow>,
    couplings: Option<Vec<Vec<f64>>>,
    attention: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct ConditionalRow {
    hidden: usize,
    tv_mean: f64,
    tv_max: f64,
    kl_mean: f64,
}

#[derive(Serialize)]
struct ChainRow {
    t: usize,
    total: f64,
    denoiser: f64,
    sampler: f64,
}

impl Learn {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let outputs = self.out.iter().flat_map(|out| {
            ["conditionals", "chains", "couplings"].into_iter().flat_map(move |name| {
                ["svg", "png", "csv", "txt"].map(|form| out.join(format!("learn-{name}.{form}")))
            })
        });
        let inputs = self.model.files().chain(self.law.iter().map(PathBuf::as_path));
        Places::default().reads(inputs).writes(outputs).check(self.force)?;
        let (model, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(
            states <= MOST_STATES,
            "{states} states are too many to compare all conditionals; the limit is {MOST_STATES}"
        );
        let study = self.study(model.sites())?;
        let progress = console.progress("Training", study.length());
        let outcomes = study.run(&p, || progress.inc(1))?;
        progress.finish_and_clear();
        let truth = Conditionals::exact(&p).couplings(&p).map(|matrix| rows_of(&matrix));
        let figures = self.draw(&study, &outcomes, truth.as_deref().unwrap_or_default())?;
        if console.wants_json() {
            let runs = outcomes.iter().map(Run::of).collect();
            let report = Report { couplings: truth, runs, figures };
            return print_report(console, Some(&self.model), &report);
        }
        print(console, &study, &outcomes, &p)?;
        for made in &figures {
            console.note(format!("{}, with .png, .csv and .txt", made.svg.display()));
        }
        Ok(())
    }

    fn study(&self, sites: usize) -> Result<Study> {
        ensure!(self.repeats > 0, "--repeats 0 leaves nothing to average");
        ensure!(self.steps <= 1_000_000, "--steps {} is more than 1,000,000", self.steps);
        let NetworkArgs { rate, .. } = self.network;
        ensure!(rate > 0.0 && rate <= 1.0, "--rate {rate} is not above 0 and at most 1");
        let (width, heads) = (self.network.width, self.network.heads);
        ensure!(heads <= width, "--heads {heads} do not fit into --width {width}");
        if let Some(n) = self.samples.iter().find(|n| !(1..=10_000_000).contains(*n)) {
            bail!("--samples {n} is not between 1 and 10,000,000");
        }
        Ok(Study {
            settings: Settings {
                objective: match self.objective {
                    ObjectiveName::Cmlm => Objective::Cmlm,
                    ObjectiveName::Padir => Objective::Padir,
                },
                width: width as usize,
                layers: self.network.layers as usize,
                heads: heads as usize,
                steps: self.network.train_steps,
                batch: self.network.batch as usize,
                rate,
                seed: Seed(self.network.seed),
            },
            samples: self.samples.clone(),
            laws: self.laws(sites)?,
            repeats: self.repeats,
            steps: self.steps,
            start: 0,
        })
    }

    fn laws(&self, sites: usize) -> Result<Vec<(String, MaskLaw)>> {
        let all = || (1..=sites).map(|k| k.to_string()).chain(["any".to_owned()]).collect();
        let sizes = if self.k.is_empty() && self.law.is_empty() { all() } else { self.k.clone() };
        let mut laws = Vec::new();
        for size in sizes {
            if size == "any" {
                laws.push(("any k".to_owned(), MaskLaw::UniformCount { least: 1, spare: 0 }));
                continue;
            }
            let k = size.parse().ok().filter(|k| (1..=sites).contains(k));
            let k = k.with_context(|| format!("--k {size} is neither `any` nor 1 to {sites}"))?;
            laws.push((format!("k = {k}"), MaskLaw::Exactly { k }));
        }
        for path in &self.law {
            let law = read_config(path).hint("a law looks like { law = \"exactly\", k = 2 }")?;
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
            laws.push((name.into_owned(), law));
        }
        Ok(laws)
    }

    fn draw(&self, study: &Study, outcomes: &[Outcome], truth: &[Vec<f64>]) -> Result<Vec<Made>> {
        let Some(out) = &self.out else { return Ok(Vec::new()) };
        std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
        let command = super::output::command_line();
        let drawings = figures(study, outcomes, truth);
        drawings.iter().map(|drawing| save(drawing, out, &command, 200.0)).collect()
    }
}

impl Run {
    fn of(outcome: &Outcome) -> Self {
        let conditional = |e: &ConditionalError| ConditionalRow {
            hidden: e.hidden,
            tv_mean: e.mean,
            tv_max: e.largest,
            kl_mean: e.divergence,
        };
        let chain = |split: &Split| ChainRow {
            t: split.step,
            total: split.total,
            denoiser: split.denoiser,
            sampler: split.sampler,
        };
        Self {
            samples: outcome.samples,
            law: outcome.law.clone(),
            repeat: outcome.repeat,
            cross_entropy: outcome.loss,
            empirical_tv: outcome.empirical,
            conditionals: outcome.errors.iter().map(conditional).collect(),
            inconsistency_kl: outcome.inconsistency,
            inconsistency_tv: outcome.inconsistency_tv,
            joint_tv: outcome.joint,
            unmasking: outcome.unmasking.iter().map(chain).collect(),
            parallel: outcome.parallel.iter().map(chain).collect(),
            couplings: outcome.couplings.as_ref().map(rows_of),
            attention: rows_of(&outcome.attention),
        }
    }
}

fn rows_of(matrix: &Matrix<f64>) -> Vec<Vec<f64>> {
    (0..matrix.size()).map(|i| matrix.row(i).to_vec()).collect()
}

fn print(console: &Console, study: &Study, outcomes: &[Outcome], p: &Distribution) -> Result<()> {
    let sites = p.space().sites();
    let last = format!("TV {sites}");
    let head = [
        "samples",
        "law",
        "TV 1",
        &last,
        "inconsistent",
        "TV joint",
        "total",
        "denoiser",
        "sampler",
        "total",
        "denoiser",
        "sampler",
    ];
    let mut rows = Vec::new();
    for &samples in &study.samples {
        for (law, _) in &study.laws {
            let own: Vec<&Outcome> =
                outcomes.iter().filter(|o| o.samples == samples && o.law == *law).collect();
            // Single precision and chance leave no more than three digits that mean something.
            let mean = |value: fn(&Outcome) -> f64| {
                human_within(own.iter().map(|o| value(o)).sum::<f64>() / own.len() as f64, 1e-3)
            };
            let end = |splits: &[Split], part: fn(&Split) -> f64| splits.last().map_or(0.0, part);
            let mean_of = |of: fn(&Outcome) -> &[Split], part: fn(&Split) -> f64| {
                let sum: f64 = own.iter().map(|o| end(of(o), part)).sum();
                human_within(sum / own.len() as f64, 1e-3)
            };
            let mut row = vec![
                samples.to_string(),
                law.clone(),
                mean(|o| o.errors.first().map_or(0.0, |e| e.mean)),
                mean(|o| o.errors.last().map_or(0.0, |e| e.mean)),
                mean(|o| o.inconsistency_tv),
                mean(|o| o.joint),
            ];
            let chains: [fn(&Outcome) -> &[Split]; 2] = [|o| &o.unmasking, |o| &o.parallel];
            for of in chains {
                row.push(mean_of(of, |s| s.total));
                row.push(mean_of(of, |s| s.denoiser));
                row.push(mean_of(of, |s| s.sampler));
            }
            rows.push(row);
        }
    }
    print_table(console, &head, &rows)?;
    console.note(format!(
        "all columns are TV distances; chains after {} steps, first filling hidden sites one after the other, then all at once",
        study.steps
    ));
    Ok(())
}
