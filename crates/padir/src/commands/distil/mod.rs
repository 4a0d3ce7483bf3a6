//! `padir distil`: the targets of a corpus, said again by a teacher.

pub(super) mod batches;
mod entropy;
mod join;
pub(super) mod part;
mod parts;
pub(super) mod report;
mod share;
pub(super) mod tally;
pub(super) mod task;
mod windows;
mod work;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use padir_base::manifest::DataFile;
use padir_decode::Abilities;
use padir_text::Corpus;
use padir_text::origin::Origin;
use padir_text::pair::Side;
use padir_text::writer::{Destination, WriteError};
use padir_translate::{Decoding, Segmentation, Translator, abilities_of};
use serde_json::json;

use super::arithmetic::Arithmetic;
use super::translate::{Counts, change, some_decoder};
use crate::console::Console;
use crate::corpus::{CorpusArgs, OutputArgs, explain, explain_write, for_each_pair, require_pairs};
use crate::hint::WithHint;
use crate::interrupt::stop_flag;
use crate::places::{Force, Places};
use join::Joiner;
use parts::{Parts, Standing};
use report::{OnEmpty, Report, Request};
use share::Share;
use task::{Task, TextHash, hash_model};
use work::{Pace, Worker, check};

/// Let a teacher translate a corpus again, for a student to learn from.
///
/// Sources stay as they are; each target becomes the teacher's translation. Targets of a model are more uniform than those of
/// people, which is what parallel students need. Work is done in parts, kept in a directory called like the last --output with .parts
/// behind it: whatever ends the command, the same command goes on from there. The files appear when all parts are done, with a
/// report beside them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir distil --model runs/teacher/best train.en train.de -o distilled.en -o distilled.de
  padir distil --model runs/teacher/best --int8 train.tsv.gz -o distilled.tsv.gz
  padir distil --model runs/teacher/best --beam 8 --nbest 4 train.en train.de -o four.en -o four.de
  padir distil --model runs/padir/best --steps 4 --lengths 5 train.en train.de -o again.en -o again.de

  # Two workers share a directory, at the same time or not; whoever ends last joins the parts.
  padir distil --model runs/teacher/best --shard 1/2 train.en train.de -o distilled.en -o distilled.de &
  padir distil --model runs/teacher/best --shard 2/2 train.en train.de -o distilled.en -o distilled.de")]
pub(crate) struct Distil {
    /// The teacher's directory.
    #[arg(long, short, value_name = "DIR")]
    model: PathBuf,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// Write up to N different translations of each source, best first, each as a pair of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    nbest: u16,

    /// What to do with pairs for which the teacher has nothing to say, such as those with an empty source.
    #[arg(long, value_enum, default_value_t = OnEmpty::KeepReference, value_name = "WHAT")]
    on_empty: OnEmpty,

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

/// How often to look whether others are done.
const PAUSE: Duration = Duration::from_millis(100);

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

/// Where things are put.
struct Place {
    destination: Destination,
    parts: PathBuf,
    report: PathBuf,
}

/// What is to be done.
struct Work {
    task: Task,
    request: Request,
    corpora: Vec<Corpus>,
    /// Pairs that cannot be read.
    skipped: u64,
    place: Place,
    stop: Arc<AtomicBool>,
}

impl Work {
    /// Enters the working directory; none if it is worth looking again.
    fn enter(&self) -> Result<Option<Parts>> {
        Parts::enter(&self.place.parts, &self.request.manifest, self.task.parts())
    }

