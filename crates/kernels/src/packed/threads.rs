//! A pool that runs the pieces of one operation and returns when all are done.
//!
//! A step of a decoder has some sixty such operations of tens of microseconds each, so handing them out must cost
//! about a microsecond: workers spin for a while before they sleep, and a late one is
//! not waited for. Pieces are claimed one after the other; which thread computes a piece has no influence on
//! its result.
//!
//! | happens before | by |
//! |---|---|
//! | writing the work → reading it | the caller's release store of the gate, a worker's acquire entering it |
//! | the last piece → the caller's return | a worker's release count of who left, the caller's acquire load |
//! | one caller → the next | release and acquire of `busy` |
//!
//! Going to sleep and waking up are Dekker's pattern: each side writes, crosses a sequentially consistent fence and reads what the
//! other wrote, so one of them sees the other. `model.rs` checks all of it with loom.

#[cfg(all(loom, test))]
mod model;
mod sync;

use std::fmt;

use self::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use self::sync::thread::{self, JoinHandle};
use self::sync::{Arc, PATIENCE, SPINS, UnsafeCell, hint};
use super::grid::Grid;

/// The gate's lowest bits count who entered; this one says that nobody may any more.
const CLOSED: u64 = 1 << 31;
/// The rest of the gate is the number of the operation.
const OPERATION: u64 = 1 << 32;

/// A handle to some threads; clones share them. One thread means the caller's, and nothing is spawned.
#[derive(Clone)]
pub struct Threads {
    pool: Option<Arc<Pool>>,
}

struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held by whoever runs an operation.
    busy: AtomicBool,
}

/// The pieces of an operation: a function of the piece and the worker.
type Work<'a> = &'a (dyn Fn(usize, usize) + Sync);

struct Shared {
    /// operation · closed · entered.
    gate: AtomicU64,
    work: UnsafeCell<Option<Work<'static>>>,
    pieces: AtomicUsize,
    next: AtomicUsize,
    left: AtomicU64,
    failed: AtomicBool,
    stop: AtomicBool,
    asleep: Vec<AtomicBool>,
}

// SAFETY: `work` is written only while the gate is closed and everybody has left, and read only by those
// who entered through the gate after that.
#[expect(unsafe_code, reason = "the work lives on the stack of the caller, who waits for its end")]
unsafe impl Sync for Shared {}

impl Threads {
    /// So many threads, the caller's included; 0 counts as 1.
    pub fn new(count: usize) -> Self {
        if count <= 1 {
            return Self { pool: None };
        }
        let shared = Arc::new(Shared {
            gate: AtomicU64::new(CLOSED),
            work: UnsafeCell::new(None),
            pieces: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            left: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            asleep: (1..count).map(|_| AtomicBool::new(false)).collect(),
        });
        let spawn = |worker: usize| {
            let shared = Arc::clone(&shared);
            let name = format!("padir-{worker}");
            thread::Builder::new().name(name).spawn(move || shared.serve(worker)).ok()
        };
        // Where no thread can be had, fewer do the work.
        let workers: Vec<JoinHandle<()>> = (1..count).map_while(spawn).collect();
        Self { pool: Some(Arc::new(Pool { shared, workers, busy: AtomicBool::new(false) })) }
    }

    /// As many as the machine has cores for this process.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// How many there are, the caller's included. Workers are numbered from 0 to this.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.workers.len() + 1)
    }

    /// Calls `work(piece, worker)` once for each piece and returns when all are done. Whoever finds
    /// the threads at work for somebody else does all pieces alone.
    ///
    /// # Panics
    /// If a piece panics.
    pub fn run(&self, pieces: usize, work: Work<'_>) {
        match &self.pool {
            Some(pool) if pieces > 1 && !pool.busy.swap(true, Ordering::Acquire) => {
                let _free = Free(&pool.busy);
                pool.run(pieces, work);
            }
            _ => (0..pieces).for_each(|piece| work(piece, 0)),
        }
    }

    /// Calls `work(index, chunk, worker)` for each chunk of a list; the last may be shorter.
    pub fn chunks<T: Send>(
        &self,
        list: &mut [T],
        size: usize,
        work: &(dyn Fn(usize, &mut [T], usize) + Sync),
    ) {
        let (len, size) = (list.len(), size.max(1));
        let grid = Grid::new(list, size);
        self.run(len.div_ceil(size), &|chunk, worker| {
            let columns = 0..size.min(len - chunk * size);
            // SAFETY: each chunk is taken once.
            #[expect(unsafe_code, reason = "disjoint chunks of one slice")]
            let part = unsafe { grid.part(chunk, columns) };
            work(chunk, part, worker);
        });
    }
}

impl Default for Threads {
    /// The caller's alone.
    fn default() -> Self {
        Self::new(1)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("count", &self.count()).finish()
    }
}

