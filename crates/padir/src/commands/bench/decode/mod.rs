//! `padir bench decode`: how soon a translation is there, beside a peer and the limits of the machine.
//!
//! Systems take turns of a few sentences, so that whatever else the machine does falls on all. Before each turn a system translates
//! one sentence that does not count: what is measured is somebody at work, with threads awake and caches warm, and peers are
//! warmed up, too. With `--random` weights and targets are random, lengths are fixed and nothing
//! ends early: that is the work, not the wit, of an engine. With models and texts, tokenisation is included.

mod batches;
mod by_length;
mod crossing;
mod limits;
mod peer;
mod report;
mod step;
mod system;
mod threads;
mod timed;
mod work;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_checkpoint::Preset;

use crate::console::Console;
use crate::places::{Force, Places};
use batches::Batches;
use report::{Report, Throughput};
use system::System;
use work::Work;

/// Sentences of a turn.
const TURN: usize = 8;

/// Measure decoding.
///
/// Reports latencies of one sentence at a time and the throughput of batches, for greedy and beam search of an autoregressive
/// model and for refinement of a parallel one, in single precision and int8: one sentence with the number of threads
/// that suits each best, batches with all of them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir bench decode --random paper --length 30
  padir bench decode --random paper --peer \"python bench/ctranslate2_decode.py\"
  padir bench decode --random paper --only none --step-peer \"python bench/onnx_step.py\"
  padir bench decode --ar runs/teacher/best --padir runs/padir/best --texts test.en --plot throughput.svg
  padir bench decode --padir runs/padir/best --texts test.en --steps 2,4 --lengths 1 --json
  padir bench decode --random paper --steps 4 --batches 0 --length-plot latency.svg")]
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

    /// A CTC model.
    #[arg(long, value_name = "DIR", requires = "texts")]
    ctc: Option<PathBuf>,

    /// Sentences to translate, one per line.
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,

    /// How many of them; no batch is larger, for none holds a sentence twice.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    sentences: u32,

    /// Numbers of refinement steps.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,10")]
    steps: Vec<usize>,

    /// Numbers of lengths.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,5")]
    lengths: Vec<usize>,

    /// Sizes of the batches whose throughput is measured, that of refinement with the most of --steps up to 4; 0 for none.
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

    /// Plot throughput against batch size to a .svg or .png file, its numbers in a .csv beside it.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Numbers of tokens to measure the latency of one sentence at: of random sentences and their targets with --random, else upper bounds
    /// of the groups that texts fall into by their source tokens.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..=128))]
    by_length: Vec<u16>,

    /// Draw latency against length to FILE as .svg and .png, its numbers in a .csv beside them [--by-length: 10,20,30,45,64,90,128].
    #[arg(long, value_name = "FILE")]
    length_plot: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

/// Lengths that are measured if there is a plot and nobody says which.
const LENGTHS: [usize; 7] = [10, 20, 30, 45, 64, 90, 128];

