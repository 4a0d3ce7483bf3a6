//! `padir data make`: corpora from nothing but a seed.

use anyhow::{Context, Result, bail, ensure};
use padir_base::random::Seed;
use padir_text::Pair;
use padir_text::columnar::Languages;
use padir_text::distinct::{Distinct, Exhausted};
use padir_text::synthesis::{NumberRange, Operation, Symbols, Task};
use padir_text::writer::Destination;
use serde_json::json;
use std::path::PathBuf;

use super::split::FolderArgs;
use super::table::grouped;
use crate::console::Console;
use crate::corpus::{explain_write, make_directory};
use crate::hint::WithHint;
use crate::places::Places;

/// Generate a synthetic parallel corpus from a seed, without a download.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data make mixed --out-dir toy --train 20000 --dev 500 --test 500
  padir data make numbers --pairs 5 --max 1000000000000
  padir data make clock --pairs 2000 -o clock.en -o clock.de
  padir data make sort --symbols 10 --max-length 8 --out-dir sort --train 5000 --test 200

Every source comes once, and has exactly one right target. Changing --train changes neither dev
nor test.")]
pub(crate) struct Make {
    /// What to make.
    #[arg(value_enum)]
    task: TaskArg,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Make this many pairs, without a split.
    #[arg(long, value_name = "N", conflicts_with_all = ["out_dir", "train", "dev", "test"])]
    pairs: Option<usize>,

    /// With --pairs: write here; twice for aligned files; `-`, the default, is TSV on stdout.
    #[arg(long, short, value_name = "FILE", requires = "pairs")]
    output: Vec<PathBuf>,

    /// Training pairs.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    train: usize,

    /// Development pairs.
    #[arg(long, value_name = "N", default_value_t = 500)]
    dev: usize,

    /// Test pairs.
    #[arg(long, value_name = "N", default_value_t = 500)]
    test: usize,

    #[command(flatten)]
    sizes: SizeArgs,

    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Task")]
struct SizeArgs {
    /// The smallest number, for numbers and mixed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    min: u64,

    /// The largest number, for numbers and mixed; below a thousand million million.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max: u64,

    /// How many symbols there are, for copy, reverse and sort.
    #[arg(long, value_name = "N", default_value_t = 26)]
    symbols: u32,

    /// The shortest sequence.
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_length: u32,

    /// The longest sequence.
    #[arg(long, value_name = "N", default_value_t = 12)]
    max_length: u32,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TaskArg {
    /// English number words become German ones: `twenty-one`, `einundzwanzig`.
    Numbers,
    /// Dates: `the third of May 1987`, `der dritte Mai 1987`.
    Dates,
    /// Times of the day: `half past three`, `halb vier`.
    Clock,
    /// Counts and prices: `On Monday he buys one apple.`, `Am Montag kauft er einen Apfel.`
    Everyday,
    /// The four above in equal parts.
    Mixed,
    /// Symbols as they are: `c a b`, `c a b`.
    Copy,
    /// Symbols backwards: `c a b`, `b a c`.
    Reverse,
    /// Symbols in order: `c a b`, `a b c`.
    Sort,
}

impl Make {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let task = self.task()?;
        let pairs = Distinct::new(task, Seed(self.seed));
        let [source, target] = task.languages().map(str::to_owned);
        let languages = Languages { source, target };
        match self.pairs {
            Some(count) => self.write_pairs(console, pairs, count, &languages),
            None => self.write_splits(console, pairs, &languages),
        }
    }

    fn task(&self) -> Result<Task> {
        let SizeArgs { min, max, symbols, min_length, max_length } = self.sizes;
        let range = NumberRange::new(min, max)
            .with_context(|| format!("numbers from {min} to {max} cannot be made"))
            .hint("--min may not exceed --max, and --max is at most 999999999999999")?;
        let sequences = Symbols::new(symbols, min_length, max_length)
            .with_context(|| {
                format!("no sequences of {min_length} to {max_length} out of {symbols} symbols")
            })
            .hint("--symbols and --min-length are at least 1, and --min-length not above --max-length")?;
        Ok(match self.task {
            TaskArg::Numbers => Task::Numbers(range),
            TaskArg::Dates => Task::Dates,
            TaskArg::Clock => Task::Clock,
            TaskArg::Everyday => Task::Everyday,
            TaskArg::Mixed => Task::Mixed(range),
            TaskArg::Copy => Task::Symbols(Operation::Copy, sequences),
            TaskArg::Reverse => Task::Symbols(Operation::Reverse, sequences),
            TaskArg::Sort => Task::Symbols(Operation::Sort, sequences),
        })
    }

    fn write_pairs(
        &self,
        console: &Console,
        pairs: Distinct<Task>,
        count: usize,
        languages: &Languages,
    ) -> Result<()> {
        let output = if self.output.is_empty() { vec!["-".into()] } else { self.output.clone() };
        let to_stdout = output.iter().any(|file| file.as_os_str() == "-");
        ensure!(
            !(to_stdout && console.wants_json()),
            "--json and pairs both want to go to stdout: give --output"
        );
        Places::default().writes(&output).check(self.folder.force())?;
        let destination = Destination::of_names(&output, languages).map_err(explain_write)?;
        let mut writer = destination.create().map_err(explain_write)?;
        for pair in pairs.take(count) {
            writer.write(&new(pair)?).map_err(explain_write)?;
        }
        writer.finish().map_err(explain_write)?;
        if console.wants_json() {
            return console.print_json(&json!({ "pairs": count }));
        }
        Ok(())
    }

    /// Test and development come first, so that more training pairs leave them as they are.
    fn write_splits(
        &self,
        console: &Console,
        mut pairs: Distinct<Task>,
        languages: &Languages,
    ) -> Result<()> {
        let Some(directory) = self.folder.directory() else {
            bail!("give --pairs for one corpus or --out-dir for train, dev and test");
        };
        let splits = [("train", 1), ("dev", self.dev), ("test", self.test)];
        self.folder.check(&[], splits, Some(languages))?;
        let mut draw =
            |count: usize| -> Result<Vec<Pair>> { pairs.by_ref().take(count).map(new).collect() };
        let (test, dev) = (draw(self.test)?, draw(self.dev)?);
        make_directory(directory)?;
        let mut writer = self.folder.create("train", Some(languages.clone()))?;
        let bar = console.progress("pairs", self.train as u64);
        for pair in pairs.take(self.train) {
            writer.write(&new(pair)?).map_err(explain_write)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        self.folder.write("test", Some(languages.clone()), &test)?;
        self.folder.write("dev", Some(languages.clone()), &dev)?;
        writer.finish().map_err(explain_write)?;
        if console.wants_json() {
            return console.print_json(&json!({
                "train": self.train, "dev": self.dev, "test": self.test, "seed": self.seed,
            }));
        }
        let [train, dev, test] = [self.train, self.dev, self.test].map(|n| grouped(n as u64));
        console.note(format!("{}: train {train}, dev {dev}, test {test}", directory.display()));
        Ok(())
    }
}

fn new(pair: Result<Pair, Exhausted>) -> Result<Pair> {
    pair.hint("ask for fewer pairs, or for a larger range")
}
