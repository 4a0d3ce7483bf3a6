//! What a step costs in matrix products, how fast they can be, and what memory a training takes.

use std::hint::black_box;
use std::time::Instant;

use padir_checkpoint::{ModelConfig, Parameter};
use padir_kernels::matrix::{Matrix, Product};

use crate::config::{Algorithm, Config, LengthSettings, Objective};
use crate::objective::Pairs;

/// Floating-point operations of the matrix products of a step: forward, and twice as many backward.
///
/// With m source and n target tokens, hk = h·k: 2·m(4·d·hk + 2·d·f) for each encoder layer, 2·n(6·d·hk + 2·d·f) + 2·m·2·d·hk for
/// each decoder layer, 2·n·2·d·hk for its positional attention, 2·n·d·V for the logits. Attention itself is left out; it is small.
pub fn step_work(config: &Config, model: &ModelConfig, pairs: &Pairs) -> f64 {
    let (m, n) = (pairs.sources.ids.len() as f64, pairs.targets.ids.len() as f64);
    let (d, inner, f) = (model.d_model as f64, model.inner_width() as f64, model.d_ff as f64);
    let encoder = model.num_layers as f64 * m * (4.0 * d * inner + 2.0 * d * f);
    let positional =
        if model.parallel().is_some_and(|p| p.positional_attention) { 2.0 } else { 0.0 };
    let layer = n * ((6.0 + positional) * d * inner + 2.0 * d * f) + m * 2.0 * d * inner;
    let decoder = model.num_decoder_layers as f64 * layer + n * d * model.symbols.vocab_size as f64;
    6.0 * (encoder + stages(config) * decoder)
}

/// The memory of a training, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is held all the time and nobody can do without: parameters, their gradients, what the optimiser remembers of
    /// them, moving averages.
    pub lasting: u64,
    /// What the largest batch takes besides, roughly: activations and logits.
    pub passing: u64,
}

impl Memory {
    /// Both together.
    pub fn total(self) -> u64 {
        self.lasting.saturating_add(self.passing)
    }
}

/// The memory of a training, without allocating any.
///
/// With P parameters, 4·P bytes each for parameters, gradients and moving averages; 8·P for AdamW's moments, for Adafactor's 4 a row and a
/// column of matrices that are factored and 4 a number of all others. A batch of n tokens on either side takes, in each of s stages, about
/// 12·d + 8·hk + 2·f numbers a token and decoder layer (8·d + 4·hk + 2·f in the encoder, which runs once) and twice V for logits and
/// their gradients.
pub fn memory(config: &Config, model: &ModelConfig) -> Memory {
    let count = u128::from(model.parameter_count());
    let averages = u128::from(config.optimiser.ema > 0.0);
    let lasting = 4 * ((2 + averages) * count + moments(config, model));
    let n = f64::from(config.batch.tokens);
    let (d, inner, f) = (model.d_model as f64, model.inner_width() as f64, model.d_ff as f64);
    let encoder = model.num_layers as f64 * (8.0 * d + 4.0 * inner + 2.0 * f);
    let decoder = model.num_decoder_layers as f64 * (12.0 * d + 8.0 * inner + 2.0 * f);
    let logits = 2.0 * model.symbols.vocab_size as f64;
    let passing = 4.0 * n * (encoder + stages(config) * (decoder + logits));
    Memory { lasting: u64::try_from(lasting).unwrap_or(u64::MAX), passing: passing as u64 }
}

/// How many numbers the optimiser remembers.
fn moments(config: &Config, model: &ModelConfig) -> u128 {
    let least = match config.optimiser.algorithm {
        Algorithm::Adamw { .. } => return 2 * u128::from(model.parameter_count()),
        Algorithm::Adafactor { min_factored, .. } => min_factored.max(1),
    };
    let of = |parameter: &Parameter| match parameter.shape[..] {
        [rows, columns] if rows.min(columns) >= least => (rows + columns) as u128,
        _ => parameter.len() as u128,
    };
    model.parameters().iter().map(of).sum()
}

/// Slots per source token: those of a decoder of alignments.
fn slots_per_token(config: &Config) -> f64 {
    match config.model.parallel.map(|parallel| parallel.length) {
        Some(LengthSettings::Upsample { factor, .. }) => factor as f64,
        _ => 1.0,
    }
}

fn stages(config: &Config) -> f64 {
    match &config.objective.kind {
        Objective::Ar | Objective::Cmlm(_) | Objective::Nat(_) | Objective::Disco(_) => 1.0,
        Objective::Padir(padir) => f64::from(padir.stages),
        // The first pass has no gradients: a third of the work.
        Objective::Smart(_) => 4.0 / 3.0,
        Objective::Sundae(sundae) => f64::from(sundae.stages),
        Objective::Inat(inat) => f64::from(inat.stages),
        // Glancing adds a forward pass, a third of a stage.
        Objective::Ctc(ctc) => {
            let glances = if ctc.glancing_start > 0.0 { 1.0 / 3.0 } else { 0.0 };
            (f64::from(ctc.stages) + glances) * slots_per_token(config)
        }
    }
}

/// The speed of a large product of this model's widths, in operations per second: what no step can exceed.
pub fn limit(model: &ModelConfig) -> f64 {
    let (rows, depth, columns) = (1536, model.d_model, model.d_ff);
    let left = vec![0.5; rows * depth];
    let right = vec![0.25; depth * columns];
    let mut out = vec![0.0; rows * columns];
    let mut best = f64::INFINITY;
    for _ in 0..12 {
        let start = Instant::now();
        let right = Matrix::new(&right, depth, columns);
        Product::new(Matrix::new(&left, rows, depth), right, &mut out).run();
        black_box(&mut out);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * (rows * depth * columns) as f64 / best
}

#[cfg(test)]
mod tests {
    use padir_kernels::optimiser::State;

    use super::*;
    use crate::learner::Learner;

    /// What the estimate says of parameters, gradients and moments is what they are.
    #[test]
    fn lasting_memory_is_that_of_the_arrays() {
        let text = "[data]\nvocabulary = \"v\"\ntrain = { source = \"a\", target = \"b\" }\n[model]\n\
            preset = \"tiny\"\n[run]\ndir = \"r\"\n";
        for flags in [
            &["optimiser.kind=adamw"][..],
            &["optimiser.kind=adafactor"],
            &["optimiser.kind=adafactor", "optimiser.min_factored=64", "optimiser.ema=0.9"],
        ] {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let config = Config::preview("c.toml", text, &flags).unwrap();
            let model = config.model.to_config(600, 500);
            let device = padir_model::Device::default();
            let network =
                padir_model::Network::initialise(&model, config.run.seed, &device).unwrap();
            let learner = Learner::new(network, &config);
            let weights: usize =
                learner.network().weights().iter().map(|w| w.numbers().len()).sum();
            let states: usize =
                learner.states.iter().flat_map(State::tensors).map(|t| t.values.len()).sum();
            let averages: usize = learner.average().iter().map(Vec::len).sum();
            let numbers = 2 * weights + states + averages;
            assert_eq!(memory(&config, &model).lasting, 4 * numbers as u64, "{flags:?}");
        }
    }
}
