//! Potts-like models: p(x) ∝ exp(Σ hᵢ(xᵢ) + Σ Jᵢⱼ 1[xᵢ = xⱼ]) over any finite alphabet.

use super::{Family, ModelError, Parameter, sane};
use crate::graph::Edge;
use crate::space::{Space, SpaceError};

/// A Potts-like model.
#[derive(Clone, Debug, PartialEq)]
pub struct Potts {
    symbols: usize,
    /// `fields[i][s]` is hᵢ(s).
    fields: Vec<Vec<f64>>,
    edges: Vec<Edge>,
    couplings: Vec<f64>,
}

impl Potts {
    /// A model from its preferences (one list of q per site), edges and couplings.
    ///
    /// # Errors
    /// If the lists do not fit together, or a parameter is not a sane number.
    pub fn new(
        symbols: usize,
        fields: Vec<Vec<f64>>,
        edges: Vec<Edge>,
        couplings: Vec<f64>,
    ) -> Result<Self, ModelError> {
        if symbols < 2 {
            return Err(SpaceError::Symbols(symbols).into());
        }
        if fields.is_empty() {
            return Err(crate::graph::GraphError::Empty.into());
        }
        crate::graph::check(&edges, fields.len())?;
        if couplings.len() != edges.len() {
            let (found, expected) = (couplings.len(), edges.len());
            return Err(ModelError::Length { what: "j", found, expected, of: "edges" });
        }
        for (i, field) in fields.iter().enumerate() {
            if field.len() != symbols {
                let found = field.len();
                return Err(ModelError::Length {
                    what: "an entry of h",
                    found,
                    expected: symbols,
                    of: "symbols",
                });
            }
            for (s, &h) in field.iter().enumerate() {
                sane(|| format!("h[{i}]({s})"), h)?;
            }
        }
        for (&Edge(a, b), &j) in edges.iter().zip(&couplings) {
            sane(|| format!("j[{a},{b}]"), j)?;
        }
        Ok(Self { symbols, fields, edges, couplings })
    }

    /// N.
    pub fn sites(&self) -> usize {
        self.fields.len()
    }

    /// q.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// `fields()[i][s]` is hᵢ(s).
    pub fn fields(&self) -> &[Vec<f64>] {
        &self.fields
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// J, one per edge.
    pub fn couplings(&self) -> &[f64] {
        &self.couplings
    }

    /// hᵢ(s) − hᵢ(0) for s ≥ 1, site after site, then J.
    pub(super) fn parameters(&self) -> Vec<f64> {
        let fields = self.fields.iter().flat_map(|h| h[1..].iter().map(|field| field - h[0]));
        fields.chain(self.couplings.iter().copied()).collect()
    }

    pub(super) fn log_weights(&self, space: &Space) -> Vec<f64> {
        (0..space.size()).map(|state| self.log_weight(space, state)).collect()
    }

    fn log_weight(&self, space: &Space, state: usize) -> f64 {
        let fields: f64 =
            space.symbols_of(state).zip(&self.fields).map(|(s, field)| field[s]).sum();
        let agree = |e: &Edge| space.symbol(state, e.0) == space.symbol(state, e.1);
        let couplings = self.edges.iter().zip(&self.couplings).filter(|(edge, _)| agree(edge));
        fields + couplings.map(|(_, j)| j).sum::<f64>()
    }

    pub(super) fn family(&self) -> Family {
        let fields = (0..self.sites())
            .flat_map(|i| (1..self.symbols).map(move |s| Parameter::Preference(i, s)));
        let couplings = self.edges.iter().map(|&Edge(a, b)| Parameter::Agreement(a, b));
        Family::new(self.symbols, fields.chain(couplings).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ising, Model};
    use super::*;
    use crate::graph::Shape;

    /// With two symbols, 1[a = b] = (1 + `xₐx_b)/2` and 1[a = 1] = (1 + xₐ)/2.
    #[test]
    fn two_symbols_are_spins() {
        let edges = Shape::Chain { periodic: true }.edges(4).unwrap();
        let ising = Ising::uniform(4, &Shape::Chain { periodic: true }, 0.4, 0.9).unwrap();
        let potts =
            Potts::new(2, vec![vec![-0.4, 0.4]; 4], edges.clone(), vec![1.8; edges.len()]).unwrap();
        let p = Model::Ising(ising).enumerate().unwrap();
        let q = Model::Potts(potts).enumerate().unwrap();
        for x in 0..16 {
            assert!((p.log_prob(x) - q.log_prob(x)).abs() < 1e-14, "state {x:b}");
        }
    }
}
