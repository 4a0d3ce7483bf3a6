//! The verbs. One file each: its options, its examples, its `run`.

mod completions;

use anyhow::Result;

use crate::console::Console;

/// What the user typed.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Completions(completions::Completions),
}

impl Command {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self {
            Self::Completions(command) => command.run(console),
        }
    }
}
