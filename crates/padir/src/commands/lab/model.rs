//! Which model: from flags, or from a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use padir_lab::data::read_edges;
use padir_lab::distribution::Distribution;
use padir_lab::graph::Shape;
use padir_lab::model::{Clique, Ising, Model, ModelSpec, PerSite, read_config};

use crate::hint::WithHint;

/// The model.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Read the model from a .toml or .json file instead.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["n", "clique", "graph", "j", "h"])]
    model: Option<PathBuf>,

    /// The number of sites N.
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true)]
    n: usize,

    /// The first C sites form a clique, the others are free [default: all].
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    clique: Option<usize>,

    /// clique, chain, ring, grid, torus, random, independent, or a file of edges `a b [J]`.
    #[arg(long, value_name = "GRAPH", default_value = "clique")]
    graph: String,

    /// The rows of a grid or torus.
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    rows: Option<usize>,

    /// The density of a random graph.
    #[arg(long, value_name = "P", default_value_t = 0.5, allow_negative_numbers = true)]
    density: f64,

    /// The seed of a random graph.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    graph_seed: u64,

    /// The coupling J of every edge.
    #[arg(long, value_name = "J", default_value_t = 0.3, allow_negative_numbers = true)]
    j: f64,

    /// The field h of every site.
    #[arg(long, value_name = "H", default_value_t = 0.0, allow_negative_numbers = true)]
    h: f64,

    /// The size of the alphabet; more than 2 makes a Potts model.
    #[arg(long, value_name = "Q", default_value_t = 2, allow_negative_numbers = true)]
    symbols: usize,
}

impl ModelArgs {
    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        // A graph that is no file does no harm here: nothing is called like it.
        self.model.as_deref().into_iter().chain([Path::new(&self.graph)])
    }

    /// The model that was asked for.
    pub(crate) fn build(&self) -> Result<Model> {
        match &self.model {
            // With the file's name in the message.
            Some(path) => ModelSpec::read(path).hint("docs/lab.md shows the form of a model file"),
            None => Ok(self.spec()?.build()?),
        }
    }

    /// The model as a file would say it.
    pub(crate) fn spec(&self) -> Result<ModelSpec> {
        if let Some(path) = &self.model {
            return read_config(path).hint("docs/lab.md shows the form of a model file");
        }
        let (graph, couplings) = self.shape()?;
        let j = couplings.map_or(PerSite::Same(self.j), PerSite::Each);
        if self.symbols == 2 {
            return Ok(ModelSpec::Ising { n: self.n, h: PerSite::Same(self.h), graph, j });
        }
        // The field prefers symbol 0, as +1 would be one of two. Lists that are too long are
        // refused when the model is built.
        let listed = self.n.saturating_mul(self.symbols) <= 20_000_000;
        let h = (self.h != 0.0 && listed).then(|| {
            let mut field = vec![0.0; self.symbols];
            field.iter_mut().take(1).for_each(|first| *first = self.h);
            vec![field; self.n]
        });
        Ok(ModelSpec::Potts { n: self.n, q: self.symbols, h, graph, j })
    }

    fn shape(&self) -> Result<(Shape, Option<Vec<f64>>)> {
        if self.clique.is_some() && self.graph != "clique" {
            bail!(
                "--clique {} and --graph {} exclude each other",
                self.clique.unwrap_or(0),
                self.graph
            );
        }
        let grid = |periodic| -> Result<Shape> {
            let rows = self.rows.unwrap_or_else(|| (self.n as f64).sqrt() as usize).max(1);
            Ok(Shape::Grid { rows, columns: self.n / rows, periodic })
        };
        let shape = match self.graph.as_str() {
            "clique" => Shape::Clique { size: self.clique },
            "chain" => Shape::Chain { periodic: false },
            "ring" => Shape::Chain { periodic: true },
            "grid" => grid(false)?,
            "torus" => grid(true)?,
            "random" => Shape::Random { density: self.density, seed: self.graph_seed },
            "independent" => Shape::Independent,
            file => {
                let path = PathBuf::from(file);
                let (edges, couplings) = read_edges(&path)
                    .hint("--graph takes clique, chain, ring, grid, torus, random, independent or a file of edges")?;
                return Ok((Shape::Edges { edges }, couplings));
            }
        };
        Ok((shape, None))
    }

    /// The model with all its states.
    pub(crate) fn enumerate(&self) -> Result<(Model, Distribution)> {
        let model = self.build()?;
        let p = model
            .enumerate()
            .hint("hitting and sample know larger clique models; fit needs no enumeration")?;
        Ok((model, p))
    }

    /// The model as Ising, if it is one.
    pub(crate) fn ising(&self) -> Result<Ising> {
        match self.build()? {
            Model::Ising(model) => Ok(model),
            _ => bail!("this command needs spins: an Ising model"),
        }
    }

    /// The model as the paper's clique construction.
    pub(crate) fn clique(&self) -> Result<Clique> {
        self.ising()?
            .as_clique()
            .context("the model is not a clique of equal couplings beside free vertices")
            .hint("use --n N --clique C --j J --h H")
    }
}

/// A start: down, up, or the number of a state.
pub(crate) fn parse_state(text: &str, states: usize) -> Result<usize> {
    Ok(match text {
        "down" => 0,
        "up" => states - 1,
        number => {
            let Ok(state) = number.parse() else {
                bail!("--from {number} is neither down, up nor the number of a state");
            };
            ensure!(state < states, "--from {state} is not among the states 0 to {}", states - 1);
            state
        }
    })
}
