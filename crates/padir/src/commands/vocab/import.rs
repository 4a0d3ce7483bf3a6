//! `padir vocab import`: a foreign vocabulary with the ids our models expect.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use padir_text::vocab::{MODEL_FILE, SENTINELS, TOKENIZER_FILE, Vocabulary};
use serde::Serialize;

use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Convert a SentencePiece or tokenizers vocabulary to padir's order of ids.
///
/// Padding, end of sentence, unknown and beginning of sentence get the ids 0, 1, 2, 3 (missing
/// marks are added); the pieces keep their order and scores. A vocabulary that is in order
/// already keeps every id. Writes spiece.model and tokenizer.json.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir vocab import opus/source.spm --output vocab
  padir vocab import t5-small/tokenizer.json --output vocab")]
pub(crate) struct Import {
    /// A `.model` or `tokenizer.json` file.
    path: PathBuf,

    /// The directory to write to; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// The number of sentinels after the pieces; by default what the file has, or 100.
    #[arg(long, value_name = "N")]
    sentinels: Option<u32>,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    pieces: usize,
    sentinels: u32,
    ids_changed: usize,
}

impl Import {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        Places::default()
            .reads([Vocabulary::file(&self.path)?])
            .writes([MODEL_FILE, TOKENIZER_FILE].map(|name| self.output.join(name)))
            .check(self.force)?;
        let foreign = Vocabulary::load(&self.path).hint(
            "only unigram vocabularies can be imported: SentencePiece .model or tokenizer.json",
        )?;
        let sentinels = self.sentinels.unwrap_or(match foreign.sentinels() {
            0 => SENTINELS,
            given => given,
        });
        let (vocabulary, ids_changed) = foreign.in_house_order(sentinels)?;
        fs::create_dir_all(&self.output)
            .with_context(|| format!("cannot make the directory {}", self.output.display()))?;
        vocabulary.save_model(self.output.join(MODEL_FILE))?;
        vocabulary.save_tokenizer_json(self.output.join(TOKENIZER_FILE))?;
        let report = Report { pieces: vocabulary.pieces(), sentinels, ids_changed };
        if console.wants_json() {
            return console.print_json(&report);
        }
        console.note(format_args!(
            "{} pieces and {sentinels} sentinels in {}; {ids_changed} pieces changed their id",
            report.pieces,
            self.output.display(),
        ));
        Ok(())
    }
}
