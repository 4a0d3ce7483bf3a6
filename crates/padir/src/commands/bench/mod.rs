//! `padir bench`: speed as ratios, measured in one run.

mod decode;
mod peer;
mod program;
mod train;

use anyhow::Result;

use crate::console::Console;

/// Measure speed, beside another engine or the limits of the machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir bench train config.toml
  padir bench decode --random paper --length 30
  padir bench train config.toml --peer \"python bench/pytorch_train.py\" --rounds 5")]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Decode(Box<decode::Decode>),
    Train(train::Train),
}

impl Bench {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self.what {
            What::Decode(command) => command.run(console),
            What::Train(command) => command.run(console),
        }
    }
}