    /// Removes what is left of the working directory if we were interrupted in doing so.
    fn clear(&self) -> Result<()> {
        while self.place.parts.exists() {
            match self.enter() {
                Ok(None) => {}
                Ok(Some(parts)) => match parts.leave()? {
                    Standing::Complete | Standing::Missing => return parts.remove(),
                    Standing::Busy | Standing::Joined => return Ok(()),
                },
                // Other work has begun there.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Distil {
    /// The shortlist it reads, if it does.
    pub(super) fn shortlist(&self) -> Option<PathBuf> {
        self.arithmetic.shortlist_of(&self.model)
    }

    /// Whether there could be a teacher that decodes like this.
    pub(super) fn check(&self) -> Result<()> {
        some_decoder(|own, model| {
            let decoding = self.decoding.resolve(own, model, self.nbest.into())?;
            Ok(decoding.check()?)
        })
    }

    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let mut translator = self.arithmetic.open(&self.model, console.threads())?;
        translator.set_segmentation(Segmentation::Lines);
        let model = abilities_of(translator.config());
        let decoding = self.decoding.resolve(translator.decoding(), &model, self.nbest.into())?;
        translator.set_decoding(decoding)?;
        let work = self.prepare(console, &translator)?;
        loop {
            let (report, outputs) = (&work.place.report, self.outputs());
            if let Some(finished) = Report::of_finished(report, &work.request, &outputs) {
                console.note(format!("all is done; {} says so", report.display()));
                work.clear()?;
                return finished.show(console);
            }
            let Some(parts) = work.enter()? else { continue };
            self.translate(console, &work, &parts, &mut translator)?;
            match self.leave(console, &parts, &work.stop)? {
                Standing::Complete => {
                    let report = self.assemble(console, &work, &parts, &translator)?;
                    parts.remove()?;
                    return report.show(console);
                }
                // Another has made the files, or somebody has removed parts.
                Standing::Joined => {}
                Standing::Missing if self.labour.shard.is_none() => {}
                Standing::Missing | Standing::Busy => {
                    return say_incomplete(console, &parts, self.share());
                }
            }
        }
    }

    /// Everything that can be known and refused before any work is done.
    fn prepare(&self, console: &Console, translator: &Translator) -> Result<Work> {
        let corpora = self.corpus.all()?;
        let place = self.place(&corpora)?;
        let repeatable = |corpus: Corpus| corpus.repeatable().map_err(explain);
        let corpora = corpora.into_iter().map(repeatable).collect::<Result<Vec<Corpus>>>()?;
        let (task, skipped) = self.survey(console, &corpora, &place, translator)?;
        let request = self.request(&task, &corpora, &place)?;
        Ok(Work { task, request, corpora, skipped, place, stop: stop_flag() })
    }

    /// Translates our share.
    fn translate(
        &self,
        console: &Console,
        work: &Work,
        parts: &Parts,
        translator: &mut Translator,
    ) -> Result<()> {
        let done = parts.done();
        if done > 0 {
            console.note(format!("{done} of {} parts are done already", parts.count()));
        }
        let Task { nbest, part, pairs, .. } = work.task;
        let pace = Pace { nbest, batch: self.labour.batch.into(), part, pairs };
        let worker = Worker { translator, parts, share: self.share(), pace, stop: &work.stop };
        worker.work(console, &work.corpora, self.corpus.reading())
    }

    /// Stops working. Without a shard the files are expected, so others are waited for; with one, whoever is last
    /// makes them.
    fn leave(&self, console: &Console, parts: &Parts, stop: &AtomicBool) -> Result<Standing> {
        let mut standing = parts.leave()?;
        if self.labour.shard.is_none() && matches!(standing, Standing::Busy) {
            console.note("others are still at work; waiting for them");
            while matches!(standing, Standing::Busy) {
                check(stop, parts)?;
                thread::sleep(PAUSE);
                standing = parts.leave()?;
            }
        }
        Ok(standing)
    }

    fn share(&self) -> Share {
        self.labour.shard.unwrap_or(Share::WHOLE)
    }

    /// Where things go, checked before any work is done.
    fn place(&self, corpora: &[Corpus]) -> Result<Place> {
        let destination = self.output.destination(self.corpus.languages(corpora))?;
        let outputs = self.outputs();
        ensure!(
            outputs.iter().all(|output| output.as_os_str() != "-"),
            "--output - cannot be continued: distilled corpora are written to files"
        );
        for output in &outputs {
            let directory = output.parent().filter(|parent| !parent.as_os_str().is_empty());
            let is_there = directory.is_none_or(Path::is_dir);
            ensure!(is_there, "cannot write {}: there is no such directory", output.display());
        }
        let last = outputs.last().context("no --output")?;
        let (parts, report) = (beside(last, ".parts"), beside(last, ".report.json"));
        let inputs = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        let places = Places::default().reads(inputs).writes(&outputs);
        // Work that was begun or finished here is gone on with, whatever there is of its files.
        if parts.exists() || report.exists() {
            places.check(Force::GIVEN)?;
        } else {
            places.check(self.output.force())?;
        }
        Ok(Place { destination, parts, report })
    }

    fn outputs(&self) -> Vec<&Path> {
        self.output.files().iter().map(PathBuf::as_path).collect()
    }

    /// Reads the corpus once: how much there is, and whether the output can hold it.
    fn survey(
        &self,
        console: &Console,
        corpora: &[Corpus],
        place: &Place,
        translator: &Translator,
    ) -> Result<(Task, u64)> {
        let mut hash = TextHash::default();
        let mut number = 0;
        let is_tsv = matches!(place.destination, Destination::Tsv(_));
        let keeps_references = self.on_empty == OnEmpty::KeepReference;
        let (pairs, skipped) = for_each_pair(console, corpora, self.corpus.reading(), |pair| {
            hash.add(pair);
            number += 1;
            // References are written where there is no translation.
            let target = if keeps_references { pair.target.as_str() } else { "" };
            for (text, side) in [(pair.source.as_str(), Side::Source), (target, Side::Target)] {
                if is_tsv && text.contains('\t') {
                    return Err(explain_write(WriteError::Tab { number, side }));
                }
            }
            Ok(())
        })?;
        require_pairs(corpora, pairs)?;
        let task = Task {
            model: hash_model(&self.model, self.arithmetic.shortlist)?,
            precision: translator.engine().precision().to_string(),
            decoding: translator.decoding().clone(),
            nbest: self.nbest.into(),
            part: self.labour.part as usize,
            pairs,
            text: hash.finish(),
        };
        Ok((task, skipped))
    }

    fn request(&self, task: &Task, corpora: &[Corpus], place: &Place) -> Result<Request> {
        let columns = match &place.destination {
            Destination::Parquet { languages, .. } => {
                Some((languages.source.clone(), languages.target.clone()))
            }
            Destination::Aligned { .. } | Destination::Tsv(_) => None,
        };
        Ok(Request { manifest: task.manifest(corpora)?, on_empty: self.on_empty, columns })
    }

    /// Joins the parts and reports.
    fn assemble(
        &self,
        console: &Console,
        work: &Work,
        parts: &Parts,
        translator: &Translator,
    ) -> Result<Report> {
        let Work { task, request, corpora, skipped, place, stop } = work;
        let joiner = Joiner {
            parts,
            vocabulary: translator.vocabulary(),
            corpora,
            reading: self.corpus.reading(),
            part: task.part,
            pairs: task.pairs,
            text: task.text,
            on_empty: self.on_empty,
            stop,
        };
        let joined = joiner.join(console, &place.destination)?;
        let examine = |path: &&Path| Ok(DataFile::examine(path)?);
        let report = Report {
            complete: true,
            outputs: self.outputs().iter().map(examine).collect::<Result<_>>()?,
            pairs: task.pairs,
            skipped: *skipped,
            written: joined.written,
            on_empty: self.on_empty,
            findings: joined.findings,
            cost: joined.cost,
            tokens_per_second: joined.cost.target_tokens as f64 / joined.cost.seconds.max(1e-9),
            columns: request.columns.clone(),
            manifest: request.manifest.clone(),
        };
        report.save(&place.report)?;
        Ok(report)
    }
}

/// Says that a shard is done, and others are not.
fn say_incomplete(console: &Console, parts: &Parts, share: Share) -> Result<()> {
    let (done, count) = (parts.done(), parts.count());
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

/// A name with something behind it.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}
