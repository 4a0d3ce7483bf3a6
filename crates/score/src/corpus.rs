//! References: for every segment one text or several.

use std::fmt;

use thiserror::Error;

/// Why texts cannot be scored together.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CorpusError {
    /// There is nothing to score.
    #[error("there are no segments")]
    Empty,
    /// There is nothing to compare with.
    #[error("there are no references")]
    NoReferences,
    /// Two reference streams differ in length.
    #[error("reference stream {stream} has {found} segments, the first has {expected}")]
    UnequalReferences {
        /// Which stream, from 1.
        stream: usize,
        /// The length of the first.
        expected: usize,
        /// Its own length.
        found: usize,
    },
    /// A system and the references differ in length.
    #[error("system {system} has {found} segments, the references have {expected}")]
    UnequalSystem {
        /// Which system, from 1.
        system: usize,
        /// The length of the references.
        expected: usize,
        /// Its own length.
        found: usize,
    },
    /// Every stream leaves this segment out.
    #[error("segment {segment} has no reference")]
    NoReference {
        /// Which segment, from 1.
        segment: usize,
    },
    /// More segments than resampling can index.
    #[error("{segments} segments are more than 4294967295")]
    TooManySegments {
        /// How many there are.
        segments: usize,
    },
}

/// How many references the segments have: what a signature calls `nrefs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceCount {
    /// All segments have this many.
    Fixed(usize),
    /// The number varies.
    Variable,
}

impl fmt::Display for ReferenceCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(count) => count.fmt(f),
            Self::Variable => f.write_str("var"),
        }
    }
}

/// The references of a corpus, segment by segment.
#[derive(Clone, Debug)]
pub struct References<'a> {
    texts: Vec<&'a str>,
    /// Where each segment's texts end.
    ends: Vec<usize>,
    count: ReferenceCount,
}

impl<'a> References<'a> {
    /// References from streams of equal length, each with a text for every segment.
    ///
    /// # Errors
    /// If there is no stream, no segment, or the lengths differ.
    pub fn new<S: AsRef<[&'a str]>>(streams: &[S]) -> Result<Self, CorpusError> {
        let streams: Vec<&[&str]> = streams.iter().map(AsRef::as_ref).collect();
        Self::gather(&streams, |&text| Some(text))
    }

    /// References from streams that may leave segments out, so that their number varies. An empty
    /// text is a reference like any other; only `None` is left out.
    ///
    /// # Errors
    /// If there is no stream, no segment, the lengths differ, or a segment is in no stream.
    pub fn with_gaps<S: AsRef<[Option<&'a str>]>>(streams: &[S]) -> Result<Self, CorpusError> {
        let streams: Vec<&[Option<&str>]> = streams.iter().map(AsRef::as_ref).collect();
        Self::gather(&streams, |&text| text)
    }

    fn gather<T>(
        streams: &[&[T]],
        text: impl Fn(&T) -> Option<&'a str>,
    ) -> Result<Self, CorpusError> {
        let expected = streams.first().ok_or(CorpusError::NoReferences)?.len();
        for (index, stream) in streams.iter().enumerate() {
            if stream.len() != expected {
                let (stream, found) = (index + 1, stream.len());
                return Err(CorpusError::UnequalReferences { stream, expected, found });
            }
        }
        if expected == 0 {
            return Err(CorpusError::Empty);
        }
        if u32::try_from(expected).is_err() {
            return Err(CorpusError::TooManySegments { segments: expected });
        }
        let mut texts = Vec::with_capacity(expected * streams.len());
        let mut ends = Vec::with_capacity(expected);
        let mut count = None;
        for segment in 0..expected {
            let start = texts.len();
            texts.extend(streams.iter().filter_map(|stream| text(&stream[segment])));
            ends.push(texts.len());
            let own = ReferenceCount::Fixed(texts.len() - start);
            if own == ReferenceCount::Fixed(0) {
                return Err(CorpusError::NoReference { segment: segment + 1 });
            }
            count = match count {
                Some(all) if all != own => Some(ReferenceCount::Variable),
                _ => Some(own),
            };
        }
        let count = count.ok_or(CorpusError::Empty)?;
        Ok(Self { texts, ends, count })
    }

    /// The number of segments; never zero.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many references the segments have.
    pub fn count(&self) -> ReferenceCount {
        self.count
    }

    /// The references of one segment; never none.
    pub fn segment(&self, index: usize) -> &[&'a str] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[index]]
    }
}
