//! What the machine can do: the limits that steps are compared with.

use std::hint::black_box;
use std::time::{Duration, Instant};

use padir_engine::{Isa, Precision, multiply_adds};
use serde::Serialize;

/// Bytes that no cache holds.
const MEMORY: usize = 256 << 20;
/// Rounds of reading; the fastest counts.
const ROUNDS: usize = 5;
/// Rounds of arithmetic, and what each lasts, about.
const ARITHMETIC_ROUNDS: usize = 8;
const ROUND: Duration = Duration::from_millis(20);

/// Measured limits, of all threads together.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Limits {
    /// Threads.
    pub(super) threads: usize,
    /// Reading memory, in GB/s.
    pub(super) read_gigabytes: f64,
    /// Multiplications and additions in single precision, everything in registers, in 10⁹/s.
    pub(super) f32_gigaops: f64,
    /// The same in int8.
    pub(super) int8_gigaops: f64,
}

impl Limits {
    /// Operations in a precision.
    pub(super) fn gigaops(&self, precision: Precision) -> f64 {
        match precision {
            Precision::F32 => self.f32_gigaops,
            Precision::Int8 => self.int8_gigaops,
        }
    }
}

/// Measures the limits with all threads.
pub(super) fn measure(threads: usize) -> Limits {
    let gigaops = |bytes| 2.0 * multiply_adds_per_second(Isa::detect(), bytes, threads) / 1e9;
    Limits {
        threads,
        read_gigabytes: read_gigabytes(threads),
        f32_gigaops: gigaops(false),
        int8_gigaops: gigaops(true),
    }
}

/// Multiply-adds per second of so many threads, in single precision or 8 bits.
fn multiply_adds_per_second(isa: Isa, bytes: bool, threads: usize) -> f64 {
    let round = || {
        let mut count = 0.0;
        let start = Instant::now();
        while start.elapsed() < ROUND {
            count += multiply_adds(isa, bytes);
        }
        count / start.elapsed().as_secs_f64()
    };
    let together = |_| {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(round)).collect();
            // A thread that panicked multiplied nothing.
            round() + others.into_iter().map(|t| t.join().unwrap_or(0.0)).sum::<f64>()
        })
    };
    (0..ARITHMETIC_ROUNDS).map(together).fold(0.0, f64::max)
}

fn read_gigabytes(threads: usize) -> f64 {
    let numbers = vec![1_u64; MEMORY / 8];
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in numbers.chunks(numbers.len().div_ceil(threads.max(1))) {
                scope.spawn(move || black_box(sum(part)));
            }
        });
        best = best.min(start.elapsed().as_secs_f64());
    }
    MEMORY as f64 / best / 1e9
}

/// Several streams of eight numbers, so that the sum does not wait for itself.
fn sum(numbers: &[u64]) -> u64 {
    let mut lanes = [0_u64; 32];
    for numbers in numbers.as_chunks::<32>().0 {
        lanes.iter_mut().zip(numbers).for_each(|(lane, n)| *lane ^= n);
    }
    lanes.into_iter().fold(0, |sum, n| sum ^ n)
}
