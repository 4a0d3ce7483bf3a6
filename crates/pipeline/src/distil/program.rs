//! Any program as a teacher: lines in, lines out.
//!
//! A program is started for each part of the work: it reads the sources from its standard input, one per line, until that ends, and writes one translation per
//! line, in order. So programs that translate line by line and programs that wait for all of their input both work. Blank sources are not sent, because
//! some programs drop them.
//!
//! A run fails if the program ends with an error, is silent for too long, writes more or fewer lines than it was given, or writes what is not UTF-8. It is then
//! repeated, after a pause that doubles each time. What other runs did is kept.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;

/// How often a waiting run looks whether it is still wanted.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest line that is read.
const LONGEST: u64 = 1 << 20;
/// The most of the program's messages that an error quotes.
const MESSAGES: usize = 1000;
/// The longest pause before a run is repeated.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A program that translates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The command line, for the system's shell.
    pub command: String,
    /// How many run at a time.
    pub workers: usize,
    /// How long a run may be silent; none for any time.
    pub timeout: Option<Duration>,
    /// How often a run is repeated if it fails.
    pub retries: u32,
    /// The pause before the first repetition.
    pub backoff: Duration,
}

/// Why a run of a program failed.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error("cannot start it")]
    Start(#[source] io::Error),
    /// It ended with an error.
    #[error("it ended with {status} after {answered} of {sources} lines{}", quoted(messages))]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// Lines it wrote.
        answered: usize,
        /// Lines it should have written.
        sources: usize,
        /// The end of what it wrote to its standard error.
        messages: String,
    },
    /// It wrote nothing for too long.
    #[error("it wrote nothing for {} s after {answered} of {sources} lines{}", timeout.as_secs_f64(), quoted(messages))]
    Silent {
        /// For how long.
        timeout: Duration,
        /// Lines it wrote.
        answered: usize,
        /// Lines it should have written.
        sources: usize,
        /// The end of what it wrote to its standard error.
        messages: String,
    },
    /// Too few lines.
    #[error("it wrote {answered} lines for {sources}{}", quoted(messages))]
    Dropped {
        /// Lines it wrote.
        answered: usize,
        /// Lines it should have written.
        sources: usize,
        /// The end of what it wrote to its standard error.
        messages: String,
    },
    /// Too many lines.
    #[error("it wrote more than the {sources} lines it was given")]
    Added {
        /// Lines it was given.
        sources: usize,
    },
    /// A line that is no text.
    #[error("line {line} of its output is not UTF-8")]
    NotText {
        /// The line, counted from 1.
        line: usize,
    },
    /// A line without an end.
    #[error("line {line} of its output is longer than {LONGEST} bytes")]
    TooLong {
        /// The line, counted from 1.
        line: usize,
    },
    /// The pipe broke.
    #[error("its output cannot be read")]
    Read(#[source] io::Error),
    /// Nobody wants the translations any more.
    #[error("stopped")]
    Stopped,
}

fn quoted(messages: &str) -> String {
    if messages.is_empty() { String::new() } else { format!("; it said: {messages}") }
}

impl Program {
    /// Translates sources; runs that fail are repeated as often as allowed. `again` hears why and after which pause.
    ///
    /// # Errors
    /// If the last run fails too, or `stopped` says that nobody wants the translations.
    pub(super) fn translate(
        &self,
        sources: &[&str],
        stopped: &dyn Fn() -> bool,
        again: &dyn Fn(&ProgramError, Duration),
    ) -> Result<Vec<String>, ProgramError> {
        let sent: Vec<&str> = sources.iter().copied().filter(|s| !s.trim().is_empty()).collect();
        let mut translations = self.translate_lines(&sent, stopped, again)?.into_iter();
        let translation = |source: &&str| {
            if source.trim().is_empty() { None } else { translations.next() }
        };
        Ok(sources.iter().map(translation).map(Option::unwrap_or_default).collect())
    }

    fn translate_lines(
        &self,
        lines: &[&str],
        stopped: &dyn Fn() -> bool,
        again: &dyn Fn(&ProgramError, Duration),
    ) -> Result<Vec<String>, ProgramError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let mut pause = self.backoff;
        for _ in 0..self.retries {
            match self.run(lines, stopped) {
                Ok(answers) => return Ok(answers),
                Err(ProgramError::Stopped) => return Err(ProgramError::Stopped),
                Err(error) => again(&error, pause),
            }
            wait(pause, stopped)?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.run(lines, stopped)
    }

