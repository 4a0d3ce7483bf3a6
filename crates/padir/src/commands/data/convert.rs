//! `padir data convert`: the same pairs in another form.

use anyhow::Result;
use serde_json::json;

use super::table;
use crate::console::Console;
use crate::corpus::{CorpusArgs, OutputArgs, explain_write, for_each_pair, note_empty};

/// Write corpora in another form: aligned files, TSV or parquet, compressed or not.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data convert train.en train.de -o train.parquet
  padir data convert wmt.parquet --langs de,en -o wmt.de.gz -o wmt.en.gz
  padir data convert --tsv pairs.txt:3,2 --on-bad skip -o pairs.tsv.zst
  zcat pairs.tsv.gz | padir data convert - -o pairs.en -o pairs.de

Several corpora are written one after the other into one.")]
pub(crate) struct Convert {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl Convert {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let corpora = self.corpus.all()?;
        self.output.check(&corpora)?;
        let mut writer = self.output.create(console, self.corpus.languages(&corpora))?;
        let (pairs, skipped) = for_each_pair(console, &corpora, self.corpus.reading(), |pair| {
            writer.write(pair).map_err(explain_write)
        })?;
        writer.finish().map_err(explain_write)?;
        note_empty(console, &corpora, pairs + skipped);
        if console.wants_json() {
            return console.print_json(&json!({ "pairs": pairs, "skipped": skipped }));
        }
        console.note(format!("wrote {}", table::pairs(pairs)));
        Ok(())
    }
}
