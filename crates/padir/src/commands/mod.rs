//! The verbs. One file each: its options, its examples, its `run`.

mod arithmetic;
mod bench;
mod completions;
mod data;
mod distil;
mod evaluate;
mod lab;
mod misfit;
mod quantize;
mod report;
mod rerank;
mod run;
mod runs;
mod score;
mod shortlist;
mod train;
mod translate;
pub(crate) mod vocab;

use anyhow::Result;

use crate::console::Console;
pub(crate) use score::accept_habits;

/// What the user typed.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Bench(bench::Bench),
    Completions(completions::Completions),
    Data(data::Data),
    Distil(distil::Distil),
    Evaluate(evaluate::Evaluate),
    Lab(lab::Lab),
    Quantize(quantize::Quantize),
    Report(report::Report),
    Run(run::Run),
    Runs(runs::Runs),
    Score(score::Score),
    Shortlist(shortlist::Shortlist),
    Train(train::Train),
    Translate(translate::Translate),
    Vocab(vocab::Vocab),
}

impl Command {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self {
            Self::Bench(command) => command.run(console),
            Self::Completions(command) => command.run(console),
            Self::Data(command) => command.run(console),
            Self::Distil(command) => command.run(console),
            Self::Evaluate(command) => command.run(console),
            Self::Lab(command) => command.run(console),
            Self::Quantize(command) => command.run(console),
            Self::Report(command) => command.run(console),
            Self::Run(command) => command.run(console),
            Self::Runs(command) => command.run(console),
            Self::Score(command) => command.run(console),
            Self::Shortlist(command) => command.run(console),
            Self::Train(command) => command.run(console),
            Self::Translate(command) => command.run(console),
            Self::Vocab(command) => command.run(console),
        }
    }
}
