//! Model checks of the pool by loom, which tries the interleavings of its threads and what their loads may see:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p padir-kernels --lib model --release
//! ```
//!
//! Loom takes a `SeqCst` access for `AcqRel`, which is why the pool uses fences where it needs a total order. Executions with more
//! preemptions than [`PREEMPTIONS`] are left out; most faults of this kind need two.

use loom::model::Builder;
use loom::sync::atomic::AtomicUsize;
use loom::sync::{Condvar, Mutex};

use super::sync::UnsafeCell;
use super::*;

/// Switches of threads that were not waiting, at most, in one execution.
const PREEMPTIONS: usize = 2;

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// Memory that is not atomic: loom reports whoever touches it at the same time as another.
struct Plain(UnsafeCell<usize>);

// SAFETY: loom watches every access and fails the test if two of them race.
#[expect(unsafe_code, reason = "what is to be shown safe")]
unsafe impl Sync for Plain {}

impl Plain {
    fn list(len: usize) -> Vec<Self> {
        (0..len).map(|_| Self(UnsafeCell::new(0))).collect()
    }

    #[expect(unsafe_code, reason = "loom watches every access")]
    fn add(&self, number: usize) {
        // SAFETY: loom fails the test if another thread accesses it, too.
        self.0.with_mut(|place| unsafe { *place += number });
    }

    #[expect(unsafe_code, reason = "loom watches every access")]
    fn read(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|place| unsafe { *place })
    }
}

fn sum(list: &[Plain]) -> Vec<usize> {
    list.iter().map(Plain::read).collect()
}

/// Each piece writes plain memory on the caller's stack, which the caller reads and frees afterwards.
#[test]
fn what_pieces_wrote_is_there_when_the_caller_returns() {
    check(|| {
        let threads = Threads::new(2);
        let done = Plain::list(2);
        threads.run(2, &|piece, _| done[piece].add(piece + 1));
        assert_eq!(sum(&done), [1, 2]);
    });
}

/// A worker that is late for an operation must neither run its pieces nor those of the next one twice.
#[test]
fn a_late_worker_does_no_harm() {
    check(|| {
        let threads = Threads::new(2);
        for round in 1..=2 {
            // A new list each time: work that outlived its operation would write freed memory.
            let done = Plain::list(2);
            threads.run(2, &|piece, _| done[piece].add(10 * round + piece));
            assert_eq!(sum(&done), [10 * round, 10 * round + 1]);
        }
    });
}

#[test]
fn three_threads_share_the_pieces() {
    check(|| {
        let threads = Threads::new(3);
        let done = Plain::list(3);
        threads.run(3, &|piece, _| done[piece].add(1));
        assert_eq!(sum(&done), [1, 1, 1]);
    });
}

/// Two callers: one has the threads, the other does its pieces alone, or waits for its turn.
#[test]
fn callers_do_not_mix_their_work() {
    check(|| {
        let threads = Threads::new(2);
        let other = threads.clone();
        let caller = thread::spawn(move || {
            let done = Plain::list(2);
            other.run(2, &|piece, _| done[piece].add(1));
            assert_eq!(sum(&done), [1, 1]);
        });
        let done = Plain::list(2);
        threads.run(2, &|piece, _| done[piece].add(2));
        assert_eq!(sum(&done), [2, 2]);
        caller.join().unwrap();
    });
}

/// A worker that goes to sleep while an operation begins is woken: the caller's piece waits for the other, which the caller does not
/// do, so a wake-up that is lost is a deadlock.
#[test]
fn no_wake_up_is_lost() {
    check(|| {
        let threads = Threads::new(2);
        let (helped, signal) = (Mutex::new(false), Condvar::new());
        threads.run(2, &|_, worker| {
            let mut helped = helped.lock().unwrap();
            if worker == 0 {
                while !*helped {
                    helped = signal.wait(helped).unwrap();
                }
            } else {
                *helped = true;
                signal.notify_one();
            }
        });
    });
}

/// The end reaches workers that are awake, asleep, or about to sleep.
#[test]
fn threads_end_with_their_pool() {
    check(|| drop(Threads::new(3)));
    check(|| {
        let threads = Threads::new(2);
        let times = Arc::new(AtomicUsize::new(0));
        threads.run(2, &|_, _| {
            times.fetch_add(1, Ordering::Relaxed);
        });
        drop(threads);
        assert_eq!(times.load(Ordering::Relaxed), 2);
    });
}
