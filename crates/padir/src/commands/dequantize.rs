//! `padir dequantize`: the way back from int8 weights to f32, for programs that read nothing else.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use padir_checkpoint::{
    CARD, Checkpoint, CheckpointWriter, Extras, ModelCard, SENTENCEPIECE, TOKENIZER,
};
use padir_text::shortlist::SHORTLIST;
use padir_text::vocab::MARIAN_FILES;
use serde_json::json;

use super::quantize::{file, size};
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Store a model of int8 weights with f32 weights.
///
/// Every weight is its whole number times the scale of its row, so nothing is lost, and nothing that quantising lost comes back. The result
/// translates like the quantised model does with --f32. An autoregressive one can be loaded by transformers, which refuses the quantised one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir dequantize models/en-de --output models/en-de-f32
  padir quantize models/en-de-f32 --output models/en-de-again   # the same int8 weights again")]
pub(crate) struct Dequantize {
    /// The model's directory.
    #[arg(value_name = "DIR")]
    model: PathBuf,

    /// Where the new model goes.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,
}

impl Dequantize {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        Places::default().reads([&self.model]).makes_directory(&self.output).check(self.force)?;
        let checkpoint = Checkpoint::open(&self.model)
            .hint("DIR is a directory that `padir quantize` writes, such as models/en-de")?;
        if !checkpoint.is_quantised() {
            return Err(anyhow!("{} has no int8 weights", self.model.display()))
                .hint("it can be used as it is");
        }
        let place = checkpoint.directory();
        let before = size(place)?;
        let (tokenizer, pieces) = (file(place, TOKENIZER)?, file(place, SENTENCEPIECE)?);
        let extras = Extras {
            generation: Some(checkpoint.generation().clone()),
            card: ModelCard::default(),
            tokenizer: tokenizer.as_deref(),
            sentencepiece: pieces.as_deref(),
        };
        let writer = CheckpointWriter::create(&self.output, checkpoint.config(), &extras)?;
        for name in MARIAN_FILES.into_iter().chain([SHORTLIST, CARD]) {
            if let Some(content) = file(place, name)? {
                writer.file(name, &content)?;
            }
        }
        let mut failure = None;
        let written = writer.tensors(|parameter| {
            checkpoint.tensor(&parameter.name).map_err(|error| failure = Some(error)).ok()
        });
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        written?;
        writer.commit()?;
        let after = size(&self.output)?;
        if console.wants_json() {
            let report = json!({"output": self.output, "bytes_before": before, "bytes": after});
            return console.print_json(&report);
        }
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        console.note(format!(
            "{}: {:.1} MB of weights became {:.1} MB",
            self.output.display(),
            megabytes(before),
            megabytes(after)
        ));
        Ok(())
    }
}
