//! Ctrl-C, SIGTERM and SIGHUP, heard by one thread for all commands.
//!
//! They are blocked in every thread and waited for in one, so that what is done about them is ordinary code. Unless a command
//! wants to end its work in good order, the first one ends the process: what is half-written is removed, and the exit
//! code is 128 and the number of the signal, as shells expect.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use padir_base::pending;
use thiserror::Error;

/// What is done about a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The command ends by itself.
    GoOn,
    /// The process ends here and now.
    End,
}

type React = Box<dyn FnMut(u8) -> Reaction + Send>;

/// What the command does about signals; none if the first ends it.
static REACT: Mutex<Option<React>> = Mutex::new(None);

/// The number of the first signal; 0 if there was none.
static HEARD: AtomicU8 = AtomicU8::new(0);

/// A command ended early because of a signal, and has said what there is to say.
#[derive(Debug, Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// What the process exits with because of the first signal, if there was one.
pub(crate) fn exit_code() -> Option<u8> {
    match HEARD.load(Ordering::Relaxed) {
        0 => None,
        number => Some(128 + number),
    }
}

/// Lets the command decide what is done about signals from now on.
pub(crate) fn react(mut react: impl FnMut() -> Reaction + Send + 'static) {
    react_to_each(move |_| react());
}

/// Lets the command decide what is done about each signal, by its number.
pub(crate) fn react_to_each(react: impl FnMut(u8) -> Reaction + Send + 'static) {
    *REACT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(react));
}

/// A flag that the first signal sets. The second ends the process where it is: all files are written beside their places, so that
/// none is damaged.
pub(crate) fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    react(move || if flag.swap(true, Ordering::Relaxed) { Reaction::End } else { Reaction::GoOn });
    stop
}

/// Does what is to be done about a signal. `ignored` if whoever started us had it ignored.
fn hear(number: u8, ignored: bool) {
    let mut react = REACT.lock().unwrap_or_else(PoisonError::into_inner);
    if ignored && react.is_none() {
        return;
    }
    let _ = HEARD.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    let reaction = react.as_mut().map_or(Reaction::End, |react| react(number));
    if reaction == Reaction::End {
        pending::exit(exit_code().map_or(1, i32::from));
    }
}

/// Begins to listen. Must come before other threads, which inherit that signals are blocked.
#[cfg(unix)]
pub(crate) fn listen() -> Result<()> {
    use nix::sys::signal::{SigSet, Signal};
    let ignored = ignored_signals();
    let is_ignored = move |signal: Signal| ignored >> (signal as u32 - 1) & 1 == 1;
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // `nohup` means it, whatever the command.
        if signal != Signal::SIGHUP || !is_ignored(signal) {
            signals.add(signal);
        }
    }
    signals.thread_block().context("cannot listen for signals")?;
    let wait = move || {
        while let Ok(signal) = signals.wait() {
            hear(signal as u8, is_ignored(signal));
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context("cannot start a thread")?;
    Ok(())
}

/// The signals that whoever started us had ignored, the first in the lowest bit; none where the system does not tell.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Begins to listen.
#[cfg(not(unix))]
pub(crate) fn listen() -> Result<()> {
    const CTRL_C: u8 = 2;
    ctrlc::set_handler(|| hear(CTRL_C, false)).context("cannot listen for Ctrl-C")
}
