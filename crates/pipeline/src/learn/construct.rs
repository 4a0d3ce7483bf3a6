//! A network whose weights are written down, not trained: it runs a given chain of product transitions.
//!
//! The paper's propositions say that Transformers that decode in parallel run the chains
//! Q(x, y) = Πᵢ Qᵢ(yᵢ | x) and no others, deterministic ones by argmax. This is the construction for small spaces, with one
//! decoder layer of T5:
//!
//! ```text
//! embedding          token ⊕ position ⊕ 1
//! self-attention     head j looks at position j alone and copies its token: every position holds all of x
//! feed-forward       unit (i, z) is ReLU(Σⱼ [xⱼ = zⱼ] + [position = i] − N), which is 1 at position i if x = z, else 0;
//!                    it writes ln Qᵢ(· | z)
//! output             reads that off
//! ```
//!
//! Norms divide by the root mean square of the stream. It is the same for all states, because every unit also writes what its
//! logits lack of a fixed norm; so the norms' scales undo it. Attention to other positions is e^−60 of that to its own. A softmax is positive: a
//! probability of 0 becomes e^−30.
//!
//! Size: N·|Ω|ᴺ units, N heads, (N + 2)·|Ω| + N + 4 dimensions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use padir_base::ParallelTraining;
use padir_checkpoint::{
    CheckpointError, Decoder, Extras, Family, InitialTokens, Languages, LengthPredictor,
    ModelConfig, ParallelDecoder, Provenance, RelativeBias, save,
};
use padir_lab::chain::{Matrix, Number};
use padir_lab::space::Space;

use super::sites::{FIRST, vocabulary};

/// The logarithm that stands for a probability of 0.
pub const LOWEST: f64 = -30.0;

/// How much more a head likes its own position.
const FOCUS: f32 = 60.0;

/// The largest space: a unit for every site and state.
pub const MOST_STATES: usize = 256;

/// Transitions that are products over the sites: Qᵢ(s | x).
#[derive(Clone, Debug)]
pub struct ProductChain {
    space: Space,
    /// By state, site and symbol.
    probabilities: Vec<f64>,
}

impl ProductChain {
    /// From Qᵢ(s | x), given as `law(x, i)[s]`.
    ///
    /// # Panics
    /// If a law has not one number per symbol.
    pub fn new(space: Space, law: impl Fn(usize, usize) -> Vec<f64>) -> Self {
        let mut probabilities = Vec::with_capacity(space.size() * space.sites() * space.symbols());
        for (x, i) in (0..space.size()).flat_map(|x| (0..space.sites()).map(move |i| (x, i))) {
            let law = law(x, i);
            assert_eq!(law.len(), space.symbols(), "one probability per symbol");
            probabilities.extend(law);
        }
        Self { space, probabilities }
    }

    /// From the marginals of every row of a chain: the chain itself if its transitions are products, else the nearest such chain.
    pub fn of_marginals<T: Number>(space: Space, matrix: &Matrix<T>) -> Self {
        Self::new(space, |x, i| {
            let mut law = vec![0.0; space.symbols()];
            for (y, &mass) in matrix.row(x).iter().enumerate() {
                law[space.symbol(y, i)] += mass.to_f64();
            }
            law
        })
    }

    /// From a function of states: x moves to f(x) for certain.
    pub fn deterministic(space: Space, f: impl Fn(usize) -> usize) -> Self {
        Self::new(space, |x, i| {
            let next = space.symbol(f(x), i);
            (0..space.symbols()).map(|s| f64::from(u8::from(s == next))).collect()
        })
    }

    /// Qᵢ(· | x).
    pub fn law(&self, state: usize, site: usize) -> &[f64] {
        let q = self.space.symbols();
        let start = (state * self.space.sites() + site) * q;
        &self.probabilities[start..start + q]
    }

    /// Q(x, y).
    pub fn transition(&self, x: usize, y: usize) -> f64 {
        let factor = |i: usize| self.law(x, i)[self.space.symbol(y, i)];
        (0..self.space.sites()).map(factor).product()
    }
}

