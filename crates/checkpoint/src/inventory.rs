//! The parameters of a model: names, shapes and initial laws.
//!
//! Names are those of public T5 checkpoints. A linear layer y = W·x is stored as W, [out, in].
//! What T5 does not have is named after its neighbours:
//!
//! | name | shape | when |
//! |---|---|---|
//! | `decoder.position_embedding.weight` | [positions, d] | positional attention or learned positions |
//! | `decoder.block.{i}.positional.PositionalAttention.{q,k,v,o}.weight` | as any attention | positional attention |
//! | `decoder.block.{i}.positional.layer_norm.weight` | \[d\] | positional attention |
//! | `length_predictor.weight` | [classes, d] | length from token or fertility |
//! | `length_predictor.weight`, `length_predictor.bias` | \[1\] | affine length |
//! | `rejecter.weight` | [2, d] | a rejecter was learnt: wrong and right |
//!
//! The order is part of the format: parameter number i is drawn from stream i of the seed, so a
//! seed gives the same weights everywhere, in whatever order and on however many threads.

use padir_base::random::{Purpose, Seed, Stream};

use crate::config::{LengthPredictor, ModelConfig};
use crate::normal;

/// A tensor of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in `model.safetensors`.
    pub name: String,
    /// One or two dimensions, none of them 0.
    pub shape: Vec<usize>,
    /// What it is before training.
    pub init: Init,
}

/// The law of an initial parameter.
///
/// With d, k, h and f as in [`crate::config`], and all deviations multiplied by
/// [`ModelConfig::initializer_factor`]:
///
/// | parameter | deviation |
/// |---|---|
/// | token, position and length tables | 1 |
/// | q | (d·k)^−½, which is why attention needs no scaling |
/// | k, v, wi, relative bias, untied output | d^−½ |
/// | o | (h·k)^−½ |
/// | wo | f^−½ |
///
/// The untied output follows T5X; `transformers` would draw it with deviation 1, and logits
/// with √d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Normal with mean 0.
    Normal {
        /// Standard deviation.
        std: f64,
    },
    /// All 1: the scales of norms.
    Ones,
    /// All 0.
    Zeros,
}

impl Parameter {
    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it holds none; never, in a valid model.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Init {
    /// The stream that parameter number `index` of [`ModelConfig::parameters`] is drawn from.
    pub fn stream(seed: Seed, index: usize) -> Stream {
        seed.stream(Purpose::Initialisation, index as u64)
    }

    /// Draws a parameter. The same stream gives the same numbers on every machine.
    pub fn fill(self, stream: &mut Stream, numbers: &mut [f32]) {
        match self {
            Self::Normal { std } => {
                for two in numbers.chunks_mut(2) {
                    for (number, draw) in two.iter_mut().zip(normal::pair(stream)) {
                        *number = (std * draw) as f32;
                    }
                }
            }
            Self::Ones => numbers.fill(1.0),
            Self::Zeros => numbers.fill(0.0),
        }
    }
}

impl ModelConfig {
    /// All parameters of a valid model, in their order.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut list = List { config: self, parameters: Vec::new() };
        list.table("shared.weight", self.symbols.vocab_size);
        list.encoder();
        list.decoder();
        list.output();
        list.parameters
    }

    /// The names of all parameters with their first values under a seed, one at a time.
    pub fn initial(&self, seed: Seed) -> impl Iterator<Item = (String, Vec<f32>)> {
        self.parameters().into_iter().enumerate().map(move |(index, parameter)| {
            let mut numbers = vec![0.0; parameter.len()];
            parameter.init.fill(&mut Init::stream(seed, index), &mut numbers);
            (parameter.name, numbers)
        })
    }

    /// How many numbers the parameters of a valid model hold.
    pub fn parameter_count(&self) -> u64 {
        u64::try_from(self.exact_parameter_count()).unwrap_or(u64::MAX)
    }

    /// By formula, for any sizes whatever: nothing is allocated, and beyond 2¹²⁸ it saturates.
    pub(crate) fn exact_parameter_count(&self) -> u128 {
        let times = |a: usize, b: usize| (a as u128).saturating_mul(b as u128);
        let d = self.d_model as u128;
        let inner = times(self.num_heads, self.d_kv);
        let attention = d.saturating_mul(inner).saturating_mul(4).saturating_add(d);
        let feed_forward = times(self.d_model, self.d_ff).saturating_mul(2).saturating_add(d);
        let stack = |layers: usize, attentions: u128| {
            let layer = attention.saturating_mul(attentions).saturating_add(feed_forward);
            let bias = times(self.relative_bias.num_buckets, self.num_heads);
            layer.saturating_mul(layers as u128).saturating_add(bias).saturating_add(d)
        };
        let positional = self.parallel().is_some_and(|parallel| parallel.positional_attention);
        let tables = if self.tie_word_embeddings { 1 } else { 2 };
        let parts = [
            times(self.symbols.vocab_size, self.d_model).saturating_mul(tables),
            stack(self.num_layers, 1),
            stack(self.num_decoder_layers, if positional { 3 } else { 2 }),
            self.parallel().map_or(0, |parallel| {
                let positions = if parallel.has_positions() { parallel.max_positions } else { 0 };
                let lengths = match parallel.length {
                    LengthPredictor::Affine => 2,
                    other => times(other.classes().unwrap_or(0), self.d_model),
                };
                let rejecter = if parallel.rejecter { times(2, self.d_model) } else { 0 };
                times(positions, self.d_model).saturating_add(lengths).saturating_add(rejecter)
            }),
        ];
        parts.into_iter().fold(0, u128::saturating_add)
    }
}