    /// One run.
    fn run(&self, lines: &[&str], stopped: &dyn Fn() -> bool) -> Result<Vec<String>, ProgramError> {
        let mut run = Run::start(&self.command, lines).map_err(ProgramError::Start)?;
        let answers = run.collect(lines.len(), self.timeout, stopped)?;
        let answered = answers.len();
        let status = run.finish(self.timeout, stopped)?;
        let sources = lines.len();
        match status {
            None => {
                let timeout = self.timeout.unwrap_or_default();
                let messages = run.messages();
                Err(ProgramError::Silent { timeout, answered, sources, messages })
            }
            Some(status) if !status.success() => {
                let messages = run.messages();
                Err(ProgramError::Died { status, answered, sources, messages })
            }
            Some(_) if answered < sources => {
                Err(ProgramError::Dropped { answered, sources, messages: run.messages() })
            }
            Some(_) => Ok(answers),
        }
    }
}

/// Sleeps, unless nobody wants the result any more.
fn wait(pause: Duration, stopped: &dyn Fn() -> bool) -> Result<(), ProgramError> {
    let start = Instant::now();
    while start.elapsed() < pause {
        if stopped() {
            return Err(ProgramError::Stopped);
        }
        thread::sleep(PAUSE.min(pause));
    }
    Ok(())
}

/// A program at work. Dropped, it is killed with all that it started.
struct Run {
    child: Child,
    lines: Receiver<Result<String, ProgramError>>,
    messages: Option<JoinHandle<String>>,
}