/// Where things stand in the residual stream.
struct Layout {
    sites: usize,
    symbols: usize,
}

impl Layout {
    /// The 1 of every token.
    const ONE: usize = 0;
    /// Set for the end alone, in place of a symbol.
    const END: usize = 1;
    /// What logits lack of their norm.
    const REST: usize = 2;

    fn token(symbol: usize) -> usize {
        3 + symbol
    }

    fn position(&self, position: usize) -> usize {
        Self::token(self.symbols) + position
    }

    /// What head j copied.
    fn copied(&self, site: usize, symbol: usize) -> usize {
        self.position(self.sites + 1) + site * self.symbols + symbol
    }

    fn logit(&self, symbol: usize) -> usize {
        self.copied(self.sites, symbol)
    }

    fn width(&self) -> usize {
        self.logit(self.symbols)
    }
}

/// A network that runs a chain: its shape and its weights by name.
#[derive(Clone, Debug)]
pub struct Constructed {
    /// The shape.
    pub config: ModelConfig,
    weights: HashMap<String, Vec<f32>>,
}

impl Constructed {
    /// The network of a chain.
    pub fn new(chain: &ProductChain) -> Self {
        let space = chain.space;
        let layout = Layout { sites: space.sites(), symbols: space.symbols() };
        let config = config(space, &layout);
        let mut builder = Builder { chain, layout, config: &config, norm: 0.0 };
        let squares = builder.units().map(|(i, z, _)| squares(&builder.logits(z, i)));
        builder.norm = squares.fold(0.0, f64::max);
        let weights = builder.weights();
        Self { config, weights }
    }

    /// Writes it as a checkpoint that the engine opens.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), CheckpointError> {
        let tensor = |parameter: &padir_checkpoint::Parameter| {
            self.weights.get(&parameter.name).map(|numbers| Cow::Borrowed(numbers.as_slice()))
        };
        save(directory, &self.config, tensor, &Extras::default())
    }
}

fn config(space: Space, layout: &Layout) -> ModelConfig {
    ModelConfig {
        family: Family::T5,
        symbols: vocabulary(space),
        d_model: layout.width(),
        // A head copies symbols, and compares one number.
        d_kv: space.symbols(),
        d_ff: space.sites() * space.size(),
        num_layers: 1,
        num_decoder_layers: 1,
        num_heads: space.sites(),
        relative_bias: RelativeBias::default(),
        dropout_rate: 0.0,
        layer_norm_epsilon: 1e-12,
        initializer_factor: 1.0,
        tie_word_embeddings: false,
        decoder: Decoder::Parallel(ParallelDecoder {
            positional_attention: false,
            max_positions: space.sites() + 1,
            learned_positions: true,
            initial: InitialTokens::Mask,
            length: LengthPredictor::Oracle,
            confidence_head: false,
            training: ParallelTraining::Padir,
        }),
        provenance: Provenance::default(),
        languages: Languages::default(),
    }
}

struct Builder<'a> {
    chain: &'a ProductChain,
    layout: Layout,
    config: &'a ModelConfig,
    /// The squared norm that logits are filled up to.
    norm: f64,
}

