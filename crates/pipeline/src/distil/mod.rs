//! Distillation: the targets of a corpus, translated again by a teacher.
//!
//! Work is done in parts, kept in a directory beside the last output: whatever ends it, the same job goes on from there, and several
//! processes may share it. The files appear when all parts are done, with a report beside them.
//!
//! ```text
//! Job ─► survey ─► Work ─► run ─► Ending
//!                   task     parts ─► join ─► report
//! ```

mod entropy;
mod error;
mod join;
mod part;
mod parts;
mod program;
mod report;
mod share;
mod statistics;
mod task;
mod teacher;
mod windows;
mod words;
mod work;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use padir_base::manifest::DataFile;
use padir_text::Corpus;
use padir_text::corpus::Reading;
use padir_text::pair::Side;
use padir_text::writer::{Destination, WriteError};

pub use entropy::Entropy;
pub use error::{DistilError, PartError};
pub use part::Cost;
pub use program::{Program, ProgramError};
pub use report::{OnEmpty, Report};
pub use share::{Share, ShareError};
pub use statistics::{Findings, Graded, Profile};
pub use teacher::Teacher;

use crate::Error;
use crate::corpora::{for_each_pair, require_pairs};
use crate::progress::Progress;
use join::Joiner;
use parts::{PartState, Parts};
use report::Request;
use task::{Task, TextHash};
use work::{Pace, Worker, check};

/// How often to look whether others are done.
const PAUSE: Duration = Duration::from_millis(100);

/// What is to be distilled, how, and where to.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is translated.
    pub corpora: Vec<Corpus>,
    /// How strictly it is read.
    pub reading: Reading,
    /// The form of the files written.
    pub destination: Destination,
    /// The files written, in the order of the destination.
    pub outputs: Vec<PathBuf>,
    /// Most translations of a source, each a pair of its own.
    pub nbest: usize,
    /// What becomes of pairs without a translation.
    pub on_empty: OnEmpty,
    /// Pairs in a part: the most that is translated again after an interruption.
    pub part: usize,
    /// Most sources that are translated together. It changes the speed, not the result.
    pub batch: usize,
    /// The share of the work that is done here. Without one all is done, and others are waited for.
    pub shard: Option<Share>,
}

/// How a job ended.
pub enum Ending {
    /// The files are there.
    Complete(Box<Report>),
    /// Our share is done, others are not.
    Incomplete {
        /// Our share.
        share: Share,
        /// Parts in all.
        parts: usize,
        /// Parts that are done.
        done: usize,
    },
}

/// A job that was looked through.
pub struct Work {
    job: Job,
    task: Task,
    request: Request,
    /// Pairs that cannot be read.
    skipped: u64,
    parts: PathBuf,
    report: PathBuf,
}

impl Job {
    /// Refuses places that cannot be written to in parts.
    ///
    /// # Errors
    /// If there is none, it is stdout, or its directory is not there.
    pub fn check_outputs(&self) -> Result<(), DistilError> {
        if self.outputs.iter().any(|output| output.as_os_str() == "-") {
            return Err(DistilError::Stdout);
        }
        for output in &self.outputs {
            let directory = output.parent().filter(|parent| !parent.as_os_str().is_empty());
            if !directory.is_none_or(Path::is_dir) {
                return Err(DistilError::NoDirectory(output.clone()));
            }
        }
        self.last_output().map(|_| ())
    }

    /// Whether this work, or other work with the same outputs, was begun or finished: what lies there is gone on with.
    pub fn has_begun(&self) -> bool {
        let is_there = |end: &str| self.beside(end).is_ok_and(|path| path.exists());
        is_there(PARTS) || is_there(REPORT)
    }

    /// Reads the corpus once: how much there is, and whether the output can hold it.
    ///
    /// # Errors
    /// If the corpus or the model cannot be read, or the corpus is empty or cannot be written in the form asked for.
    pub fn survey(mut self, teacher: &Teacher, progress: &dyn Progress) -> Result<Work, Error> {
        let repeatable = std::mem::take(&mut self.corpora).into_iter().map(Corpus::repeatable);
        self.corpora = repeatable.collect::<Result<Vec<Corpus>, _>>()?;
        let mut hash = TextHash::default();
        let mut number = 0;
        let is_tsv = matches!(self.destination, Destination::Tsv(_));
        let keeps_references = self.on_empty == OnEmpty::KeepReference;
        let (pairs, skipped) =
            for_each_pair::<Error>(progress, &self.corpora, self.reading, |pair| {
                hash.add(pair);
                number += 1;
                // References are written where there is no translation.
                let target = if keeps_references { pair.target.as_str() } else { "" };
                for (text, side) in [(pair.source.as_str(), Side::Source), (target, Side::Target)] {
                    if is_tsv && text.contains('\t') {
                        return Err(WriteError::Tab { number, side }.into());
                    }
                }
                Ok(())
            })?;
        require_pairs(&self.corpora, pairs)?;
        let task = Task {
            teacher: teacher.identity()?,
            nbest: self.nbest,
            part: self.part,
            pairs,
            text: hash.finish(),
        };
        let columns = match &self.destination {
            Destination::Parquet { languages, .. } => {
                Some((languages.source.clone(), languages.target.clone()))
            }
            Destination::Aligned { .. } | Destination::Tsv(_) => None,
        };
        let manifest = task.manifest(&self.corpora)?;
        let request = Request { manifest, on_empty: self.on_empty, columns };
        let (parts, report) = (self.beside(PARTS)?, self.beside(REPORT)?);
        Ok(Work { job: self, task, request, skipped, parts, report })
    }

