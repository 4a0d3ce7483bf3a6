//! What a study found, as numbers.
//!
//! What cannot be computed from the pairs there are is absent (`null` in JSON), never NaN.

use padir_base::random::Seed;
use serde::Serialize;

use crate::statistics::{
    Interval, Sample, auc, bootstrap, by_sentence, difference, moments, permutation,
};
use crate::study::{Condition, Pass, Study};
use crate::table::{COLUMNS, Label, Quantity, Table};

/// Mean and standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moments {
    /// The mean; none of nothing.
    pub mean: Option<f64>,
    /// The standard deviation of the population; none of nothing.
    pub sd: Option<f64>,
}

impl Moments {
    fn of(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let (mean, sd) = moments(numbers).unzip();
        Self { mean, sd }
    }
}

/// The first table: self-attention between the two positions of a pair, in both directions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelfTable {
    /// How many pairs there are.
    pub pairs: usize,
    /// The smallest over heads.
    pub min: Moments,
    /// The mean over heads.
    pub avg: Moments,
    /// The largest over heads.
    pub max: Moments,
    /// The chance that the other position is the most attended one.
    pub top1: Option<f64>,
    /// The chance that it is among the two most attended ones.
    pub top2: Option<f64>,
}

/// Minimum, mean and maximum over heads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spreads {
    /// The smallest.
    pub min: Moments,
    /// The mean.
    pub avg: Moments,
    /// The largest.
    pub max: Moments,
}

/// The second table: distances between the cross-attention distributions of the two positions of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossTable {
    /// How many pairs there are.
    pub pairs: usize,
    /// Total variation.
    pub tv: Spreads,
    /// Cosine distance.
    pub cosine: Spreads,
    /// The chance that both attend most to the same source position.
    pub top1: Option<f64>,
    /// The chance that their two most attended source positions have one in common.
    pub top2: Option<f64>,
}

/// A table for pairs that fail and for the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tables<T> {
    /// Pairs of equal tokens.
    pub stutter: T,
    /// All other pairs.
    pub other: T,
}

/// How pairs that fail differ from the others in one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The quantity.
    pub quantity: String,
    /// Mean of failing pairs minus mean of the others.
    pub difference: Option<f64>,
    /// Its 95 % interval, by bootstrap over sentences.
    pub interval: Option<Interval>,
    /// The two-sided p-value, labels permuted within sentences.
    pub p: Option<f64>,
    /// The probability that a failing pair has the larger value.
    pub auc: Option<f64>,
}

/// One head of a layer: means of failing pairs and others, and AUC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadReport {
    /// The head, from 0.
    pub head: usize,
    /// Self-attention, mean of both directions.
    #[serde(rename = "self")]
    pub self_attention: Contrast,
    /// Total variation.
    pub tv: Contrast,
    /// Cosine distance.
    pub cosine: Contrast,
}

/// Two means and an AUC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Contrast {
    /// Mean of pairs that stutter.
    pub stutter: Option<f64>,
    /// Mean of the others.
    pub other: Option<f64>,
    /// The probability that a pair that stutters has the larger value.
    pub auc: Option<f64>,
}

impl Contrast {
    fn of(samples: &[Sample]) -> Self {
        let mean = |fails: bool| {
            let own = samples.iter().filter(move |sample| sample.fails == fails);
            moments(own.map(|sample| sample.value)).map(|(mean, _)| mean)
        };
        Self { stutter: mean(true), other: mean(false), auc: auc(samples) }
    }
}

/// One layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerReport {
    /// The layer, from 0.
    pub layer: usize,
    /// Self-attention, mean over heads and directions.
    #[serde(rename = "self")]
    pub self_attention: Contrast,
    /// Total variation, mean over heads.
    pub tv: Contrast,
    /// Cosine distance, mean over heads.
    pub cosine: Contrast,
    /// Its heads.
    pub heads: Vec<HeadReport>,
}

/// One refinement step, in the last layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// The step, from 1.
    pub step: u32,
    /// Pairs.
    pub pairs: usize,
    /// Those that stutter.
    pub stutter: usize,
    /// Those whose two tokens both changed in this step.
    pub flips: usize,
    /// How well each quantity tells pairs that stutter.
    pub stutter_auc: Vec<(String, Option<f64>)>,
    /// How well each quantity tells pairs that flip.
    pub flip_auc: Vec<(String, Option<f64>)>,
}

/// Positions that flip: the second failure, over all steps but the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flips {
    /// Pairs whose two tokens both changed in one step.
    pub flip: usize,
    /// All other pairs.
    pub other: usize,
    /// How they differ.
    pub differences: Vec<Difference>,
}

/// What a study found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How sentences were decoded.
    pub condition: Condition,
    /// Which pass was measured.
    pub pass: Pass,
    /// Whether self-attention is causal: then only that of the later position to the earlier one is reported.
    pub causal: bool,
    /// Sentences that were measured.
    pub sentences: usize,
    /// Those of them that have no pair: outputs of one token or none.
    pub without_pairs: usize,
    /// Sentences that were not measured because the memory for pairs was full.
    pub beyond_memory: usize,
    /// The layer of the tables, from 0: the last.
    pub layer: Option<usize>,
    /// The first table.
    #[serde(rename = "self")]
    pub self_attention: Tables<SelfTable>,
    /// The second table.
    pub cross: Tables<CrossTable>,
    /// How stuttering pairs differ from the others, in every quantity of the tables.
    pub differences: Vec<Difference>,
    /// Positions that flip.
    pub flips: Flips,
    /// Every layer and head.
    pub layers: Vec<LayerReport>,
    /// Every refinement step.
    pub steps: Vec<StepReport>,
    /// Resamples of each interval, and permutations of each test.
    pub resamples: usize,
    /// Their seed.
    pub seed: Seed,
}

