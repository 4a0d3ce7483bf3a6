//! Models as configuration: the plain structs behind `--model FILE`, TOML or JSON.
//!
//! ```toml
//! model = "ising"
//! n = 6
//! h = 0.1                                  # or a list of 6
//! graph = { kind = "chain", periodic = true }
//! j = 0.5                                  # or a list, one per edge
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Ising, Model, ModelError, Potts, Table};
use crate::graph::Shape;
use crate::space::Space;

/// One value for all, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerSite {
    /// The same everywhere.
    Same(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl PerSite {
    /// A list of `count` values.
    fn spread(
        &self,
        what: &'static str,
        of: &'static str,
        count: usize,
    ) -> Result<Vec<f64>, ModelError> {
        match self {
            Self::Same(value) => Ok(vec![*value; count]),
            Self::Each(values) if values.len() == count => Ok(values.clone()),
            Self::Each(values) => {
                Err(ModelError::Length { what, found: values.len(), expected: count, of })
            }
        }
    }
}

impl Default for PerSite {
    fn default() -> Self {
        Self::Same(0.0)
    }
}

/// A model, written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelSpec {
    /// Spins.
    Ising {
        /// The number of spins N.
        n: usize,
        /// The fields.
        #[serde(default)]
        h: PerSite,
        /// The graph.
        graph: Shape,
        /// The couplings, one per edge of the graph in its order.
        #[serde(default)]
        j: PerSite,
    },
    /// Symbols of any alphabet.
    Potts {
        /// The number of sites N.
        n: usize,
        /// The size of the alphabet q.
        q: usize,
        /// hᵢ(s): one list of q per site; absent means 0.
        h: Option<Vec<Vec<f64>>>,
        /// The graph.
        graph: Shape,
        /// The couplings, one per edge of the graph in its order.
        #[serde(default)]
        j: PerSite,
    },
    /// An explicit table.
    Table(TableSpec),
}

/// An explicit table, written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// The number of sites N.
    pub n: usize,
    /// The size of the alphabet q.
    #[serde(default = "two")]
    pub q: usize,
    /// The probability of every state, x₀ counting fastest.
    pub probabilities: Vec<f64>,
}

fn two() -> usize {
    2
}

/// A model file that cannot be used.
#[derive(Debug, Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error("{path}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<toml::de::Error>,
    },
    /// The file is not valid JSON.
    #[error("{path}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The file is neither.
    #[error("{0} is neither .toml nor .json")]
    Kind(PathBuf),
    /// The model makes no sense.
    #[error("{path}")]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ModelError,
    },
}

/// The most fields hᵢ(s) of a Potts model.
const MOST_CELLS: usize = 20_000_000;

impl ModelSpec {
    /// Checks and builds the model.
    ///
    /// # Errors
    /// What does not make sense.
    pub fn build(&self) -> Result<Model, ModelError> {
        match self {
            Self::Ising { n, h, graph, j } => {
                let edges = graph.edges(*n)?;
                let couplings = j.spread("j", "edges", edges.len())?;
                let fields = h.spread("h", "sites", *n)?;
                Ising::new(fields, edges, couplings).map(Model::Ising)
            }
            Self::Potts { n, q, h, graph, j } => {
                let edges = graph.edges(*n)?;
                let couplings = j.spread("j", "edges", edges.len())?;
                let cells = n.checked_mul(*q).filter(|cells| *cells <= MOST_CELLS);
                if cells.is_none() {
                    return Err(ModelError::TooManyFields { sites: *n, symbols: *q });
                }
                let fields = h.clone().unwrap_or_else(|| vec![vec![0.0; *q]; *n]);
                if fields.len() != *n {
                    let (found, expected) = (fields.len(), *n);
                    return Err(ModelError::Length { what: "h", found, expected, of: "sites" });
                }
                Potts::new(*q, fields, edges, couplings).map(Model::Potts)
            }
            Self::Table(TableSpec { n, q, probabilities }) => {
                let space = Space::new(*n, *q)?;
                Table::new(space, probabilities.clone()).map(Model::Table)
            }
        }
    }

    /// Reads a model from a `.toml` or `.json` file.
    ///
    /// # Errors
    /// If the file cannot be read, has unknown keys, or describes no sensible model.
    pub fn read(path: &Path) -> Result<Model, SpecError> {
        let spec: Self = read_config(path)?;
        spec.build().map_err(|source| SpecError::Model { path: path.to_owned(), source })
    }
}

/// Reads any configuration from a `.toml` or `.json` file.
///
/// # Errors
/// If the file cannot be read or does not fit the type.
pub fn read_config<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SpecError> {
    let owned = || path.to_owned();
    let text = std::fs::read_to_string(path)
        .map_err(|source| SpecError::Read { path: owned(), source })?;
    match path.extension().and_then(|e| e.to_str()) {
        Some("toml") => toml::from_str(&text)
            .map_err(|source| SpecError::Toml { path: owned(), source: Box::new(source) }),
        Some("json") => {
            serde_json::from_str(&text).map_err(|source| SpecError::Json { path: owned(), source })
        }
        _ => Err(SpecError::Kind(owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Model, String> {
        let spec: ModelSpec = toml::from_str(text).map_err(|e| e.message().to_owned())?;
        spec.build().map_err(|e| e.to_string())
    }

    #[test]
    fn the_documented_forms_are_read() {
        let cases = [
            (
                "ising",
                "model = 'ising'\nn = 6\nh = 0.1\ngraph = { kind = 'chain', periodic = true }\nj = 0.5",
            ),
            (
                "listed edges",
                "model = 'ising'\nn = 3\nh = [0, 1, 2.5]\ngraph = { kind = 'edges', edges = [[0, 1], [1, 2]] }\nj = [1, -1]",
            ),
            ("clique", "model = 'ising'\nn = 6\ngraph = { kind = 'clique', size = 4 }\nj = 2"),
            ("potts", "model = 'potts'\nn = 4\nq = 3\ngraph = { kind = 'chain' }\nj = 0.5"),
            ("table", "model = 'table'\nn = 2\nprobabilities = [0.5, 0.25, 0.25, 0]"),
        ];
        for (name, text) in cases {
            assert!(parse(text).is_ok(), "{name}: {:?}", parse(text));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            (
                "model = 'ising'\nn = 2\nfeild = 1\ngraph = { kind = 'chain' }",
                "unknown field `feild`, expected one of `n`, `h`, `graph`, `j`",
            ),
            (
                "model = 'ising'\nn = 3\nh = [1, 2]\ngraph = { kind = 'chain' }",
                "h has 2 entries, but there are 3 sites",
            ),
            (
                "model = 'ising'\nn = 3\ngraph = { kind = 'chain' }\nj = [1]",
                "j has 1 entries, but there are 2 edges",
            ),
            (
                "model = 'potts'\nn = 2\nq = 1\ngraph = { kind = 'chain' }",
                "an alphabet of 1 symbols leaves nothing to chance; it needs at least 2",
            ),
            ("model = 'ising'\nn = 0\ngraph = { kind = 'chain' }", "the graph has no vertices"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).unwrap_err(), message, "{text}");
        }
    }
}
