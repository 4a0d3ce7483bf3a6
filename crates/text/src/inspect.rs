//! What is in a corpus: counts, lengths, repetitions, characters, overlap with others.
//!
//! Memory: three fingerprints of 8 bytes per pair, and tables of fixed size. The text itself is
//! not kept, but for the longest lines. Reading is one thread, measuring all the others; every
//! figure is a sum, a maximum or a sorted list, so their number changes nothing.

mod characters;
mod lengths;
mod longest;
mod overlap;

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use rayon::prelude::*;
use serde::Serialize;

use self::characters::Characters;
pub use self::characters::{CharacterReport, Share};
pub use self::lengths::{Bin, LengthReport, RatioReport};
use self::lengths::{Lengths, Ratios};
pub use self::longest::LongLine;
use self::longest::Longest;
pub use self::overlap::{Overlap, overlaps};
use crate::corpus::Pairs;
use crate::defect::DefectCounts;
use crate::hash::Fingerprint;
use crate::pair::{CorpusError, Pair};

/// Pairs measured together.
const CHUNK: usize = 4096;

/// What one corpus looks like.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusReport {
    /// How the user named it.
    pub corpus: String,
    /// Pairs read.
    pub pairs: u64,
    /// Pairs left out as bad.
    pub skipped: u64,
    /// Pairs whose two sides are the same text.
    pub identical_sides: u64,
    /// Pairs, sources and targets that stood there before.
    pub duplicates: Duplicates,
    /// Target length over source length, in characters.
    pub ratio: RatioReport,
    /// The sources.
    pub source: SideReport,
    /// The targets.
    pub target: SideReport,
}

/// How many lines repeat an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// Both sides together.
    pub pairs: u64,
    /// The source alone.
    pub sources: u64,
    /// The target alone.
    pub targets: u64,
}

/// What one side of a corpus looks like.
#[derive(Clone, Debug, Serialize)]
pub struct SideReport {
    /// Bytes without line ends.
    pub bytes: u64,
    /// Unicode characters.
    pub characters: u64,
    /// Runs of characters between white space.
    pub words: u64,
    /// Lines without a word.
    pub empty: u64,
    /// Words in a line.
    pub words_per_line: LengthReport,
    /// Characters in a line.
    pub characters_per_line: LengthReport,
    /// What kinds of characters, and of which scripts.
    pub alphabet: CharacterReport,
    /// The longest lines.
    pub longest: Vec<LongLine>,
}

/// A measured corpus: the report, and what is needed to compare it with others.
pub struct Inspection {
    /// What it looks like.
    pub report: CorpusReport,
    /// What was left out, by reason.
    pub skipped: DefectCounts,
    fingerprints: Fingerprints,
}

/// The fingerprints of all lines.
#[derive(Default)]
struct Fingerprints {
    sources: Vec<u64>,
    targets: Vec<u64>,
    pairs: Vec<u64>,
}

/// What a thread has measured.
#[derive(Default)]
struct Measure {
    pairs: u64,
    identical: u64,
    ratios: Ratios,
    source: SideMeasure,
    target: SideMeasure,
    fingerprints: Fingerprints,
}

#[derive(Default)]
struct SideMeasure {
    bytes: u64,
    empty: u64,
    words: Lengths,
    lengths: Lengths,
    alphabet: Characters,
    longest: Longest,
}

/// Reads and measures a corpus. `progress` is told the number of pairs from time to time.
///
/// # Errors
/// When reading fails, as [`Pairs::read`].
pub fn inspect(
    name: String,
    mut pairs: Pairs,
    progress: impl Fn(u64),
) -> Result<Inspection, CorpusError> {
    let workers = rayon::current_num_threads().max(1);
    let (sender, receiver) = mpsc::sync_channel::<(u64, Vec<Pair>)>(2 * workers);
    let receiver = Mutex::new(receiver);
    let work = || {
        let mut measure = Measure::default();
        loop {
            let chunk = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((first, chunk)) = chunk else { return measure };
            for (line, pair) in (first..).zip(&chunk) {
                measure.add(line, pair);
            }
        }
    };
    let (read, measures) = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let read = send_chunks(&mut pairs, &sender, progress);
        drop(sender);
        let measures: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        (read, measures)
    });
    read?;
    let mut total = Measure::default();
    for measure in measures {
        total.merge(measure.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    }
    let skipped = pairs.skipped();
    Ok(total.finish(name, skipped))
}