/// An inventory being written.
struct List<'a> {
    config: &'a ModelConfig,
    parameters: Vec<Parameter>,
}

impl List<'_> {
    fn encoder(&mut self) {
        for i in 0..self.config.num_layers {
            let block = format!("encoder.block.{i}.layer");
            self.attention(&format!("{block}.0"), "SelfAttention");
            self.relative_bias(&block, i);
            self.feed_forward(&format!("{block}.1"));
        }
        self.norm("encoder.final_layer_norm.weight".to_owned());
    }

    fn decoder(&mut self) {
        let parallel = self.config.parallel();
        if let Some(parallel) = parallel.filter(|parallel| parallel.has_positions()) {
            self.table("decoder.position_embedding.weight", parallel.max_positions);
        }
        for i in 0..self.config.num_decoder_layers {
            let block = format!("decoder.block.{i}.layer");
            self.attention(&format!("{block}.0"), "SelfAttention");
            self.relative_bias(&block, i);
            if parallel.is_some_and(|parallel| parallel.positional_attention) {
                self.attention(&format!("decoder.block.{i}.positional"), "PositionalAttention");
            }
            self.attention(&format!("{block}.1"), "EncDecAttention");
            self.feed_forward(&format!("{block}.2"));
        }
        self.norm("decoder.final_layer_norm.weight".to_owned());
    }

    fn output(&mut self) {
        let config = self.config;
        if !config.tie_word_embeddings {
            let shape = [config.symbols.vocab_size, config.d_model];
            self.linear("lm_head.weight".to_owned(), shape, config.d_model as f64);
        }
        match config.parallel().map(|parallel| parallel.length) {
            Some(LengthPredictor::Affine) => {
                self.add("length_predictor.weight".to_owned(), vec![1], Init::Ones);
                self.add("length_predictor.bias".to_owned(), vec![1], Init::Zeros);
            }
            Some(predictor) => {
                if let Some(classes) = predictor.classes() {
                    self.table("length_predictor.weight", classes);
                }
            }
            None => {}
        }
        if config.parallel().is_some_and(|parallel| parallel.rejecter) {
            self.linear("rejecter.weight".to_owned(), [2, config.d_model], config.d_model as f64);
        }
    }

    fn attention(&mut self, layer: &str, kind: &str) {
        let config = self.config;
        let (d, inner) = (config.d_model, config.inner_width());
        let folded = d as f64 * config.d_kv as f64;
        self.linear(format!("{layer}.{kind}.q.weight"), [inner, d], folded);
        self.linear(format!("{layer}.{kind}.k.weight"), [inner, d], d as f64);
        self.linear(format!("{layer}.{kind}.v.weight"), [inner, d], d as f64);
        self.linear(format!("{layer}.{kind}.o.weight"), [d, inner], inner as f64);
        self.norm(format!("{layer}.layer_norm.weight"));
    }

    /// Only the first block of a stack has the table; the others use it.
    fn relative_bias(&mut self, block: &str, i: usize) {
        if i == 0 {
            let shape = [self.config.relative_bias.num_buckets, self.config.num_heads];
            let name = format!("{block}.0.SelfAttention.relative_attention_bias.weight");
            self.linear(name, shape, self.config.d_model as f64);
        }
    }

    fn feed_forward(&mut self, layer: &str) {
        let (d, f) = (self.config.d_model, self.config.d_ff);
        self.linear(format!("{layer}.DenseReluDense.wi.weight"), [f, d], d as f64);
        self.linear(format!("{layer}.DenseReluDense.wo.weight"), [d, f], f as f64);
        self.norm(format!("{layer}.layer_norm.weight"));
    }

    fn norm(&mut self, name: String) {
        self.add(name, vec![self.config.d_model], Init::Ones);
    }

    /// A table of d-dimensional rows.
    fn table(&mut self, name: &str, rows: usize) {
        self.linear(name.to_owned(), [rows, self.config.d_model], 1.0);
    }

    /// A matrix whose entries have the variance `factor`² / `fan`.
    fn linear(&mut self, name: String, shape: [usize; 2], fan: f64) {
        let std = self.config.initializer_factor / fan.sqrt();
        self.add(name, shape.to_vec(), Init::Normal { std });
    }

    fn add(&mut self, name: String, shape: Vec<usize>, init: Init) {
        self.parameters.push(Parameter { name, shape, init });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::config::{Decoder, DecoderKind, InitialTokens, ParallelDecoder, Preset};

    fn every_kind() -> Vec<ModelConfig> {
        let mut configs = Vec::new();
        let lengths = [
            LengthPredictor::Token { classes: 20 },
            LengthPredictor::Offset { classes: 20 },
            LengthPredictor::Affine,
            LengthPredictor::Fertility { max_fertility: 2 },
            LengthPredictor::Oracle,
        ];
        for tied in [true, false] {
            let mut config = ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Causal);
            config.tie_word_embeddings = tied;
            config.num_decoder_layers = 1;
            config.d_kv = 16;
            configs.push(config.clone());
            for length in lengths {
                for (positional_attention, learned_positions) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    config.decoder = Decoder::Parallel(ParallelDecoder {
                        positional_attention,
                        learned_positions,
                        max_positions: 50,
                        initial: InitialTokens::Random,
                        length,
                        rejecter: tied,
                    });
                    configs.push(config.clone());
                }
            }
        }
        configs
    }

    #[test]
    fn the_paper_has_as_many_parameters_as_it_says() {
        let config = ModelConfig::preset(Preset::Paper, 32_128, DecoderKind::Parallel);
        assert_eq!(config.parameter_count(), 66_997_760);
        let sum: usize = config.parameters().iter().map(Parameter::len).sum();
        assert_eq!(sum, 66_997_760);
    }

    #[test]
    fn the_formula_counts_what_the_inventory_lists() {
        for config in every_kind() {
            let parameters = config.parameters();
            let sum: usize = parameters.iter().map(Parameter::len).sum();
            assert_eq!(config.parameter_count(), sum as u64, "{config:?}");
            let names: HashSet<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names.len(), parameters.len(), "a name occurs twice in {config:?}");
            assert!(parameters.iter().all(|p| matches!(p.shape.len(), 1 | 2) && !p.is_empty()));
        }
    }

    #[test]
    fn ablations_add_and_remove_what_they_should() {
        let has = |config: &ModelConfig, part: &str| {
            config.parameters().iter().any(|p| p.name.contains(part))
        };
        for config in every_kind() {
            let parallel = config.parallel();
            let positional = parallel.is_some_and(|p| p.positional_attention);
            let learned = parallel.is_some_and(|p| p.learned_positions);
            let foretold = parallel.is_some_and(|p| p.length != LengthPredictor::Oracle);
            assert_eq!(has(&config, "PositionalAttention"), positional);
            assert_eq!(has(&config, "position_embedding"), positional || learned);
            assert_eq!(has(&config, "length_predictor"), foretold);
            assert_eq!(has(&config, "rejecter"), parallel.is_some_and(|p| p.rejecter));
            assert_eq!(has(&config, "lm_head"), !config.tie_word_embeddings);
        }
    }

    #[test]
    fn initial_deviations_are_those_of_t5() {
        let config = ModelConfig::preset(Preset::Small, 1_000, DecoderKind::Parallel);
        let cases = [
            ("shared.weight", 1.0),
            ("encoder.block.2.layer.0.SelfAttention.q.weight", 1.0 / 128.0),
            ("decoder.block.0.layer.1.EncDecAttention.k.weight", 1.0 / 16.0),
            ("decoder.block.1.positional.PositionalAttention.o.weight", 1.0 / 16.0),
            ("decoder.block.1.layer.2.DenseReluDense.wo.weight", 1.0 / 32.0),
            ("decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 1.0 / 16.0),
            ("length_predictor.weight", 1.0),
        ];
        let parameters = config.parameters();
        for (name, expected) in cases {
            let index = parameters.iter().position(|p| p.name == name).expect(name);
            let parameter = &parameters[index];
            assert_eq!(parameter.init, Init::Normal { std: expected }, "{name}");
            let mut numbers = vec![0.0; parameter.len()];
            parameter.init.fill(&mut Init::stream(Seed(7), index), &mut numbers);
            let squares: f64 = numbers.iter().map(|&x| f64::from(x).powi(2)).sum();
            let found = (squares / numbers.len() as f64).sqrt();
            // Four standard errors of a deviation.
            let tolerance = 4.0 / (2.0 * numbers.len() as f64).sqrt();
            assert!((found / expected - 1.0).abs() < tolerance, "{name}: {found}");
        }
    }

    /// The contract: these bits never change. Computed by `reference/model/initial.py`.
    #[test]
    fn a_seed_gives_these_weights() {
        let mut numbers = [0.0_f32; 3];
        Init::Normal { std: 0.5 }.fill(&mut Init::stream(Seed(7), 0), &mut numbers);
        assert_eq!(numbers.map(f32::to_bits), [1_041_238_122, 1_057_042_107, 1_052_183_290]);
    }
}
