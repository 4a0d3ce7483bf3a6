//! The measured pairs, a row each.

use crate::measure::Pair;
use crate::statistics::Sample;

/// Columns of a layer that are not about single heads.
pub(crate) const COLUMNS: usize = 16;

/// A quantity of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Self-attention, mean of both directions: min, avg, max.
    SelfAttention(usize),
    /// Top-1, top-2.
    SelfTop(usize),
    /// Total variation: min, avg, max.
    Tv(usize),
    /// Cosine distance: min, avg, max.
    Cosine(usize),
    /// Top-1, top-2.
    CrossTop(usize),
}

impl Quantity {
    pub(crate) const ALL: [Self; 13] = [
        Self::SelfAttention(0),
        Self::SelfAttention(1),
        Self::SelfAttention(2),
        Self::SelfTop(0),
        Self::SelfTop(1),
        Self::Tv(0),
        Self::Tv(1),
        Self::Tv(2),
        Self::Cosine(0),
        Self::Cosine(1),
        Self::Cosine(2),
        Self::CrossTop(0),
        Self::CrossTop(1),
    ];

    pub(crate) fn name(self) -> String {
        let spread = |i: usize| ["min", "avg", "max"][i];
        match self {
            Self::SelfAttention(i) => format!("self.{}", spread(i)),
            Self::SelfTop(i) => format!("self.top{}", i + 1),
            Self::Tv(i) => format!("cross.tv.{}", spread(i)),
            Self::Cosine(i) => format!("cross.cosine.{}", spread(i)),
            Self::CrossTop(i) => format!("cross.top{}", i + 1),
        }
    }

    /// Its value in the columns of a layer.
    pub(crate) fn of(self, row: &[f32]) -> f64 {
        let at = |i: usize| f64::from(row[i]);
        match self {
            Self::SelfAttention(i) => f64::midpoint(at(i), at(3 + i)),
            Self::SelfTop(i) => at(6 + i),
            Self::Tv(i) => at(8 + i),
            Self::Cosine(i) => at(11 + i),
            Self::CrossTop(i) => at(14 + i),
        }
    }
}

/// What is known of a pair besides its measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) sentence: u32,
    /// The step, from 1.
    pub(crate) step: u32,
    pub(crate) stutter: bool,
    /// Whether both tokens changed in this step; none in a first step.
    pub(crate) flip: Option<bool>,
}

/// Pairs of some layers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Numbers of a layer: [`COLUMNS`], then three for each head.
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) labels: Vec<Label>,
    /// Pair after pair, layer after layer.
    values: Vec<f32>,
}

impl Table {
    pub(crate) fn new(layers: usize, heads: usize) -> Self {
        Self { width: COLUMNS + 3 * heads, layers, labels: Vec::new(), values: Vec::new() }
    }

    /// Bytes that so many more pairs take.
    pub(crate) fn bytes(&self, pairs: usize) -> usize {
        pairs * (4 * self.width * self.layers + size_of::<Label>())
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Adds pairs whose measures follow.
    pub(crate) fn push(&mut self, label: Label) {
        self.labels.push(label);
        self.values.resize(self.labels.len() * self.layers * self.width, 0.0);
    }

    pub(crate) fn set(&mut self, pair: usize, layer: usize, measured: &Pair) {
        let Pair { attended: [there, back], self_top, tv, cosine, cross_top, .. } = measured;
        let spreads = [there, back].map(|s| [s.min, s.avg, s.max]).concat();
        let spread = |s: &crate::measure::Spread| [s.min, s.avg, s.max];
        let columns = spreads
            .into_iter()
            .chain(*self_top)
            .chain(spread(tv))
            .chain(spread(cosine))
            .chain(*cross_top)
            .chain(measured.self_heads.iter().copied())
            .chain(measured.tv_heads.iter().copied())
            .chain(measured.cosine_heads.iter().copied());
        let first = (pair * self.layers + layer) * self.width;
        let row = &mut self.values[first..first + self.width];
        row.iter_mut().zip(columns).for_each(|(cell, number)| *cell = number as f32);
    }

    /// The numbers of a pair in a layer.
    pub(crate) fn row(&self, pair: usize, layer: usize) -> &[f32] {
        &self.values[(pair * self.layers + layer) * self.width..][..self.width]
    }

    /// Values of some quantity, of pairs that have a label.
    pub(crate) fn samples(
        &self,
        layer: usize,
        fails: impl Fn(&Label) -> Option<bool>,
        value: impl Fn(&[f32]) -> f64,
    ) -> Vec<Sample> {
        let sample = |(pair, label): (usize, &Label)| {
            let value = value(self.row(pair, layer));
            Some(Sample { sentence: label.sentence, fails: fails(label)?, value })
        };
        self.labels.iter().enumerate().filter_map(sample).collect()
    }
}
