//! Translating: our parts, one after the other, each written as soon as it is done.
//!
//! A model translates the sources of a part longest first, so that those of a batch are about as long and end about together. Programs translate
//! several parts side by side. None of this shows in the result, because a translation does not depend on what is translated beside it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use padir_text::corpus::Reading;
use padir_text::{Corpus, Pair};
use padir_translate::{Text, Translation, Translator};

use super::error::DistilError;
use super::part::{Cost, Part};
use super::parts::Parts;
use super::program::{Program, ProgramError};
use super::share::Share;
use super::teacher::Teacher;
use super::windows::for_each_part;
use crate::Error;
use crate::batches::{batches, source_lengths};
use crate::line::one_line;
use crate::numbers::{clock, grouped};
use crate::progress::{Progress, Task};

/// The least time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(10);

/// How to work.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Most translations of a source.
    pub(super) nbest: usize,
    /// Most sources that are translated together.
    pub(super) batch: usize,
    /// Pairs in a part.
    pub(super) part: usize,
    /// Pairs in all.
    pub(super) pairs: u64,
}

/// Someone who translates parts.
pub(super) struct Worker<'a> {
    pub(super) parts: &'a Parts,
    pub(super) share: Share,
    pub(super) pace: Pace,
    pub(super) stop: &'a AtomicBool,
}

