//! Translating: our parts, one after the other, each written as soon as it is done.
//!
//! Within a part sources are translated longest first, so that those of a batch are about as long and end about together.
//! None of this shows in the result, because a translation does not depend on what is translated beside it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use padir_text::corpus::Reading;
use padir_text::{Corpus, Pair};
use padir_translate::{Text, Translation, Translator};

use super::error::DistilError;
use super::part::{Cost, Part};
use super::parts::Parts;
use super::share::Share;
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
    pub(super) translator: &'a mut Translator,
    pub(super) parts: &'a Parts,
    pub(super) share: Share,
    pub(super) pace: Pace,
    pub(super) stop: &'a AtomicBool,
}

impl Worker<'_> {
    /// Translates all parts that are ours and not done.
    pub(super) fn work(
        mut self,
        progress: &dyn Progress,
        corpora: &[Corpus],
        reading: Reading,
    ) -> Result<(), Error> {
        let todo = self.todo();
        if todo == 0 {
            return Ok(());
        }
        let mut bulletin = Bulletin::new(progress, todo);
        let mut seen = 0;
        for_each_part(corpora, reading, self.pace.part, |number, pairs| {
            if number >= self.parts.count() {
                return Err(DistilError::Changed.into());
            }
            seen += pairs.len() as u64;
            if !self.share.takes(number) || self.parts.has(number) {
                return Ok(());
            }
            let part = self.translate(pairs, bulletin.task.as_ref())?;
            part.write(&self.parts.path(number), pairs)?;
            bulletin.advance(number + 1, self.parts.count(), pairs.len() as u64);
            Ok(())
        })?;
        drop(bulletin);
        // Parts that nobody can translate would be waited for for ever.
        if seen == self.pace.pairs { Ok(()) } else { Err(DistilError::Changed.into()) }
    }

    /// How many pairs we have to translate.
    fn todo(&self) -> u64 {
        let Pace { part: size, pairs, .. } = self.pace;
        let ours = |part: &usize| self.share.takes(*part) && !self.parts.has(*part);
        let size_of = |part: usize| (pairs - (part * size) as u64).min(size as u64);
        (0..self.parts.count()).filter(ours).map(size_of).sum()
    }

    fn translate(&mut self, pairs: &[Pair], task: &dyn Task) -> Result<Part, Error> {
        let started = Instant::now();
        let lengths = source_lengths(self.translator.vocabulary(), pairs);
        let mut part =
            Part { translations: vec![Vec::new(); pairs.len()], cut: None, cost: Cost::default() };
        let mut cut = 0;
        for batch in batches(&lengths, self.pace.batch) {
            check(self.stop, self.parts)?;
            let text = |&at: &usize| Text::new(at as u64, &pairs[at].source);
            let texts: Vec<Text<'_>> = batch.iter().map(text).collect();
            let translations = self.translator.translate(&texts, self.pace.nbest, &mut ())?;
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
}

impl<'a> Bulletin<'a> {
    fn new(progress: &'a dyn Progress, todo: u64) -> Self {
        let task = progress.task("translating", todo);
        Self { progress, task, started: Instant::now(), said: None, done: 0, todo }
    }

    fn advance(&mut self, part: usize, of: usize, pairs: u64) {
        self.done += pairs;
        let is_time = self.done == self.todo || self.said.is_none_or(|at| at.elapsed() >= PAUSE);
        if self.task.is_visible() || !is_time {
            return;
        }
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let left = self.todo.saturating_sub(self.done) as f64 / rate;
        self.progress.note(&format!(
            "part {part} of {of}: {} of {} pairs, {rate:.1} pairs/s, {} to go",
            grouped(self.done),
            grouped(self.todo),
            clock(left)
        ));
        self.said = Some(Instant::now());
    }
}
