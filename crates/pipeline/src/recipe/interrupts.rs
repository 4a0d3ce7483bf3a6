//! Ctrl-C and the like, on their way from whoever hears them to the jobs that are running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How often somebody asked to stop. Clones share the count, so that one can be kept where signals are heard.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    heard: Arc<AtomicUsize>,
    /// Whether there is a job to pass them on to.
    busy: Arc<AtomicBool>,
}

impl Interrupts {
    /// Somebody asks to stop. Returns whether the process may end at once: asked twice, with no job running. Files are hashed between
    /// stages, which can take long, and nothing is lost if that ends.
    pub fn hear(&self) -> bool {
        let is_second = self.heard.fetch_add(1, Ordering::Relaxed) > 0;
        is_second && !self.busy.load(Ordering::Relaxed)
    }

    /// How often somebody asked.
    pub fn count(&self) -> usize {
        self.heard.load(Ordering::Relaxed)
    }

    /// Says whether a job is running.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_ends_the_process_unless_a_job_is_running() {
        let interrupts = Interrupts::default();
        let elsewhere = interrupts.clone();
        assert!(!elsewhere.hear());
        assert!(elsewhere.hear());
        interrupts.set_busy(true);
        assert!(!elsewhere.hear());
        assert_eq!(interrupts.count(), 3);
    }
}
