//! Where a gradient goes.

use crate::matrix::Onto;

/// A buffer for the gradient of a parameter: it may hold that of earlier uses already.
#[derive(Debug)]
pub struct Slot<'a> {
    /// As many numbers as the parameter has.
    pub data: &'a mut [f32],
    /// Whether the numbers count.
    pub onto: Onto,
}

impl<'a> Slot<'a> {
    /// A buffer whose numbers do not count.
    pub fn fresh(data: &'a mut [f32]) -> Self {
        Self { data, onto: Onto::Replace }
    }

    /// The buffer to add to.
    pub(crate) fn sum(&mut self) -> &mut [f32] {
        if self.onto == Onto::Replace {
            self.data.fill(0.0);
            self.onto = Onto::Add;
        }
        self.data
    }

    /// Adds partial sums in their order.
    pub(crate) fn add_all<'p>(&mut self, parts: impl IntoIterator<Item = &'p [f32]>) {
        let sum = self.sum();
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }
}