impl Report {
    /// Sums up a study.
    pub fn of(study: &Study, resamples: usize, seed: Seed) -> Self {
        let layer = study.layers.checked_sub(1);
        let top = layer.unwrap_or(0);
        let stutter = |label: &Label| Some(label.stutter);
        let step_numbers: std::collections::BTreeSet<u32> =
            study.steps.labels.iter().map(|label| label.step).collect();
        let flips = |fails: bool| {
            study.steps.labels.iter().filter(|label| label.flip == Some(fails)).count()
        };
        let with =
            |resamples| move |samples: Vec<Sample>, name| contrast(name, &samples, resamples, seed);
        let all = |table: &Table, layer, fails: fn(&Label) -> Option<bool>, resamples| {
            Quantity::ALL
                .iter()
                .map(|&q| with(resamples)(table.samples(layer, fails, |row| q.of(row)), q.name()))
                .collect()
        };
        Self {
            condition: study.condition,
            pass: study.pass,
            causal: study.pass == Pass::ForcedDecoding,
            sentences: study.sentences as usize - study.beyond_memory,
            without_pairs: study.without_pairs,
            beyond_memory: study.beyond_memory,
            layer,
            self_attention: Tables {
                stutter: self_table(study, top, true),
                other: self_table(study, top, false),
            },
            cross: Tables {
                stutter: cross_table(&study.last, top, true),
                other: cross_table(&study.last, top, false),
            },
            differences: all(&study.last, top, stutter, resamples),
            flips: Flips {
                flip: flips(true),
                other: flips(false),
                differences: all(&study.steps, 0, |label| label.flip, resamples),
            },
            layers: (0..study.layers).map(|layer| layer_report(study, layer)).collect(),
            steps: step_numbers.into_iter().map(|step| step_report(&study.steps, step)).collect(),
            resamples,
            seed,
        }
    }
}

fn contrast(quantity: String, samples: &[Sample], resamples: usize, seed: Seed) -> Difference {
    let sentences = by_sentence(samples);
    Difference {
        quantity,
        difference: difference(&sentences, 0..sentences.len()),
        interval: bootstrap(&sentences, resamples, seed),
        p: permutation(samples, resamples, seed),
        auc: auc(samples),
    }
}

/// The rows of pairs that stutter, or do not.
fn rows(table: &Table, layer: usize, stutter: bool) -> impl Iterator<Item = &[f32]> + Clone {
    let own = move |&pair: &usize| table.labels[pair].stutter == stutter;
    (0..table.len()).filter(own).map(move |pair| table.row(pair, layer))
}

fn self_table(study: &Study, layer: usize, stutter: bool) -> SelfTable {
    let rows = || rows(&study.last, layer, stutter);
    // Both directions are numbers of their own, unless there is only one.
    let ways = if study.pass == Pass::ForcedDecoding { 1 } else { 2 };
    let spread = |i: usize| {
        Moments::of(
            rows().flat_map(move |row| (0..ways).map(move |way| f64::from(row[3 * way + i]))),
        )
    };
    let mean = |q: Quantity| moments(rows().map(move |row| q.of(row))).map(|(mean, _)| mean);
    SelfTable {
        pairs: rows().count(),
        min: spread(0),
        avg: spread(1),
        max: spread(2),
        top1: mean(Quantity::SelfTop(0)),
        top2: mean(Quantity::SelfTop(1)),
    }
}

fn cross_table(table: &Table, layer: usize, stutter: bool) -> CrossTable {
    let rows = || rows(table, layer, stutter);
    let of = |q: Quantity| Moments::of(rows().map(move |row| q.of(row)));
    let spreads =
        |q: fn(usize) -> Quantity| Spreads { min: of(q(0)), avg: of(q(1)), max: of(q(2)) };
    CrossTable {
        pairs: rows().count(),
        tv: spreads(Quantity::Tv),
        cosine: spreads(Quantity::Cosine),
        top1: of(Quantity::CrossTop(0)).mean,
        top2: of(Quantity::CrossTop(1)).mean,
    }
}

fn layer_report(study: &Study, layer: usize) -> LayerReport {
    let contrast = |value: &dyn Fn(&[f32]) -> f64| {
        Contrast::of(&study.last.samples(layer, |label| Some(label.stutter), value))
    };
    let head = |head: usize| {
        let column = |kind: usize| {
            let place = COLUMNS + kind * study.heads + head;
            contrast(&move |row: &[f32]| f64::from(row[place]))
        };
        HeadReport { head, self_attention: column(0), tv: column(1), cosine: column(2) }
    };
    LayerReport {
        layer,
        self_attention: contrast(&|row| Quantity::SelfAttention(1).of(row)),
        tv: contrast(&|row| Quantity::Tv(1).of(row)),
        cosine: contrast(&|row| Quantity::Cosine(1).of(row)),
        heads: (0..study.heads).map(head).collect(),
    }
}

fn step_report(table: &Table, step: u32) -> StepReport {
    let own = || table.labels.iter().filter(move |label| label.step == step);
    let aucs = |fails: fn(&Label) -> Option<bool>| {
        let of_step = move |label: &Label| fails(label).filter(|_| label.step == step);
        let one = |&q: &Quantity| (q.name(), auc(&table.samples(0, of_step, |row| q.of(row))));
        Quantity::ALL.iter().map(one).collect()
    };
    StepReport {
        step,
        pairs: own().count(),
        stutter: own().filter(|label| label.stutter).count(),
        flips: own().filter(|label| label.flip == Some(true)).count(),
        stutter_auc: aucs(|label| Some(label.stutter)),
        flip_auc: aucs(|label| label.flip),
    }
}
