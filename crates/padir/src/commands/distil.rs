//! `padir distil`: the targets of a corpus, translated again by a teacher.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use padir_decode::Abilities;
use padir_pipeline::distil::{Ending, Findings, Job, OnEmpty, Program, Report, Share, Teacher};
use padir_pipeline::recipe::{Description, Fault};
use padir_text::Corpus;
use padir_text::origin::Origin;
use padir_translate::{Decoding, Segmentation, abilities_of};
use serde_json::json;

use super::arithmetic::Arithmetic;
use super::data::table::{Table, grouped, percent};
use super::translate::{Counts, change, some_decoder};
use crate::advice::advise;
use crate::console::Console;
use crate::corpus::{CorpusArgs, OutputArgs};
use crate::hint::WithHint;
use crate::interrupt::stop_flag;
use crate::places::{Force, Places};

/// Let a teacher translate a corpus again, for a student to learn from.
///
/// Sources stay as they are; each target becomes the teacher's translation. Targets of a model are more uniform than those of
/// people, which is what parallel students need. Work is done in parts, kept in a directory called like the last --output with .parts
/// behind it: whatever ends the command, the same command goes on from there. The files appear when all parts are done, with a
/// report beside them.
///
/// The teacher is a model, or any program that reads sources from its standard input, one per line, and writes one translation per line. It is started
/// for each part. A run that fails (an error, silence, lines too few or too many, text that is not UTF-8) is repeated.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir distil --model runs/teacher/best train.en train.de -o distilled.en -o distilled.de
  padir distil --model runs/teacher/best --int8 train.tsv.gz -o distilled.tsv.gz
  padir distil --model runs/teacher/best --beam 8 --nbest 4 train.en train.de -o four.en -o four.de
  padir distil --model runs/padir/best --steps 4 --lengths 5 train.en train.de -o again.en -o again.de
  padir distil --command 'marian-decoder -c model.yml --quiet' --workers 2 train.en train.de -o distilled.en -o distilled.de

  # Two workers share a directory, at the same time or not; whoever ends last joins the parts.
  padir distil --model runs/teacher/best --shard 1/2 train.en train.de -o distilled.en -o distilled.de &
  padir distil --model runs/teacher/best --shard 2/2 train.en train.de -o distilled.en -o distilled.de")]
pub(crate) struct Distil {
    /// The directory of the teacher's model.
    #[arg(long, short, value_name = "DIR", required_unless_present = "command")]
    model: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// Write up to N different translations of each source, best first, each as a pair of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    nbest: u16,

    /// What to do with pairs for which the teacher has nothing to say, such as those with an empty source.
    #[arg(long, value_enum, default_value_t = OnEmptyArg::KeepReference, value_name = "WHAT")]
    on_empty: OnEmptyArg,

    #[command(flatten)]
    decoding: DecodingArgs,

    #[command(flatten)]
    labour: LabourArgs,

    #[command(flatten)]
    output: OutputArgs,

    // Last, because its heading in the help would extend to what follows.
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// A program as a teacher.
#[derive(clap::Args)]
#[command(next_help_heading = "Programs")]
struct ProgramArgs {
    /// A command line that translates lines, instead of a model; the system's shell runs it.
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with_all = ["model", "int8", "f32", "shortlist", "nbest", "beam", "steps", "lengths", "set", "batch"],
    )]
    command: Option<String>,

    /// How many parts it translates side by side.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "command", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,

    /// Seconds that it may be silent before it is stopped and started again; 0 for any time.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "command")]
    timeout: u32,

    /// How often it is started again for a part if it fails, after pauses of 1, 2, 4, … seconds.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "command", value_parser = clap::value_parser!(u32).range(..=100))]
    retries: u32,
}

impl ProgramArgs {
    fn program(&self) -> Option<Program> {
        let timeout = (self.timeout > 0).then(|| Duration::from_secs(self.timeout.into()));
        Some(Program {
            command: self.command.clone()?,
            workers: self.workers.into(),
            timeout,
            retries: self.retries,
            backoff: Duration::from_secs(1),
        })
    }
}

