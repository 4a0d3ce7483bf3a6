//! Prepares items ahead of time in a thread.
//!
//! The order is that of the iterator, so nothing but the time of waiting changes. At most
//! `depth` items wait, one more is being made. Errors are items like all others. Dropping the
//! receiver ends the thread before its next item.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The items of an iterator, made by a thread of its own.
#[derive(Debug)]
pub struct Prefetch<T> {
    /// None once the items have ended.
    worker: Option<Worker<T>>,
}

#[derive(Debug)]
struct Worker<T> {
    items: Receiver<T>,
    thread: JoinHandle<()>,
}

impl<T: Send + 'static> Prefetch<T> {
    /// Starts the thread, which begins at once. A `depth` of 0 hands items over one by one.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(
        items: impl Iterator<Item = T> + Send + 'static,
        depth: usize,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(depth);
        let thread = Builder::new().name("batches".to_owned()).spawn(move || {
            for item in items {
                if sender.send(item).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { worker: Some(Worker { items: receiver, thread }) })
    }
}

impl<T> Iterator for Prefetch<T> {
    type Item = T;

    /// Waits for the next item. A panic in the thread continues here.
    fn next(&mut self) -> Option<T> {
        if let Ok(item) = self.worker.as_ref()?.items.recv() {
            return Some(item);
        }
        if let Some(Err(panic)) = self.worker.take().map(|worker| worker.thread.join()) {
            resume_unwind(panic);
        }
        None
    }
}

impl<T> Drop for Prefetch<T> {
    fn drop(&mut self) {
        if let Some(Worker { items, thread }) = self.worker.take() {
            drop(items);
            // Whatever went wrong there, nobody is left to hear of it.
            let _ = thread.join();
        }
    }
}
