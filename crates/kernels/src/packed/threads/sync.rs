//! What the pool is built of: the standard library, or loom's models of it in model checks.

#[cfg(not(all(loom, test)))]
mod real {
    pub(in super::super) use std::hint;
    pub(in super::super) use std::sync::{Arc, atomic};
    pub(in super::super) use std::thread;

    /// How often a worker looks for work before it goes to sleep: one or two hundred microseconds.
    pub(in super::super) const SPINS: usize = 10_000;
    /// How often the caller looks for the end before it lets others run.
    pub(in super::super) const PATIENCE: usize = 2_000;

    /// A cell with loom's interface: nothing is borrowed for longer than a closure.
    pub(in super::super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(in super::super) fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(in super::super) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline]
        pub(in super::super) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(all(loom, test))]
mod real {
    pub(in super::super) use loom::cell::UnsafeCell;
    pub(in super::super) use loom::hint;
    pub(in super::super) use loom::sync::{Arc, atomic};
    pub(in super::super) use loom::thread;

    /// Looking twice is looking often enough: every look is a choice of what is seen.
    pub(in super::super) const SPINS: usize = 1;
    pub(in super::super) const PATIENCE: usize = 0;
}

pub(super) use real::{Arc, PATIENCE, SPINS, UnsafeCell, atomic, hint, thread};
