//! The generalisation theorem and its lemmas beside data.
//!
//! A model pθ is learned from a first data set of n samples with m masks each and then held fixed. From
//! many further data sets come the two sides of every lemma: the bound that holds with probability 1 − δ,
//! and how large the bounded quantity was. With β the smallest conditional probability of pθ,
//!
//! | lemma | quantity | bound |
//! |---|---|---|
//! | conditional to joint | KL(p, pθ), KL(p̃, pθ) | `C_AT(pθ)` · loss |
//! | bound on KL | KL(p̃(·\|x₋ₖ, K), pθ(·\|x₋ₖ, K)) | ln 1/β |
//! | Hoeffding | \|L̃(θ) − L(θ)\| | ln(1/β) √(ln(2/δ)/2n) |
//! | pointwise | \|L̂(θ) − L̃(θ)\| | (√(2³ᴺ⁻¹ qᴺ/mδ) + √(ln(4/δ)/2n)) ln 1/β |
//! | uniform | the largest over parameters in a box | the same with `C_ε`, plus ε |
//! | empirical law | TV(p̃, p) | √(q³ᴺ/16δn) |
//! | generalisation | TV(pθ̂, p), θ̂ fitted anew | the theorem's |
//!
//! L averages over p, L̃ over the samples and all their masks, L̂ over the masks that were drawn.

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use rayon::prelude::*;

use super::draws::{DataSet, MaskTable, draw};
use super::{ExperimentError, quantile};
use crate::bound::{FamilyBox, Generalisation};
use crate::chain::{Blocks, ChainError};
use crate::decay::distance;
use crate::distribution::{Distribution, log_sum_exp};
use crate::entropy::kullback_leibler;
use crate::estimate::{EnumeratedLoss, Minimum, Settings, Verdict, minimise, verdict_of};
use crate::inequality::{Inequality, upper_bound};
use crate::model::Family;
use crate::spectrum::poincare;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct ConcentrationSettings {
    /// Samples n of a data set.
    pub samples: usize,
    /// Masks m of a sample.
    pub masks: usize,
    /// δ.
    pub delta: f64,
    /// ε of the covering.
    pub epsilon: f64,
    /// Parameters lie in [−R, R].
    pub radius: f64,
    /// Data sets.
    pub repeats: usize,
    /// Parameters of the box that are tried for the uniform bound.
    pub points: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for ConcentrationSettings {
    fn default() -> Self {
        Self {
            samples: 1000,
            masks: 10,
            delta: 0.1,
            epsilon: 0.01,
            radius: 1.0,
            repeats: 200,
            points: 32,
            seed: 0,
        }
    }
}

/// One lemma beside what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Lemma {
    /// The paper's label.
    pub label: &'static str,
    /// The quantity.
    pub quantity: &'static str,
    /// The bound; where it differs from data set to data set, the median.
    pub bound: f64,
    /// The empirical 1 − δ quantile of the quantity.
    pub quantile: f64,
    /// Its largest value.
    pub largest: f64,
    /// How often the bound was exceeded.
    pub failures: usize,
    /// How often it was looked at.
    pub repeats: usize,
    /// The probability with which it may be exceeded.
    pub allowed: f64,
}

