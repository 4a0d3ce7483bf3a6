//! A matrix that several threads write to, each its own part.

use std::marker::PhantomData;
use std::ops::Range;

/// Rows of equal stride in a slice, of which threads take disjoint parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<'a, T> {
    first: *mut T,
    len: usize,
    stride: usize,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: a grid is the right to write to a slice of `T`, which may be sent if `T` may; whoever takes parts
// promises that they are disjoint.
#[expect(unsafe_code, reason = "parts of one slice go to several threads")]
unsafe impl<T: Send> Sync for Grid<'_, T> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "parts of one slice go to several threads")]
unsafe impl<T: Send> Send for Grid<'_, T> {}

impl<'a, T> Grid<'a, T> {
    pub(super) fn new(data: &'a mut [T], stride: usize) -> Self {
        Self { first: data.as_mut_ptr(), len: data.len(), stride, life: PhantomData }
    }

    /// Some columns of a row.
    ///
    /// # Safety
    /// No two parts that are in use at the same time may overlap.
    ///
    /// # Panics
    /// If they lie beyond the slice.
    #[expect(unsafe_code, reason = "parts of one slice go to several threads")]
    #[inline]
    pub(super) unsafe fn part(&self, row: usize, columns: Range<usize>) -> &'a mut [T] {
        let start = row * self.stride + columns.start;
        assert!(start + columns.len() <= self.len, "a part of the matrix");
        // SAFETY: within the slice, as was just checked; disjoint from all others by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start), columns.len()) }
    }
}
