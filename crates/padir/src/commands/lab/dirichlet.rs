//! `padir lab dirichlet`: the Dirichlet form of block dynamics, by its three formulas.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::{BlockOperator, Blocks, Matrix, block_matrix};
use padir_lab::data::read_rows;
use padir_lab::distribution::Distribution;
use padir_lab::spectrum::poincare;
use serde::Serialize;

use super::law::LawArgs;
use super::model::ModelArgs;
use super::output::{human, print_report};
use crate::console::Console;
use crate::hint::WithHint;

/// The Dirichlet form E(f, g) of block dynamics: ⟨f, (1 − P) g⟩, ½ Σ p P (f − f)(g − g), and the expected covariance given
/// what is visible; beside the variance and the Poincaré inequality.
///
/// Functions are `x3` (the value of a site), `x0*x1` (a product), `sum`, `energy` (ln p), or a file of one number per
/// state. For an adaptive law they are functions of x alone, and P is the X-marginal chain.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab dirichlet --n 4 --j 0.3 --k 1 --f sum
  padir lab dirichlet --n 4 --j 0.3 --k 2 --f x0 --g x1
  padir lab dirichlet --n 3 --law adaptive.toml --f values.csv --json")]
pub(crate) struct Dirichlet {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    law: LawArgs,

    /// The function f.
    #[arg(long, value_name = "F", default_value = "sum")]
    f: String,

    /// The function g [default: f].
    #[arg(long, value_name = "G")]
    g: Option<String>,
}

#[derive(Serialize)]
struct Report {
    /// ⟨f, (1 − P) g⟩ under p.
    inner_product: f64,
    /// ½ Σ p(x) P(x, y) (f(x) − f(y)) (g(x) − g(y)).
    differences: f64,
    /// E Cov(f, g | what is visible).
    covariance: f64,
    /// Cov(f, g) under p.
    total_covariance: f64,
    poincare: f64,
    /// C · E(f, f) / Var f ≥ 1; only if f = g.
    poincare_ratio: Option<f64>,
}

/// Larger spaces have no dense matrix here.
const LARGEST: usize = 1024;

impl Dirichlet {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let (_, p) = self.model.enumerate()?;
        let states = p.space().size();
        ensure!(states <= LARGEST, "{states} states take too long; the limit is {LARGEST}");
        let law = self.law.build(p.space().sites())?;
        let f = function(&self.f, &p)?;
        let g = self.g.as_ref().map_or_else(|| Ok(f.clone()), |g| function(g, &p))?;
        let report = report(&p, &law, &f, &g)?;
        if console.wants_json() {
            return print_report(console, Some(&self.model), &report);
        }
        let mut out = console.out();
        writeln!(out, "⟨f, (1 − P) g⟩                 {}", human(report.inner_product))?;
        writeln!(out, "½ Σ p P (f − f)(g − g)         {}", human(report.differences))?;
        writeln!(out, "E Cov(f, g | what is visible)  {}", human(report.covariance))?;
        writeln!(out, "Cov(f, g)                      {}", human(report.total_covariance))?;
        if let Some(ratio) = report.poincare_ratio {
            writeln!(out, "C · E(f, f) / Var f            {}", human(ratio))?;
        }
        out.flush()?;
        console.note(format!("Poincaré constant C {}", human(report.poincare)));
        Ok(())
    }
}

fn report(p: &Distribution, law: &MaskLaw, f: &[f64], g: &[f64]) -> Result<Report> {
    let blocks = Blocks::of(law, p.space())?;
    let matrix: Matrix<f64> = block_matrix(p, &blocks)?;
    let probs = p.probs();
    let mut differences = 0.0;
    for (x, mass) in probs.iter().enumerate() {
        for (y, step) in matrix.row(x).iter().enumerate() {
            differences += mass * step * (f[x] - f[y]) * (g[x] - g[y]) / 2.0;
        }
    }
    let operator = BlockOperator::new(p, law)?;
    let root = |v: &[f64]| v.iter().zip(operator.root()).map(|(v, r)| v * r).collect::<Vec<f64>>();
    let covariance = operator.dirichlet_form(&[root(f), root(g)]).at(1, 0);
    let mean = |v: &[f64]| v.iter().zip(&probs).map(|(v, p)| v * p).sum::<f64>();
    let (mean_f, mean_g) = (mean(f), mean(g));
    let products: Vec<f64> = f.iter().zip(g).map(|(f, g)| (f - mean_f) * (g - mean_g)).collect();
    let total_covariance = mean(&products);
    let constant = poincare(p, law, || ())?.constant();
    let same = f.iter().zip(g).all(|(f, g)| f.to_bits() == g.to_bits());
    Ok(Report {
        inner_product: operator.dirichlet(f, g),
        differences,
        covariance,
        total_covariance,
        poincare: constant,
        poincare_ratio: (same && total_covariance > 0.0)
            .then(|| constant * covariance / total_covariance),
    })
}

/// A function of the state, by its name or from a file.
fn function(name: &str, p: &Distribution) -> Result<Vec<f64>> {
    let space = p.space();
    let value = |x: usize, site: usize| {
        let symbol = space.symbol(x, site) as f64;
        if space.symbols() == 2 { 2.0 * symbol - 1.0 } else { symbol }
    };
    match name {
        "sum" => {
            let sum = |x| (0..space.sites()).map(|i| value(x, i)).sum();
            return Ok((0..space.size()).map(sum).collect());
        }
        "energy" => {
            ensure!(
                p.log_probs().iter().all(|l| l.is_finite()),
                "energy is infinite: some states are impossible"
            );
            return Ok(p.log_probs().to_vec());
        }
        _ => {}
    }
    let sites: Option<Vec<usize>> =
        name.split('*').map(|part| part.trim().strip_prefix('x')?.parse().ok()).collect();
    if let Some(sites) = sites {
        if let Some(site) = sites.iter().find(|site| **site >= space.sites()) {
            bail!("{name} names site {site}, but the sites are 0 to {}", space.sites() - 1);
        }
        let product = |x| sites.iter().map(|&i| value(x, i)).product();
        return Ok((0..space.size()).map(product).collect());
    }
    let path = PathBuf::from(name);
    let rows = read_rows(&path)
        .hint("a function is x3, x0*x1, sum, energy, or a file of one number per state")?;
    let values: Vec<f64> = rows
        .iter()
        .map(|row| row.first().copied().context("a line of the file is empty"))
        .collect::<Result<_>>()?;
    ensure!(
        values.len() == space.size(),
        "{name} has {} numbers, but there are {} states",
        values.len(),
        space.size()
    );
    ensure!(values.iter().all(|v| v.is_finite()), "{name} has a value that is not a number");
    Ok(values)
}
