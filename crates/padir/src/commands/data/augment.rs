//! `padir data augment`: more sentences like those at hand.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_base::random::Seed;
use padir_text::augment::{Augmentation, NgramSource, Reader};
use padir_text::distinct::Distinct;
use padir_text::hash::hash_text;
use padir_text::input;
use padir_text::output::Output;
use serde_json::json;

use super::table::grouped;
use crate::console::Console;
use crate::hint::WithHint;
use crate::lines::{TextFiles, for_each_line};
use crate::places::{Force, Places};

/// Sample new sentences from an n-gram model of a text, as sources for a teacher to translate.
///
/// Words are sampled one after the other, each from those that followed the last few words in the text. No sentence of the text and no
/// duplicate is written. Such sentences are nearly grammatical and rarely sensible; a teacher's translations of them train a student.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data augment train.en.gz --sentences 60000 -o synthetic.en
  padir data augment train.en --sentences 10 --order 3 --seed 7
  padir data augment train.en --sentences 60000 --exclude dev.en --exclude test.en -o synthetic.en
  padir translate --model runs/teacher/best --file synthetic.en --beam 5 > synthetic.de

Words are separated by white space: it does not work for Chinese or Japanese.")]
pub(crate) struct Augment {
    #[command(flatten)]
    text: TextFiles,

    /// How many sentences to sample.
    #[arg(long, value_name = "N")]
    sentences: usize,

    /// Order of the n-gram model: the context and the sampled word.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=16))]
    order: u8,

    /// Back off to a shorter context where a context occurs less often than this. With 1 hardly any sentence is new.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    least: u32,

    /// The longest sentence, in words.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    max_words: u32,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Write no sentence of this text, such as a test set; may be repeated.
    #[arg(long, value_name = "FILE")]
    exclude: Vec<PathBuf>,

    /// Where to write: .gz, .zst and .xz are compressed.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,
}

impl Augment {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(
            !(input::is_stdin(&self.output) && console.wants_json()),
            "--json and sentences both want to go to stdout: give --output"
        );
        let stdins = self
            .text
            .files
            .iter()
            .chain(&self.exclude)
            .filter(|file| input::is_stdin(file))
            .count();
        ensure!(stdins <= 1, "stdin is named {stdins} times, but can be read once");
        let inputs = self.text.files.iter().chain(&self.exclude);
        Places::default().reads(inputs).writes([&self.output]).check(self.force)?;
        let mut reader = Reader::default();
        let mut known = Vec::new();
        self.text.for_each(|line| {
            reader.read(line).hint("give less text")?;
            known.push(fingerprint(line));
            Ok(())
        })?;
        let read = known.len();
        ensure!(read > 0, "{} is empty", self.text);
        for file in &self.exclude {
            for_each_line(file, self.text.max_line, &mut |line| {
                known.push(fingerprint(line));
                Ok(())
            })?;
        }
        let imagination =
            reader.finish(self.augmentation()).context("there are no words to read")?;
        let mut sentences = Distinct::new(imagination, Seed(self.seed));
        for fingerprint in known {
            sentences.forbid(fingerprint);
        }
        let words = self.write(console, sentences)?;
        if console.wants_json() {
            return console.print_json(&json!({
                "read": read, "sentences": self.sentences, "words": words, "seed": self.seed,
            }));
        }
        console.note(format!(
            "{} sentences of {:.1} words from {} lines",
            grouped(self.sentences as u64),
            words as f64 / self.sentences.max(1) as f64,
            grouped(read as u64),
        ));
        Ok(())
    }

    fn augmentation(&self) -> Augmentation {
        Augmentation {
            order: self.order.into(),
            least: self.least as usize,
            longest: self.max_words as usize,
        }
    }

    /// Writes the sentences and counts their words.
    fn write(&self, console: &Console, sentences: Distinct<NgramSource>) -> Result<u64> {
        let mut output = Output::create(&self.output)?;
        let bar = console.progress("sentences", self.sentences as u64);
        let mut words = 0;
        for sentence in sentences.take(self.sentences) {
            let sentence = sentence.hint(
                "ask for fewer sentences, give more text, or look at fewer words: a smaller --order, a larger --least",
            )?;
            words += sentence.split(' ').count() as u64;
            writeln!(output, "{sentence}")
                .with_context(|| format!("cannot write {}", output.name()))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        output.finish()?;
        Ok(words)
    }
}

/// That of a line as it would be drawn.
fn fingerprint(line: &str) -> u64 {
    hash_text(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}
