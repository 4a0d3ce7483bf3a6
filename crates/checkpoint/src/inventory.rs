//! The parameters of a model: names, shapes and initial laws, as its [layers](crate::layers) list them.
//!
//! Names are those of public T5 or Marian checkpoints. A linear layer y = W·x is stored as W, [out, in].
//! What T5 does not have is named after its neighbours:
//!
//! | name | shape | when |
//! |---|---|---|
//! | `decoder.position_embedding.weight` | [positions, d] | positional attention or learned positions |
//! | `decoder.block.{i}.positional.PositionalAttention.{q,k,v,o}.weight` | as any attention | positional attention |
//! | `decoder.block.{i}.positional.layer_norm.weight` | \[d\] | positional attention |
//! | `length_predictor.weight` | [classes, d] | length from token or fertility |
//! | `length_predictor.weight`, `length_predictor.bias` | \[1\] | affine length |
//! | `length_predictor.query.weight` | [queries, d] | pooled length |
//! | `length_predictor.source_length.weight` | [256, hidden] | pooled length |
//! | `length_predictor.hidden.{l}.{weight,bias}` | [hidden, (queries + 1)·d or hidden] | pooled length |
//! | `length_predictor.output.{weight,bias}` | [classes, hidden] | pooled length |
//! | `rejecter.weight` | [2, d] | a confidence head was learnt: wrong and right |
//!
//! The order is part of the format: parameter number i is drawn from stream i of the seed, so a
//! seed gives the same weights everywhere, in whatever order and on however many threads.

use padir_base::random::{Purpose, Seed, Stream};

use crate::config::ModelConfig;
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
    /// Whether quantising keeps it in 8 bits: matrices of linear layers and tables of tokens.
    pub int8: bool,
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
/// Marian draws all matrices and tables with one deviation, `init_std`.
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
    /// The matrix of a linear layer, with normal entries.
    pub(crate) fn matrix(name: String, shape: [usize; 2], std: f64) -> Self {
        Self { name, shape: shape.to_vec(), init: Init::Normal { std }, int8: true }
    }

    /// A table that is looked up rather than multiplied, or so small that 8 bits gain nothing.
    pub(crate) fn table(name: String, shape: [usize; 2], std: f64) -> Self {
        Self { int8: false, ..Self::matrix(name, shape, std) }
    }

    /// A vector.
    pub(crate) fn vector(name: String, len: usize, init: Init) -> Self {
        Self { name, shape: vec![len], init, int8: false }
    }

    /// The same, kept in 8 bits when quantised.
    pub(crate) fn int8(self) -> Self {
        Self { int8: true, ..self }
    }

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
        self.layers().parameters().into_iter().cloned().collect()
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

    /// For any sizes whatever: beyond 2¹²⁸ it saturates. All blocks of a stack but the first hold as many, so it is enough to describe
    /// models of one and two blocks: nothing is allocated that grows with a number of the configuration.
    pub(crate) fn exact_parameter_count(&self) -> u128 {
        let count = |num_layers: usize, num_decoder_layers: usize| {
            let config = Self { num_layers, num_decoder_layers, ..self.clone() };
            let product =
                |p: &Parameter| p.shape.iter().fold(1, |n: u128, &x| n.saturating_mul(x as u128));
            config.layers().parameters().into_iter().map(product).fold(0, u128::saturating_add)
        };
        let least = count(1, 1);
        let more = |layers: usize, two: u128| {
            (layers.saturating_sub(1) as u128).saturating_mul(two.saturating_sub(least))
        };
        least
            .saturating_add(more(self.num_layers, count(2, 1)))
            .saturating_add(more(self.num_decoder_layers, count(1, 2)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::config::{
        Decoder, DecoderKind, InitialTokens, LengthPredictor, ParallelDecoder, PooledLength, Preset,
    };

    fn every_kind() -> Vec<ModelConfig> {
        let mut configs = Vec::new();
        let lengths = [
            LengthPredictor::Token { classes: 20 },
            LengthPredictor::Offset { classes: 20 },
            LengthPredictor::Affine,
            LengthPredictor::Fertility { max_fertility: 2 },
            LengthPredictor::Pooled(PooledLength { hidden_layers: 2, ..PooledLength::default() }),
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
                        training: padir_base::ParallelTraining::Padir,
                        positional_attention,
                        learned_positions,
                        max_positions: 50,
                        initial: InitialTokens::Random,
                        length,
                        confidence_head: tied,
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
            let predicted = parallel
                .is_some_and(|p| p.length != LengthPredictor::Oracle && !p.length.is_upsampled());
            assert_eq!(has(&config, "PositionalAttention"), positional);
            assert_eq!(has(&config, "position_embedding"), positional || learned);
            assert_eq!(has(&config, "length_predictor"), predicted);
            assert_eq!(has(&config, "rejecter"), parallel.is_some_and(|p| p.confidence_head));
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
