//! Asking for weights before they are needed.
//!
//! The first of several tiles that share weights waits for the memory, the others find them in the cache. If each of them
//! asks for a share of what comes next, the memory works while they compute.

use super::aligned::LINE;

/// What comes next, to be asked for in so many shares.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a, T> {
    numbers: &'a [T],
    shares: usize,
}

impl<'a, T> Ahead<'a, T> {
    pub(super) fn new(numbers: &'a [T], shares: usize) -> Self {
        Self { numbers, shares }
    }

    /// Asks for one of the shares.
    #[inline]
    pub(super) fn fetch(self, share: usize) {
        let cut = |share: usize| self.numbers.len() * share / self.shares;
        for line in self.numbers[cut(share)..cut(share + 1)].chunks(LINE / size_of::<T>()) {
            fetch(line);
        }
    }
}

#[inline]
#[cfg(target_arch = "x86_64")]
fn fetch<T>(line: &[T]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has it, and it reads nothing that the program could see.
    #[expect(unsafe_code, reason = "a hint to the processor")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
    }
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn fetch<T>(_: &[T]) {}