/// How the teacher decodes.
#[derive(clap::Args)]
#[command(next_help_heading = "Decoding")]
struct DecodingArgs {
    /// Width of the beam of an autoregressive teacher [default: 5]; 1 is greedy.
    #[arg(long, value_name = "N")]
    beam: Option<usize>,

    /// Most refinement steps of a parallel teacher.
    #[arg(long, value_name = "N")]
    steps: Option<usize>,

    /// How many lengths a parallel teacher tries.
    #[arg(long, value_name = "N")]
    lengths: Option<usize>,

    /// Change any other setting of the decoder.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// How the work is divided.
#[derive(clap::Args)]
#[command(next_help_heading = "Work")]
struct LabourArgs {
    /// Do only the I-th of N shares of the work.
    #[arg(long, value_name = "I/N")]
    shard: Option<Share>,

    /// Pairs in a part: the most that is translated again after an interruption.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    part: u32,

    /// Most sources that are translated together. It changes the speed, not the result.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
}

/// What is done with a pair that has no translation.
#[derive(Clone, Copy, clap::ValueEnum)]
enum OnEmptyArg {
    /// It keeps its target.
    KeepReference,
    /// Its target becomes an empty line.
    Empty,
    /// It is left out.
    Drop,
}

impl From<OnEmptyArg> for OnEmpty {
    fn from(argument: OnEmptyArg) -> Self {
        match argument {
            OnEmptyArg::KeepReference => Self::KeepReference,
            OnEmptyArg::Empty => Self::Empty,
            OnEmptyArg::Drop => Self::Drop,
        }
    }
}

/// The width of the beam unless the user chooses: what teachers are usually asked with.
const BEAM: usize = 5;

impl DecodingArgs {
    /// The model's own way of decoding with what the user changed.
    fn resolve(&self, own: &Decoding, model: &Abilities, nbest: usize) -> Result<Decoding> {
        let beam = match own {
            Decoding::Beam(_) => Some(self.beam.unwrap_or(BEAM)),
            _ => self.beam,
        };
        let counts = Counts { steps: self.steps, lengths: self.lengths, beam };
        let decoding = change(own, model, counts, &self.set)?;
        if let Decoding::Beam(beam) = &decoding
            && beam.num_beams < nbest
        {
            let fact = anyhow!("a beam of {} has no {nbest} translations", beam.num_beams);
            return Err(fact).hint(format!("--beam {nbest} has"));
        }
        Ok(decoding)
    }
}

impl Distil {
    /// What a recipe wants to know of it.
    pub(super) fn describe(&self) -> Description {
        let fault = self.check().err().map(|error| Fault::Command(error.to_string()));
        Description {
            reads: self
                .model
                .as_deref()
                .map_or_else(Vec::new, |model| self.arithmetic.shortlist_of(model)),
            resumes: true,
            faults: fault.into_iter().collect(),
            ..Description::default()
        }
    }

    /// Whether there could be a teacher that decodes like this.
    fn check(&self) -> Result<()> {
        some_decoder(|own, model| {
            let decoding = self.decoding.resolve(own, model, self.nbest.into())?;
            Ok(decoding.check()?)
        })
    }

    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let mut teacher = match (&self.model, self.program.program()) {
            (_, Some(program)) => Teacher::Program(program),
            (Some(model), None) => self.teacher(model, console)?,
            (None, None) => {
                return Err(anyhow!("no teacher")).hint("--model or --command names one");
            }
        };
        let work = self.job()?.survey(&teacher, console).map_err(advise)?;
        match work.run(&mut teacher, &stop_flag(), console).map_err(advise)? {
            Ending::Complete(report) => show(&report, console),
            Ending::Incomplete { share, parts, done } => {
                say_incomplete(console, share, parts, done)
            }
        }
    }

