//! What has no chance any more, row by row; raised by whoever finds something better.

use std::sync::atomic::{AtomicU32, Ordering};

/// One floor for each row.
#[derive(Debug, Default)]
pub(super) struct Floors(Vec<AtomicU32>);

impl Floors {
    /// Nothing is below the floors of so many rows.
    pub(super) fn reset(&mut self, rows: usize) {
        if self.0.len() < rows {
            self.0.resize_with(rows, AtomicU32::default);
        }
        self.0[..rows].iter_mut().for_each(|floor| *floor.get_mut() = key(f32::NEG_INFINITY));
    }

    /// What is below this is not among the best.
    #[inline]
    pub(super) fn at(&self, row: usize) -> f32 {
        logit_of(self.0[row].load(Ordering::Relaxed))
    }

    /// As many logits as are asked for are at least this.
    #[inline]
    pub(super) fn raise(&self, row: usize, logit: f32) {
        self.0[row].fetch_max(key(logit), Ordering::Relaxed);
    }
}

/// A number whose order is that of the logits.
fn key(logit: f32) -> u32 {
    let bits = logit.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The logit of a [`key`].
fn logit_of(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}
