//! Attention and feed-forward layers: their matrices, norms and inputs.
//!
//! | place of the norm | computes |
//! |---|---|
//! | [`NormPlace::Pre`] | x + f(n(x)) |
//! | [`NormPlace::Post`] | n(x + f(x)) |

use serde::{Deserialize, Serialize};

use super::List;
use crate::inventory::{Init, Parameter};

/// y = W·x + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// W, [out, in].
    pub weight: Parameter,
    /// b, \[out\].
    pub bias: Option<Parameter>,
}

/// How a norm is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// s ∘ x / √(mean x² + ε).
    Rms,
    /// s ∘ (x − mean x) / √(var x + ε) + b.
    Layer,
}

/// A norm.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    /// How it is computed.
    pub kind: NormKind,
    /// ε.
    pub epsilon: f64,
    /// s.
    pub weight: Parameter,
    /// b.
    pub bias: Option<Parameter>,
}

/// Where the norm of a sublayer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlace {
    /// Before it, inside of the residual connection.
    Pre,
    /// After the residual connection.
    Post,
}

/// What queries, keys or values are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The residual stream.
    Stream,
    /// The position table of the stack.
    Positions,
    /// The encoder's output.
    EncoderOutput,
    /// The embeddings of the stack's own tokens, before any block (`DisCo`).
    Embeddings,
}

/// An input of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it comes from.
    pub from: Source,
    /// Whether the norm of a [pre-norm](NormPlace::Pre) layer is applied to it.
    pub normed: bool,
}

/// Which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of its sentence.
    All,
    /// Those up to its own position.
    Causal,
    /// What the caller says for each query (`DisCo`).
    PerQuery,
}

/// The attention layer: o(softmax(scale·q·kᵀ + bias)·v).
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Its norm.
    pub norm: Norm,
    /// Where the norm stands.
    pub place: NormPlace,
    /// The number of heads.
    pub heads: usize,
    /// To queries.
    pub q: Linear,
    /// To keys.
    pub k: Linear,
    /// To values.
    pub v: Linear,
    /// Back to the width of the stream.
    pub o: Linear,
    /// What queries are computed from.
    pub queries: Input,
    /// What keys are computed from.
    pub keys: Input,
    /// What values are computed from.
    pub values: Input,
    /// Which keys a query sees.
    pub visibility: Visibility,
    /// Whether the stack's relative position bias is added to the scores.
    pub relative_bias: bool,
    /// What q·kᵀ is multiplied by.
    pub score_scale: f32,
    /// Whether dropout applies to the attention weights.
    pub weight_dropout: bool,
    /// Whether dropout applies to the output.
    pub output_dropout: bool,
}

/// The feed-forward layer: outer(activation(inner(x))).
#[derive(Clone, Debug, PartialEq)]
pub struct FeedForward {
    /// Its norm.
    pub norm: Norm,
    /// Where the norm stands.
    pub place: NormPlace,
    /// To the hidden layer.
    pub inner: Linear,
    /// Back to the width of the stream.
    pub outer: Linear,
    /// Of the hidden layer.
    pub activation: Activation,
    /// Whether dropout applies to the hidden layer.
    pub hidden_dropout: bool,
}

/// The activation of a hidden layer, by its name in public configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0).
    #[serde(rename = "relu")]
    Relu,
    /// x·Φ(x).
    #[serde(rename = "gelu")]
    Gelu,
    /// x·Φ(x) with Φ approximated by tanh.
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh")]
    GeluTanh,
    /// x·σ(x).
    #[serde(rename = "swish", alias = "silu")]
    Swish,
}

impl Activation {
    /// What it may be, for messages.
    pub const CHOICES: &str = r#""relu", "gelu", "gelu_new" or "swish""#;
}

impl Input {
    /// As it is.
    pub const fn raw(from: Source) -> Self {
        Self { from, normed: false }
    }

    /// Normalised by the norm of its layer.
    pub const fn normed(from: Source) -> Self {
        Self { from, normed: true }
    }
}

impl Linear {
    /// Without bias.
    pub(super) fn plain(name: String, shape: [usize; 2], std: f64) -> Self {
        Self { weight: Parameter::matrix(name, shape, std), bias: None }
    }

    /// `{name}.weight` and `{name}.bias`.
    pub(super) fn biased(name: &str, shape: [usize; 2], std: f64) -> Self {
        let bias = Parameter::vector(format!("{name}.bias"), shape[0], Init::Zeros);
        Self { weight: Parameter::matrix(format!("{name}.weight"), shape, std), bias: Some(bias) }
    }

    /// The length of x.
    pub fn inputs(&self) -> usize {
        self.weight.shape[1]
    }

    /// The length of y.
    pub fn outputs(&self) -> usize {
        self.weight.shape[0]
    }

    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        list.add(&self.weight);
        list.add_all(&self.bias);
    }
}

impl Norm {
    /// `RMSNorm` with a scale.
    pub(super) fn rms(name: String, width: usize, epsilon: f64) -> Self {
        let weight = Parameter::vector(name, width, Init::Ones);
        Self { kind: NormKind::Rms, epsilon, weight, bias: None }
    }

    /// `LayerNorm` with `{name}.weight` and `{name}.bias`.
    pub(super) fn layer(name: &str, width: usize, epsilon: f64) -> Self {
        let weight = Parameter::vector(format!("{name}.weight"), width, Init::Ones);
        let bias = Parameter::vector(format!("{name}.bias"), width, Init::Zeros);
        Self { kind: NormKind::Layer, epsilon, weight, bias: Some(bias) }
    }

    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        list.add(&self.weight);
        list.add_all(&self.bias);
    }
}

impl Attention {
    /// The width of all heads together.
    pub fn inner_width(&self) -> usize {
        self.q.outputs()
    }

    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        for linear in [&self.q, &self.k, &self.v, &self.o] {
            linear.list(list);
        }
        self.norm.list(list);
    }
}

impl FeedForward {
    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        self.inner.list(list);
        self.outer.list(list);
        self.norm.list(list);
    }
}
