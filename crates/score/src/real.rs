//! Formulas that must hold in both float32 and float64.
//!
//! sacrebleu sums bootstrap samples in float32 and then runs the same formula over NumPy scalars,
//! which stay float32 through arithmetic with Python numbers. To give the same intervals, a
//! formula is written once over [`Real`].

use std::ops::{Add, Div, Mul, Sub};

/// f32 or f64.
pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// A constant of the formula.
    fn of(constant: f64) -> Self;
    /// The value in double precision.
    fn wide(self) -> f64;
}

impl Real for f32 {
    fn of(constant: f64) -> Self {
        constant as Self
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn of(constant: f64) -> Self {
        constant
    }

    fn wide(self) -> f64 {
        self
    }
}
