//! Graphs: who interacts with whom.

use std::collections::HashSet;

use padir_base::random::{Purpose, Seed};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An undirected edge between two different vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edge(pub usize, pub usize);

/// What a graph looks like.
///
/// As configuration: `graph = { kind = "grid", rows = 4, columns = 4 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// No edges at all: a product measure.
    Independent,
    /// The first `size` vertices pairwise joined, the others free: the paper's construction.
    Clique {
        /// The size of the clique; all vertices if absent.
        size: Option<usize>,
    },
    /// Each vertex joined with the next.
    Chain {
        /// Whether the last is joined with the first.
        #[serde(default)]
        periodic: bool,
    },
    /// A rectangular grid, numbered row by row.
    Grid {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// Whether opposite sides are joined.
        #[serde(default)]
        periodic: bool,
    },
    /// Each pair joined independently (Erdős and Rényi).
    Random {
        /// The probability of an edge.
        density: f64,
        /// The seed of the draw.
        #[serde(default)]
        seed: u64,
    },
    /// The listed edges.
    Edges {
        /// Pairs of vertices, counted from 0.
        edges: Vec<Edge>,
    },
}

/// A graph that makes no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GraphError {
    /// No vertices.
    #[error("the graph has no vertices")]
    Empty,
    /// No edges.
    #[error("the graph has no edges; say kind = \"independent\" if that is meant")]
    NoEdges,
    /// A clique of the wrong size.
    #[error("a clique of {size} among {vertices} vertices: its size must be 2 to {vertices}")]
    Clique {
        /// The size asked for.
        size: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// A grid that does not fit.
    #[error("a grid of {rows} × {columns} does not have {vertices} vertices")]
    Grid {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// More edges than fit.
    #[error("the graph has {edges:.3e} pairs of vertices to join; it stops at {MOST_EDGES:.0e}")]
    TooLarge {
        /// How many edges there may be.
        edges: f64,
    },
    /// A density outside of [0, 1].
    #[error("a density must lie between 0 and 1, not {0}")]
    Density(f64),
    /// An edge names a vertex that does not exist.
    #[error("edge {index} ({}, {}) names vertex {vertex}, but the vertices are 0 to {last}", edge.0, edge.1)]
    Vertex {
        /// The number of the edge in the list.
        index: usize,
        /// The edge.
        edge: Edge,
        /// The unknown vertex.
        vertex: usize,
        /// The last vertex there is.
        last: usize,
    },
    /// An edge joins a vertex with itself.
    #[error("edge {index} joins vertex {vertex} with itself")]
    Loop {
        /// The number of the edge in the list.
        index: usize,
        /// The vertex.
        vertex: usize,
    },
    /// An edge is listed twice.
    #[error("edge {index} joins vertices {} and {}, which are joined already", edge.0, edge.1)]
    Twice {
        /// The number of the edge in the list.
        index: usize,
        /// The edge.
        edge: Edge,
    },
}

/// The most edges of a graph, and the most vertices.
pub const MOST_EDGES: f64 = 2e7;

impl Shape {
    /// The number of edges, before any is made; of a random graph, of pairs to draw.
    fn most_edges(&self, vertices: usize) -> f64 {
        let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
        match self {
            Self::Independent | Self::Chain { .. } => vertices as f64,
            Self::Clique { size } => pairs(size.unwrap_or(vertices)).max(vertices as f64),
            Self::Grid { .. } => 2.0 * vertices as f64,
            Self::Random { .. } => pairs(vertices).max(vertices as f64),
            Self::Edges { edges } => (edges.len() as f64).max(vertices as f64),
        }
    }

    /// The edges of this shape over `vertices` vertices, each once.
    ///
    /// # Errors
    /// If the shape does not fit the number of vertices.
    pub fn edges(&self, vertices: usize) -> Result<Vec<Edge>, GraphError> {
        if vertices == 0 {
            return Err(GraphError::Empty);
        }
        let edges = self.most_edges(vertices);
        if edges > MOST_EDGES {
            return Err(GraphError::TooLarge { edges });
        }
        match self {
            Self::Independent => Ok(Vec::new()),
            Self::Clique { size } => {
                let size = size.unwrap_or(vertices);
                if !(2..=vertices).contains(&size) {
                    return Err(GraphError::Clique { size, vertices });
                }
                Ok(pairs(size).collect())
            }
            Self::Chain { periodic } => {
                let mut edges: Vec<Edge> = (1..vertices).map(|b| Edge(b - 1, b)).collect();
                if *periodic && vertices > 2 {
                    edges.push(Edge(0, vertices - 1));
                }
                Ok(edges)
            }
            Self::Grid { rows, columns, periodic } => {
                if rows.checked_mul(*columns) != Some(vertices) {
                    let (rows, columns) = (*rows, *columns);
                    return Err(GraphError::Grid { rows, columns, vertices });
                }
                Ok(grid(*rows, *columns, *periodic))
            }
            Self::Random { density, seed } => {
                if !(0.0..=1.0).contains(density) {
                    return Err(GraphError::Density(*density));
                }
                let mut stream = Seed(*seed).stream(Purpose::Synthesis, 0);
                Ok(pairs(vertices).filter(|_| stream.chance(*density)).collect())
            }
            Self::Edges { edges } if edges.is_empty() => Err(GraphError::NoEdges),
            Self::Edges { edges } => check(edges, vertices).map(|()| edges.clone()),
        }
    }
}

fn pairs(vertices: usize) -> impl Iterator<Item = Edge> {
    (0..vertices).flat_map(move |a| (a + 1..vertices).map(move |b| Edge(a, b)))
}

fn grid(rows: usize, columns: usize, periodic: bool) -> Vec<Edge> {
    let at = |row: usize, column: usize| row * columns + column;
    let mut edges = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if column + 1 < columns {
                edges.push(Edge(at(row, column), at(row, column + 1)));
            } else if periodic && columns > 2 {
                edges.push(Edge(at(row, 0), at(row, column)));
            }
            if row + 1 < rows {
                edges.push(Edge(at(row, column), at(row + 1, column)));
            } else if periodic && rows > 2 {
                edges.push(Edge(at(0, column), at(row, column)));
            }
        }
    }
    edges
}