impl Decode {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        self.check()?;
        let scratch = tempfile::tempdir()?;
        let work = self.work(scratch.path())?;
        let batches = Batches::new(&self.batches, &work.sources);
        let choices = system::Choices {
            steps: &self.steps,
            lengths: &self.lengths,
            shortlist: self.shortlist,
        };
        let mut systems = system::all(&work, choices, console)?;
        systems.retain(|system| {
            self.only.is_empty() || self.only.iter().any(|part| system.name().contains(part))
        });
        if let Some(remark) = batches.remark()
            && !systems.is_empty()
        {
            console.note(remark);
        }
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
        for first in (0..sentences).step_by(TURN) {
            let turn = first..sentences.min(first + TURN);
            for system in &mut systems {
                system.translate_turn(&work, turn.clone())?;
            }
            for peer in &mut peers {
                turn.clone().try_for_each(|sentence| peer.translate_one(&work, sentence))?;
            }
            bar.inc(turn.len() as u64);
        }
        bar.finish_and_clear();
        let typical = |system: &&mut System| system.is_typical(choices.typical_steps());
        let mut typical: Vec<&mut System> = systems.iter_mut().filter(typical).collect();
        let by_length = by_length::measure(console, &work, &mut typical, &self.lengths_measured())?;
        let throughput = throughput(console, &work, &batches, &mut typical)?;
        let mut report = Report::new(&work, limits, steps, &systems, &peers);
        report.throughput = throughput;
        report.by_length = by_length;
        report.batches_left_out = batches.left_out;
        if let Some(path) = &self.length_plot {
            by_length::draw(path, &report.by_length)?;
        }
        if let Some(path) = &self.plot {
            report.draw(path)?;
        }
        report.show(console)
    }

    /// What the arguments alone tell to be wrong, before anything is measured.
    fn check(&self) -> Result<()> {
        ensure!((2..=128).contains(&self.length), "--length {} is not from 2 to 128", self.length);
        let random = self.random.is_some();
        ensure!(
            self.peer.is_none() || random || self.ar.is_some(),
            "--peer needs --ar or --random: there is no autoregressive model"
        );
        ensure!(
            self.step_peer.is_none() || random || self.padir.is_some(),
            "--step-peer needs --padir or --random: there is no parallel model"
        );
        let mut places = Places::default().reads(&self.texts);
        if let Some(picture) = &self.plot {
            report::check_picture(picture)?;
            places = places.writes([picture, &picture.with_extension("csv")]);
        }
        if let Some(picture) = &self.length_plot {
            report::check_picture(picture)?;
            places = places.writes(by_length::FORMS.map(|form| picture.with_extension(form)));
        }
        places.check(self.force)
    }

    /// The lengths that latency is measured at.
    fn lengths_measured(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.by_length.iter().copied().map(usize::from).collect();
        if lengths.is_empty() && self.length_plot.is_some() {
            lengths = LENGTHS.to_vec();
        }
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    fn work(&self, scratch: &std::path::Path) -> Result<Work> {
        if let Some(preset) = self.random {
            return Work::random(scratch, preset, self.vocabulary, self.length, self.sentences);
        }
        let texts = self.texts.as_deref().context("--texts or --random is needed")?;
        let any = self.ar.is_some() || self.padir.is_some() || self.ctc.is_some();
        ensure!(any, "--ar, --padir or --ctc is needed");
        let (ar, padir, ctc) = (self.ar.clone(), self.padir.clone(), self.ctc.clone());
        Work::real(ar, padir, ctc, texts, self.sentences)
    }
}

/// Target tokens per second of each system at each size of a batch.
fn throughput(
    console: &Console,
    work: &Work,
    batches: &Batches,
    systems: &mut [&mut System],
) -> Result<Vec<Throughput>> {
    let mut list = Vec::new();
    if batches.sizes.is_empty() {
        return Ok(list);
    }
    let bar = console.progress("batches", (batches.sizes.len() * systems.len()) as u64);
    for system in systems {
        system.take_all_threads(work)?;
        for &batch in &batches.sizes {
            let tokens_per_second = system.translate_many(work, batches.of(batch))?;
            let (system, threads) = (system.name(), system.most);
            list.push(Throughput { system, threads, batch, tokens_per_second });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(list)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        decode: Decode,
    }

    #[test]
    fn a_peer_needs_a_model_to_take_turns_on() {
        let no_ar = Some("--peer needs --ar or --random: there is no autoregressive model");
        let no_padir = Some("--step-peer needs --padir or --random: there is no parallel model");
        let cases = [
            ("--random tiny --peer x --step-peer y", None),
            ("--ar a --texts t --peer x", None),
            ("--padir p --texts t --step-peer y", None),
            ("--ar a --padir p --texts t --peer x --step-peer y", None),
            ("--padir p --texts t --peer x", no_ar),
            ("--ar a --texts t --step-peer y", no_padir),
        ];
        for (arguments, expected) in cases {
            let words = ["decode"].into_iter().chain(arguments.split_whitespace());
            let line = Line::try_parse_from(words).unwrap_or_else(|e| panic!("{arguments}: {e}"));
            let error = line.decode.check().err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), expected, "{arguments}");
        }
    }
}
