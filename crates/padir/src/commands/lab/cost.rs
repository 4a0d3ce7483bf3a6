//! `padir lab cost`: what a step of k-Gibbs costs, and what it buys.

use anyhow::{Result, bail};
use padir_base::mask::MaskLaw;
use padir_lab::spectrum::{DENSE_STATES, poincare};
use padir_lab::step::{StepCost, step_cost};
use serde::Serialize;

use super::model::ModelArgs;
use super::output::{human, human_option, print_report, print_table};
use crate::console::Console;

/// The cost of a step of k-Gibbs against k, in fillings of the block that are summed, beside what it buys.
///
/// `joint` is qᵏ. Given the other sites, parts of the block without couplings between them are independent, so `parts`,
/// Σ q^|part| on average over the blocks, suffices. `C` is the Poincaré constant, steps until the chain has forgotten by a
/// factor e, and `work` = parts · C.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab cost --n 8 --graph ring --j 0.5
  padir lab cost --n 10 --clique 4 --h 5 --j 6
  padir lab cost --n 100 --graph torus --j 0.3 --k 1,2,5,10,20 --json")]
pub(crate) struct Cost {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,
}

#[derive(Serialize)]
struct Report {
    k: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    k: usize,
    joint: f64,
    parts: f64,
    /// Whether blocks were drawn instead of counted.
    sampled: bool,
    /// None above 1024 states.
    poincare: Option<f64>,
    work: Option<f64>,
}

impl Cost {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let model = self.model.build()?;
        let sites = model.sites();
        let sizes = if self.k.is_empty() { (1..=sites).collect() } else { self.k.clone() };
        if let Some(k) = sizes.iter().find(|k| !(1..=sites).contains(*k)) {
            bail!("k = {k} is not between 1 and N = {sites}");
        }
        let small = (model.symbols() as f64).powf(sites as f64) <= DENSE_STATES as f64;
        let p = if small { Some(model.enumerate()?) } else { None };
        let edges = model.interactions();
        let progress = console.progress("Counting", sizes.len() as u64);
        let mut rows = Vec::new();
        for &k in &sizes {
            let StepCost { joint, parts, sampled, .. } =
                step_cost(sites, model.symbols(), &edges, k);
            let constant = match &p {
                Some(p) => Some(poincare(p, &MaskLaw::Exactly { k }, || ())?.constant()),
                None => None,
            };
            let work = constant.map(|c| c * parts);
            rows.push(Row { k, joint, parts, sampled, poincare: constant, work });
            progress.inc(1);
        }
        progress.finish_and_clear();
        let report = Report { k: rows };
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        let cells: Vec<Vec<String>> = report
            .k
            .iter()
            .map(|r| {
                vec![
                    r.k.to_string(),
                    human(r.joint),
                    human(r.parts),
                    human_option(r.poincare),
                    human_option(r.work),
                ]
            })
            .collect();
        print_table(console, &["k", "joint", "parts", "C", "work"], &cells)?;
        if report.k.iter().any(|row| row.sampled) {
            console.note("parts: means over 20000 drawn blocks where there are more");
        }
        Ok(())
    }
}
