//! `padir bench decode`: how soon a translation is there, beside a peer and the limits of the machine.
//!
//! Every system translates every sentence, one system after the other before the next sentence comes, so that whatever
//! else the machine does falls on all. With `--random` weights and targets are random, lengths are fixed and nothing
//! ends early: that is the work, not the wit, of an engine. With models and texts, tokenisation is included.

mod limits;
mod peer;
mod report;
mod step;
mod system;
mod work;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_checkpoint::Preset;

use crate::console::Console;
use report::Report;
use work::Work;

/// Measure decoding.
///
/// Reports latencies of one sentence at a time and the throughput of batches, for greedy and beam search of an autoregressive
/// model and for refinement of a parallel one, in single precision and 8 bits, each with the number of threads
/// that suits it best.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir bench decode --random paper --length 30
  padir bench decode --random paper --peer \"python bench/ctranslate2_decode.py\"
  padir bench decode --random paper --only none --step-peer \"python bench/onnx_step.py\"
  padir bench decode --ar runs/teacher/best --padir runs/padir/best --texts test.en --plot latency.svg
  padir bench decode --padir runs/padir/best --texts test.en --steps 2,4 --lengths 1 --json")]
pub(crate) struct Decode {
    /// Random models of this size instead of trained ones.
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["ar", "padir", "texts"])]
    random: Option<Preset>,

    /// Vocabulary of random models.
    #[arg(long, value_name = "N", default_value_t = 32_128, requires = "random")]
    vocabulary: usize,

    /// Tokens of random sources and of their targets, and positions of single steps.
    #[arg(long, value_name = "N", default_value_t = 30)]
    length: usize,

    /// An autoregressive model.
    #[arg(long, value_name = "DIR", requires = "texts")]
    ar: Option<PathBuf>,

    /// A parallel model.
    #[arg(long, value_name = "DIR", requires = "texts")]
    padir: Option<PathBuf>,

    /// Sentences to translate, one a line.
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,

    /// How many of them.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    sentences: u32,

    /// Numbers of refinement steps.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,10")]
    steps: Vec<usize>,

    /// Numbers of lengths.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,5")]
    lengths: Vec<usize>,

    /// Sizes of the batches whose throughput is measured; 0 for none.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8,16,32,64")]
    batches: Vec<usize>,

    /// Only systems whose name contains one of these, such as `int8` or `4 × 5`; `none` leaves single steps alone.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    only: Vec<String>,

    /// A program to take turns with, on the autoregressive model.
    #[arg(long, value_name = "COMMAND")]
    peer: Option<String>,

    /// A program to take turns with over single steps of the parallel model.
    #[arg(long, value_name = "COMMAND")]
    step_peer: Option<String>,

    /// Also with shortlists: random ones of so many tokens with --random, else the models' own (any number).
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    shortlist: usize,

    /// Draw throughput against the size of batches to a .svg or .png file, its numbers in a .csv beside it.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Decode {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!((2..=128).contains(&self.length), "--length {} is not from 2 to 128", self.length);
        let scratch = tempfile::tempdir()?;
        let work = self.work(scratch.path())?;
        let choices = system::Choices {
            steps: &self.steps,
            lengths: &self.lengths,
            shortlist: self.shortlist,
        };
        let mut systems = system::all(&work, choices, console)?;
        systems.retain(|system| {
            self.only.is_empty() || self.only.iter().any(|part| system.name().contains(part))
        });
        let mut peers = match (&self.peer, work.ar()) {
            (Some(command), Some(model)) => {
                peer::start(command, model, &work).context("the peer does not work")?
            }
            _ => Vec::new(),
        };
        let limits = limits::measure(console.threads());
        let steps = step::measure(&work, limits, self.length, self.step_peer.as_deref())?;
        for system in &mut systems {
            system.settle(&work)?;
        }
        let bar = console.progress("sentences", work.len() as u64);
        let sentences = if systems.is_empty() && peers.is_empty() { 0 } else { work.len() };
        for sentence in 0..sentences {
            for system in &mut systems {
                system.translate_one(&work, sentence)?;
            }
            for peer in &mut peers {
                peer.translate_one(&work, sentence)?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let mut report = Report::new(&work, limits, steps, &systems, &peers);
        report.throughput = self.throughput(console, &work, &mut systems)?;
        if let Some(path) = &self.plot {
            report.draw(path)?;
        }
        report.show(console)
    }

    fn work(&self, scratch: &std::path::Path) -> Result<Work> {
        if let Some(preset) = self.random {
            return Work::random(scratch, preset, self.vocabulary, self.length, self.sentences);
        }
        let texts = self.texts.as_deref().context("--texts or --random is needed")?;
        ensure!(self.ar.is_some() || self.padir.is_some(), "--ar or --padir is needed");
        Work::real(self.ar.clone(), self.padir.clone(), texts, self.sentences)
    }

    /// Target tokens per second of each system at each size of a batch.
    fn throughput(
        &self,
        console: &Console,
        work: &Work,
        systems: &mut [system::System],
    ) -> Result<Vec<report::Throughput>> {
        let mut list = Vec::new();
        let bar = console.progress("batches", (self.batches.len() * systems.len()) as u64);
        for system in systems.iter_mut().filter(|system| system.is_typical()) {
            for &batch in self.batches.iter().filter(|&&batch| batch > 0) {
                let tokens_per_second = system.translate_many(work, batch)?;
                let system = system.name();
                list.push(report::Throughput { system, batch, tokens_per_second });
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(list)
    }
}