impl Run {
    fn start(command: &str, lines: &[&str]) -> io::Result<Self> {
        let mut shell = shell(command);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn()?;
        let mut text = String::new();
        for line in lines {
            text.extend(line.chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
            text.push('\n');
        }
        if let Some(input) = child.stdin.take() {
            thread::spawn(move || feed(input, &text));
        }
        let (send, receive) = sync_channel(1024);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_lines(output, &send));
        }
        let messages = child.stderr.take().map(|errors| thread::spawn(move || tail(errors)));
        Ok(Self { child, lines: receive, messages })
    }

    /// All lines that it writes, if they are not too many.
    fn collect(
        &mut self,
        sources: usize,
        timeout: Option<Duration>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, ProgramError> {
        let mut answers = Vec::new();
        let mut heard = Instant::now();
        loop {
            match self.lines.recv_timeout(PAUSE) {
                Ok(_) if answers.len() == sources => return Err(ProgramError::Added { sources }),
                Ok(line) => {
                    answers.push(line?);
                    heard = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(answers),
                Err(RecvTimeoutError::Timeout) if stopped() => return Err(ProgramError::Stopped),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(timeout) = timeout.filter(|&timeout| heard.elapsed() > timeout) {
                        let (answered, messages) = (answers.len(), self.messages());
                        return Err(ProgramError::Silent { timeout, answered, sources, messages });
                    }
                }
            }
        }
    }

    /// How it ended; none if it did not end in time.
    fn finish(
        &mut self,
        timeout: Option<Duration>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<ExitStatus>, ProgramError> {
        let closed = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().map_err(ProgramError::Read)? {
                return Ok(Some(status));
            }
            if stopped() {
                return Err(ProgramError::Stopped);
            }
            if timeout.is_some_and(|timeout| closed.elapsed() > timeout) {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The end of what it wrote to its standard error. It is killed first, so that there is an end.
    fn messages(&mut self) -> String {
        self.kill();
        self.messages.take().and_then(|messages| messages.join().ok()).unwrap_or_default()
    }

    fn kill(&mut self) {
        kill_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    // A group of its own, so that what the shell starts ends with it.
    shell.args(["-c", command]).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    if let Ok(id) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// Writes all of the input. A program that does not read it ends the pipe; what it answers is looked at elsewhere.
fn feed(mut input: ChildStdin, text: &str) {
    let _ = input.write_all(text.as_bytes());
}

/// Sends each line, until the output ends, something is wrong, or nobody listens.
fn read_lines(output: ChildStdout, send: &SyncSender<Result<String, ProgramError>>) {
    let mut output = BufReader::new(output);
    for line in 1.. {
        let mut bytes = Vec::new();
        let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        let answer = match read {
            Ok(0) => return,
            Err(error) => Err(ProgramError::Read(error)),
            Ok(_) if bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n") => {
                Err(ProgramError::TooLong { line })
            }
            Ok(_) => String::from_utf8(bytes).map_err(|_| ProgramError::NotText { line }),
        };
        let is_bad = answer.is_err();
        let answer = answer.map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
        if send.send(answer).is_err() || is_bad {
            return;
        }
    }
}

/// The last of what a program says, as one line.
fn tail(mut errors: impl Read) -> String {
    let mut kept: VecDeque<u8> = VecDeque::with_capacity(2 * MESSAGES);
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = errors.read(&mut buffer) {
        kept.extend(&buffer[..read]);
        kept.drain(..kept.len().saturating_sub(MESSAGES));
    }
    let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" / ")
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn program(command: &str) -> Program {
        let (timeout, backoff) = (Some(Duration::from_secs(30)), Duration::from_millis(1));
        Program { command: command.to_owned(), workers: 1, timeout, retries: 0, backoff }
    }

    fn translate(program: &Program, sources: &[&str]) -> Result<Vec<String>, ProgramError> {
        program.translate(sources, &|| false, &|_, _| {})
    }

    #[test]
    fn lines_come_back_in_order() {
        let cases = [
            ("line by line", "tr a-z A-Z"),
            ("all at once", "cat > /dev/null; exec printf 'A\\nB C\\n'"),
        ];
        for (name, command) in cases {
            let found = translate(&program(command), &["a", "", "b c", "  "]).unwrap();
            assert_eq!(found, ["A", "", "B C", ""], "{name}");
        }
        let many: Vec<String> = (0..20_000).map(|i| format!("source number {i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(translate(&program("cat"), &many).unwrap(), many);
        assert_eq!(translate(&program("false"), &["", " "]).unwrap(), ["", ""], "never started");
        assert_eq!(translate(&program("cat"), &["a\nb"]).unwrap(), ["a b"], "one line each");
    }

    #[test]
    fn what_goes_wrong_is_named() {
        let cases = [
            ("sed 2d", "it wrote 2 lines for 3"),
            ("sed p", "it wrote more than the 3 lines it was given"),
            (
                "head -n 1; echo out of memory >&2; exit 3",
                "exit status: 3 after 1 of 3 lines; it said: out of memory",
            ),
            ("printf 'a\\n\\377\\nc\\n'", "line 2 of its output is not UTF-8"),
            ("no-such-program-at-all", "exit status: 127"),
        ];
        for (command, expected) in cases {
            let error = translate(&program(command), &["a", "b", "c"]).unwrap_err().to_string();
            assert!(error.contains(expected), "{command}: {error}");
        }
    }

    #[test]
    fn silence_ends_a_run_and_what_it_started() {
        let mut slow = program("head -n 1; sleep 600 & sleep 600");
        slow.timeout = Some(Duration::from_millis(200));
        let start = Instant::now();
        let error = translate(&slow, &["a", "b"]).unwrap_err();
        assert!(matches!(error, ProgramError::Silent { answered: 1, .. }), "{error}");
        assert!(start.elapsed() < Duration::from_mins(2));
        // Stopped by the user instead.
        let stopped = program("sleep 600").translate(&["a"], &|| true, &|_, _| {});
        assert!(matches!(stopped, Err(ProgramError::Stopped)));
    }

    #[test]
    fn runs_that_fail_are_repeated() {
        let home = tempfile::tempdir().unwrap();
        let mark = home.path().join("mark");
        let command =
            format!("if [ -e {0} ]; then cat; else touch {0}; exit 1; fi", mark.display());
        let repeated = AtomicUsize::new(0);
        let again = |_: &ProgramError, _: Duration| {
            repeated.fetch_add(1, Ordering::Relaxed);
        };
        let flaky = Program { retries: 2, ..program(&command) };
        assert_eq!(flaky.translate(&["a"], &|| false, &again).unwrap(), ["a"]);
        assert_eq!(repeated.load(Ordering::Relaxed), 1);
    }
}
