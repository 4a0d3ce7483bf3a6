//! What the user sees: data on stdout, everything else on stderr.
//!
//! Commands never print by themselves; they ask the console for a writer, a progress bar or a
//! note, so that `--json`, `--quiet`, a closed pipe and a missing terminal are handled once.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
#[cfg(feature = "toolkit")]
use padir_pipeline::progress::{Progress, Task};
use serde::Serialize;

use crate::hint::Hint;
use crate::interrupt::{self, Interrupted};

/// Options every command understands.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print machine-readable JSON on stdout.
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,

    /// Print nothing on stderr but errors.
    #[arg(long, short, global = true, help_heading = "Global options")]
    quiet: bool,

    /// Worker threads; 0 means one per core. Results do not depend on it.
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 0,
        help_heading = "Global options"
    )]
    threads: usize,
}

/// The terminal, or whatever stands in its place.
pub(crate) struct Console {
    json: bool,
    quiet: bool,
    threads: usize,
}

impl Console {
    pub(crate) fn new(options: &Options) -> Self {
        Self { json: options.json, quiet: options.quiet, threads: options.threads }
    }

    /// Sizes the global thread pool.
    pub(crate) fn start_threads(&self) -> Result<()> {
        anyhow::ensure!(self.threads <= 1024, "--threads {} is more than 1024", self.threads);
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build_global()
            .context("cannot start the worker threads")
    }

    /// How many threads to work with.
    pub(crate) fn threads(&self) -> usize {
        if self.threads > 0 { self.threads } else { rayon::current_num_threads() }
    }

    /// The options that make other processes of this program behave as this one does, if up to `jobs` of them run at a time: they share
    /// the threads.
    pub(crate) fn arguments_for(&self, jobs: usize) -> Vec<String> {
        let quiet = self.quiet.then(|| "--quiet".to_owned());
        let threads = match (self.threads, jobs) {
            (0, 1) => None,
            _ => Some(format!("--threads={}", (self.threads() / jobs).max(1))),
        };
        quiet.into_iter().chain(threads).collect()
    }

    /// Whether the user wants to hear of nothing but errors.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the user asked for JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// A buffered, locked stdout. Write errors must be returned, not unwrapped: a closed pipe
    /// then ends the program quietly.
    #[expect(clippy::unused_self, reason = "stdout belongs to the console")]
    pub(crate) fn out(&self) -> BufWriter<io::StdoutLock<'static>> {
        BufWriter::with_capacity(1 << 16, io::stdout().lock())
    }

    /// Prints a text.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = self.out();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints one value as pretty JSON.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = self.out();
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)?;
        Ok(out.flush()?)
    }

    /// A remark for the human, on stderr.
    pub(crate) fn note(&self, remark: impl Display) {
        if !self.quiet {
            // A closed stderr must not end the work.
            let _ = writeln!(io::stderr(), "{remark}");
        }
    }

    /// Asks for the next line of somebody who types. It replaces the progress bar, which would erase what is being typed.
    pub(crate) fn prompt(&self) {
        if !self.quiet {
            // Whoever cannot be asked can type all the same.
            let _ = write!(io::stderr(), "> ");
        }
    }

    /// A progress bar that is never shown.
    pub(crate) fn no_progress() -> ProgressBar {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
    }

    /// Whether progress bars are seen.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// A progress bar on a terminal, nothing elsewhere. `length` 0 means unknown.
    pub(crate) fn progress(&self, what: &'static str, length: u64) -> ProgressBar {
        if !self.shows_progress() {
            return Self::no_progress();
        }
        let (bar, template) = if length == 0 {
            (ProgressBar::new_spinner(), "{msg} {human_pos} ({speed}, {elapsed})")
        } else {
            (
                ProgressBar::new(length),
                "{msg} {wide_bar} {human_pos}/{human_len} ({speed}, {eta} to go)",
            )
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.with_key(
            "speed",
            |state: &ProgressState, out: &mut dyn fmt::Write| {
                // A bar that cannot be drawn is no reason to stop.
                let _ = out.write_str(&speed(state.per_sec()));
            },
        ));
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// Reports a failure and chooses the exit code. A closed pipe is not a failure.
    #[expect(clippy::unused_self, reason = "stderr belongs to the console")]
    pub(crate) fn fail(&self, error: &anyhow::Error) -> ExitCode {
        if is_quiet_end(error) {
            return ExitCode::SUCCESS;
        }
        let code = interrupt::exit_code().map_or(ExitCode::FAILURE, ExitCode::from);
        if error.is::<Interrupted>() {
            return code;
        }
        let mut stderr = io::stderr().lock();
        let hint = error.downcast_ref::<Hint>();
        let facts = facts(error, hint);
        let _ = writeln!(stderr, "error: {}", facts.join(": "));
        if let Some(hint) = hint {
            let _ = writeln!(stderr, "hint: {hint}");
        }
        code
    }
}

