//! Panics of other people's code that become errors.
//!
//! [`call`] catches a panic and leaves the panic hook alone, which belongs to the program and not to a library. So a panic is still
//! reported on standard error before it is an error. A program that wants its errors only asks [`is_expected`] in a hook of its own:
//!
//! ```
//! let report = std::panic::take_hook();
//! std::panic::set_hook(Box::new(move |info| {
//!     if !padir_base::caught::is_expected() {
//!         report(info);
//!     }
//! }));
//! ```

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

thread_local! {
    /// How many [`call`]s this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Leaves a [`call`], come what may.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Whether a panic of this thread, here and now, becomes an error.
pub fn is_expected() -> bool {
    DEPTH.get() > 0
}

/// Runs code that may panic. After a panic, what the code was changing must not be used again.
///
/// # Errors
/// What it panicked with.
pub fn call<T>(work: impl FnOnce() -> T) -> thread::Result<T> {
    DEPTH.set(DEPTH.get() + 1);
    let _leaving = Leaving;
    catch_unwind(AssertUnwindSafe(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_expected_within_calls_only() {
        assert!(!is_expected());
        let seen = call(|| (is_expected(), call(is_expected).ok(), is_expected()));
        assert_eq!(seen.ok(), Some((true, Some(true), true)));
        assert!(call(|| std::panic::resume_unwind(Box::new(3))).is_err());
        assert!(!is_expected());
        // Others go on reporting theirs.
        let other = call(|| thread::spawn(is_expected).join().ok());
        assert_eq!(other.ok(), Some(Some(false)));
    }
}
