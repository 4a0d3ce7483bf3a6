//! `padir quantize`: a model with 8-bit weights, a quarter of the size.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use padir_checkpoint::{
    CARD, Checkpoint, CheckpointWriter, Extras, MODEL, SENTENCEPIECE, TOKENIZER,
};
use padir_text::shortlist::SHORTLIST;
use serde_json::json;

use crate::console::Console;
use crate::hint::WithHint;

/// Store a model with 8-bit weights.
///
/// Matrices become whole numbers with a scale for each row; what is small stays as it is. With --int8 the result translates
/// exactly like the original does with --int8, and loads faster. It can be opened like any other model.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir quantize runs/en-de/best --output models/en-de
  padir translate --model models/en-de --int8 \"Two men are talking.\"")]
pub(crate) struct Quantize {
    /// The model's directory.
    #[arg(value_name = "DIR")]
    model: PathBuf,

    /// Where the new model goes.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

impl Quantize {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(self.model != self.output, "the output is the model itself");
        let checkpoint = Checkpoint::open(&self.model)
            .hint("DIR is a directory that `padir train` writes, such as runs/en-de/best")?;
        let place = checkpoint.directory();
        let (tokenizer, pieces) = (file(place, TOKENIZER)?, file(place, SENTENCEPIECE)?);
        let extras = Extras {
            generation: Some(*checkpoint.generation()),
            tokenizer: tokenizer.as_deref(),
            sentencepiece: pieces.as_deref(),
            ..Extras::default()
        };
        let writer = CheckpointWriter::create(&self.output, checkpoint.config(), &extras)?;
        for name in [CARD, SHORTLIST] {
            if let Some(content) = file(place, name)? {
                writer.file(name, &content)?;
            }
        }
        let mut failure = None;
        let written = writer.quantised_tensors(|parameter| {
            checkpoint.tensor(&parameter.name).map_err(|error| failure = Some(error)).ok()
        });
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        written?;
        writer.commit()?;
        let (before, after) = (size(place)?, size(&self.output)?);
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

/// The content of a file that may be missing.
fn file(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?))
}

fn size(directory: &Path) -> Result<u64> {
    Ok(fs::metadata(directory.join(MODEL))?.len())
}
