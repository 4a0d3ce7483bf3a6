//! One file with tabs between the columns. There is no quoting: a tab always separates.

use std::str::FromStr;

use memchr::memchr_iter;
use thiserror::Error;

use crate::corpus::{Bad, PairReader};
use crate::defect::{Defect, check};
use crate::lines::Lines;
use crate::origin::Origin;
use crate::pair::{CorpusError, Pair};

/// Which columns of a TSV file hold the sentences, counted from 1 as `cut -f` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    source: usize,
    target: usize,
}

/// Columns that cannot be.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("columns are two numbers from 1, as in 1,2, not {0:?}")]
pub struct ColumnsError(String);

impl Columns {
    /// Two columns, counted from 1; `None` if one is 0.
    pub fn new(source: usize, target: usize) -> Option<Self> {
        (source > 0 && target > 0).then_some(Self { source, target })
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self { source: 1, target: 2 }
    }
}

impl FromStr for Columns {
    type Err = ColumnsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (source, target) = text.split_once(',')?;
            Self::new(source.trim().parse().ok()?, target.trim().parse().ok()?)
        };
        parse().ok_or_else(|| ColumnsError(text.to_owned()))
    }
}

pub(crate) struct Tsv {
    file: String,
    lines: Lines,
    columns: Columns,
}

impl Tsv {
    pub(crate) fn open(
        origin: &Origin,
        columns: Columns,
        limit: usize,
    ) -> Result<Self, CorpusError> {
        Ok(Self { file: origin.name(), lines: Lines::new(origin.open()?, limit), columns })
    }
}

impl PairReader for Tsv {
    fn read(&mut self, pair: &mut Pair) -> Result<Option<Result<(), Bad>>, CorpusError> {
        let Some(line) = self.lines.next_bytes()? else { return Ok(None) };
        let taken = line.and_then(|line| take(line, self.columns, pair));
        Ok(Some(taken.map_err(|defect| Bad {
            defect,
            line: self.lines.number(),
            file: self.file.clone(),
        })))
    }
}

/// Takes two columns out of a line. Other columns may hold what they like.
fn take(line: &[u8], columns: Columns, pair: &mut Pair) -> Result<(), Defect> {
    let source = column(line, columns.source)?;
    let target = column(line, columns.target)?;
    pair.set(check(source)?, check(target)?);
    Ok(())
}

fn column(line: &[u8], column: usize) -> Result<&[u8], Defect> {
    let mut start = 0;
    let mut found = 1;
    for tab in memchr_iter(b'\t', line) {
        if found == column {
            return Ok(&line[start..tab]);
        }
        start = tab + 1;
        found += 1;
    }
    if found == column { Ok(&line[start..]) } else { Err(Defect::MissingColumn { column, found }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_parsed() {
        let cases = [
            ("1,2", Some((1, 2))),
            ("3, 1", Some((3, 1))),
            ("2,2", Some((2, 2))),
            ("0,1", None),
            ("1", None),
            ("a,b", None),
            ("1,2,3", None),
            ("", None),
            ("1,-2", None),
        ];
        for (text, expected) in cases {
            let parsed = text.parse::<Columns>().ok().map(|c| (c.source, c.target));
            assert_eq!(parsed, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn columns_agree_with_a_plain_split(
            line in prop::collection::vec(prop_oneof![Just(b'\t'), any::<u8>()], 0..60),
            wanted in 1_usize..8,
        ) {
            let all: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
            let expected = all
                .get(wanted - 1)
                .copied()
                .ok_or(Defect::MissingColumn { column: wanted, found: all.len() });
            prop_assert_eq!(column(&line, wanted), expected);
        }
    }
}
