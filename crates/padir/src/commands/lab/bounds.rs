//! `padir lab bounds`: the paper's bounds, their assumptions, and the exact values beside them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::bound::{
    Assumption, Generalisation, IsingBox, ModeFast, ModeRatios, ModeSlow, PopulationLoss,
    Separation, Strength,
};
use padir_lab::chain::Blocks;
use padir_lab::decay::distance;
use padir_lab::distribution::Distribution;
use padir_lab::hitting::{Update, clique_escape, clique_hitting};
use padir_lab::inequality::{Inequality, SearchSettings, tensorisation, upper_bound};
use padir_lab::model::{Clique, Model, ModelSpec};
use padir_lab::spectrum::{DENSE_STATES, poincare};
use serde::Serialize;
use serde_json::value::RawValue;

use super::model::ModelArgs;
use super::output::{finite, human, human_option, json_number, print_report};
use crate::console::Console;
use crate::hint::WithHint;

/// Bounds for a clique model: reaching the mode fast and slowly, their separation, and
/// generalisation; every assumption checked, every bound beside its exact value.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab bounds --n 10 --clique 4 --h 5 --j 60 --k 6
  padir lab bounds --n 80 --clique 80 --h 0.2 --j 50 --k 80 --delta 0.1 --m 100
  padir lab bounds --n 4 --j 0.05 --h 0 --k 4 --samples 1e9 --masks 1e30 --fitted learned.toml")]
pub(crate) struct Bounds {
    #[command(flatten)]
    model: ModelArgs,

    /// The block size [default: N].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k: Option<usize>,

    /// The probability δ with which a bound may fail.
    #[arg(long, value_name = "δ", default_value_t = 0.1, allow_negative_numbers = true)]
    delta: f64,

    /// The M of the separation: steps that independent parallel is to fail for.
    #[arg(long, value_name = "M", default_value_t = 100.0, allow_negative_numbers = true)]
    m: f64,

    /// Generalisation: the number of samples n.
    #[arg(long, value_name = "n", default_value_t = 1e6, allow_negative_numbers = true)]
    samples: f64,

    /// Generalisation: the number of masks per sample m.
    #[arg(long, value_name = "m", default_value_t = 1e9, allow_negative_numbers = true)]
    masks: f64,

    /// Generalisation: the resolution ε of the covering.
    #[arg(long, value_name = "ε", default_value_t = 0.01, allow_negative_numbers = true)]
    epsilon: f64,

    /// Generalisation: all parameters are known to lie in [−R, R] [default: the model's largest].
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Generalisation: the learned model, a .toml or .json file [default: the model itself].
    #[arg(long, value_name = "FILE")]
    fitted: Option<PathBuf>,

