//! `padir vocab train`: learn pieces from text.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use padir_base::manifest::{self, Manifest};
use padir_base::random::Seed;
use padir_text::input;
use padir_text::vocab::train::{LineSample, Stage, TrainError, TrainOptions, train};
use padir_text::vocab::{MODEL_FILE, TOKENIZER_FILE};
use serde::Serialize;

use crate::console::Console;
use crate::hint::WithHint;
use crate::lines::TextFiles;
use crate::places::{Force, Places};

/// Train a vocabulary: SentencePiece unigram with NFKC normalisation (`nmt_nfkc`).
///
/// Give the files of both languages to get one vocabulary for both. Ids: padding 0, end of
/// sentence 1, unknown 2, beginning of sentence 3, then the pieces, then sentinels (MASK last).
/// Writes spiece.model, tokenizer.json and manifest.json.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir vocab train train.en.gz train.de.gz --size 8000 --output vocab
  zcat huge.gz | padir vocab train --size 32000 --sample-bytes 500000000 --output vocab
  padir vocab train train.zh --size 16000 --coverage 0.9995 --byte-fallback --output vocab")]
pub(crate) struct Train {
    #[command(flatten)]
    text: TextFiles,

    /// The directory to write to; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// The number of pieces, reserved ones included, sentinels not.
    #[arg(long, value_name = "N", default_value_t = 8000)]
    size: usize,

    /// The number of sentinels after the pieces.
    #[arg(long, value_name = "N", default_value_t = padir_text::vocab::SENTINELS)]
    sentinels: u32,

    /// The share of character occurrences that must be covered by pieces.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9995)]
    coverage: f64,

    /// Spell characters outside of the vocabulary as bytes instead of `<unk>`.
    #[arg(long)]
    byte_fallback: bool,

    /// The longest piece in characters.
    #[arg(long, value_name = "N", default_value_t = 16)]
    max_piece: usize,

    /// Learn from at most so many bytes of text, a uniform sample of the lines if there are more.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    sample_bytes: usize,

    /// The seed of the sample.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Resolved<'a> {
    #[serde(flatten)]
    options: &'a TrainOptions,
    sample_bytes: usize,
}

impl Train {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        // Offsets into the text are 32-bit numbers.
        let limit = u32::MAX as usize;
        anyhow::ensure!(
            (1..=limit).contains(&self.sample_bytes),
            "--sample-bytes must lie between 1 and {limit}, not {}",
            self.sample_bytes
        );
        let outputs = [MODEL_FILE, TOKENIZER_FILE, manifest::FILE_NAME];
        Places::default()
            .reads(&self.text.files)
            .writes(outputs.map(|name| self.output.join(name)))
            .check(self.force)?;
        let options = self.options();
        let seed = Seed(self.seed);
        let sample = self.read(console, seed)?;
        anyhow::ensure!(sample.lines_read() > 0, "{} is empty", self.text);
        let bar = console.progress("learning", 0);
        let result = train(&sample, &options, |stage| {
            bar.set_message(match stage {
                Stage::Words => "counting words".to_owned(),
                Stage::Seeds => "looking for frequent substrings".to_owned(),
                Stage::Estimating { pieces } => format!("estimating {pieces} pieces"),
            });
            bar.tick();
        });
        bar.finish_and_clear();
        let advice = result.as_ref().err().map_or("", advice);
        let (vocabulary, report) = result.hint(advice)?;
        let directory = &self.output;
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make the directory {}", directory.display()))?;
        vocabulary.save_model(directory.join(MODEL_FILE))?;
        vocabulary.save_tokenizer_json(directory.join(TOKENIZER_FILE))?;
        self.manifest(&options, seed)?.save(directory)?;
        if console.wants_json() {
            return console.print_json(&report);
        }
        console.note(format_args!(
            "{} pieces and {} sentinels from {} of {} lines ({} different words) in {}",
            vocabulary.pieces(),
            vocabulary.sentinels(),
            report.lines_used - report.lines_too_long,
            report.lines_read,
            report.words,
            directory.display(),
        ));
        Ok(())
    }

    fn options(&self) -> TrainOptions {
        TrainOptions {
            size: self.size,
            sentinels: self.sentinels,
            coverage: self.coverage,
            byte_fallback: self.byte_fallback,
            longest_piece: self.max_piece,
            longest_line: self.text.max_line,
            ..TrainOptions::default()
        }
    }

    fn read(&self, console: &Console, seed: Seed) -> Result<LineSample> {
        let bar = console.progress("reading lines", 0);
        let mut sample = LineSample::new(self.sample_bytes, seed);
        self.text.for_each(|line| {
            sample.offer(line);
            if sample.lines_read().is_multiple_of(4096) {
                bar.set_position(sample.lines_read());
            }
            Ok(())
        })?;
        bar.finish_and_clear();
        if sample.is_partial() {
            console.note(format_args!(
                "more text than --sample-bytes {}: learning from a random {:.1}% of the lines",
                self.sample_bytes,
                100.0 * sample.len() as f64 / sample.lines_read() as f64,
            ));
        }
        Ok(sample)
    }

    fn manifest(&self, options: &TrainOptions, seed: Seed) -> Result<Manifest> {
        let resolved = Resolved { options, sample_bytes: self.sample_bytes };
        let mut manifest = Manifest::new("vocab train", Some(seed), &resolved)?;
        for file in self.text.files.iter().filter(|file| !input::is_stdin(file)) {
            manifest.add_data(file)?;
        }
        Ok(manifest)
    }
}

fn advice(error: &TrainError) -> &'static str {
    match error {
        TrainError::NoText => "all lines are blank, or longer than --max-line",
        TrainError::TooSmall { .. } => "raise --size or lower --coverage",
        TrainError::TooLarge { .. } => "lower --size or give more text",
        _ => "see `padir vocab train --help`",
    }
}
