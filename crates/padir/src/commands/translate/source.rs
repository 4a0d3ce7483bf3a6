//! Texts to translate, in batches that do not wait.
//!
//! Lines are read by a thread of their own. A batch is whatever has arrived when the translator is free, so a
//! slow writer gets each line back at once and a fast one fills whole batches.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::{Context, Result};

use crate::console::Console;
use crate::hint::WithHint;
use crate::lines::for_each_line;

/// Lines that may wait.
const WAITING: usize = 4096;

/// A text and the number of its line, counted over all files from 1.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: String,
}

/// Where texts come from.
pub(super) struct Source {
    lines: Receiver<Result<Line>>,
}

impl Source {
    /// The texts of the command line if there are any, else the lines of files, else those of stdin.
    pub(super) fn open(texts: Vec<String>, files: &[PathBuf], max_line: usize) -> Result<Self> {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        let (send, lines) = sync_channel(WAITING);
        let read = move || {
            let mut number = 0;
            let mut pass = |text: &str| {
                number += 1;
                let line = Line { number, text: text.to_owned() };
                // Nobody listens any more: the translator has failed and says why.
                send.send(Ok(line)).map_err(|_| Gone)
            };
            let read = if texts.is_empty() {
                files
                    .iter()
                    .try_for_each(|file| for_each_line(file, max_line, &mut |line| Ok(pass(line)?)))
            } else {
                let lines = texts.iter().flat_map(|text| {
                    // A text on the command line may have several lines; an empty one is still a line.
                    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
                });
                lines.into_iter().try_for_each(|line| Ok(pass(line)?))
            };
            if let Err(error) = read {
                let _ = send.send(Err(error));
            }
        };
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(read)
            .context("cannot start a thread")?;
        Ok(Self { lines })
    }

    /// Calls back with batches of at most `most` lines until there are no more. A line that cannot be read ends it, after
    /// those before it were passed on.
    pub(super) fn for_each_batch(
        &self,
        most: usize,
        mut visit: impl FnMut(&[Line]) -> Result<()>,
    ) -> Result<()> {
        let (mut failure, mut is_any) = (None, false);
        while failure.is_none() {
            let Ok(first) = self.lines.recv() else { break };
            let mut batch = Vec::with_capacity(most);
            for line in std::iter::once(first).chain(self.lines.try_iter()) {
                match line {
                    Ok(line) => batch.push(line),
                    Err(error) => failure = Some(error),
                }
                if batch.len() == most || failure.is_some() {
                    break;
                }
            }
            if !batch.is_empty() {
                visit(&batch)?;
                is_any = true;
            }
        }
        match failure {
            Some(error) if is_any => Err(error).hint("the lines before it were translated"),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// How many lines there are to translate, for a progress bar that knows how long it will take; 0 if nobody looks or it cannot be known before they are
/// read. Files are read once more, which is nothing beside translating them.
pub(super) fn count(
    texts: &[String],
    files: &[PathBuf],
    max_line: usize,
    console: &Console,
) -> u64 {
    if !console.shows_progress() || !files.iter().all(|file| file.is_file()) {
        return 0;
    }
    let mut lines: u64 = texts.iter().map(|text| text.split('\n').count() as u64).sum();
    for file in files {
        let counted = for_each_line(file, max_line, &mut |_| {
            lines += 1;
            Ok(())
        });
        // What is wrong with it is told when it is translated.
        if counted.is_err() {
            return 0;
        }
    }
    lines
}

/// The reader has nobody to read for.
#[derive(Debug, thiserror::Error)]
#[error("nobody listens")]
struct Gone;
