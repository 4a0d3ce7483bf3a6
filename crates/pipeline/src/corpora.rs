//! Corpora read as a whole, with progress and remarks about what is left out.

use padir_text::Pair;
use padir_text::corpus::{Corpus, Reading};
use padir_text::defect::DefectCounts;
use padir_text::pair::CorpusError;

use crate::Error;
use crate::progress::Progress;

/// Reads all pairs of all corpora in turn; gives the number of pairs read and of those left out.
///
/// # Errors
/// If a corpus cannot be read, or with what `visit` fails with.
pub fn for_each_pair<E: From<CorpusError>>(
    progress: &dyn Progress,
    corpora: &[Corpus],
    reading: Reading,
    mut visit: impl FnMut(&Pair) -> Result<(), E>,
) -> Result<(u64, u64), E> {
    /// How many pairs are shown at once.
    const STRIDE: u64 = 1000;
    let task = progress.task("pairs", 0);
    let (mut read, mut skipped) = (0, 0);
    let mut empty = Vec::new();
    let mut pair = Pair::default();
    for corpus in corpora {
        let before = read + skipped;
        let mut pairs = corpus.open(reading)?;
        while pairs.read(&mut pair)? {
            visit(&pair)?;
            read += 1;
            if read % STRIDE == 0 {
                task.advance(STRIDE);
            }
        }
        note_skipped(progress, corpus, pairs.skipped());
        skipped += pairs.skipped().total();
        if read + skipped == before {
            empty.push(corpus);
        }
    }
    drop(task);
    // If all are empty, that is for the caller to say.
    for corpus in empty.into_iter().filter(|_| read + skipped > 0) {
        progress.note(&format!("note: {corpus} is empty"));
    }
    Ok((read, skipped))
}

/// Says what was left out of a corpus, if anything.
pub fn note_skipped(progress: &dyn Progress, corpus: &Corpus, skipped: DefectCounts) {
    if skipped.total() == 0 {
        return;
    }
    let reasons = skipped.reasons();
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    progress.note(&format!("{corpus}: skipped {} ({})", skipped.total(), reasons.join(", ")));
}

/// Refuses corpora without a pair.
///
/// # Errors
/// If there is none.
pub fn require_pairs(corpora: &[Corpus], pairs: u64) -> Result<(), Error> {
    if pairs > 0 { Ok(()) } else { Err(Error::Empty(all_empty(corpora))) }
}

/// Says that corpora have no pair between them.
pub fn all_empty(corpora: &[Corpus]) -> String {
    let names: Vec<String> = corpora.iter().map(ToString::to_string).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb} empty", names.join(", "))
}
