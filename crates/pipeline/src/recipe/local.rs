//! Stages as processes of this very program, on this computer.
//!
//! A child has a process group of its own: a terminal's Ctrl-C reaches this process alone, which passes it on exactly once. Otherwise
//! the child would hear it twice, and a trainer that hears it twice ends without saving.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::{env, io};

use super::RecipeError;
use super::executor::{End, Executor, Job, Running};
use super::record::Lock;
use crate::Error;

/// Runs command lines with this program.
pub struct Local {
    arguments: Vec<String>,
    output: Output,
    lock: Lock,
}

/// Where what a stage prints goes, unless the stage names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To stderr: stdout belongs to the runner.
    Stderr,
    /// Nowhere.
    Nowhere,
}

impl Local {
    /// `arguments` stand before those of every job. Each child shares the lock, which so lives as long as the last of them, even if
    /// this process is killed.
    pub fn new(arguments: Vec<String>, output: Output, lock: Lock) -> Self {
        Self { arguments, output, lock }
    }
}

impl Executor for Local {
    fn start(&self, job: &Job<'_>) -> Result<Box<dyn Running>, Error> {
        let mut command = this_program()?;
        command.args(&self.arguments).args(&job.arguments).current_dir(job.directory);
        // An empty file to read from.
        command.stdin(self.lock.share().map_err(RecipeError::Share)?);
        let printed = job.stdout.as_deref().map(Printed::begin);
        match &printed {
            Some(printed) => {
                let file = File::create(&printed.part);
                command.stdout(file.map_err(Error::writing(&printed.part))?);
            }
            None if self.output == Output::Nowhere => {
                command.stdout(Stdio::null());
            }
            None => {
                command.stdout(io::stderr());
            }
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(RecipeError::Start)?;
        Ok(Box::new(Process { child, printed }))
    }
}

/// What a job prints to a file.
struct Printed {
    path: PathBuf,
    part: PathBuf,
}

impl Printed {
    fn begin(path: &Path) -> Self {
        Self { path: path.to_owned(), part: path.with_added_extension("part") }
    }

    /// Lets the file appear if all went well.
    fn end(&self, is_good: bool) -> io::Result<()> {
        if !is_good {
            return fs::remove_file(&self.part);
        }
        File::open(&self.part)?.sync_all()?;
        fs::rename(&self.part, &self.path)
    }
}

/// A child.
struct Process {
    child: Child,
    printed: Option<Printed>,
}

impl Running for Process {
    fn poll(&mut self) -> Result<Option<End>, Error> {
        let Some(status) = self.child.try_wait().map_err(RecipeError::Wait)? else {
            return Ok(None);
        };
        if let Some(printed) = self.printed.take() {
            printed.end(status.success()).map_err(Error::writing(&printed.path))?;
        }
        Ok(Some(end(status)))
    }

    fn interrupt(&mut self, times: usize) {
        // The child may have ended meanwhile, which the next question will tell.
        let _ = pass_on(&mut self.child, times);
    }
}

fn end(status: ExitStatus) -> End {
    match status.code() {
        Some(0) => End::Success,
        Some(code) => End::Code(code),
        None => End::Other(status.to_string()),
    }
}

/// This very program, on Linux as it runs: even if its file has been replaced or removed meanwhile.
fn this_program() -> Result<Command, Error> {
    let program = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        env::current_exe().map_err(RecipeError::Program)?
    };
    let mut command = Command::new(program);
    #[cfg(unix)]
    {
        let name = env::args_os().next().unwrap_or_else(|| "padir".into());
        std::os::unix::process::CommandExt::arg0(&mut command, name);
    }
    Ok(command)
}

/// Interrupts a child that was not waited for yet, so that its number is its own. Of two signals of the same kind the second could
/// be lost, hence they differ.
#[cfg(unix)]
fn pass_on(child: &mut Child, times: usize) -> io::Result<()> {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let signal = match times {
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
