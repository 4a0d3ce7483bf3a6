//! `padir vocab`: learn, use, look at and convert vocabularies.

mod decode;
mod encode;
mod export;
mod import;
mod inspect;
mod train;

use std::path::PathBuf;

use anyhow::Result;
use padir_text::vocab::Vocabulary;

use crate::console::Console;
use crate::hint::WithHint;

/// Train, apply, inspect and convert vocabularies.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir vocab train train.en train.de --size 8000 --output vocab
  echo 'Hello world' | padir vocab encode --vocab vocab
  padir vocab inspect --vocab vocab --text dev.de
  padir vocab import t5/spiece.model --output vocab")]
pub(crate) struct Vocab {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Train(train::Train),
    Encode(encode::Encode),
    Decode(decode::Decode),
    Inspect(inspect::Inspect),
    Import(import::Import),
    Export(export::Export),
}

impl Vocab {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self.action {
            Action::Train(command) => command.run(console),
            Action::Encode(command) => command.run(console),
            Action::Decode(command) => command.run(console),
            Action::Inspect(command) => command.run(console),
            Action::Import(command) => command.run(console),
            Action::Export(command) => command.run(console),
        }
    }
}

/// Which vocabulary a command uses.
#[derive(clap::Args)]
pub(crate) struct VocabArg {
    /// A SentencePiece `.model`, a `tokenizer.json`, or a directory with one of them.
    #[arg(long, value_name = "PATH")]
    vocab: PathBuf,
}

impl VocabArg {
    /// The file that is read.
    pub(crate) fn file(&self) -> Result<PathBuf> {
        Ok(Vocabulary::file(&self.vocab)?)
    }

    pub(crate) fn load(&self) -> Result<Vocabulary> {
        Vocabulary::load(&self.vocab).hint(
            "give --vocab a unigram spiece.model or tokenizer.json; `padir vocab train` makes both",
        )
    }
}
