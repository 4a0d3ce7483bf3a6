//! Exponential families: log p(x) = ⟨θ, T(x)⟩ − ln Z, with T named parameter by parameter.

use std::fmt;
use std::sync::Arc;

use crate::distribution::Distribution;
use crate::space::Space;

/// One parameter, and with it one sufficient statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// hᵢ with statistic xᵢ = ±1.
    Field(usize),
    /// `Jₐ_b` with statistic `xₐx_b`.
    Coupling(usize, usize),
    /// hᵢ(s) with statistic 1[xᵢ = s], s ≥ 1; symbol 0 is the reference.
    Preference(usize, usize),
    /// `Jₐ_b` with statistic 1[xₐ = `x_b`].
    Agreement(usize, usize),
    /// ln p(x) − ln p(most probable state) of one state, with its indicator as statistic.
    State(usize),
}

impl Parameter {
    /// Whether it belongs to the J block rather than the h block.
    pub fn is_coupling(self) -> bool {
        matches!(self, Self::Coupling(..) | Self::Agreement(..))
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(i) => write!(f, "h[{i}]"),
            Self::Preference(i, s) => write!(f, "h[{i}]({s})"),
            Self::Coupling(a, b) | Self::Agreement(a, b) => write!(f, "j[{a},{b}]"),
            Self::State(x) => write!(f, "θ[{x}]"),
        }
    }
}

/// The parameters of a model with their statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    symbols: usize,
    parameters: Vec<Parameter>,
    /// Which states are possible; none if all are.
    support: Option<Arc<[bool]>>,
}

impl Family {
    pub(super) fn new(symbols: usize, parameters: Vec<Parameter>) -> Self {
        Self { symbols, parameters, support: None }
    }

    /// The saturated family: every distribution with the same possible states, one parameter for
    /// each of them but the most probable.
    pub(super) fn saturated(symbols: usize, log_probs: &[f64]) -> Self {
        let reference = most_probable(log_probs);
        let possible = |x: &usize| *x != reference && log_probs[*x] > f64::NEG_INFINITY;
        let parameters = (0..log_probs.len()).filter(possible).map(Parameter::State).collect();
        let support: Arc<[bool]> = log_probs.iter().map(|l| *l > f64::NEG_INFINITY).collect();
        let support = support.iter().any(|possible| !possible).then_some(support);
        Self { symbols, parameters, support }
    }

    /// Whether a state is possible in the family.
    #[inline]
    pub fn allows(&self, state: usize) -> bool {
        self.support.as_ref().is_none_or(|support| support[state])
    }

    /// The number of parameters d.
    pub fn dimension(&self) -> usize {
        self.parameters.len()
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Which parameters belong to the J block.
    pub fn couplings(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dimension()).filter(|&i| self.parameters[i].is_coupling())
    }

    /// One statistic of one state.
    #[inline]
    pub fn statistic(&self, space: &Space, state: usize, parameter: usize) -> f64 {
        debug_assert_eq!(space.symbols(), self.symbols, "the family belongs to another space");
        let spin = |site: usize| if space.symbol(state, site) == 1 { 1.0 } else { -1.0 };
        let indicator = |truth: bool| if truth { 1.0 } else { 0.0 };
        match self.parameters[parameter] {
            Parameter::Field(i) => spin(i),
            Parameter::Coupling(a, b) => spin(a) * spin(b),
            Parameter::Preference(i, s) => indicator(space.symbol(state, i) == s),
            Parameter::Agreement(a, b) => {
                indicator(space.symbol(state, a) == space.symbol(state, b))
            }
            Parameter::State(x) => indicator(state == x),
        }
    }

    /// The distribution with given parameters.
    ///
    /// # Panics
    /// If there is not one value per parameter.
    pub fn distribution(&self, space: Space, values: &[f64]) -> Distribution {
        assert_eq!(values.len(), self.dimension(), "one value per parameter");
        let weight = |x: usize| {
            if !self.allows(x) {
                return f64::NEG_INFINITY;
            }
            values.iter().enumerate().map(|(i, v)| v * self.statistic(&space, x, i)).sum()
        };
        Distribution::from_log_weights(space, (0..space.size()).map(weight).collect())
    }

    /// One statistic of every state.
    pub fn column(&self, space: &Space, parameter: usize) -> Vec<f64> {
        (0..space.size()).map(|state| self.statistic(space, state, parameter)).collect()
    }
}

/// The first of the most probable states.
pub(super) fn most_probable(log_probs: &[f64]) -> usize {
    let better = |best: usize, x: usize| if log_probs[x] > log_probs[best] { x } else { best };
    (1..log_probs.len()).fold(0, better)
}
