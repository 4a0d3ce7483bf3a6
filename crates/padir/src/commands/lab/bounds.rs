//! `padir lab bounds`: the paper's bounds, their assumptions, and the exact values beside them.

use std::io::Write;

use anyhow::{Result, ensure};
use padir_lab::bound::{
    Assumption, Generalisation, IsingBox, ModeFast, ModeSlow, Separation, Strength,
};
use padir_lab::chain::Blocks;
use padir_lab::hitting::{Update, clique_hitting};
use padir_lab::model::{Clique, Model};
use padir_lab::tensor::{TensorSettings, tensorisation};
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use super::output::{finite, human, human_option, json_number};
use crate::console::Console;

/// Bounds for a clique model: reaching the mode fast and slowly, their separation, and
/// generalisation; every assumption checked, every bound beside its exact value.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab bounds --n 10 --clique 4 --h 5 --j 60 --k 6
  padir lab bounds --n 80 --clique 80 --h 0.2 --j 50 --k 80 --delta 0.1 --m 100
  padir lab bounds --n 4 --j 0.05 --k 4 --samples 1e9 --masks 1e12 --loss 0.01 --json")]
pub(crate) struct Bounds {
    #[command(flatten)]
    model: ModelArgs,

    /// The block size [default: N].
    #[arg(long, value_name = "K")]
    k: Option<usize>,

    /// The probability δ with which a bound may fail.
    #[arg(long, value_name = "δ", default_value_t = 0.1)]
    delta: f64,

    /// The M of the separation: steps that independent parallel is to fail for.
    #[arg(long, value_name = "M", default_value_t = 100.0)]
    m: f64,

    /// Generalisation: the number of samples n.
    #[arg(long, value_name = "n", default_value_t = 1e6)]
    samples: f64,

    /// Generalisation: the number of masks per sample m.
    #[arg(long, value_name = "m", default_value_t = 1e9)]
    masks: f64,

    /// Generalisation: the resolution ε of the covering.
    #[arg(long, value_name = "ε", default_value_t = 0.01)]
    epsilon: f64,

    /// Generalisation: all parameters are known to lie in [−R, R] [default: the model's largest].
    #[arg(long, value_name = "R")]
    radius: Option<f64>,

    /// Generalisation: the empirical loss of the fit (see `padir lab fit`).
    #[arg(long, value_name = "L", default_value_t = 0.0)]
    loss: f64,
}

#[derive(Serialize)]
struct Report {
    j0: f64,
    h_g: f64,
    mode_fast: Fast,
    mode_slow: Slow,
    separation: Apart,
    generalisation: Option<General>,
}

#[derive(Serialize)]
struct Check {
    condition: &'static str,
    left: f64,
    right: f64,
    holds: bool,
}

#[derive(Serialize)]
struct Fast {
    assumptions: Vec<Check>,
    steps: Option<f64>,
    /// The exact number of steps after which the mode was reached with probability 1 − δ.
    exact: Box<RawValue>,
    exact_expected: Box<RawValue>,
}

#[derive(Serialize)]
struct Slow {
    assumptions: Vec<Check>,
    c_stuck: f64,
    steps: Box<RawValue>,
    /// The exact number of steps after which the mode was reached with probability δ.
    exact: Box<RawValue>,
    exact_expected: Box<RawValue>,
}

#[derive(Serialize)]
struct Apart {
    applies: bool,
    strongly_ferromagnetic: Vec<Check>,
    strong_interactions: Vec<Check>,
    large_k: Vec<Check>,
    /// The exact chance that one step of k-Gibbs reaches R₁.
    exact_gibbs_one_step: f64,
    /// The exact chance that independent parallel reaches R₁ within M steps.
    exact_parallel_within_m: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct General {
    tensorisation: f64,
    ln_covering: f64,
    ln_margin: f64,
    deviation: f64,
    empirical: f64,
    total_variation: f64,
    says_something: bool,
}

impl Bounds {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let clique = self.model.clique()?;
        let k = self.k.unwrap_or(clique.sites());
        ensure!(
            (1..=clique.sites()).contains(&k),
            "k = {k} is not between 1 and N = {}",
            clique.sites()
        );
        ensure!(
            self.delta > 0.0 && self.delta < 1.0,
            "--delta {} is not between 0 and 1",
            self.delta
        );
        for (name, value) in [
            ("--samples", self.samples),
            ("--masks", self.masks),
            ("--epsilon", self.epsilon),
            ("--m", self.m),
        ] {
            ensure!(value.is_finite() && value > 0.0, "{name} {value} is not a positive number");
        }
        let strength = Strength::of(&clique);
        let report = Report {
            j0: strength.j0,
            h_g: strength.h_g,
            mode_fast: self.fast(&clique, k)?,
            mode_slow: self.slow(&clique)?,
            separation: self.separation(&clique, k)?,
            generalisation: self.generalisation(&clique, k)?,
        };
        if console.wants_json() { console.print_json(&report) } else { print(console, &report) }
    }

    fn fast(&self, clique: &Clique, k: usize) -> Result<Fast> {
        let bound = ModeFast::new(clique, k, self.delta);
        let exact = clique_hitting(clique, Update::Gibbs(k))?;
        Ok(Fast {
            assumptions: checks(&bound.assumptions),
            steps: bound.steps,
            exact: json_number(exact.quantiles(&[1.0 - self.delta])[0]),
            exact_expected: json_number(exact.expected()?),
        })
    }