    /// Generalisation: the empirical loss of the fit, a cross-entropy as `padir lab fit` prints it
    /// [default: that of infinitely many samples].
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    loss: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    j0: f64,
    h_g: f64,
    modes: Modes,
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

/// The modes of a strongly ferromagnetic model.
#[derive(Serialize)]
struct Modes {
    assumptions: Vec<Check>,
    /// The smallest ln p(x)/p(y), x ∈ R₁, y ∈ R₋₁: above 0.
    ln_up_over_down: f64,
    /// The smallest ln p(y)/p(z), z in neither: at least 2J₀.
    ln_down_over_other: f64,
    /// ln P(R₁)/P(R₋₁): exactly `2h_G`.
    ln_mass_ratio: f64,
    /// Whether all three are as the proposition says.
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
    /// The exact number of steps for which Σ ≤ −2 holds with probability 1 − δ, from R₋₁.
    exact: Box<RawValue>,
    /// The same from the largest sum that is at most −2; none for unequal fields.
    exact_worst: Option<Box<RawValue>>,
    /// The expected number of steps to R₁, another and later event.
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
    /// `C_AT` of the learned model is at least this.
    tensorisation_lower: Option<f64>,
    /// And at most this, which the bounds use.
    tensorisation_upper: f64,
    tensorisation_rule: &'static str,
    ln_covering: f64,
    ln_margin: f64,
    deviation: f64,
    empirical: f64,
    /// The cross-entropy, and the part of it that no model avoids.
    loss: f64,
    conditional_entropy: f64,
    /// As printed, with the cross-entropy.
    total_variation: f64,
    /// With the entropy of the conditionals subtracted.
    total_variation_without_entropy: f64,
    says_something: bool,
    /// The total variation there is between the learned model and the true one.
    exact: f64,
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
        for (name, value) in [("--radius", self.radius), ("--loss", self.loss)] {
            if let Some(value) = value {
                ensure!(
                    value.is_finite() && value >= 0.0,
                    "{name} {value} is not a number that is zero or more"
                );
            }
        }
        let strength = Strength::of(&clique);
        let report = Report {
            j0: strength.j0,
            h_g: strength.h_g,
            modes: modes(&clique),
            mode_fast: self.fast(&clique, k)?,
            mode_slow: self.slow(&clique)?,
            separation: self.separation(&clique, k)?,
            generalisation: self.generalisation(&clique, k)?,
        };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
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
        let escapes = clique_escape(clique)?;
        let exact = escapes.first().context("the clique is empty")?.safe_steps(self.delta);
        let worst = escapes.last().filter(|_| clique.common_field().is_some());
        Ok(Slow {
            assumptions: checks(&bound.assumptions),
            c_stuck: bound.c_stuck,
            steps: json_number(bound.steps),
            exact: json_number(exact),
            exact_worst: worst.map(|escape| json_number(escape.safe_steps(self.delta))),
            exact_expected: json_number(clique_hitting(clique, Update::Parallel)?.expected()?),
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

    /// Needs an upper bound of the tensorisation constant, so small models only.
    fn generalisation(&self, clique: &Clique, k: usize) -> Result<Option<General>> {
        if clique.sites() > 10 {
            return Ok(None);
        }
        let truth = Model::Ising(clique.to_ising());
        let fitted = match &self.fitted {
            Some(path) => {
                ModelSpec::read(path).hint("docs/lab.md shows the form of a model file")?
            }
            None => truth.clone(),
        };
        ensure!(
            fitted.sites() == truth.sites() && fitted.symbols() == 2,
            "the learned model has {} sites of {} symbols, the true one {} spins",
            fitted.sites(),
            fitted.symbols(),
            truth.sites()
        );
        let (p, learned) = (truth.enumerate()?, fitted.enumerate()?);
        let law = MaskLaw::Exactly { k };
        let loss = PopulationLoss::of(&p, &learned, &Blocks::of(&law, p.space())?);
        let Some(known) = known_constant(&learned, &law)? else { return Ok(None) };
        let parameters = clique.to_ising().parameters();
        let largest = parameters.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
        let parameters =
            IsingBox { dimension: parameters.len(), radius: self.radius.unwrap_or(largest) };
        let bound = Generalisation {
            sites: clique.sites(),
            symbols: 2,
            samples: self.samples,
            masks: self.masks,
            delta: self.delta,
            epsilon: self.epsilon,
            tensorisation: known.upper,
            loss: self.loss.unwrap_or(loss.cross_entropy()),
            log_covering: parameters.log_covering(self.epsilon),
            log_margin: parameters.log_margin(clique.sites()),
        };
        let without = bound.without_entropy(loss.entropy).total_variation();
        let number = |value: f64| finite(value).unwrap_or(f64::MAX);
        Ok(Some(General {
            tensorisation_lower: known.lower,
            tensorisation_upper: known.upper,
            tensorisation_rule: known.rule,
            ln_covering: bound.log_covering,
            ln_margin: bound.log_margin,
            deviation: bound.deviation(),
            empirical: bound.empirical(),
            loss: bound.loss,
            conditional_entropy: loss.entropy,
            total_variation: number(bound.total_variation()),
            total_variation_without_entropy: number(without),
            says_something: without < 1.0,
            exact: distance(0, &learned.probs(), &p).total_variation,
        }))
    }
}

fn modes(clique: &Clique) -> Modes {
    let Strength { j0, h_g } = Strength::of(clique);
    let ratios = ModeRatios::of(clique);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
    Modes {
        assumptions: checks(&Strength::assumptions(clique)),
        ln_up_over_down: ratios.up_over_down,
        ln_down_over_other: ratios.down_over_other,
        ln_mass_ratio: ratios.masses,
        holds: ratios.up_over_down > 0.0
            && (ratios.down_over_other >= 2.0 * j0 || close(ratios.down_over_other, 2.0 * j0))
            && close(ratios.masses, 2.0 * h_g),
    }
}

/// The tensorisation constant of the learned model.
struct Known {
    lower: Option<f64>,
    upper: f64,
    rule: &'static str,
}

/// Spaces up to this size are searched for a lower bound too.
const SEARCHED: usize = 64;

fn known_constant(p: &Distribution, law: &MaskLaw) -> Result<Option<Known>> {
    let (lower, upper) = if p.space().size() <= SEARCHED {
        let found = tensorisation(p, law, &SearchSettings::default(), || ())?;
        (Some(found.lower), found.upper)
    } else if p.space().size() <= DENSE_STATES {
        let blocks = Blocks::of(law, p.space())?;
        let constant = poincare(p, law, || ())?;
        (None, upper_bound(Inequality::Tensorisation, p, &blocks, &constant)?)
    } else {
        (None, None)
    };
    Ok(upper.map(|upper| Known { lower, upper: upper.value, rule: upper.rule.name() }))
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
    let modes = &report.modes;
    let assumed = modes.assumptions.iter().all(|assumption| assumption.holds);
    let verdict = match (assumed, modes.holds) {
        (false, _) => "is not claimed",
        (true, true) => "holds",
        (true, false) => "FAILS",
    };
    writeln!(out, "modes: p(x) > p(y) ≥ e^(2J₀) p(z) {verdict}")?;
    writeln!(
        out,
        "  exactly: ln p(x)/p(y) ≥ {}, ln p(y)/p(z) ≥ {} (2J₀ {}), ln P(R₁)/P(R₋₁) {} (2h_G {})",
        human(modes.ln_up_over_down),
        human(modes.ln_down_over_other),
        human(2.0 * report.j0),
        human(modes.ln_mass_ratio),
        human(2.0 * report.h_g)
    )?;
    list(&mut out, "assumptions", &modes.assumptions)?;
    let fast = &report.mode_fast;
    writeln!(out, "k-Gibbs reaches R₁ within {} steps", human_option(fast.steps))?;
    writeln!(out, "  exactly: {} steps; expected {}", fast.exact, fast.exact_expected)?;
    list(&mut out, "assumptions", &fast.assumptions)?;
    let slow = &report.mode_slow;
    writeln!(out, "independent parallel is stuck for {} steps", slow.steps)?;
    let worst = slow
        .exact_worst
        .as_ref()
        .map_or_else(String::new, |w| format!(", {w} from the worst start"));
    writeln!(out, "  exactly: Σ ≤ −2 for {} steps from R₋₁{worst}", slow.exact)?;
    writeln!(out, "  R₁ is expected after {}", slow.exact_expected)?;
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
    if let Some(general) = &report.generalisation {
        print_general(&mut out, general)?;
    }
    Ok(out.flush()?)
}

fn print_general(out: &mut dyn Write, g: &General) -> Result<()> {
    writeln!(out, "generalisation: TV < {}", human(g.total_variation_without_entropy))?;
    writeln!(
        out,
        "  as printed {}: its loss {} is a cross-entropy, {} of it the entropy of the conditionals",
        human(g.total_variation),
        human(g.loss),
        human(g.conditional_entropy)
    )?;
    writeln!(out, "  exactly: TV {}", human(g.exact))?;
    writeln!(
        out,
        "  C_AT ≤ {} ({}), B {}, C {}, ln C_ε {}, ln 1/β {}",
        human(g.tensorisation_upper),
        g.tensorisation_rule,
        human(g.deviation),
        human(g.empirical),
        human(g.ln_covering),
        human(g.ln_margin)
    )?;
    if let Some(lower) = g.tensorisation_lower {
        writeln!(out, "  C_AT ≥ {}", human(lower))?;
    }
    if !g.says_something {
        writeln!(out, "  beyond 1: with these numbers of samples and masks it says nothing")?;
    }
    Ok(())
}
