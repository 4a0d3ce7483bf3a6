//! Models: Ising, Potts-like, explicit tables, and how each is enumerated.
//!
//! Every model knows its unnormalised log-weights; [`Model::enumerate`] turns it into a
//! [`Distribution`]. Ising and Potts models are also exponential families: their
//! [`Family`] names the parameters and gives the sufficient statistics T(x), so that
//! ∇θ log p(x) = T(x) − E T.

mod family;
mod ising;
mod potts;
mod spec;
mod table;

pub use family::{Family, Parameter};
pub use ising::{Clique, Ising};
pub use potts::Potts;
pub use spec::{ModelSpec, PerSite, SpecError, TableSpec, read_config};
pub use table::Table;

use thiserror::Error;

use crate::distribution::Distribution;
use crate::graph::{Edge, GraphError};
use crate::space::{Space, SpaceError};

/// Parameters beyond this are absurd: e^±10⁶ is no number a float can tell from a constraint.
pub const LARGEST_PARAMETER: f64 = 1e6;

/// The largest table whose saturated family is used.
pub const LARGEST_SATURATED: usize = 256;

/// A model that makes no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// A parameter that is not finite or absurdly large.
    #[error("{name} is {value}; a parameter must be finite and at most 1e6 in size")]
    Parameter {
        /// Which one, like `h[3]`.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A list of parameters has the wrong length.
    #[error("{what} has {found} entries, but there are {expected} {of}")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// Of what.
        of: &'static str,
    },
    /// More fields than fit.
    #[error("{sites} sites of {symbols} symbols have too many fields to list")]
    TooManyFields {
        /// N.
        sites: usize,
        /// q.
        symbols: usize,
    },
    /// The graph makes no sense.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The space cannot be enumerated.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A probability that is negative or not finite.
    #[error("the probability of state {state} is {value}; it must lie between 0 and 1")]
    Probability {
        /// The state's index.
        state: usize,
        /// Its would-be probability.
        value: f64,
    },
    /// Probabilities that do not sum to one.
    #[error("the probabilities sum to {0}, not to 1")]
    Sum(f64),
}

/// Any model of the laboratory.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Spins with pairwise couplings.
    Ising(Ising),
    /// Symbols of any finite alphabet, coupled where they agree.
    Potts(Potts),
    /// Any distribution, state by state.
    Table(Table),
}

impl Model {
    /// N.
    pub fn sites(&self) -> usize {
        match self {
            Self::Ising(model) => model.sites(),
            Self::Potts(model) => model.sites(),
            Self::Table(model) => model.space().sites(),
        }
    }

    /// q = |Ω|.
    pub fn symbols(&self) -> usize {
        match self {
            Self::Ising(_) => 2,
            Self::Potts(model) => model.symbols(),
            Self::Table(model) => model.space().symbols(),
        }
    }

    /// All states with their exact probabilities.
    ///
    /// # Errors
    /// If there are too many.
    pub fn enumerate(&self) -> Result<Distribution, SpaceError> {
        let space = Space::new(self.sites(), self.symbols())?;
        let weights = match self {
            Self::Ising(model) => model.log_weights(),
            Self::Potts(model) => model.log_weights(&space),
            Self::Table(model) => model.log_probabilities(),
        };
        Ok(Distribution::from_log_weights(space, weights))
    }

    /// The exponential family the model belongs to: of a table, the saturated one; none if that
    /// is too large.
    pub fn family(&self) -> Option<Family> {
        match self {
            Self::Ising(model) => Some(model.family()),
            Self::Potts(model) => Some(model.family()),
            Self::Table(model) => (model.space().size() <= LARGEST_SATURATED)
                .then(|| Family::saturated(model.space().symbols(), &model.log_probabilities())),
        }
    }

    /// The model's parameters in the order of its [`Family`].
    pub fn parameters(&self) -> Vec<f64> {
        match self {
            Self::Ising(model) => model.parameters(),
            Self::Potts(model) => model.parameters(),
            Self::Table(model) => {
                let logs = model.log_probabilities();
                let reference = family::most_probable(&logs);
                let others = logs.iter().enumerate();
                let others = others.filter(|(x, l)| *x != reference && l.is_finite());
                others.map(|(_, l)| l - logs[reference]).collect()
            }
        }
    }

    /// The pairs of sites that are not independent given all others: the edges with a coupling, or
    /// what the table says.
    pub fn interactions(&self) -> Vec<Edge> {
        let coupled = |edges: &[Edge], couplings: &[f64]| {
            let edges = edges.iter().zip(couplings);
            edges.filter(|(_, j)| **j != 0.0).map(|(edge, _)| *edge).collect()
        };
        match self {
            Self::Ising(model) => coupled(model.edges(), model.couplings()),
            Self::Potts(model) => coupled(model.edges(), model.couplings()),
            Self::Table(model) => model.interactions(),
        }
    }
}

/// Checks one parameter.
fn sane(name: impl FnOnce() -> String, value: f64) -> Result<(), ModelError> {
    if value.is_finite() && value.abs() <= LARGEST_PARAMETER {
        Ok(())
    } else {
        Err(ModelError::Parameter { name: name(), value })
    }
}