/// Gives the threads back, come what may.
struct Free<'a>(&'a AtomicBool);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Pool {
    fn run(&self, pieces: usize, work: Work<'_>) {
        let shared = &*self.shared;
        // SAFETY: the reference outlives its use: `Closing` shuts the gate and waits for all who entered before
        // this function returns or unwinds. Nobody reads `work` now, since the gate is closed.
        #[expect(unsafe_code, reason = "lends the caller's work to the workers until they left")]
        shared.work.with_mut(|place| unsafe {
            *place = Some(std::mem::transmute::<Work<'_>, Work<'static>>(work));
        });
        shared.pieces.store(pieces, Ordering::Relaxed);
        shared.next.store(0, Ordering::Relaxed);
        shared.left.store(0, Ordering::Relaxed);
        shared.failed.store(false, Ordering::Relaxed);
        let operation = (shared.gate.load(Ordering::Relaxed) / OPERATION).wrapping_add(1);
        shared.gate.store(operation.wrapping_mul(OPERATION), Ordering::Release);
        {
            let _closing = Closing(shared);
            self.wake();
            shared.claim(work, 0);
        }
        assert!(!shared.failed.load(Ordering::Relaxed), "a piece of work panicked");
    }

    /// Wakes those who sleep. Who does not know of the operation yet and goes to sleep later sees it before.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        for (worker, asleep) in self.workers.iter().zip(&self.shared.asleep) {
            if asleep.load(Ordering::Relaxed) {
                worker.thread().unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Every worker is unparked after this, asleep or not, so none misses it.
        self.shared.stop.store(true, Ordering::Release);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker that panicked has been reported already.
            drop(worker.join());
        }
    }
}

/// Shuts the gate and waits for those inside.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let entered = self.0.gate.fetch_or(CLOSED, Ordering::AcqRel) & (CLOSED - 1);
        let mut looks = 0;
        while self.0.left.load(Ordering::Acquire) != entered {
            looks += 1;
            if looks > PATIENCE {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }
}

/// Counts a worker out, even if its work panics.
struct Leaving<'a>(&'a Shared);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
        self.0.left.fetch_add(1, Ordering::Release);
    }
}

impl Shared {
    /// Does pieces until there are none left.
    fn claim(&self, work: Work<'_>, worker: usize) {
        let pieces = self.pieces.load(Ordering::Relaxed);
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            work(piece, worker);
        }
    }

    /// The life of a worker.
    fn serve(&self, worker: usize) {
        let mut done = 0;
        while let Some(operation) = self.await_operation(done, worker) {
            done = operation;
            if !self.enter(operation) {
                continue;
            }
            let _leaving = Leaving(self);
            // SAFETY: having entered, `work` is the one that was published with this operation, and its owner waits for us to leave.
            #[expect(unsafe_code, reason = "reads what was published before the gate opened")]
            let work = self.work.with(|place| unsafe { *place });
            if let Some(work) = work {
                self.claim(work, worker);
            }
        }
    }

    /// The next operation after the one that is done; none at the end.
    fn await_operation(&self, done: u64, worker: usize) -> Option<u64> {
        let fresh = || {
            let operation = self.gate.load(Ordering::Relaxed) / OPERATION;
            (operation != done).then_some(operation)
        };
        loop {
            for _ in 0..SPINS {
                if let Some(operation) = fresh() {
                    return Some(operation);
                }
                hint::spin_loop();
            }
            let asleep = &self.asleep[worker - 1];
            asleep.store(true, Ordering::Relaxed);
            // Either this sees the new operation or its caller sees that we sleep.
            fence(Ordering::SeqCst);
            if fresh().is_none() && !self.stop.load(Ordering::Acquire) {
                thread::park();
            }
            asleep.store(false, Ordering::Relaxed);
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
        }
    }

    /// Goes in, unless the operation is over.
    fn enter(&self, operation: u64) -> bool {
        let open = |gate: u64| gate / OPERATION == operation && gate & CLOSED == 0;
        self.gate
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |gate| {
                open(gate).then_some(gate + 1)
            })
            .is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once() {
        for count in [0, 1, 2, 3, 5] {
            let threads = Threads::new(count);
            assert_eq!(threads.count(), count.max(1));
            for pieces in [0, 1, 2, 7, 100] {
                let times: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
                threads.run(pieces, &|piece, worker| {
                    assert!(worker < threads.count());
                    times[piece].fetch_add(1, Ordering::Relaxed);
                });
                assert!(times.iter().all(|t| t.load(Ordering::Relaxed) == 1), "{count} {pieces}");
            }
        }
    }

    #[test]
    fn many_operations_follow_each_other() {
        let threads = Threads::new(3);
        let mut sums = vec![0_u64; 64];
        for round in 0..20_000 {
            threads.chunks(&mut sums, 5, &|chunk, part, _| {
                for sum in part {
                    *sum += (chunk + round) as u64 % 7;
                }
            });
        }
        let expected = |i: u64| (0..20_000).map(|round| (i / 5 + round) % 7).sum::<u64>();
        assert!(sums.iter().enumerate().all(|(i, &sum)| sum == expected(i as u64)));
    }

    #[test]
    fn threads_can_be_shared_and_used_within_their_own_work() {
        let threads = Threads::new(2);
        let total = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        threads.run(4, &|_, _| {
                            threads.run(2, &|_, _| {
                                total.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 3 * 200 * 8);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let threads = Threads::new(2);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            threads.run(8, &|piece, _| assert_ne!(piece, 5));
        }));
        assert!(outcome.is_err());
        let done = AtomicUsize::new(0);
        threads.run(8, &|_, _| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 8, "and those who remain go on");
    }

    #[test]
    fn sleepers_wake_up() {
        let threads = Threads::new(2);
        for _ in 0..5 {
            thread::sleep(std::time::Duration::from_millis(3));
            let done = AtomicUsize::new(0);
            threads.run(3, &|_, _| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), 3);
        }
    }
}