/// Whether the edges join different known vertices, each pair once.
pub(crate) fn check(edges: &[Edge], vertices: usize) -> Result<(), GraphError> {
    let mut seen = HashSet::new();
    for (index, &edge) in edges.iter().enumerate() {
        let Edge(a, b) = edge;
        if let Some(vertex) = [a, b].into_iter().find(|&v| v >= vertices) {
            return Err(GraphError::Vertex { index, edge, vertex, last: vertices - 1 });
        }
        if a == b {
            return Err(GraphError::Loop { index, vertex: a });
        }
        if !seen.insert((a.min(b), a.max(b))) {
            return Err(GraphError::Twice { index, edge });
        }
    }
    Ok(())
}

/// Classes of vertices without edges among them, the vertices of most neighbours first (Welsh and
/// Powell 1967): few classes, not always the fewest. Every class and the classes by their first vertex
/// are in ascending order. Edges must name vertices.
pub fn colouring(vertices: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); vertices];
    for &Edge(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut order: Vec<usize> = (0..vertices).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(neighbours[v].len()));
    let mut colour = vec![usize::MAX; vertices];
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for v in order {
        let taken: Vec<usize> = neighbours[v].iter().map(|&w| colour[w]).collect();
        let free = (0..=classes.len()).find(|c| !taken.contains(c)).unwrap_or(classes.len());
        colour[v] = free;
        if free == classes.len() {
            classes.push(Vec::new());
        }
        classes[free].push(v);
    }
    for class in &mut classes {
        class.sort_unstable();
    }
    classes.sort_by_key(|class| class[0]);
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_known_numbers_of_edges() {
        let grid = |rows, columns, periodic| Shape::Grid { rows, columns, periodic };
        let cases = [
            ("clique", Shape::Clique { size: Some(4) }, 10, 6),
            ("whole clique", Shape::Clique { size: None }, 5, 10),
            ("chain", Shape::Chain { periodic: false }, 5, 4),
            ("ring", Shape::Chain { periodic: true }, 5, 5),
            ("grid", grid(3, 4, false), 12, 17),
            ("torus", grid(3, 4, true), 12, 24),
            ("two wide torus has no double edges", grid(2, 3, true), 6, 9),
            ("random, full", Shape::Random { density: 1.0, seed: 3 }, 6, 15),
            ("random, none", Shape::Random { density: 0.0, seed: 3 }, 6, 0),
        ];
        for (name, shape, vertices, expected) in cases {
            let edges = shape.edges(vertices).unwrap();
            assert_eq!(edges.len(), expected, "{name}");
            assert_eq!(check(&edges, vertices), Ok(()), "{name}");
        }
    }

    #[test]
    fn graphs_that_do_not_fit_are_refused_before_they_are_made() {
        let shapes = [
            Shape::Independent,
            Shape::Clique { size: None },
            Shape::Chain { periodic: true },
            Shape::Random { density: 0.0, seed: 0 },
        ];
        for shape in shapes {
            let error = shape.edges(usize::MAX).unwrap_err();
            assert!(matches!(error, GraphError::TooLarge { .. }), "{shape:?}: {error}");
        }
        let error = Shape::Clique { size: None }.edges(3_000_000).unwrap_err().to_string();
        assert_eq!(error, "the graph has 4.500e12 pairs of vertices to join; it stops at 2e7");
    }

    #[test]
    fn nonsense_is_named() {
        let edges = |list: &[(usize, usize)]| Shape::Edges {
            edges: list.iter().map(|&(a, b)| Edge(a, b)).collect(),
        };
        let cases = [
            (Shape::Independent, 0, "the graph has no vertices"),
            (edges(&[]), 3, "the graph has no edges; say kind = \"independent\" if that is meant"),
            (
                edges(&[(0, 1), (1, 7)]),
                3,
                "edge 1 (1, 7) names vertex 7, but the vertices are 0 to 2",
            ),
            (edges(&[(1, 1)]), 3, "edge 0 joins vertex 1 with itself"),
            (
                edges(&[(0, 1), (1, 0)]),
                3,
                "edge 1 joins vertices 1 and 0, which are joined already",
            ),
            (
                Shape::Clique { size: Some(5) },
                4,
                "a clique of 5 among 4 vertices: its size must be 2 to 4",
            ),
            (
                Shape::Grid { rows: 2, columns: 3, periodic: false },
                5,
                "a grid of 2 × 3 does not have 5 vertices",
            ),
            (
                Shape::Random { density: 1.5, seed: 0 },
                5,
                "a density must lie between 0 and 1, not 1.5",
            ),
        ];
        for (shape, vertices, message) in cases {
            assert_eq!(shape.edges(vertices).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn colours_separate_neighbours() {
        let torus = Shape::Grid { rows: 4, columns: 6, periodic: true };
        let shapes = [
            (Shape::Chain { periodic: false }, 9, 2),
            (Shape::Chain { periodic: true }, 9, 3),
            (Shape::Chain { periodic: true }, 8, 2),
            (Shape::Clique { size: Some(4) }, 7, 4),
            (Shape::Independent, 5, 1),
            (torus, 24, 2),
        ];
        for (shape, vertices, colours) in shapes {
            let edges = shape.edges(vertices).unwrap();
            let classes = colouring(vertices, &edges);
            assert_eq!(classes.len(), colours, "{shape:?}");
            let mut all: Vec<usize> = classes.concat();
            all.sort_unstable();
            assert_eq!(all, (0..vertices).collect::<Vec<_>>(), "{shape:?}");
            let class = |v: usize| classes.iter().position(|c| c.contains(&v));
            assert!(edges.iter().all(|e| class(e.0) != class(e.1)), "{shape:?}");
        }
    }
}