impl Lemma {
    /// Whether the bound held as often as promised, up to what chance explains (three standard deviations).
    pub fn holds(&self) -> bool {
        let (count, allowed) = (self.repeats as f64, self.allowed);
        let noise = 3.0 * (count * allowed * (1.0 - allowed)).sqrt();
        self.failures as f64 <= count * allowed + noise
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Concentration {
    /// The learned parameters that were held fixed; those of p if the first estimate does not exist.
    pub learned: Vec<f64>,
    /// Whether they were learned.
    pub is_learned: bool,
    /// ln 1/β of the learned model.
    pub log_margin: f64,
    /// An upper bound of `C_AT` of the learned model, if one is known.
    pub tensorisation: Option<f64>,
    /// The lemmas in the paper's order.
    pub lemmas: Vec<Lemma>,
}

/// Both sides of a lemma on one data set.
type Sides = (f64, f64);

/// Runs the experiment for a family whose parameters θ* give p.
///
/// # Errors
/// If the law cannot be analysed.
pub fn concentration(
    p: &Distribution,
    family: &Family,
    truth: &[f64],
    law: &MaskLaw,
    settings: &ConcentrationSettings,
    tick: impl Fn() + Sync,
) -> Result<Concentration, ExperimentError> {
    let bench = Bench::new(p, family, law, settings)?;
    let first = bench.data(0);
    let (learned, is_learned) = match bench.fit(&first, truth) {
        Some(minimum) => (minimum.parameters, true),
        None => (truth.to_vec(), false),
    };
    let fixed = Fixed::new(&bench, &learned)?;
    let points = bench.points();
    let results: Vec<Outcome> = (1..=settings.repeats.max(1) as u64)
        .into_par_iter()
        .map(|index| {
            let data = bench.data(index);
            let outcome = bench.outcome(&data, &fixed, &points, truth);
            tick();
            outcome
        })
        .collect::<Result<_, _>>()?;
    let population = fixed.tensorisation.map(|constant| {
        let joint = kullback_leibler(&p.probs(), &fixed.model);
        (joint, constant * fixed.population_loss)
    });
    Ok(Concentration {
        learned,
        is_learned,
        log_margin: fixed.log_margin,
        tensorisation: fixed.tensorisation,
        lemmas: lemmas(settings, population, &results),
    })
}

/// What all data sets share.
struct Bench<'a> {
    p: &'a Distribution,
    family: &'a Family,
    law: &'a MaskLaw,
    blocks: Blocks,
    masks: MaskTable,
    sampler: crate::distribution::ExactSampler,
    settings: &'a ConcentrationSettings,
    bounds: FamilyBox,
}

/// A parameter that is held fixed: −ln `pθ(x_K` | x₋ₖ, K), `losses[b][x]`.
struct Table {
    losses: Vec<Vec<f64>>,
}

struct Fixed {
    model: Distribution,
    table: Table,
    log_margin: f64,
    tensorisation: Option<f64>,
    /// L(θ).
    population_loss: f64,
}

/// Both sides of every lemma on one data set.
struct Outcome {
    joint: Option<Sides>,
    divergence: Sides,
    hoeffding: Sides,
    pointwise: Sides,
    uniform: Sides,
    empirical: Sides,
    generalisation: Option<Sides>,
}

impl<'a> Bench<'a> {
    fn new(
        p: &'a Distribution,
        family: &'a Family,
        law: &'a MaskLaw,
        settings: &'a ConcentrationSettings,
    ) -> Result<Self, ChainError> {
        let blocks = Blocks::of(law, p.space())?;
        Ok(Self {
            masks: MaskTable::new(&blocks),
            sampler: p.sampler(),
            bounds: FamilyBox::new(family, p.space(), settings.radius),
            p,
            family,
            law,
            blocks,
            settings,
        })
    }

    fn data(&self, index: u64) -> DataSet {
        let mut stream = Seed(self.settings.seed).stream(Purpose::Synthesis, index);
        let counts = (self.settings.samples.max(1), self.settings.masks.max(1));
        draw(&self.sampler, &self.masks, self.p.space().size(), counts, &mut stream)
    }

    fn fit(&self, data: &DataSet, start: &[f64]) -> Option<Minimum> {
        let loss = EnumeratedLoss::from_pairs(self.family, &self.blocks, &data.pairs);
        let options = Settings { tolerance: 1e-9, iterations: 25, ..Settings::default() };
        let minimum = minimise(&loss, start.to_vec(), &options);
        (verdict_of(&loss, &minimum) == Verdict::Found).then_some(minimum)
    }

