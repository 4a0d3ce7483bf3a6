//! Translating: our parts, one after the other, each written as soon as it is done.
//!
//! Within a part sources are translated longest first, so that those of a batch are about as long and end about together.
//! None of this shows in the result, because a translation does not depend on what is translated beside it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use indicatif::ProgressBar;
use padir_text::corpus::Reading;
use padir_text::{Corpus, Pair};
use padir_translate::{Text, Translation, Translator};

use super::batches::{batches, source_lengths};
use super::part::{Cost, Part, one_line};
use super::parts::Parts;
use super::share::Share;
use super::task::CHANGED;
use super::windows::for_each_part;
use crate::commands::data::table::grouped;
use crate::commands::train::clock;
use crate::console::Console;
use crate::hint::WithHint;

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
        console: &Console,
        corpora: &[Corpus],
        reading: Reading,
    ) -> Result<()> {
        let todo = self.todo();
        if todo == 0 {
            return Ok(());
        }
        let mut progress = Progress::new(console, todo);
        let mut seen = 0;
        for_each_part(corpora, reading, self.pace.part, |number, pairs| {
            ensure!(number < self.parts.count(), CHANGED);
            seen += pairs.len() as u64;
            if !self.share.takes(number) || self.parts.has(number) {
                return Ok(());
            }
            let part = self.translate(pairs, &progress.bar)?;
            part.write(&self.parts.path(number), pairs)?;
            progress.advance(number + 1, self.parts.count(), pairs.len() as u64);
            Ok(())
        })?;
        progress.bar.finish_and_clear();
        // Parts that nobody can translate would be waited for for ever.
        ensure!(seen == self.pace.pairs, CHANGED);
        Ok(())
    }

    /// How many pairs we have to translate.
    fn todo(&self) -> u64 {
        let Pace { part: size, pairs, .. } = self.pace;
        let ours = |part: &usize| self.share.takes(*part) && !self.parts.has(*part);
        let size_of = |part: usize| (pairs - (part * size) as u64).min(size as u64);
        (0..self.parts.count()).filter(ours).map(size_of).sum()
    }

    fn translate(&mut self, pairs: &[Pair], bar: &ProgressBar) -> Result<Part> {
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
            bar.inc(batch.len() as u64);
        }
        part.cut = Some(cut);
        part.cost.seconds = started.elapsed().as_secs_f64();
        Ok(part)
    }
}

/// Ends the work if the user wants it.
pub(super) fn check(stop: &AtomicBool, parts: &Parts) -> Result<()> {
    if !stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(anyhow!("stopped with {} of {} parts done", parts.done(), parts.count()))
        .hint("the same command goes on from there")
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

/// A bar on a terminal, plain lines elsewhere.
struct Progress<'a> {
    console: &'a Console,
    bar: ProgressBar,
    started: Instant,
    said: Option<Instant>,
    done: u64,
    todo: u64,
}

impl<'a> Progress<'a> {
    fn new(console: &'a Console, todo: u64) -> Self {
        let bar = console.progress("translating", todo);
        Self { console, bar, started: Instant::now(), said: None, done: 0, todo }
    }

    fn advance(&mut self, part: usize, of: usize, pairs: u64) {
        self.done += pairs;
        let is_time = self.done == self.todo || self.said.is_none_or(|at| at.elapsed() >= PAUSE);
        if !self.bar.is_hidden() || !is_time {
            return;
        }
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let left = self.todo.saturating_sub(self.done) as f64 / rate;
        self.console.note(format!(
            "part {part} of {of}: {} of {} pairs, {rate:.1} pairs/s, {} to go",
            grouped(self.done),
            grouped(self.todo),
            clock(left)
        ));
        self.said = Some(Instant::now());
    }
}
