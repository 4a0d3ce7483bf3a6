//! Square matrices of positive numbers, narrow (`f64`) or [`Wide`].

use std::ops::{Add, AddAssign, Div, Mul};

use crate::wide::Wide;

/// What positive arithmetic needs; there is deliberately no subtraction.
pub trait Number:
    Copy
    + Default
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// eˣ.
    fn exp(x: f64) -> Self;
    /// A float that is not negative.
    fn of(value: f64) -> Self;
    /// Back to a float.
    fn to_f64(self) -> f64;
    /// ln.
    fn ln(self) -> f64;
}

impl Number for f64 {
    fn exp(x: f64) -> Self {
        x.exp()
    }
    fn of(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn ln(self) -> f64 {
        f64::ln(self)
    }
}

impl Number for Wide {
    fn exp(x: f64) -> Self {
        Wide::exp(x)
    }
    fn of(value: f64) -> Self {
        Wide::new(value)
    }
    fn to_f64(self) -> f64 {
        Wide::to_f64(self)
    }
    fn ln(self) -> f64 {
        Wide::ln(self)
    }
}

/// A square matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    size: usize,
    entries: Vec<T>,
}

impl<T: Number> Matrix<T> {
    /// All zero.
    pub fn zero(size: usize) -> Self {
        Self { size, entries: vec![T::default(); size * size] }
    }

    /// The sum of matrices of one size, in their order.
    pub fn sum(size: usize, parts: &[Self]) -> Self {
        let mut total = Self::zero(size);
        for part in parts {
            total.entries.iter_mut().zip(&part.entries).for_each(|(sum, &value)| *sum += value);
        }
        total
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// An entry.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> T {
        self.entries[row * self.size + column]
    }

    /// Adds to an entry.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: T) {
        self.entries[row * self.size + column] += value;
    }

    /// Sets an entry.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize, value: T) {
        self.entries[row * self.size + column] = value;
    }

    /// A row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    /// A row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.entries[row * self.size..(row + 1) * self.size]
    }

    /// All rows, to be changed one by one.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, T> {
        self.entries.chunks_exact_mut(self.size)
    }

    /// μP for a row vector μ.
    pub fn push(&self, measure: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); self.size];
        for (row, &mass) in measure.iter().enumerate() {
            for (sum, &p) in out.iter_mut().zip(self.row(row)) {
                *sum += mass * p;
            }
        }
        out
    }

    /// Pf for a function f.
    pub fn pull(&self, f: &[T]) -> Vec<T> {
        let dot = |row: usize| {
            let products = self.row(row).iter().zip(f).map(|(&p, &value)| p * value);
            products.fold(T::default(), |sum, value| sum + value)
        };
        (0..self.size).map(dot).collect()
    }
}