    fn table(&self, parameters: &[f64]) -> Table {
        let model = self.family.distribution(self.p.space(), parameters);
        let space = self.p.space();
        let losses = self.blocks.entries().iter().map(|entry| {
            let mut losses = vec![0.0; space.size()];
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let log = |f: &usize| model.log_prob(group + f) + entry.weight.of(group + f).ln();
                let logs: Vec<f64> = fillings.iter().map(log).collect();
                let total = log_sum_exp(&logs);
                for (f, log) in fillings.iter().zip(logs) {
                    losses[group + f] = if log.is_finite() { total - log } else { 0.0 };
                }
            }
            losses
        });
        Table { losses: losses.collect() }
    }

    /// Random parameters of the box, corners among them.
    fn points(&self) -> Vec<Table> {
        let mut stream = Seed(self.settings.seed).stream(Purpose::Search, 2);
        let radius = self.settings.radius;
        let points = (0..self.settings.points).map(|i| {
            let mut draw = || {
                let x = 2.0_f64.mul_add(stream.uniform(), -1.0);
                if i % 2 == 0 { radius * x } else { radius * x.signum() }
            };
            let parameters: Vec<f64> = (0..self.family.dimension()).map(|_| draw()).collect();
            self.table(&parameters)
        });
        points.collect()
    }

    /// L̃: over all masks of the samples.
    fn averaged(&self, table: &Table, states: &[f64]) -> f64 {
        let entries = self.blocks.entries().iter().zip(&table.losses);
        let of = |(entry, losses): (&crate::chain::BlockEntry, &Vec<f64>)| -> f64 {
            let states = states.iter().enumerate().filter(|(_, f)| **f > 0.0);
            states.map(|(x, f)| f * entry.weight.of(x) * losses[x]).sum()
        };
        entries.map(of).sum()
    }

    /// L̂: over the masks that were drawn.
    fn drawn(table: &Table, pairs: &[Vec<f64>]) -> f64 {
        let dot = |(pairs, losses): (&Vec<f64>, &Vec<f64>)| -> f64 {
            pairs.iter().zip(losses).map(|(f, l)| f * l).sum()
        };
        pairs.iter().zip(&table.losses).map(dot).sum()
    }

    fn outcome(
        &self,
        data: &DataSet,
        fixed: &Fixed,
        points: &[Table],
        truth: &[f64],
    ) -> Result<Outcome, ExperimentError> {
        let s = self.settings;
        let (n, m) = (s.samples.max(1) as f64, s.masks.max(1) as f64);
        let averaged = self.averaged(&fixed.table, &data.states);
        let spread = |log_covering: f64, factor: f64, log_margin: f64| {
            let sites = self.p.space().sites() as f64;
            let size = (self.p.space().size() as f64).ln();
            let masks = (3.0 * sites - 1.0) * 2_f64.ln() + size + log_covering - (m * s.delta).ln();
            let samples = (factor.ln() + log_covering - s.delta.ln()) / (2.0 * n);
            ((masks / 2.0).exp() + samples.sqrt()) * log_margin
        };
        let covering = self.bounds.log_covering(s.epsilon);
        let gap = |table: &Table| {
            (Self::drawn(table, &data.pairs) - self.averaged(table, &data.states)).abs()
        };
        let largest = points.iter().map(gap).fold(gap(&fixed.table), f64::max);
        let size = (self.p.space().size() as f64).ln();
        let empirical = distance(0, &data.states, self.p).total_variation;
        Ok(Outcome {
            joint: fixed.tensorisation.map(|constant| {
                (kullback_leibler(&data.states, &fixed.model), constant * averaged)
            }),
            divergence: (self.largest_divergence(data, &fixed.model), fixed.log_margin),
            hoeffding: (
                (averaged - fixed.population_loss).abs(),
                fixed.log_margin * ((2.0 / s.delta).ln() / (2.0 * n)).sqrt(),
            ),
            pointwise: (gap(&fixed.table), spread(0.0, 4.0, fixed.log_margin)),
            uniform: (largest, spread(covering, 4.0, self.bounds.log_margin()) + s.epsilon),
            empirical: (empirical, ((3.0 * size - (16.0 * s.delta * n).ln()) / 2.0).exp()),
            generalisation: self.generalisation(data, truth)?,
        })
    }

