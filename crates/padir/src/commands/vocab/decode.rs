//! `padir vocab decode`: ids to text.

use anyhow::{Context, Result};
use padir_base::TokenId;
use padir_text::vocab::Vocabulary;

use super::VocabArg;
use crate::console::Console;
use crate::lines::TextFiles;

/// Turn token ids back into text, line by line.
///
/// A line holds ids between spaces, or a JSON array as `padir vocab encode --json` prints it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  echo '37 512 8 1' | padir vocab decode --vocab vocab
  padir vocab encode --vocab vocab dev.de | padir vocab decode --vocab vocab")]
pub(crate) struct Decode {
    #[command(flatten)]
    vocab: VocabArg,

    #[command(flatten)]
    text: TextFiles,
}

impl Decode {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let vocabulary = self.vocab.load()?;
        let json = console.wants_json();
        let decode = |line: &str| {
            let text = vocabulary.decode(&parse_ids(line, &vocabulary)?);
            Ok(if json { serde_json::to_string(&text)? } else { text })
        };
        self.text.map_into(&mut console.out(), decode, |out, line| writeln!(out, "{line}"))
    }
}

fn parse_ids(line: &str, vocabulary: &Vocabulary) -> Result<Vec<TokenId>> {
    let ids: Vec<TokenId> = if line.trim_start().starts_with('[') {
        serde_json::from_str(line).context("not a JSON array of ids")?
    } else {
        line.split_ascii_whitespace()
            .map(|word| word.parse().map(TokenId).with_context(|| format!("{word:?} is not an id")))
            .collect::<Result<_>>()?
    };
    let size = vocabulary.size();
    match ids.iter().find(|id| id.index() >= size) {
        Some(id) => anyhow::bail!("id {id} is outside of the vocabulary of {size}"),
        None => Ok(ids),
    }
}
