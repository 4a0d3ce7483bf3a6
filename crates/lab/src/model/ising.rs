//! Ising models: p(x) ∝ exp(Σ hᵢxᵢ + Σ Jᵢⱼxᵢxⱼ) over spins ±1, each edge counted once.
//!
//! Enumerating the log-weights costs O(2ᴺ · (1 + |E|/N)).

use super::{Family, ModelError, Parameter, sane};
use crate::graph::{Edge, Shape};

/// An Ising model on any graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Ising {
    fields: Vec<f64>,
    edges: Vec<Edge>,
    couplings: Vec<f64>,
    /// Where the neighbours of each vertex start in `neighbours`.
    starts: Vec<usize>,
    neighbours: Vec<(usize, f64)>,
}

impl Ising {
    /// A model from its fields h, edges and couplings J (one per edge).
    ///
    /// # Errors
    /// If the lists do not fit together, or a parameter is not a sane number.
    pub fn new(
        fields: Vec<f64>,
        edges: Vec<Edge>,
        couplings: Vec<f64>,
    ) -> Result<Self, ModelError> {
        let vertices = fields.len();
        if vertices == 0 {
            return Err(crate::graph::GraphError::Empty.into());
        }
        crate::graph::check(&edges, vertices)?;
        if couplings.len() != edges.len() {
            return Err(ModelError::Length {
                what: "j",
                found: couplings.len(),
                expected: edges.len(),
                of: "edges",
            });
        }
        for (i, &h) in fields.iter().enumerate() {
            sane(|| format!("h[{i}]"), h)?;
        }
        for (&Edge(a, b), &j) in edges.iter().zip(&couplings) {
            sane(|| format!("j[{a},{b}]"), j)?;
        }
        let (starts, neighbours) = adjacency(vertices, &edges, &couplings);
        Ok(Self { fields, edges, couplings, starts, neighbours })
    }

    /// Equal fields and equal couplings on a shape.
    ///
    /// # Errors
    /// If the shape does not fit or a parameter is not a sane number.
    pub fn uniform(vertices: usize, shape: &Shape, h: f64, j: f64) -> Result<Self, ModelError> {
        let edges = shape.edges(vertices)?;
        let couplings = vec![j; edges.len()];
        Self::new(vec![h; vertices], edges, couplings)
    }

    /// N.
    pub fn sites(&self) -> usize {
        self.fields.len()
    }

