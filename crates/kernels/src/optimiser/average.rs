//! Averages of parameters over training: exponential and plain. One pass each.

use rayon::prelude::*;

use super::sum::CHUNK;
use crate::simd::vectorised;

/// The exponential moving average: a ← decay · a + (1 − decay) · p.
///
/// # Panics
/// If the slices differ in length.
pub fn move_average(average: &mut [f32], parameter: &[f32], decay: f64) {
    blend(average, parameter, (1.0 - decay) as f32);
}

/// The plain average of checkpoints: a ← a + (p − a) / n, where p is the n-th, counted from 1.
///
/// # Panics
/// If the slices differ in length or `n` is 0.
pub fn running_average(average: &mut [f32], parameter: &[f32], n: u64) {
    assert!(n > 0, "checkpoints are counted from 1");
    if n == 1 {
        // Exactly, whatever stood there, NaN included.
        average.copy_from_slice(parameter);
    } else {
        blend(average, parameter, (1.0 / n as f64) as f32);
    }
}

/// a ← a + weight · (p − a): equal numbers stay equal, whatever the weight.
fn blend(average: &mut [f32], parameter: &[f32], weight: f32) {
    assert_eq!(average.len(), parameter.len(), "the parameter has another shape");
    if average.len() <= CHUNK {
        return blend_chunk(average, parameter, weight);
    }
    average
        .par_chunks_mut(CHUNK)
        .zip(parameter.par_chunks(CHUNK))
        .for_each(|(average, parameter)| blend_chunk(average, parameter, weight));
}

vectorised! {
    fn blend_chunk(average: &mut [f32], parameter: &[f32], weight: f32) {
        for (a, &p) in average.iter_mut().zip(parameter) {
            *a += weight * (p - *a);
        }
    }
}
