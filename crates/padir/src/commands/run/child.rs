//! A stage as a process of this very program, and Ctrl-C on its way to it.
//!
//! The child has a process group of its own: a terminal's Ctrl-C reaches this process alone, which passes it on exactly once. Otherwise
//! the child would hear it twice, and a trainer that hears it twice ends without saving.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, io};

use anyhow::{Context, Result};

use super::record::Lock;
use crate::console::Console;
use crate::interrupt::{self, Reaction};

/// How often a child is asked whether it has ended.
const PATIENCE: Duration = Duration::from_millis(20);

/// How often Ctrl-C, SIGTERM or SIGHUP were heard.
#[derive(Clone)]
pub(super) struct Signals {
    heard: Arc<AtomicUsize>,
    /// Whether there is a child to pass them on to.
    busy: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn listen() -> Self {
        let signals = Self { heard: Arc::default(), busy: Arc::default() };
        let (heard, busy) = (Arc::clone(&signals.heard), Arc::clone(&signals.busy));
        interrupt::react(move || {
            // Files are hashed between stages, which can take long; nothing is lost if that ends at once.
            let is_second = heard.fetch_add(1, Ordering::Relaxed) > 0;
            if is_second && !busy.load(Ordering::Relaxed) { Reaction::End } else { Reaction::GoOn }
        });
        signals
    }

    pub(super) fn count(&self) -> usize {
        self.heard.load(Ordering::Relaxed)
    }
}

/// Runs a command line in a directory to its end. What it prints goes to a file, which appears when all went well, or
/// to stderr, because stdout is ours.
pub(super) fn run(
    console: &Console,
    dir: &Path,
    arguments: &[&str],
    stdout: Option<&Path>,
    signals: &Signals,
    lock: &Lock,
) -> Result<ExitStatus> {
    let mut command = this_program()?;
    command.args(console.arguments()).args(arguments).current_dir(dir);
    // An empty file to read from, and the lock lives as long as the child, even if we are killed.
    command.stdin(lock.share().context("cannot share the lock")?);
    let part = stdout.map(|path| path.with_added_extension("part"));
    match &part {
        Some(part) => {
            let file = File::create(part);
            let file = file.with_context(|| format!("cannot write {}", part.display()))?;
            command.stdout(file);
        }
        None if console.is_quiet() => {
            command.stdout(Stdio::null());
        }
        None => {
            command.stdout(io::stderr());
        }
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    signals.busy.store(true, Ordering::Relaxed);
    let child = command.spawn().context("cannot start this program again");
    let status = child.and_then(|child| wait(console, child, signals));
    signals.busy.store(false, Ordering::Relaxed);
    let status = status?;
    if let (Some(part), Some(path)) = (part, stdout) {
        let settled = if status.success() { settle(&part, path) } else { fs::remove_file(&part) };
        settled.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(status)
}

/// This very program, on Linux as it runs: even if its file has been replaced or removed meanwhile.
fn this_program() -> Result<Command> {
    let program = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        env::current_exe().context("cannot find this program")?
    };
    let mut command = Command::new(program);
    #[cfg(unix)]
    {
        let name = env::args_os().next().unwrap_or_else(|| "padir".into());
        std::os::unix::process::CommandExt::arg0(&mut command, name);
    }
    Ok(command)
}

fn settle(part: &Path, path: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    fs::rename(part, path)
}

fn wait(console: &Console, mut child: Child, signals: &Signals) -> Result<ExitStatus> {
    let mut passed_on = 0;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the stage")? {
            return Ok(status);
        }
        while passed_on < signals.count() {
            if passed_on == 0 {
                console.note("stopping; a second Ctrl-C stops at once");
            }
            // The child may have ended meanwhile, which the next question will tell.
            let _ = pass_on(&mut child, passed_on);
            passed_on += 1;
        }
        std::thread::sleep(PATIENCE);
    }
}

/// Interrupts a child that was not waited for yet, so that its number is its own. Of two signals of the same kind the second could
/// be lost, hence they differ.
#[cfg(unix)]
fn pass_on(child: &mut Child, number: usize) -> io::Result<()> {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let signal = match number {
        0 => Signal::SIGINT,
        1 => Signal::SIGTERM,
        _ => return child.kill(),
    };
    let id = i32::try_from(child.id()).map_err(io::Error::other)?;
    Ok(kill(Pid::from_raw(id), signal)?)
}

#[cfg(not(unix))]
fn pass_on(child: &mut Child, _: usize) -> io::Result<()> {
    child.kill()
}
