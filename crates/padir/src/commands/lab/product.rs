//! `padir lab product`: what parallel decoders can make of k-Gibbs.

use anyhow::{Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{Blocks, Matrix, block_matrix};
use padir_lab::decay::distance;
use padir_lab::distribution::Distribution;
use padir_lab::hitting::Hitting;
use padir_lab::product::Projection;
use padir_lab::wide::Wide;
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use super::output::{human, human_option, json_number, print_report, print_table};
use crate::console::Console;

/// The product transitions nearest to k-Gibbs: what a Transformer that decodes in parallel can run.
///
/// Every row of k-Gibbs is replaced by the product of its marginals. `TC` is the total correlation of a row, its KL
/// from the product: on average under p, and at worst. `TV` is how far the stationary law of the product chain is
/// from p. `steps` and `product steps` are expected steps from all symbols 0 to all the last symbol, by k-Gibbs and by the
/// product chain.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab product --n 4 --clique 4 --j 0.3
  padir lab product --n 6 --clique 4 --h 1 --j 2 --k 4,6 --json
  padir lab product --n 4 --symbols 3 --graph chain --j 0.8 --set 0,1")]
pub(crate) struct Product {
    #[command(flatten)]
    model: ModelArgs,

    /// Only these block sizes [default: 1 to N].
    #[arg(long, value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true)]
    k: Vec<usize>,

    /// The sites that must all have the last symbol to count as arrived [default: all].
    #[arg(long, value_name = "I,…", value_delimiter = ',', allow_negative_numbers = true)]
    set: Vec<usize>,
}

#[derive(Serialize)]
struct Report {
    k: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    k: usize,
    total_correlation_mean: f64,
    total_correlation_max: f64,
    /// Between p and the stationary law of the product chain; none if it has no single one.
    tv: Option<f64>,
    expected: Option<Box<RawValue>>,
    product_expected: Option<Box<RawValue>>,
}

/// The largest space whose stationary laws are eliminated state by state.
const LARGEST: usize = 512;

impl Product {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let (model, p) = self.model.enumerate()?;
        let (sites, states) = (model.sites(), p.space().size());
        ensure!(
            states <= LARGEST,
            "eliminating {states} states twice for every k takes too long; the limit is {LARGEST}"
        );
        let sizes = if self.k.is_empty() { (1..=sites).collect() } else { self.k.clone() };
        let set = if self.set.is_empty() { (0..sites).collect() } else { self.set.clone() };
        if let Some(site) = set.iter().find(|site| **site >= sites) {
            bail!("--set names site {site}, but the sites are 0 to {}", sites - 1);
        }
        let last = p.space().symbols() - 1;
        let hit = |x: usize| set.iter().all(|&i| p.space().symbol(x, i) == last);
        let target: Vec<bool> = (0..states).map(hit).collect();
        let progress = console.progress("Projecting", sizes.len() as u64);
        let mut rows = Vec::new();
        for &k in &sizes {
            rows.push(analyse(&p, k, &target)?);
            progress.inc(1);
        }
        progress.finish_and_clear();
        let report = Report { k: rows };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn analyse(p: &Distribution, k: usize, target: &[bool]) -> Result<Row> {
    let matrix: Matrix<Wide> = block_matrix(p, &Blocks::of(&MaskLaw::Exactly { k }, p.space())?)?;
    let projection = Projection::of(p.space(), &matrix)?;
    let (mean, largest) = projection.distances(p);
    let tv = projection.stationary().map(|law| distance(0, &law, p).total_variation);
    // An unreachable target has no expectation.
    let expected = |matrix: Matrix<Wide>| {
        Hitting::new(matrix, 0, target.to_vec()).expected().ok().map(json_number)
    };
    Ok(Row {
        k,
        total_correlation_mean: mean,
        total_correlation_max: largest,
        tv,
        expected: expected(matrix),
        product_expected: expected(projection.matrix),
    })
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let steps = |value: &Option<Box<RawValue>>| {
        let number = value.as_ref().and_then(|v| v.get().parse().ok());
        human_option(number)
    };
    let rows: Vec<Vec<String>> = report
        .k
        .iter()
        .map(|row| {
            vec![
                row.k.to_string(),
                human(row.total_correlation_mean),
                human(row.total_correlation_max),
                human_option(row.tv),
                steps(&row.expected),
                steps(&row.product_expected),
            ]
        })
        .collect();
    print_table(console, &["k", "TC mean", "TC max", "TV", "steps", "product steps"], &rows)?;
    console.note(
        "TC: KL of a row of k-Gibbs from the product of its marginals; TV: stationary law of the \
         products from p; steps: expected, to the last symbol at every site of the set",
    );
    Ok(())
}