    fn share(&self) -> Share {
        self.shard.unwrap_or(Share::WHOLE)
    }

    fn last_output(&self) -> Result<&Path, DistilError> {
        self.outputs.last().map(PathBuf::as_path).ok_or(DistilError::NoOutput)
    }

    /// The last output's name with something behind it.
    fn beside(&self, end: &str) -> Result<PathBuf, DistilError> {
        let mut name = OsString::from(self.last_output()?);
        name.push(end);
        Ok(name.into())
    }
}

/// The end of the working directory's name.
const PARTS: &str = ".parts";
/// The end of the report's name.
const REPORT: &str = ".report.json";

impl Work {
    /// Translates our share, joins the parts if they are complete, and reports.
    ///
    /// # Errors
    /// If somebody wants to `stop`, the corpus has changed, or files cannot be read or written.
    pub fn run(
        &self,
        teacher: &mut Teacher,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Ending, Error> {
        loop {
            if let Some(finished) = self.finished() {
                progress.note(&format!("all is done; {} says so", self.report.display()));
                self.clear()?;
                return Ok(Ending::Complete(Box::new(finished)));
            }
            let Some(parts) = self.enter()? else { continue };
            self.translate(&parts, teacher, stop, progress)?;
            match self.leave(&parts, stop, progress)? {
                PartState::Complete => {
                    let report = self.assemble(&parts, teacher, stop, progress)?;
                    parts.remove()?;
                    return Ok(Ending::Complete(Box::new(report)));
                }
                // Another has made the files, or somebody has removed parts.
                PartState::Joined => {}
                PartState::Missing if self.job.shard.is_none() => {}
                PartState::Missing | PartState::Busy => {
                    let share = self.job.share();
                    let (parts, done) = (parts.count(), parts.done());
                    return Ok(Ending::Incomplete { share, parts, done });
                }
            }
        }
    }

    /// The report of this work, if it is done.
    fn finished(&self) -> Option<Report> {
        let outputs: Vec<&Path> = self.job.outputs.iter().map(PathBuf::as_path).collect();
        Report::of_finished(&self.report, &self.request, &outputs)
    }

    /// Enters the working directory; none if it is worth looking again.
    fn enter(&self) -> Result<Option<Parts>, Error> {
        Parts::enter(&self.parts, &self.request.manifest, self.task.parts())
    }

    /// Removes what is left of the working directory if we were interrupted in doing so.
    fn clear(&self) -> Result<(), Error> {
        while self.parts.exists() {
            match self.enter() {
                Ok(None) => {}
                Ok(Some(parts)) => match parts.leave()? {
                    PartState::Complete | PartState::Missing => return parts.remove(),
                    PartState::Busy | PartState::Joined => return Ok(()),
                },
                // Other work has begun there.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Translates our share.
    fn translate(
        &self,
        parts: &Parts,
        teacher: &mut Teacher,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let done = parts.done();
        if done > 0 {
            progress.note(&format!("{done} of {} parts are done already", parts.count()));
        }
        let Task { nbest, part, pairs, .. } = self.task;
        let pace = Pace { nbest, batch: self.job.batch, part, pairs };
        let worker = Worker { parts, share: self.job.share(), pace, stop };
        worker.work(teacher, progress, &self.job.corpora, self.job.reading)
    }

    /// Stops working. Without a shard the files are expected, so others are waited for; with one, whoever is last
    /// makes them.
    fn leave(
        &self,
        parts: &Parts,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<PartState, Error> {
        let mut state = parts.leave()?;
        if self.job.shard.is_none() && matches!(state, PartState::Busy) {
            progress.note("others are still at work; waiting for them");
            while matches!(state, PartState::Busy) {
                check(stop, parts)?;
                thread::sleep(PAUSE);
                state = parts.leave()?;
            }
        }
        Ok(state)
    }

    /// Joins the parts and reports.
    fn assemble(
        &self,
        parts: &Parts,
        teacher: &Teacher,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Report, Error> {
        let Self { job, task, request, skipped, .. } = self;
        let joiner = Joiner {
            parts,
            vocabulary: teacher.vocabulary(),
            corpora: &job.corpora,
            reading: job.reading,
            part: task.part,
            pairs: task.pairs,
            text: task.text,
            on_empty: job.on_empty,
            stop,
        };
        let joined = joiner.join(progress, &job.destination)?;
        let examine = |path: &PathBuf| DataFile::examine(path);
        let report = Report {
            complete: true,
            outputs: job.outputs.iter().map(examine).collect::<Result<_, _>>()?,
            pairs: task.pairs,
            skipped: *skipped,
            written: joined.written,
            on_empty: job.on_empty,
            findings: joined.findings,
            cost: joined.cost,
            tokens_per_second: joined.cost.target_tokens as f64 / joined.cost.seconds.max(1e-9),
            columns: request.columns.clone(),
            manifest: request.manifest.clone(),
        };
        report.save(&self.report)?;
        Ok(report)
    }
}