    /// The largest KL of an empirical conditional from the model's.
    fn largest_divergence(&self, data: &DataSet, model: &Distribution) -> f64 {
        let space = self.p.space();
        let mut largest = 0.0_f64;
        for entry in self.blocks.entries() {
            let fillings = space.fillings(entry.block);
            for group in space.groups(entry.block) {
                let seen = |f: &usize| data.states[group + f] * entry.weight.of(group + f);
                let held: f64 = fillings.iter().map(seen).sum();
                if held <= 0.0 {
                    continue;
                }
                let log = |f: &usize| model.log_prob(group + f) + entry.weight.of(group + f).ln();
                let total = log_sum_exp(&fillings.iter().map(log).collect::<Vec<_>>());
                let terms = fillings.iter().filter(|f| seen(f) > 0.0).map(|f| {
                    let share = seen(f) / held;
                    share * (share.ln() - log(f) + total)
                });
                largest = largest.max(terms.sum());
            }
        }
        largest
    }

    /// TV of a fit from p beside the theorem; none if there is no estimate or no constant.
    fn generalisation(
        &self,
        data: &DataSet,
        truth: &[f64],
    ) -> Result<Option<Sides>, ExperimentError> {
        let Some(minimum) = self.fit(data, truth) else { return Ok(None) };
        let learned = self.family.distribution(self.p.space(), &minimum.parameters);
        let Some(constant) = tensorisation(&learned, self.law, &self.blocks)? else {
            return Ok(None);
        };
        // The box must hold what was learned.
        let reach = minimum.parameters.iter().fold(self.settings.radius, |m, x| m.max(x.abs()));
        let bounds = FamilyBox::new(self.family, self.p.space(), reach);
        let bound = Generalisation {
            sites: self.p.space().sites(),
            symbols: self.p.space().symbols(),
            samples: self.settings.samples.max(1) as f64,
            masks: self.settings.masks.max(1) as f64,
            delta: self.settings.delta,
            epsilon: self.settings.epsilon,
            tensorisation: constant,
            loss: minimum.value,
            log_covering: bounds.log_covering(self.settings.epsilon),
            log_margin: bounds.log_margin(),
        };
        let found = distance(0, &learned.probs(), self.p).total_variation;
        Ok(Some((found, bound.total_variation())))
    }
}

fn tensorisation(
    model: &Distribution,
    law: &MaskLaw,
    blocks: &Blocks,
) -> Result<Option<f64>, SpectrumFailure> {
    let constant = poincare(model, law, || ())?;
    Ok(upper_bound(Inequality::Tensorisation, model, blocks, &constant)?.map(|u| u.value))
}

type SpectrumFailure = crate::spectrum::SpectrumError;

impl Fixed {
    fn new(bench: &Bench<'_>, parameters: &[f64]) -> Result<Self, ExperimentError> {
        let model = bench.family.distribution(bench.p.space(), parameters);
        let table = bench.table(parameters);
        let probs = bench.p.probs();
        let possible = |x: usize| probs[x] > 0.0;
        let entries = bench.blocks.entries().iter().zip(&table.losses);
        let largest = entries.flat_map(|(entry, losses)| {
            let states = losses.iter().enumerate();
            states.filter(|(x, _)| possible(*x) && entry.weight.of(*x) > 0.0).map(|(_, l)| *l)
        });
        Ok(Self {
            log_margin: largest.fold(0.0, f64::max),
            tensorisation: tensorisation(&model, bench.law, &bench.blocks)?,
            population_loss: bench.averaged(&table, &probs),
            model,
            table,
        })
    }
}

