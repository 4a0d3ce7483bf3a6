//! Two files, line by line. Their numbers of lines must agree.

use crate::corpus::{Bad, PairReader};
use crate::defect::Defect;
use crate::lines::Lines;
use crate::origin::Origin;
use crate::pair::{CorpusError, Pair};

pub(crate) struct Aligned {
    source: Half,
    target: Half,
}

struct Half {
    file: String,
    lines: Lines,
}

impl Half {
    fn open(origin: &Origin, limit: usize) -> Result<Self, CorpusError> {
        Ok(Self { file: origin.name(), lines: Lines::new(origin.open()?, limit) })
    }

    /// Reads a line into `text`; `None` at the end.
    fn read(&mut self, text: &mut String) -> Result<Option<Result<(), Defect>>, CorpusError> {
        text.clear();
        let line = self.lines.next_line()?;
        Ok(line.map(|line| line.map(|line| text.push_str(line))))
    }

    fn bad(&self, defect: Defect) -> Bad {
        Bad { defect, line: self.lines.number(), file: self.file.clone() }
    }
}

impl Aligned {
    pub(crate) fn open(
        source: &Origin,
        target: &Origin,
        limit: usize,
    ) -> Result<Self, CorpusError> {
        Ok(Self { source: Half::open(source, limit)?, target: Half::open(target, limit)? })
    }

    fn unequal(&mut self) -> Result<CorpusError, CorpusError> {
        Ok(CorpusError::Unequal {
            source_file: self.source.file.clone(),
            source_lines: self.source.lines.count_rest()?,
            target_file: self.target.file.clone(),
            target_lines: self.target.lines.count_rest()?,
        })
    }
}

impl PairReader for Aligned {
    fn read(&mut self, pair: &mut Pair) -> Result<Option<Result<(), Bad>>, CorpusError> {
        let source = self.source.read(&mut pair.source)?;
        let target = self.target.read(&mut pair.target)?;
        Ok(Some(match (source, target) {
            (None, None) => return Ok(None),
            (None, _) | (_, None) => return Err(self.unequal()?),
            (Some(Err(defect)), _) => Err(self.source.bad(defect)),
            (_, Some(Err(defect))) => Err(self.target.bad(defect)),
            (Some(Ok(())), Some(Ok(()))) => Ok(()),
        }))
    }
}
