//! The parameters of length predictors.

use super::List;
use super::sublayer::Linear;
use crate::config;
use crate::inventory::{Init, Parameter};

/// The parameters of a length predictor.
#[derive(Clone, Debug, PartialEq)]
pub enum LengthHead {
    /// One row per class.
    Classes(Parameter),
    /// a·n + b.
    Affine {
        /// a.
        weight: Parameter,
        /// b.
        bias: Parameter,
    },
    /// Attention pooling and a small network.
    Pooled(PooledLength),
}

/// What the sum of all encoder states is multiplied by, so that it is about as large as a pool.
pub const SUM_SCALE: f32 = 1.0 / 32.0;

/// Source lengths with a row of their own; longer sources have the last.
const LENGTHS: usize = 256;

/// A length predictor that reads all encoder states h₁…hₙ. With queries `q₁…q_Q`:
///
/// ```text
/// poolⱼ = Σᵢ softmaxᵢ(hᵢ·qⱼ)·hᵢ
/// x     = [pool₁; …; pool_Q; Σᵢ hᵢ/32]
/// z     = ReLU(W₁·x + b₁ + T[n]),  then ReLU(Wₗ·z + bₗ) for each further layer
/// logits = W·z + b
/// ```
///
/// Pools say what kinds of tokens there are, the sum how many of each: what a token adds to the length can be linear in its state.
/// T is a table by source length, since long sources leave more lengths possible. All of it stays f32.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledLength {
    /// `q₁…q_Q`, one row each: [Q, d].
    pub queries: Parameter,
    /// T, one row per source length n = 1, 2, …; the last also stands for all longer ones.
    pub lengths: Parameter,
    /// Wₗ and bₗ; the first reads Q + 1 vectors as wide as the stream.
    pub hidden: Vec<Linear>,
    /// W and b.
    pub output: Linear,
}

impl PooledLength {
    /// For encoder states of width `d`; deviations are multiplied by `factor`.
    pub(super) fn new(sizes: config::PooledLength, d: usize, factor: f64) -> Self {
        let deviation = |fan: usize| factor / (fan as f64).sqrt();
        let linear = |part: &str, outputs: usize, inputs: usize| Linear {
            weight: Parameter::table(
                format!("length_predictor.{part}.weight"),
                [outputs, inputs],
                deviation(inputs),
            ),
            bias: Some(Parameter::vector(
                format!("length_predictor.{part}.bias"),
                outputs,
                Init::Zeros,
            )),
        };
        let pools = sizes.queries.saturating_add(1).saturating_mul(d);
        let hidden = |layer: usize| {
            let inputs = if layer == 0 { pools } else { sizes.hidden };
            linear(&format!("hidden.{layer}"), sizes.hidden, inputs)
        };
        let name = |part: &str| format!("length_predictor.{part}.weight");
        Self {
            queries: Parameter::table(name("query"), [sizes.queries, d], deviation(d)),
            lengths: Parameter {
                init: Init::Zeros,
                ..Parameter::table(name("source_length"), [LENGTHS, sizes.hidden], 0.0)
            },
            // Descriptions are made before they are validated.
            hidden: (0..sizes.hidden_layers.min(config::MAX_LENGTH_LAYERS)).map(hidden).collect(),
            output: linear("output", sizes.classes, sizes.hidden),
        }
    }

    /// The row of T for a source of so many tokens.
    pub fn length_row(&self, source: usize) -> usize {
        source.clamp(1, self.lengths.shape[0]) - 1
    }
}

impl LengthHead {
    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        match self {
            Self::Classes(table) => list.add(table),
            Self::Affine { weight, bias } => {
                list.add(weight);
                list.add(bias);
            }
            Self::Pooled(pooled) => {
                list.add(&pooled.queries);
                list.add(&pooled.lengths);
                pooled.hidden.iter().for_each(|linear| linear.list(list));
                pooled.output.list(list);
            }
        }
    }
}