impl Worker<'_> {
    /// Translates all parts that are ours and not done.
    pub(super) fn work(
        &self,
        teacher: &mut Teacher,
        progress: &dyn Progress,
        corpora: &[Corpus],
        reading: Reading,
    ) -> Result<(), Error> {
        let todo = self.todo();
        if todo == 0 {
            return Ok(());
        }
        let mut bulletin = Bulletin::new(progress, todo, self.parts.count());
        let seen = match teacher {
            Teacher::Model { translator, .. } => {
                self.for_each_of_ours(corpora, reading, |number, pairs| {
                    let part = self.ask_model(translator, pairs, bulletin.task.as_ref())?;
                    part.write(&self.parts.path(number), pairs)?;
                    bulletin.advance(number, pairs.len() as u64);
                    Ok(())
                })?
            }
            Teacher::Program(program) => {
                self.ask_program(program, progress, &mut bulletin, corpora, reading)?
            }
        };
        drop(bulletin);
        // Parts that nobody can translate would be waited for for ever.
        if seen == self.pace.pairs { Ok(()) } else { Err(DistilError::Changed.into()) }
    }

    /// Visits the parts that are ours and not done; gives the number of all pairs.
    fn for_each_of_ours(
        &self,
        corpora: &[Corpus],
        reading: Reading,
        mut visit: impl FnMut(usize, &[Pair]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut seen = 0;
        for_each_part(corpora, reading, self.pace.part, |number, pairs| {
            if number >= self.parts.count() {
                return Err(DistilError::Changed.into());
            }
            seen += pairs.len() as u64;
            if !self.share.takes(number) || self.parts.has(number) {
                return Ok(());
            }
            visit(number, pairs)
        })?;
        Ok(seen)
    }

    /// How many pairs we have to translate.
    fn todo(&self) -> u64 {
        let Pace { part: size, pairs, .. } = self.pace;
        let ours = |part: &usize| self.share.takes(*part) && !self.parts.has(*part);
        let size_of = |part: usize| (pairs - (part * size) as u64).min(size as u64);
        (0..self.parts.count()).filter(ours).map(size_of).sum()
    }

    fn ask_model(
        &self,
        translator: &mut Translator,
        pairs: &[Pair],
        task: &dyn Task,
    ) -> Result<Part, Error> {
        let started = Instant::now();
        let lengths = source_lengths(translator.vocabulary(), pairs);
        let mut part =
            Part { translations: vec![Vec::new(); pairs.len()], cut: None, cost: Cost::default() };
        let mut cut = 0;
        for batch in batches(&lengths, self.pace.batch) {
            check(self.stop, self.parts)?;
            let text = |&at: &usize| Text::new(at as u64, &pairs[at].source);
            let texts: Vec<Text<'_>> = batch.iter().map(text).collect();
            let translations = translator.translate(&texts, self.pace.nbest, &mut ())?;
            for (&at, translation) in batch.iter().zip(&translations) {
                part.cost.source_tokens += translation.source_tokens as u64;
                if let Some(best) = translation.alternatives.first() {
                    part.cost.target_tokens += best.tokens as u64;
                    cut += u64::from(best.cut);
                }
                part.translations[at] = distinct(translation);
            }
            task.advance(batch.len() as u64);
        }
        part.cut = Some(cut);
        part.cost.seconds = started.elapsed().as_secs_f64();
        Ok(part)
    }

    /// Lets several runs of a program translate parts, each its own; gives the number of all pairs.
    ///
    /// This thread reads the corpus and hands out parts. If one fails for good, the others are stopped: what they have done is kept.
    fn ask_program(
        &self,
        program: &Program,
        progress: &dyn Progress,
        bulletin: &mut Bulletin<'_>,
        corpora: &[Corpus],
        reading: Reading,
    ) -> Result<u64, Error> {
        let failed = AtomicBool::new(false);
        let stopped = || self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        let (hand_out, todo) = sync_channel::<(usize, Vec<Pair>)>(0);
        let (todo, (done, finished)) = (Mutex::new(todo), channel());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let outcome = thread::scope(|scope| {
            for _ in 0..program.workers.max(1) {
                let (next, stopped, failed, done) = (&next, &stopped, &failed, done.clone());
                scope.spawn(move || {
                    while let Some((number, pairs)) = next() {
                        // Parts are taken all the same, lest whoever hands them out wait for ever.
                        if stopped() {
                            continue;
                        }
                        let result = self.run_program(program, progress, number, &pairs, stopped);
                        if result.is_err() {
                            failed.store(true, Ordering::Relaxed);
                        }
                        if done.send((number, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(done);
            let mut first_error = None;
            let mut note = |(number, result): (usize, Result<u64, Error>)| match result {
                Ok(pairs) => {
                    bulletin.task.advance(pairs);
                    bulletin.advance(number, pairs);
                }
                Err(error) => {
                    // What is stopped because another failed is not the cause.
                    let is_stop =
                        |error: &Error| matches!(error, Error::Distil(DistilError::Stopped { .. }));
                    if first_error.as_ref().is_none_or(is_stop) {
                        first_error = Some(error);
                    }
                }
            };
            let seen = self.for_each_of_ours(corpora, reading, |number, pairs| {
                if !stopped() {
                    let _ = hand_out.send((number, pairs.to_vec()));
                }
                finished.try_iter().for_each(&mut note);
                Ok(())
            });
            if seen.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            drop(hand_out);
            finished.iter().for_each(&mut note);
            match first_error {
                Some(error) => Err(error),
                None => seen,
            }
        })?;
        check(self.stop, self.parts)?;
        Ok(outcome)
    }

    /// Lets a program translate one part; gives the number of its pairs.
    fn run_program(
        &self,
        program: &Program,
        progress: &dyn Progress,
        number: usize,
        pairs: &[Pair],
        stopped: &dyn Fn() -> bool,
    ) -> Result<u64, Error> {
        let started = Instant::now();
        let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        let again = |error: &ProgramError, pause: Duration| {
            let (command, part, seconds) = (&program.command, number + 1, pause.as_secs_f64());
            progress.note(&format!(
                "`{command}` failed at part {part}: {error}; it is started again in {seconds} s"
            ));
        };
        let answers = match program.translate(&sources, stopped, &again) {
            Ok(answers) => answers,
            Err(ProgramError::Stopped) => {
                let (done, count) = (self.parts.done(), self.parts.count());
                return Err(DistilError::Stopped { done, count }.into());
            }
            Err(source) => {
                let command = program.command.clone();
                return Err(DistilError::Program { command, part: number + 1, source }.into());
            }
        };
        let words = |text: &str| text.split_whitespace().count() as u64;
        let cost = Cost {
            seconds: started.elapsed().as_secs_f64(),
            source_tokens: sources.iter().map(|source| words(source)).sum(),
            target_tokens: answers.iter().map(|answer| words(answer)).sum(),
        };
        let answers = answers.iter().map(|answer| one_line(answer));
        let list = |answer: String| if answer.is_empty() { Vec::new() } else { vec![answer] };
        let part = Part { translations: answers.map(list).collect(), cut: None, cost };
        part.write(&self.parts.path(number), pairs)?;
        Ok(pairs.len() as u64)
    }
}

/// Ends the work if the user wants it.
pub(super) fn check(stop: &AtomicBool, parts: &Parts) -> Result<(), DistilError> {
    if !stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(DistilError::Stopped { done: parts.done(), count: parts.count() })
}

/// The different translations that say something, best first.
fn distinct(translation: &Translation) -> Vec<String> {
    let mut texts: Vec<String> = Vec::with_capacity(translation.alternatives.len());
    for alternative in &translation.alternatives {
        let text = one_line(&alternative.text);
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Remarks about the work, where nobody sees a progress bar.
struct Bulletin<'a> {
    progress: &'a dyn Progress,
    task: Box<dyn Task>,
    started: Instant,
    said: Option<Instant>,
    done: u64,
    todo: u64,
    /// Parts in all.
    parts: usize,
}

impl<'a> Bulletin<'a> {
    fn new(progress: &'a dyn Progress, todo: u64, parts: usize) -> Self {
        let task = progress.task("translating", todo);
        Self { progress, task, started: Instant::now(), said: None, done: 0, todo, parts }
    }

    /// A part is done; they are counted from 0, but not for people.
    fn advance(&mut self, part: usize, pairs: u64) {
        self.done += pairs;
        let is_time = self.done == self.todo || self.said.is_none_or(|at| at.elapsed() >= PAUSE);
        if self.task.is_visible() || !is_time {
            return;
        }
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let left = self.todo.saturating_sub(self.done) as f64 / rate;
        self.progress.note(&format!(
            "part {} of {}: {} of {} pairs, {rate:.1} pairs/s, {} to go",
            part + 1,
            self.parts,
            grouped(self.done),
            grouped(self.todo),
            clock(left)
        ));
        self.said = Some(Instant::now());
    }
}