/// What libraries tell of their work.
#[cfg(feature = "toolkit")]
impl Progress for Console {
    fn note(&self, remark: &str) {
        Self::note(self, remark);
    }

    fn task(&self, what: &'static str, length: u64) -> Box<dyn Task> {
        Box::new(Bar(self.progress(what, length)))
    }
}

/// A progress bar that goes when its task ends.
#[cfg(feature = "toolkit")]
struct Bar(ProgressBar);

#[cfg(feature = "toolkit")]
impl Task for Bar {
    fn advance(&self, items: u64) {
        self.0.inc(items);
    }

    fn is_visible(&self) -> bool {
        !self.0.is_hidden()
    }
}

#[cfg(feature = "toolkit")]
impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A speed in no more digits than mean something.
fn speed(per_second: f64) -> String {
    match per_second {
        ..10.0 => format!("{per_second:.2}/s"),
        ..100.0 => format!("{per_second:.1}/s"),
        _ => format!("{per_second:.0}/s"),
    }
}

/// What happened, from the whole to its cause, without the hint. What a fact repeats of those before it is left out: some errors
/// tell their cause themselves.
fn facts(error: &anyhow::Error, hint: Option<&Hint>) -> Vec<String> {
    let mut facts: Vec<String> = Vec::new();
    for fact in error.chain().map(ToString::to_string) {
        let is_hint = hint.is_some_and(|hint| hint.text() == fact);
        let is_told = facts.iter().any(|told| told.ends_with(&fact));
        if !is_hint && !is_told {
            facts.push(fact);
        }
    }
    facts
}

/// Whether all that happened is that nobody reads stdout any more.
pub(crate) fn is_quiet_end(error: &anyhow::Error) -> bool {
    error.chain().any(is_closed_pipe)
}

fn is_closed_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let kind = if let Some(io) = cause.downcast_ref::<io::Error>() {
        Some(io.kind())
    } else {
        cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
    };
    kind == Some(io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::WithHint;

    #[test]
    fn speeds_have_sane_digits() {
        for (per_second, expected) in
            [(0.0, "0.00/s"), (1.23456, "1.23/s"), (56.789, "56.8/s"), (12_345.678, "12346/s")]
        {
            assert_eq!(speed(per_second), expected);
        }
    }

    #[test]
    fn facts_are_told_once() {
        let full = || io::Error::other("the disk is full");
        let cases = [
            (
                "a chain",
                anyhow::Error::new(full()).context("cannot write a"),
                "cannot write a: the disk is full",
            ),
            (
                "twice the same",
                anyhow::Error::new(full()).context("cannot write a").context("cannot write a"),
                "cannot write a: the disk is full",
            ),
            (
                "a fact that tells its cause",
                anyhow::Error::new(full()).context("cannot write a: the disk is full"),
                "cannot write a: the disk is full",
            ),
            (
                "a hint in between",
                Err::<(), _>(full()).hint("make room").unwrap_err().context("cannot write a"),
                "cannot write a: the disk is full",
            ),
        ];
        for (case, error, expected) in cases {
            assert_eq!(facts(&error, error.downcast_ref::<Hint>()).join(": "), expected, "{case}");
        }
    }
}