impl Builder<'_> {
    fn weights(&self) -> HashMap<String, Vec<f32>> {
        let named = |parameter: padir_checkpoint::Parameter| {
            let mut numbers = vec![0.0; parameter.len()];
            let columns = parameter.shape.last().copied().unwrap_or(1);
            let mut table = Table { numbers: &mut numbers, columns };
            self.fill(&parameter.name, &mut table);
            (parameter.name, numbers)
        };
        self.config.parameters().into_iter().map(named).collect()
    }

    /// What is not named here is 0, and does nothing.
    fn fill(&self, name: &str, table: &mut Table<'_>) {
        let Layout { sites, symbols } = self.layout;
        match name {
            "shared.weight" => self.embeddings(table),
            "decoder.position_embedding.weight" => {
                for position in 0..=sites {
                    table.set(position, self.layout.position(position), 1.0);
                }
            }
            // A norm divides by √(Σ x² / d): token, position and 1 at first, then what heads copied, then logits.
            "decoder.block.0.layer.0.layer_norm.weight" => self.scales(table, 3.0),
            "decoder.block.0.layer.2.layer_norm.weight" => self.scales(table, 3.0 + sites as f64),
            "decoder.final_layer_norm.weight" => {
                self.scales(table, 3.0 + sites as f64 + self.norm);
            }
            "decoder.block.0.layer.0.SelfAttention.q.weight" => {
                (0..sites).for_each(|head| table.set(head * symbols, Layout::ONE, FOCUS));
            }
            "decoder.block.0.layer.0.SelfAttention.k.weight" => {
                (0..sites).for_each(|head| {
                    table.set(head * symbols, self.layout.position(head), 1.0);
                });
            }
            "decoder.block.0.layer.0.SelfAttention.v.weight" => self.each(|_, symbol, row| {
                table.set(row, Layout::token(symbol), 1.0);
            }),
            "decoder.block.0.layer.0.SelfAttention.o.weight" => self.each(|head, symbol, row| {
                table.set(self.layout.copied(head, symbol), row, 1.0);
            }),
            "decoder.block.0.layer.2.DenseReluDense.wi.weight" => self.look_up(table),
            "decoder.block.0.layer.2.DenseReluDense.wo.weight" => self.write_logits(table),
            "lm_head.weight" => self.output(table),
            _ => {}
        }
    }

    fn each(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let Layout { sites, symbols } = self.layout;
        for (head, symbol) in (0..sites).flat_map(|h| (0..symbols).map(move |s| (h, s))) {
            visit(head, symbol, head * symbols + symbol);
        }
    }

    fn embeddings(&self, table: &mut Table<'_>) {
        for token in 0..self.config.symbols.vocab_size {
            let symbol = token.checked_sub(FIRST as usize).filter(|&s| s < self.layout.symbols);
            table.set(token, Layout::ONE, 1.0);
            table.set(token, symbol.map_or(Layout::END, Layout::token), 1.0);
        }
    }

    /// The scale that undoes a norm over a stream of this squared length.
    fn scales(&self, table: &mut Table<'_>, squares: f64) {
        let scale = (squares / self.layout.width() as f64).sqrt() as f32;
        table.numbers.fill(scale);
    }

    fn units(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (sites, states) = (self.layout.sites, self.chain.space.size());
        (0..sites).flat_map(move |i| (0..states).map(move |z| (i, z, i * states + z)))
    }

    fn look_up(&self, table: &mut Table<'_>) {
        for (site, state, unit) in self.units() {
            for (j, symbol) in self.chain.space.symbols_of(state).enumerate() {
                table.set(unit, self.layout.copied(j, symbol), 1.0);
            }
            table.set(unit, self.layout.position(site), 1.0);
            table.set(unit, Layout::ONE, -(self.layout.sites as f32));
        }
    }

    fn write_logits(&self, table: &mut Table<'_>) {
        for (site, state, unit) in self.units() {
            let logits = self.logits(state, site);
            for (symbol, &logit) in logits.iter().enumerate() {
                table.set(self.layout.logit(symbol), unit, logit as f32);
            }
            table.set(Layout::REST, unit, (self.norm - squares(&logits)).max(0.0).sqrt() as f32);
        }
    }

    fn output(&self, table: &mut Table<'_>) {
        for token in 0..self.config.symbols.vocab_size {
            match token.checked_sub(FIRST as usize).filter(|&s| s < self.layout.symbols) {
                Some(symbol) => table.set(token, self.layout.logit(symbol), 1.0),
                // Nothing else is ever said.
                None => table.set(token, Layout::ONE, 2.0 * LOWEST as f32),
            }
        }
    }

    fn logits(&self, state: usize, site: usize) -> Vec<f64> {
        self.chain.law(state, site).iter().map(|p| p.ln().max(LOWEST)).collect()
    }
}

fn squares(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x * x).sum()
}

/// A matrix under construction.
struct Table<'a> {
    numbers: &'a mut [f32],
    columns: usize,
}

impl Table<'_> {
    fn set(&mut self, row: usize, column: usize, value: f32) {
        self.numbers[row * self.columns + column] = value;
    }
}
