//! The verbs. One file each: its options, its examples, its `run`.

#[cfg(feature = "translate")]
mod arithmetic;
#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "toolkit")]
mod bench;
mod completions;
#[cfg(feature = "toolkit")]
mod data;
#[cfg(feature = "toolkit")]
mod dequantize;
#[cfg(feature = "toolkit")]
mod distil;
#[cfg(feature = "toolkit")]
mod evaluate;
#[cfg(feature = "translate")]
mod import;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "toolkit")]
mod misfit;
#[cfg(feature = "toolkit")]
mod phrases;
#[cfg(feature = "toolkit")]
mod quantize;
#[cfg(feature = "toolkit")]
mod report;
#[cfg(feature = "translate")]
mod rerank;
#[cfg(feature = "toolkit")]
mod run;
#[cfg(feature = "toolkit")]
mod runs;
#[cfg(feature = "toolkit")]
mod score;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "toolkit")]
mod shortlist;
#[cfg(feature = "toolkit")]
mod train;
#[cfg(feature = "translate")]
mod translate;
#[cfg(feature = "toolkit")]
pub(crate) mod vocab;

use anyhow::Result;

use crate::console::Console;
#[cfg(feature = "toolkit")]
pub(crate) use score::accept_habits;

/// What the user typed.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "attention")]
    Attention(Box<attention::Attention>),
    #[cfg(feature = "toolkit")]
    Bench(bench::Bench),
    Completions(completions::Completions),
    #[cfg(feature = "toolkit")]
    Data(data::Data),
    #[cfg(feature = "toolkit")]
    Dequantize(dequantize::Dequantize),
    #[cfg(feature = "toolkit")]
    Distil(distil::Distil),
    #[cfg(feature = "toolkit")]
    Evaluate(evaluate::Evaluate),
    #[cfg(feature = "translate")]
    Import(import::Import),
    #[cfg(feature = "lab")]
    Lab(lab::Lab),
    #[cfg(feature = "toolkit")]
    Phrases(phrases::Phrases),
    #[cfg(feature = "toolkit")]
    Quantize(quantize::Quantize),
    #[cfg(feature = "toolkit")]
    Report(report::Report),
    #[cfg(feature = "toolkit")]
    Run(run::Run),
    #[cfg(feature = "toolkit")]
    Runs(runs::Runs),
    #[cfg(feature = "toolkit")]
    Score(score::Score),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Serve>),
    #[cfg(feature = "toolkit")]
    Shortlist(shortlist::Shortlist),
    #[cfg(feature = "toolkit")]
    Train(train::Train),
    #[cfg(feature = "translate")]
    Translate(Box<translate::Translate>),
    #[cfg(feature = "toolkit")]
    Vocab(vocab::Vocab),
}

impl Command {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self {
            #[cfg(feature = "attention")]
            Self::Attention(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Bench(command) => command.run(console),
            Self::Completions(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Data(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Dequantize(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Distil(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Evaluate(command) => command.run(console),
            #[cfg(feature = "translate")]
            Self::Import(command) => command.run(console),
            #[cfg(feature = "lab")]
            Self::Lab(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Phrases(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Quantize(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Report(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Run(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Runs(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Score(command) => command.run(console),
            #[cfg(feature = "serve")]
            Self::Serve(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Shortlist(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Train(command) => command.run(console),
            #[cfg(feature = "translate")]
            Self::Translate(command) => command.run(console),
            #[cfg(feature = "toolkit")]
            Self::Vocab(command) => command.run(console),
        }
    }
}
