//! `padir vocab export`: a vocabulary in another tool's format.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use padir_base::TokenId;
use padir_base::file::write_atomically;
use padir_text::vocab::Vocabulary;

use super::VocabArg;
use crate::console::Console;
use crate::places::{Force, Places};

/// Write a vocabulary as `.model`, `tokenizer.json` or a table.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir vocab export --vocab vocab --to tokenizer-json --output tokenizer.json
  padir vocab export --vocab vocab --to table | sort -k3 -n")]
pub(crate) struct Export {
    #[command(flatten)]
    vocab: VocabArg,

    /// The format.
    #[arg(long, value_enum)]
    to: Format,

    /// The file to write; stdout if not given.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// SentencePiece `.model` (sentinels are not part of it).
    Model,
    /// Hugging Face `tokenizer.json`.
    TokenizerJson,
    /// Lines of id, piece, score and kind, between tabs.
    Table,
}

impl Export {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let vocabulary = self.vocab.load()?;
        Places::default().reads([self.vocab.file()?]).writes(&self.output).check(self.force)?;
        let content = match self.to {
            Format::Model => vocabulary.to_model_bytes(),
            Format::TokenizerJson => vocabulary.to_tokenizer_json().into_bytes(),
            Format::Table => table(&vocabulary).into_bytes(),
        };
        if let Some(path) = self.output {
            return Ok(write_atomically(path, &content)?);
        }
        let mut out = console.out();
        out.write_all(&content)?;
        Ok(out.flush()?)
    }
}

fn table(vocabulary: &Vocabulary) -> String {
    let row = |id: TokenId| {
        let piece = vocabulary.piece(id).unwrap_or_default();
        let score = vocabulary.score(id).unwrap_or(0.0);
        let kind = vocabulary.kind(id).map(|kind| format!("{kind:?}").to_lowercase());
        format!("{id}\t{piece}\t{score}\t{}", kind.unwrap_or_default())
    };
    let rows: Vec<String> = (0..vocabulary.size() as u32).map(TokenId).map(row).collect();
    rows.join("\n") + "\n"
}
