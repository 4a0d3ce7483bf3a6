//! The gradients of all parameters, in the computer's memory.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard};

use padir_kernels::Slot;
use padir_kernels::matrix::Onto;

/// One buffer per parameter, in the order of the inventory, each behind a lock: the graph of a pass may hold the store for a while after the pass is over,
/// because its nodes are shared and freed when the framework finds the time.
#[derive(Debug)]
pub struct Gradients {
    entries: Vec<Mutex<Entry>>,
}

/// The gradient of one parameter.
#[derive(Debug, Default)]
pub struct Entry {
    numbers: Vec<f32>,
    filled: bool,
}

/// The gradient of one parameter, locked.
#[derive(Debug)]
pub struct Gradient<'a>(MutexGuard<'a, Entry>);

impl Deref for Gradient<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0.numbers
    }
}

impl Gradients {
    /// For parameters of the given sizes; all gradients are 0.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Self {
        let entry = |size| Mutex::new(Entry { numbers: vec![0.0; size], filled: false });
        Self { entries: sizes.into_iter().map(entry).collect() }
    }

    /// Forgets all gradients but keeps the memory.
    pub fn clear(&self) {
        for index in 0..self.len() {
            self.lock(index).filled = false;
        }
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Locks the gradient of a parameter.
    pub fn lock(&self, index: usize) -> MutexGuard<'_, Entry> {
        self.entries[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The gradient of a parameter; a parameter that was not used has gradient 0.
    pub fn read(&self, index: usize) -> Gradient<'_> {
        let mut entry = self.lock(index);
        if !entry.filled {
            entry.numbers.fill(0.0);
            entry.filled = true;
        }
        Gradient(entry)
    }

    /// Adds to the gradient of a parameter.
    pub fn add(&self, index: usize, gradient: &[f32]) {
        let mut entry = self.lock(index);
        let Slot { data, onto } = entry.slot();
        match onto {
            Onto::Replace => data.copy_from_slice(gradient),
            Onto::Add => data.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g),
        }
    }
}

impl Entry {
    /// Where an operation puts the gradient; it must do so.
    pub fn slot(&mut self) -> Slot<'_> {
        let onto = if self.filled { Onto::Add } else { Onto::Replace };
        self.filled = true;
        Slot { data: &mut self.numbers, onto }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_add_up_until_they_are_cleared() {
        let gradients = Gradients::new([2, 1]);
        gradients.add(0, &[1.0, 2.0]);
        gradients.add(0, &[1.0, 2.0]);
        assert_eq!(*gradients.read(0), [2.0, 4.0]);
        assert_eq!(*gradients.read(1), [0.0]);
        gradients.clear();
        assert_eq!(*gradients.read(0), [0.0, 0.0]);
    }
}