fn send_chunks(
    pairs: &mut Pairs,
    sender: &mpsc::SyncSender<(u64, Vec<Pair>)>,
    progress: impl Fn(u64),
) -> Result<(), CorpusError> {
    let mut first = 1;
    loop {
        let chunk = pairs.take(CHUNK).collect::<Result<Vec<_>, _>>()?;
        let length = chunk.len() as u64;
        // A closed channel means that a worker panicked, which the join will tell.
        if length == 0 || sender.send((first, chunk)).is_err() {
            return Ok(());
        }
        first += length;
        progress(first - 1);
    }
}

impl Measure {
    fn add(&mut self, line: u64, pair: &Pair) {
        self.pairs += 1;
        self.identical += u64::from(pair.source == pair.target);
        let source = self.source.add(line, &pair.source);
        let target = self.target.add(line, &pair.target);
        self.ratios.add(source, target);
        self.fingerprints.push(Fingerprint::of(pair));
    }

    fn merge(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.identical += other.identical;
        self.ratios.merge(&other.ratios);
        self.source.merge(other.source);
        self.target.merge(other.target);
        self.fingerprints.merge(other.fingerprints);
    }

    fn finish(self, corpus: String, skipped: DefectCounts) -> Inspection {
        let mut fingerprints = self.fingerprints;
        fingerprints.sort();
        let report = CorpusReport {
            corpus,
            pairs: self.pairs,
            skipped: skipped.total(),
            identical_sides: self.identical,
            duplicates: Duplicates {
                pairs: repeated(&fingerprints.pairs),
                sources: repeated(&fingerprints.sources),
                targets: repeated(&fingerprints.targets),
            },
            ratio: self.ratios.report(),
            source: self.source.finish(),
            target: self.target.finish(),
        };
        Inspection { report, skipped, fingerprints }
    }
}

impl SideMeasure {
    /// Measures a line and gives its length in characters.
    fn add(&mut self, line: u64, text: &str) -> usize {
        let (characters, words) = self.alphabet.add(text);
        self.bytes += text.len() as u64;
        self.empty += u64::from(words == 0);
        self.words.add(words);
        self.lengths.add(characters);
        self.longest.add(line, characters, text);
        characters
    }

    fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.empty += other.empty;
        self.words.merge(&other.words);
        self.lengths.merge(&other.lengths);
        self.alphabet.merge(&other.alphabet);
        self.longest.merge(other.longest);
    }

    fn finish(self) -> SideReport {
        SideReport {
            bytes: self.bytes,
            characters: self.lengths.total(),
            words: self.words.total(),
            empty: self.empty,
            words_per_line: self.words.report(),
            characters_per_line: self.lengths.report(),
            alphabet: self.alphabet.report(),
            longest: self.longest.finish(),
        }
    }
}

impl Fingerprints {
    fn push(&mut self, Fingerprint { source, target, pair }: Fingerprint) {
        self.sources.push(source);
        self.targets.push(target);
        self.pairs.push(pair);
    }

    fn merge(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.targets.extend(other.targets);
        self.pairs.extend(other.pairs);
    }

    fn sort(&mut self) {
        for column in [&mut self.sources, &mut self.targets, &mut self.pairs] {
            column.par_sort_unstable();
        }
    }
}

/// How many entries of a sorted list equal the one before.
fn repeated(sorted: &[u64]) -> u64 {
    sorted.windows(2).filter(|two| two[0] == two[1]).count() as u64
}

#[cfg(test)]
mod tests;
