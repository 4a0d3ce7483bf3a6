//! `padir vocab encode`: text to ids or pieces.

use anyhow::Result;
use padir_base::TokenId;

use super::VocabArg;
use crate::console::Console;
use crate::lines::TextFiles;

/// Turn text into token ids, line by line.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  echo 'Hello world' | padir vocab encode --vocab vocab
  padir vocab encode --vocab vocab --pieces dev.de.gz
  padir vocab encode --vocab vocab --json dev.de > dev.ids.jsonl")]
pub(crate) struct Encode {
    #[command(flatten)]
    vocab: VocabArg,

    #[command(flatten)]
    text: TextFiles,

    /// Print the pieces instead of their ids.
    #[arg(long)]
    pieces: bool,

    /// Append the end-of-sentence mark.
    #[arg(long)]
    eos: bool,
}

impl Encode {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let vocabulary = self.vocab.load()?;
        let json = console.wants_json();
        let encode = |line: &str| {
            let mut encoder = vocabulary.encoder();
            Ok(if self.pieces {
                let mut pieces = encoder.pieces(line);
                pieces.extend(self.eos.then(|| "</s>".to_owned()));
                if json { serde_json::to_string(&pieces)? } else { pieces.join(" ") }
            } else {
                let mut ids = Vec::with_capacity(line.len() / 2);
                encoder.append(line, &mut ids);
                ids.extend(self.eos.then_some(TokenId::EOS));
                if json { serde_json::to_string(&ids)? } else { join(&ids) }
            })
        };
        self.text.map_into(&mut console.out(), encode, |out, line| writeln!(out, "{line}"))
    }
}

fn join(ids: &[TokenId]) -> String {
    let mut text = String::with_capacity(ids.len() * 5);
    for id in ids {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&id.to_string());
    }
    text
}
