//! What a step costs in matrix products, and how fast they can be.

use std::hint::black_box;
use std::time::Instant;

use padir_checkpoint::ModelConfig;
use padir_kernels::matrix::{Matrix, Product};

use crate::config::{Config, Objective};
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
    let stages = match config.objective.kind {
        Objective::Ar => 1.0,
        Objective::Padir(padir) => f64::from(padir.stages),
    };
    6.0 * (encoder + stages * decoder)
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
