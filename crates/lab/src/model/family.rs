//! Exponential families: log p(x) = ⟨θ, T(x)⟩ − ln Z, with T named parameter by parameter.

use std::fmt;

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
        }
    }
}

/// The parameters of a model with their statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    symbols: usize,
    parameters: Vec<Parameter>,
}

impl Family {
    pub(super) fn new(symbols: usize, parameters: Vec<Parameter>) -> Self {
        Self { symbols, parameters }
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
        }
    }

    /// One statistic of every state.
    pub fn column(&self, space: &Space, parameter: usize) -> Vec<f64> {
        (0..space.size()).map(|state| self.statistic(space, state, parameter)).collect()
    }
}
