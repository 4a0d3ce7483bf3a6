//! The `padir` binary: parse, then one `match`.

#![cfg_attr(
    not(feature = "toolkit"),
    allow(dead_code, reason = "helpers of the commands that this build leaves out")
)]

#[cfg(feature = "toolkit")]
mod advice;
mod arguments;
mod commands;
mod console;
#[cfg(feature = "toolkit")]
mod corpus;
mod hint;
mod interrupt;
mod lines;
#[cfg(feature = "toolkit")]
mod memory;
#[cfg(feature = "attention")]
mod picture;
mod places;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::Command;
use crate::console::Console;

/// Parallel decoding by iterative refinement: corpora, vocabularies, training, translation, scores, and the theory behind them.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    console: console::Options,

    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    #[cfg(feature = "toolkit")]
    report_unexpected_panics_only();
    let cli = arguments::parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let console = Console::new(&cli.console);
    if let Err(error) = interrupt::listen().and_then(|()| console.start_threads()) {
        return console.fail(&error);
    }
    match cli.command.run(&console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => console.fail(&error),
    }
}

/// A damaged file is an error with a name, and not a panic of the library that decodes it as well.
#[cfg(feature = "toolkit")]
fn report_unexpected_panics_only() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !padir_base::caught::is_expected() {
            report(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// Names, short forms and defaults of all options fit together.
    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