    /// A model that decodes as asked.
    fn teacher(&self, directory: &Path, console: &Console) -> Result<Teacher> {
        let mut translator = self.arithmetic.open(directory, console.threads())?;
        translator.set_segmentation(Segmentation::Lines);
        let model = abilities_of(translator.config());
        let decoding = self.decoding.resolve(translator.decoding(), &model, self.nbest.into())?;
        translator.set_decoding(decoding)?;
        let (directory, shortlist) = (directory.to_owned(), self.arithmetic.shortlist);
        Ok(Teacher::Model { directory, shortlist, translator: Box::new(translator) })
    }

    /// What is asked for; where it goes is checked before any work is done.
    fn job(&self) -> Result<Job> {
        let corpora = self.corpus.all()?;
        let job = Job {
            reading: self.corpus.reading(),
            destination: self.output.destination(self.corpus.languages(&corpora))?,
            outputs: self.output.files().to_vec(),
            corpora,
            nbest: self.nbest.into(),
            on_empty: self.on_empty.into(),
            part: self.labour.part as usize,
            batch: self.labour.batch.into(),
            shard: self.labour.shard,
        };
        job.check_outputs()?;
        let inputs = job.corpora.iter().flat_map(Corpus::files).map(Origin::path);
        let places = Places::default().reads(inputs).writes(&job.outputs);
        // Work that was begun or finished here is gone on with, whatever there is of its files.
        places.check(if job.has_begun() { Force::GIVEN } else { self.output.force() })?;
        Ok(job)
    }
}

/// Says that a shard is done, and others are not.
fn say_incomplete(console: &Console, share: Share, count: usize, done: usize) -> Result<()> {
    if console.wants_json() {
        return console.print_json(&json!({
            "complete": false, "shard": share.to_string(), "parts": count, "done": done,
        }));
    }
    console.note(format!(
        "shard {share} is done, with it {done} of {count} parts; whoever does the last of them joins them"
    ));
    Ok(())
}

fn show(report: &Report, console: &Console) -> Result<()> {
    if console.wants_json() {
        return console.print_json(report);
    }
    let mut out = console.out();
    table(report).write(&mut out)?;
    Ok(out.flush()?)
}

fn table(report: &Report) -> Table {
    let Findings { reference, distilled, bleu, chrf, .. } = &report.findings;
    let mut table = Table::default();
    table.row(["", "reference", "distilled"]);
    let counts = [
        ("pairs", report.pairs, report.written),
        ("target tokens", reference.target_tokens, distilled.target_tokens),
    ];
    for (name, before, after) in counts {
        table.row([name, &grouped(before), &grouped(after)]);
    }
    let numbers = [
        ("target tokens per source token", reference.length_ratio, distilled.length_ratio),
        ("stutter per 1000 words", reference.stutter, distilled.stutter),
        ("H(token), bits", reference.entropy.unigram, distilled.entropy.unigram),
        ("H(token | token before), bits", reference.entropy.bigram, distilled.entropy.bigram),
        ("H(token | source token), bits", reference.entropy.lexical, distilled.entropy.lexical),
    ];
    for (name, before, after) in numbers {
        table.row([name, &format!("{before:.3}"), &format!("{after:.3}")]);
    }
    table.row(["BLEU", "", &format!("{:.2}", bleu.score)]);
    table.row(["chrF2", "", &format!("{:.2}", chrf.score)]);
    table.row(["changed targets", "", &percent(report.findings.changed, distilled.pairs)]);
    table.row(["empty sources", &grouped(report.findings.empty_sources), ""]);
    table.row(["without translation", "", &grouped(report.findings.empty_translations)]);
    if let Some(cut) = report.findings.cut_translations {
        table.row(["cut translations", "", &grouped(cut)]);
    }
    if report.skipped > 0 {
        table.row(["unreadable", &grouped(report.skipped), ""]);
    }
    table.row(["seconds", "", &format!("{:.1}", report.cost.seconds)]);
    table.row(["target tokens/s", "", &format!("{:.0}", report.tokens_per_second)]);
    table
}
