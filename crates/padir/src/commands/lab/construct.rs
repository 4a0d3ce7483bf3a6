//! `padir lab construct`: a network whose weights are written down to run a chain.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, Matrix, block_matrix};
use padir_pipeline::learn::construct::MOST_STATES;
use padir_pipeline::learn::{Constructed, Executed, ProductChain};
use serde::Serialize;

use super::model::ModelArgs;
use super::output::{human_within, print_report, print_table};
use crate::console::Console;
use crate::places::{Force, Places};

/// Write down the weights of a Transformer that runs the product transitions nearest to k-Gibbs, and check it with the engine.
///
/// The network has one decoder layer: attention copies the state to every position, the feed-forward layer looks its row up. It is saved
/// as a checkpoint, opened by the engine that translates, and decoded in parallel through all outcomes. `error` is the largest difference between
/// a transition probability of the engine and of the chain, `gap` that between the engine and k-Gibbs itself, which no parallel decoder can run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab construct --n 3 --graph chain --j 0.9
  padir lab construct --n 2 --symbols 3 --j 0.5 --k 2 --out network
  padir lab construct --n 3 --clique 3 --json")]
pub(crate) struct Construct {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,

    /// Keep the network of one k as a checkpoint in this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    k: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    k: usize,
    parameters: u64,
    /// Between engine and product chain.
    error: f64,
    /// Between engine and k-Gibbs.
    gap: f64,
}

impl Construct {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let mut places = Places::default().reads(self.model.files());
        if let Some(out) = &self.out {
            ensure!(self.k.len() == 1, "--out keeps one network: say which with --k K");
            places = places.makes_directory(out);
        }
        places.check(self.force)?;
        let (model, p) = self.model.enumerate()?;
        let (space, states) = (p.space(), p.space().size());
        ensure!(
            states <= MOST_STATES,
            "a network for {states} states has a unit for each of them and every site; the limit is {MOST_STATES}"
        );
        let sizes = if self.k.is_empty() { (1..=model.sites()).collect() } else { self.k.clone() };
        let mut rows = Vec::new();
        for k in sizes {
            let blocks = Blocks::of(&MaskLaw::Exactly { k }, space)?;
            let gibbs: Matrix<f64> = block_matrix(&p, &blocks)?;
            let chain = ProductChain::of_marginals(space, &gibbs);
            let network = Constructed::new(&chain);
            let aside = tempfile::tempdir()?;
            let directory = self.out.clone().unwrap_or_else(|| aside.path().join("model"));
            let mut engine = Executed::new(&network, space, &directory)?;
            let (mut error, mut gap) = (0.0_f64, 0.0_f64);
            for x in 0..states {
                for (y, found) in engine.transitions(x)?.into_iter().enumerate() {
                    error = error.max((found - chain.transition(x, y)).abs());
                    gap = gap.max((found - gibbs.at(x, y)).abs());
                }
            }
            rows.push(Row { k, parameters: network.config.parameter_count(), error, gap });
        }
        let report = Report { k: rows };
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        let rows: Vec<Vec<String>> = report
            .k
            .iter()
            .map(|row| {
                let [error, gap] = [row.error, row.gap].map(|value| human_within(value, 1e-3));
                vec![row.k.to_string(), row.parameters.to_string(), error, gap]
            })
            .collect();
        print_table(console, &["k", "parameters", "error", "gap"], &rows)
    }
}
