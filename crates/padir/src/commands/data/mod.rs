//! `padir data`: look at corpora, clean them, divide them, convert them, make them, augment more, encode them.

mod augment;
mod convert;
mod encode;
mod filter;
mod inspect;
mod make;
mod shards;
mod split;
pub(super) mod table;

use anyhow::Result;

use crate::console::Console;

/// Inspect, filter, split, convert and generate parallel corpora.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data make mixed --out-dir toy --train 20000 --dev 500 --test 500
  padir data inspect train.en.gz train.de.gz
  padir data filter train.en train.de --max-words 100 --unique pair -o clean.en -o clean.de
  padir data convert wmt.parquet --langs en,de -o wmt.tsv.zst
  padir data encode train.en train.de --vocab vocab.model -o train.shards")]
pub(crate) struct Data {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(clap::Subcommand)]
enum DataCommand {
    Inspect(inspect::Inspect),
    Filter(filter::Filter),
    Split(split::Split),
    Convert(convert::Convert),
    Make(make::Make),
    #[command(alias = "imagine")]
    Augment(augment::Augment),
    Encode(encode::Encode),
    Shards(shards::Shards),
}

impl Data {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self.command {
            DataCommand::Inspect(command) => command.run(console),
            DataCommand::Filter(command) => command.run(console),
            DataCommand::Split(command) => command.run(console),
            DataCommand::Convert(command) => command.run(console),
            DataCommand::Make(command) => command.run(console),
            DataCommand::Augment(command) => command.run(console),
            DataCommand::Encode(command) => command.run(console),
            DataCommand::Shards(command) => command.run(console),
        }
    }
}
