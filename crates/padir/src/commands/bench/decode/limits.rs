//! What the machine can do: the limits that steps are compared with.

use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;

/// Bytes that no cache holds.
const MEMORY: usize = 128 << 20;
const ROUNDS: usize = 3;

/// Measured limits.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Limits {
    /// Reading memory, all threads, in GB/s.
    pub(super) read_gigabytes: f64,
    /// Threads.
    pub(super) threads: usize,
}

/// Measures the limits with all threads.
pub(super) fn measure(threads: usize) -> Limits {
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
    Limits { read_gigabytes: MEMORY as f64 / best / 1e9, threads }
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |sum, &n| sum ^ n)
}