    /// h.
    pub fn fields(&self) -> &[f64] {
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

    /// The neighbours of a vertex with their couplings.
    pub fn neighbours(&self, vertex: usize) -> &[(usize, f64)] {
        &self.neighbours[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The largest number of neighbours.
    pub fn degree(&self) -> usize {
        self.starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    /// The same graph with other parameters, fields first, then couplings.
    ///
    /// # Errors
    /// If their number is wrong or one is not a sane number.
    pub fn with_parameters(&self, parameters: &[f64]) -> Result<Self, ModelError> {
        let expected = self.sites() + self.edges.len();
        if parameters.len() != expected {
            let found = parameters.len();
            return Err(ModelError::Length {
                what: "parameters",
                found,
                expected,
                of: "parameters",
            });
        }
        let (fields, couplings) = parameters.split_at(self.sites());
        Self::new(fields.to_vec(), self.edges.clone(), couplings.to_vec())
    }

    /// All parameters, fields first, then couplings.
    pub fn parameters(&self) -> Vec<f64> {
        self.fields.iter().chain(&self.couplings).copied().collect()
    }

    /// The log-weight of every state: bit i of the index is 1 where spin i is +1.
    ///
    /// Built by doubling: turning spin i up adds 2(hᵢ + Σⱼ Jᵢⱼxⱼ).
    pub(super) fn log_weights(&self) -> Vec<f64> {
        let all_down = self.couplings.iter().sum::<f64>() - self.fields.iter().sum::<f64>();
        let mut weights = Vec::with_capacity(1 << self.sites());
        weights.push(all_down);
        for i in 0..self.sites() {
            for x in 0..1_usize << i {
                let mut field = self.fields[i];
                for &(j, coupling) in self.neighbours(i) {
                    field += if x >> j & 1 == 1 { coupling } else { -coupling };
                }
                weights.push(2.0_f64.mul_add(field, weights[x]));
            }
        }
        weights
    }

    /// T(x) = (xᵢ …, `xₐx_b` …).
    pub(super) fn family(&self) -> Family {
        let fields = (0..self.sites()).map(Parameter::Field);
        let couplings = self.edges.iter().map(|&Edge(a, b)| Parameter::Coupling(a, b));
        Family::new(2, fields.chain(couplings).collect())
    }

    /// The clique model this is, if it is one.
    pub fn as_clique(&self) -> Option<Clique> {
        let c = self.edges.iter().map(|e| e.0.max(e.1) + 1).max()?;
        let j = *self.couplings.first()?;
        let complete = self.edges.len() == c * (c - 1) / 2;
        (complete && self.couplings.iter().all(|other| other.to_bits() == j.to_bits()))
            .then(|| Clique { fields: self.fields.clone(), size: c, coupling: j })
    }
}

fn adjacency(
    vertices: usize,
    edges: &[Edge],
    couplings: &[f64],
) -> (Vec<usize>, Vec<(usize, f64)>) {
    let mut lists = vec![Vec::new(); vertices];
    for (&Edge(a, b), &j) in edges.iter().zip(couplings) {
        lists[a].push((b, j));
        lists[b].push((a, j));
    }
    let mut starts = vec![0];
    for list in &lists {
        starts.push(starts[starts.len() - 1] + list.len());
    }
    (starts, lists.concat())
}

/// The paper's construction: vertices 0..size form a clique of equal couplings J, the others
/// are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Clique {
    fields: Vec<f64>,
    size: usize,
    coupling: f64,
}

impl Clique {
    /// A clique model with the same field everywhere.
    ///
    /// # Errors
    /// If the clique does not fit or a parameter is not a sane number.
    pub fn uniform(vertices: usize, size: usize, h: f64, j: f64) -> Result<Self, ModelError> {
        Ising::uniform(vertices, &Shape::Clique { size: Some(size) }, h, j)?;
        Ok(Self { fields: vec![h; vertices], size, coupling: j })
    }

    /// N.
    pub fn sites(&self) -> usize {
        self.fields.len()
    }

    /// |C|.
    pub fn size(&self) -> usize {
        self.size
    }

    /// J.
    pub fn coupling(&self) -> f64 {
        self.coupling
    }

    /// h, for every vertex.
    pub fn fields(&self) -> &[f64] {
        &self.fields
    }

    /// The field inside of the clique, if it is the same for all its vertices.
    pub fn common_field(&self) -> Option<f64> {
        let h = self.fields[0];
        self.fields[..self.size].iter().all(|other| other.to_bits() == h.to_bits()).then_some(h)
    }

    /// `h_G` = Σ over the clique of hᵢ.
    pub fn total_field(&self) -> f64 {
        self.fields[..self.size].iter().sum()
    }

    /// ln w(m) of m spins up in the clique, for a common field h:
    /// w(m) = exp(h(2m − c) + J((2m − c)² − c)/2), for one such state.
    pub fn log_weight(&self, h: f64, up: usize) -> f64 {
        let sum = 2.0 * up as f64 - self.size as f64;
        h * sum + self.coupling * (sum * sum - self.size as f64) / 2.0
    }

    /// The model as an Ising model.
    ///
    /// # Panics
    /// Never: a clique model is checked when it is made.
    pub fn to_ising(&self) -> Ising {
        let edges = Shape::Clique { size: Some(self.size) }
            .edges(self.sites())
            .expect("the size was checked");
        let couplings = vec![self.coupling; edges.len()];
        Ising::new(self.fields.clone(), edges, couplings).expect("the parameters were checked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_weights_are_the_definition() {
        let model = Ising::new(
            vec![0.3, -0.7, 0.2, 1.1],
            vec![Edge(0, 1), Edge(3, 1), Edge(2, 0)],
            vec![0.5, -1.5, 0.25],
        )
        .unwrap();
        let weights = model.log_weights();
        for (x, &weight) in weights.iter().enumerate() {
            let s = |i: usize| if x >> i & 1 == 1 { 1.0 } else { -1.0 };
            let fields: f64 = model.fields.iter().enumerate().map(|(i, h)| h * s(i)).sum();
            let pairs: f64 =
                model.edges.iter().zip(&model.couplings).map(|(e, j)| j * s(e.0) * s(e.1)).sum();
            assert!((weight - fields - pairs).abs() < 1e-14, "state {x:b}");
        }
    }

    #[test]
    fn clique_models_are_recognised() {
        let clique = Clique::uniform(6, 4, 0.5, 1.25).unwrap();
        assert_eq!(clique.to_ising().as_clique(), Some(clique));
        let chain = Ising::uniform(4, &Shape::Chain { periodic: false }, 0.0, 1.0).unwrap();
        assert_eq!(chain.as_clique(), None);
    }

    #[test]
    fn insane_parameters_are_named() {
        let chain = Shape::Chain { periodic: false };
        for (h, j, message) in [
            (f64::NAN, 1.0, "h[0] is NaN; a parameter must be finite and at most 1e6 in size"),
            (
                0.0,
                f64::INFINITY,
                "j[0,1] is inf; a parameter must be finite and at most 1e6 in size",
            ),
            (
                0.0,
                -1e9,
                "j[0,1] is -1000000000; a parameter must be finite and at most 1e6 in size",
            ),
        ] {
            assert_eq!(Ising::uniform(3, &chain, h, j).unwrap_err().to_string(), message);
        }
    }
}