fn lemmas(
    settings: &ConcentrationSettings,
    population: Option<Sides>,
    results: &[Outcome],
) -> Vec<Lemma> {
    let delta = settings.delta;
    let lemma = |label, quantity, allowed, sides: Vec<Sides>| -> Option<Lemma> {
        let mut found: Vec<f64> = sides.iter().map(|s| s.0).collect();
        let mut bounds: Vec<f64> = sides.iter().map(|s| s.1).collect();
        found.sort_by(f64::total_cmp);
        bounds.sort_by(f64::total_cmp);
        Some(Lemma {
            label,
            quantity,
            bound: quantile(bounds.get(..).filter(|b| !b.is_empty())?, 0.5),
            quantile: quantile(&found, 1.0 - delta),
            largest: *found.last()?,
            failures: sides.iter().filter(|s| s.0 > s.1 * (1.0 + 1e-12)).count(),
            repeats: sides.len(),
            allowed,
        })
    };
    let all = |side: &dyn Fn(&Outcome) -> Option<Sides>| -> Vec<Sides> {
        results.iter().filter_map(side).collect()
    };
    let rows = [
        lemma("prop:conditional_to_joint", "KL(p, pθ)", 0.0, population.into_iter().collect()),
        lemma("prop:conditional_to_joint", "KL(p̃, pθ)", 0.0, all(&|o| o.joint)),
        lemma("prop:KL_bounded", "KL of conditionals", 0.0, all(&|o| Some(o.divergence))),
        lemma("lem:hoeffding", "|L̃ − L|", delta, all(&|o| Some(o.hoeffding))),
        lemma(
            "cor:point_wise_generalization_bound_conditional_special",
            "|L̂ − L̃|",
            delta,
            all(&|o| Some(o.pointwise)),
        ),
        lemma(
            "lem:generalization_bound_conditional",
            "sup |L̂ − L̃|",
            delta,
            all(&|o| Some(o.uniform)),
        ),
        lemma("lem:empirical_pmf", "TV(p̃, p)", delta, all(&|o| Some(o.empirical))),
        lemma("thm:generalization_bound_joint", "TV(pθ̂, p)", delta, all(&|o| o.generalisation)),
    ];
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};

    #[test]
    fn every_lemma_holds_on_data() {
        let model =
            Model::Ising(Ising::uniform(3, &Shape::Chain { periodic: false }, 0.2, 0.4).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let settings =
            ConcentrationSettings { samples: 300, masks: 3, repeats: 60, ..Default::default() };
        let law = MaskLaw::Exactly { k: 1 };
        let found =
            concentration(&p, &family, &model.parameters(), &law, &settings, || ()).unwrap();
        assert!(found.is_learned && found.tensorisation.is_some());
        assert_eq!(found.lemmas.len(), 8);
        for lemma in &found.lemmas {
            assert!(lemma.holds(), "{lemma:?}");
            assert!(lemma.quantile > 0.0 && lemma.largest <= lemma.bound * 1.001, "{lemma:?}");
        }
        // Hoeffding is the one that is not far off: its 90 % quantile is within a factor of ten.
        let hoeffding = &found.lemmas[3];
        assert!(hoeffding.quantile > 0.1 * hoeffding.bound, "{hoeffding:?}");
    }

    /// With one sample and one mask |L̂ − L̃| is the loss of a mask less the mean over masks, by hand.
    #[test]
    fn losses_are_the_definition() {
        let model =
            Model::Ising(Ising::uniform(2, &Shape::Chain { periodic: false }, 0.3, 0.9).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let settings = ConcentrationSettings { samples: 1, masks: 1, ..Default::default() };
        let law = MaskLaw::Exactly { k: 1 };
        let bench = Bench::new(&p, &family, &law, &settings).unwrap();
        let data = bench.data(7);
        let table = bench.table(&model.parameters());
        let x = data.states.iter().position(|f| *f > 0.5).unwrap();
        let of = |site: usize| -p.log_conditional(x, 1 << site).unwrap()[x >> site & 1];
        let wanted = f64::midpoint(of(0), of(1));
        assert!((bench.averaged(&table, &data.states) - wanted).abs() < 1e-14);
        let drawn = Bench::drawn(&table, &data.pairs);
        assert!((drawn - of(0)).abs() < 1e-14 || (drawn - of(1)).abs() < 1e-14);
    }
}
