//! Biases by relative position, spread out by distance.

use padir_kernels::attention::position::Buckets;
use padir_kernels::packed::attention::Bias;

/// The table of a stack.
#[derive(Debug)]
pub(crate) struct Distances {
    /// One number per bucket and head, bucket after bucket.
    table: Vec<f32>,
    heads: usize,
    buckets: Buckets,
}

/// The biases of distances up to some reach, head after head. Grows as rows do.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    numbers: Vec<f32>,
    reach: usize,
}

/// Reaches begin here and double.
const LEAST: usize = 64;

impl Distances {
    pub(crate) fn new(table: Vec<f32>, heads: usize, buckets: Buckets) -> Self {
        Self { table, heads, buckets }
    }

    /// Biases for rows of up to `longest` tokens.
    pub(crate) fn spread<'a>(&self, spread: &'a mut Spread, longest: usize) -> Bias<'a> {
        if spread.reach < longest.max(1) {
            let reach = longest.max(LEAST).next_power_of_two();
            let far = reach as isize - 1;
            let places: Vec<usize> = (-far..=far).map(|d| self.buckets.of(d)).collect();
            spread.numbers.clear();
            for head in 0..self.heads {
                let bias = |place: &usize| self.table[place * self.heads + head];
                spread.numbers.extend(places.iter().map(bias));
            }
            spread.reach = reach;
        }
        Bias { numbers: &spread.numbers, reach: spread.reach }
    }
}
