//! Plain text, line by line, for commands that read sentences and not pairs.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use padir_text::input;
use padir_text::lines::{LINE_LIMIT, Lines};
use rayon::prelude::*;

use crate::hint::WithHint;

/// Lines that are worked on at a time.
const CHUNK: usize = 8192;

/// Text files that a command reads.
#[derive(clap::Args)]
pub(crate) struct TextFiles {
    /// Text files, plain or gz, zst, xz; `-` is stdin.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,

    /// The longest line in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = LINE_LIMIT)]
    pub(crate) max_line: usize,
}

impl fmt::Display for TextFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.files.iter().map(|file| input::display_name(file)).collect();
        f.write_str(&names.join(" + "))
    }
}

impl TextFiles {
    /// Calls back with every line of every file.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
        self.files.iter().try_for_each(|file| for_each_line(file, self.max_line, &mut visit))
    }

    /// Works on lines in parallel and writes the results in their order. Those of a pipe are written before more is waited for.
    pub(crate) fn map_into<T: Send>(
        &self,
        out: &mut impl Write,
        work: impl Fn(&str) -> Result<T> + Sync,
        write: impl Fn(&mut dyn Write, T) -> io::Result<()>,
    ) -> Result<()> {
        let mut chunk = Chunk::default();
        for file in &self.files {
            let mut number = 0;
            read_lines(file, self.max_line, &mut |arrival| match arrival {
                Arrival::Line(line) => {
                    number += 1;
                    chunk.push(line, number);
                    if chunk.is_full() { chunk.flush(file, out, &work, &write) } else { Ok(()) }
                }
                Arrival::Pause => {
                    chunk.flush(file, out, &work, &write)?;
                    Ok(out.flush()?)
                }
            })?;
            chunk.flush(file, out, &work, &write)?;
        }
        Ok(out.flush()?)
    }
}

/// Lines waiting to be worked on.
#[derive(Default)]
struct Chunk {
    text: String,
    /// Where each line ends, and its number in the file.
    ends: Vec<(usize, u64)>,
}

impl Chunk {
    fn push(&mut self, line: &str, number: u64) {
        self.text.push_str(line);
        self.ends.push((self.text.len(), number));
    }

    fn is_full(&self) -> bool {
        self.ends.len() >= CHUNK || self.text.len() >= 1 << 24
    }

    fn flush<T: Send>(
        &mut self,
        file: &Path,
        out: &mut impl Write,
        work: &(impl Fn(&str) -> Result<T> + Sync),
        write: &impl Fn(&mut dyn Write, T) -> io::Result<()>,
    ) -> Result<()> {
        let results: Vec<Result<T>> = (0..self.ends.len())
            .into_par_iter()
            .with_min_len(64)
            .map(|i| work(&self.text[if i == 0 { 0 } else { self.ends[i - 1].0 }..self.ends[i].0]))
            .collect();
        for (result, &(_, number)) in results.into_iter().zip(&self.ends) {
            let name = input::display_name(file);
            write(out, result.with_context(|| format!("{name}, line {number}"))?)?;
        }
        self.text.clear();
        self.ends.clear();
        Ok(())
    }
}

/// The outcome of reading a file.
enum Arrival<'a> {
    Line(&'a str),
    /// The next line is not there yet. Of a regular file there is no word of that: nobody waits for what is read of it.
    Pause,
}

/// Calls back with every line of a file.
pub(crate) fn for_each_line(
    file: &Path,
    limit: usize,
    visit: &mut impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    read_lines(file, limit, &mut |arrival| match arrival {
        Arrival::Line(line) => visit(line),
        Arrival::Pause => Ok(()),
    })
}

/// Calls back with every line of a file, and before it waits for one.
fn read_lines(
    file: &Path,
    limit: usize,
    visit: &mut impl FnMut(Arrival<'_>) -> Result<()>,
) -> Result<()> {
    let name = input::display_name(file);
    let is_regular = file.is_file();
    let mut lines = Lines::new(input::open(file)?, limit);
    loop {
        let number = lines.number() + 1;
        let line = lines.next_line().with_context(|| format!("cannot read {name}"))?;
        match line {
            None => return Ok(()),
            Some(Ok(line)) => visit(Arrival::Line(line))?,
            Some(Err(defect)) => {
                return Err(anyhow::anyhow!("{name}, line {number}: {defect}"))
                    .hint("lines must be UTF-8 without NUL and at most --max-line bytes long");
            }
        }
        if !is_regular && !lines.has_next() {
            visit(Arrival::Pause)?;
        }
    }
}
