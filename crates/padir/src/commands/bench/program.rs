//! Another program that is told what to do line by line, in JSON, and answers each line with one.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

/// How long a program may take to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running program.
pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a command, given as the user typed it, with further arguments.
    pub(super) fn start(command: &str, arguments: &[&OsStr]) -> Result<Self> {
        let mut words = command.split_whitespace();
        let program = words.next().context("--peer is empty")?;
        let mut child = Command::new(program)
            .args(words)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the peer has no output")?);
        Ok(Self { child, input, output })
    }

    /// Says a line and hears the answer.
    pub(super) fn ask(&mut self, command: &Value) -> Result<Value> {
        let input = self.input.as_mut().context("the peer has ended")?;
        // As text: a pipe that the peer has closed is no closed stdout, which would end us quietly.
        let said = writeln!(input, "{command}").and_then(|()| input.flush());
        said.map_err(|error| anyhow!("the peer does not listen any more: {error}"))?;
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the peer ended without an answer");
        let answer: Value =
            serde_json::from_str(&line).with_context(|| format!("the peer answered {line:?}"))?;
        ensure!(answer.get("error").is_none(), "the peer says: {}", answer["error"]);
        Ok(answer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end of its input ends it, or should.
        self.input = None;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