    fn slow(&self, clique: &Clique) -> Result<Slow> {
        let bound = ModeSlow::new(clique, self.delta);
        let exact = clique_hitting(clique, Update::Parallel)?;
        Ok(Slow {
            assumptions: checks(&bound.assumptions),
            c_stuck: bound.c_stuck,
            steps: json_number(bound.steps),
            exact: json_number(exact.quantiles(&[self.delta])[0]),
            exact_expected: json_number(exact.expected()?),
        })
    }

    fn separation(&self, clique: &Clique, k: usize) -> Result<Apart> {
        let separation = Separation::new(clique, k, self.delta, self.m);
        let gibbs = clique_hitting(clique, Update::Gibbs(k))?.arrival(1);
        let within = if self.m <= 1e6 {
            let chain = clique_hitting(clique, Update::Parallel)?;
            Some(json_number(chain.arrival(self.m.ceil() as usize)))
        } else {
            None
        };
        Ok(Apart {
            applies: separation.applies(),
            strongly_ferromagnetic: checks(&separation.ferromagnetic),
            strong_interactions: checks(&separation.interactions),
            large_k: checks(&separation.large_k),
            exact_gibbs_one_step: gibbs.to_f64(),
            exact_parallel_within_m: within,
        })
    }

    /// Needs the tensorisation constant, so small models only.
    fn generalisation(&self, clique: &Clique, k: usize) -> Result<Option<General>> {
        if clique.sites() > 8 {
            return Ok(None);
        }
        let ising = clique.to_ising();
        let largest = ising.parameters().iter().fold(0.0, |m: f64, p| m.max(p.abs()));
        let p = Model::Ising(ising.clone()).enumerate()?;
        let blocks = Blocks::of(&padir_base::mask::MaskLaw::Exactly { k }, p.space())?;
        let tensor = tensorisation(&p, &blocks, &TensorSettings::default(), || ())?;
        let parameters = IsingBox {
            dimension: ising.parameters().len(),
            radius: self.radius.unwrap_or(largest),
        };
        let bound = Generalisation {
            sites: clique.sites(),
            symbols: 2,
            samples: self.samples,
            masks: self.masks,
            delta: self.delta,
            epsilon: self.epsilon,
            tensorisation: tensor.constant,
            loss: self.loss,
            log_covering: parameters.log_covering(self.epsilon),
            log_margin: parameters.log_margin(clique.sites()),
        };
        let total_variation = bound.total_variation();
        Ok(Some(General {
            tensorisation: bound.tensorisation,
            ln_covering: bound.log_covering,
            ln_margin: bound.log_margin,
            deviation: bound.deviation(),
            empirical: bound.empirical(),
            total_variation: finite(total_variation).unwrap_or(f64::MAX),
            says_something: total_variation < 1.0,
        }))
    }
}

fn checks(assumptions: &[Assumption]) -> Vec<Check> {
    assumptions
        .iter()
        .map(|a| Check { condition: a.condition, left: a.left, right: a.right, holds: a.holds })
        .collect()
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let mut out = console.out();
    let list = |out: &mut dyn Write, title: &str, checks: &[Check]| -> std::io::Result<()> {
        writeln!(out, "  {title}")?;
        for c in checks {
            let mark = if c.holds { "holds" } else { "FAILS" };
            writeln!(
                out,
                "    {mark}  {}   ({} and {})",
                c.condition,
                human(c.left),
                human(c.right)
            )?;
        }
        Ok(())
    };
    let fast = &report.mode_fast;
    writeln!(out, "k-Gibbs reaches R₁ within {} steps", human_option(fast.steps))?;
    writeln!(out, "  exactly: {} steps; expected {}", fast.exact, fast.exact_expected)?;
    list(&mut out, "assumptions", &fast.assumptions)?;
    let slow = &report.mode_slow;
    writeln!(out, "independent parallel is stuck for {} steps", slow.steps)?;
    writeln!(out, "  exactly: {} steps; expected {}", slow.exact, slow.exact_expected)?;
    list(&mut out, "assumptions", &slow.assumptions)?;
    let apart = &report.separation;
    let verdict = if apart.applies { "applies" } else { "does not apply" };
    writeln!(out, "the separation {verdict}")?;
    list(&mut out, "strongly ferromagnetic", &apart.strongly_ferromagnetic)?;
    list(&mut out, "strong interactions", &apart.strong_interactions)?;
    list(&mut out, "large blocks", &apart.large_k)?;
    writeln!(
        out,
        "  exactly: k-Gibbs succeeds in one step with probability {}",
        human(apart.exact_gibbs_one_step)
    )?;
    if let Some(within) = &apart.exact_parallel_within_m {
        writeln!(out, "  exactly: independent parallel within M steps with probability {within}")?;
    }
    if let Some(g) = &report.generalisation {
        writeln!(out, "generalisation: TV < {}", human(g.total_variation))?;
        writeln!(
            out,
            "  C_AT {}, B {}, C {}, ln C_ε {}, ln 1/β {}",
            human(g.tensorisation),
            human(g.deviation),
            human(g.empirical),
            human(g.ln_covering),
            human(g.ln_margin)
        )?;
        if !g.says_something {
            writeln!(out, "  beyond 1: with these numbers of samples and masks it says nothing")?;
        }
    }
    Ok(out.flush()?)
}
