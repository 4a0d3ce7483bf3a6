//! Puts the parts together: the new corpus, and what is to be said about it.

use std::sync::atomic::AtomicBool;

use padir_base::hash::Sha256;
use padir_text::corpus::Reading;
use padir_text::vocab::Vocabulary;
use padir_text::writer::{Destination, PairWriter};
use padir_text::{Corpus, Pair};

use super::error::DistilError;
use super::part::Cost;
use super::parts::Parts;
use super::report::OnEmpty;
use super::statistics::{Findings, Row, Statistics};
use super::task::TextHash;
use super::windows::for_each_part;
use super::work::check;
use crate::Error;
use crate::progress::Progress;

/// What is joined, and how.
pub(super) struct Joiner<'a> {
    pub(super) parts: &'a Parts,
    /// Whose tokens are counted; words without one.
    pub(super) vocabulary: Option<&'a Vocabulary>,
    pub(super) corpora: &'a [Corpus],
    pub(super) reading: Reading,
    /// Pairs in a part.
    pub(super) part: usize,
    /// Pairs in all.
    pub(super) pairs: u64,
    /// The hash of the pairs.
    pub(super) text: Sha256,
    pub(super) on_empty: OnEmpty,
    pub(super) stop: &'a AtomicBool,
}

/// What came of it.
pub(super) struct Joined {
    pub(super) written: u64,
    pub(super) findings: Findings,
    pub(super) cost: Cost,
}

impl Joiner<'_> {
    /// Writes the corpus. The files appear when all is written.
    pub(super) fn join(
        &self,
        progress: &dyn Progress,
        destination: &Destination,
    ) -> Result<Joined, Error> {
        let mut writer = destination.create()?;
        let (mut statistics, mut cost) = (Statistics::default(), Cost::default());
        let (mut hash, mut written, mut cut) = (TextHash::default(), 0, Some(0));
        let task = progress.task("joining", self.pairs);
        for_each_part(self.corpora, self.reading, self.part, |number, pairs| {
            check(self.stop, self.parts)?;
            if number >= self.parts.count() {
                return Err(DistilError::Changed.into());
            }
            let part = self.parts.read(number, pairs)?;
            cost.add(part.cost);
            cut = cut.zip(part.cut).map(|(all, here)| all + here);
            for pair in pairs {
                hash.add(pair);
            }
            let rows: Vec<Row<'_>> = pairs
                .iter()
                .zip(&part.translations)
                .map(|(pair, translations)| self.row(pair, translations))
                .collect();
            statistics.add(self.vocabulary, &rows)?;
            for (row, translations) in rows.iter().zip(&part.translations) {
                written += write(&mut writer, row, translations)?;
            }
            task.advance(pairs.len() as u64);
            Ok(())
        })?;
        drop(task);
        hash.check(self.text)?;
        writer.finish()?;
        Ok(Joined { written, findings: statistics.findings(cut), cost })
    }

    fn row<'r>(&self, pair: &'r Pair, translations: &'r [String]) -> Row<'r> {
        let best = translations.first().map(String::as_str);
        let instead = match self.on_empty {
            OnEmpty::KeepReference => Some(pair.target.as_str()),
            OnEmpty::Empty => Some(""),
            OnEmpty::Drop => None,
        };
        Row { pair, best: best.unwrap_or_default(), written: best.or(instead) }
    }
}

/// Writes a source with each of its targets; gives the number of pairs.
fn write(writer: &mut PairWriter, row: &Row<'_>, translations: &[String]) -> Result<u64, Error> {
    let others = translations.iter().skip(1).map(String::as_str);
    let mut written = 0;
    for target in row.written.into_iter().chain(others) {
        writer.write(&Pair::new(&row.pair.source, target))?;
        written += 1;
    }
    Ok(written)
}
