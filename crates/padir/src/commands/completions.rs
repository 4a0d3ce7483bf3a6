//! `padir completions`: a completion script for the user's shell.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::console::Console;

/// Print a shell completion script.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir completions bash > ~/.local/share/bash-completion/completions/padir
  padir completions zsh > ~/.zfunc/_padir")]
pub(crate) struct Completions {
    /// The shell to complete for.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        use std::io::Write;
        // Rendered in memory first: the generator panics on a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "padir", &mut script);
        let mut out = console.out();
        out.write_all(&script)?;
        Ok(out.flush()?)
    }
}
