//! What is unfinished, and removed if the process is told to end.
//!
//! Destructors do not run when a signal ends a process. So whoever leaves something half-written on the disk registers how to discard
//! it, and whoever hears the signal ends the process by [`exit`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Discard = Box<dyn FnOnce() + Send>;

static PENDING: Mutex<BTreeMap<u64, Discard>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Something unfinished. Dropped when it is finished, or has been discarded otherwise.
#[derive(Debug)]
#[must_use = "what is dropped is no longer discarded"]
pub struct Pending {
    id: u64,
}

impl Pending {
    /// Registers how to discard something. What `discard` does must be harmless if there is nothing left to discard.
    pub fn new(discard: impl FnOnce() + Send + 'static) -> Self {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        lock().insert(id, Box::new(discard));
        Self { id }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        lock().remove(&self.id);
    }
}

/// Discards what is unfinished and ends the process.
pub fn exit(code: i32) -> ! {
    // Held until the end, so that nothing else begins meanwhile.
    let mut pending = lock();
    discard_all(&mut pending);
    std::process::exit(code)
}

/// The oldest first: what lies in a directory goes with it.
fn discard_all(pending: &mut BTreeMap<u64, Discard>) {
    for discard in std::mem::take(pending).into_values() {
        discard();
    }
}

fn lock() -> MutexGuard<'static, BTreeMap<u64, Discard>> {
    // Nothing that panics is done while it is held.
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Others register beside us, so only what is ours is taken out and discarded.
    #[test]
    fn only_what_is_unfinished_is_discarded() {
        let discarded = Arc::new(AtomicU64::new(0));
        let register = |worth: u64| {
            let discarded = Arc::clone(&discarded);
            Pending::new(move || {
                discarded.fetch_add(worth, Ordering::Relaxed);
            })
        };
        let (finished, unfinished) = (register(1), register(2));
        let ids = [finished.id, unfinished.id];
        drop(finished);
        let mut ours: BTreeMap<u64, Discard> =
            ids.iter().filter_map(|id| Some((*id, lock().remove(id)?))).collect();
        discard_all(&mut ours);
        assert_eq!(discarded.load(Ordering::Relaxed), 2);
    }
}
