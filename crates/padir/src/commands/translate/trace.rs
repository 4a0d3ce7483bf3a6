//! Every step of every hypothesis, as JSON lines.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use padir_base::TokenId;
use padir_base::file::AtomicFile;
use padir_decode::Event;
use padir_text::vocab::Vocabulary;
use padir_translate::Place;
use serde::Serialize;
use serde_json::{Map, Value};

/// A slot that says nothing.
const BLANK: &str = "<blank>";

/// A file of events, which appears when it is complete.
pub(super) struct Trace {
    vocabulary: Arc<Vocabulary>,
    /// What stands for nothing in an alignment.
    blank: Option<TokenId>,
    path: PathBuf,
    out: BufWriter<AtomicFile>,
    failure: Option<io::Error>,
}

/// One line. Which job of a batch it was depends on the batch and says nothing.
#[derive(Serialize)]
struct Entry {
    line: u64,
    part: usize,
    #[serde(flatten)]
    event: Map<String, Value>,
    pieces: Vec<String>,
}

fn without_job(event: &Event) -> serde_json::Result<Map<String, Value>> {
    let mut fields = match serde_json::to_value(event)? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.remove("job");
    Ok(fields)
}

impl Trace {
    pub(super) fn create(
        path: &Path,
        vocabulary: &Arc<Vocabulary>,
        blank: Option<TokenId>,
    ) -> Result<Self> {
        let file =
            AtomicFile::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let (vocabulary, path) = (Arc::clone(vocabulary), path.to_owned());
        Ok(Self { vocabulary, blank, path, out: BufWriter::new(file), failure: None })
    }

    /// Writes an event; what goes wrong is told by [`Trace::finish`].
    pub(super) fn note(&mut self, place: Place, event: &Event) {
        if self.failure.is_some() {
            return;
        }
        let piece = |&id| match self.vocabulary.piece(id) {
            _ if Some(id) == self.blank => BLANK.to_owned(),
            piece => piece.map_or_else(String::new, Cow::into_owned),
        };
        let pieces = event.tokens.iter().map(piece).collect();
        let written = without_job(event)
            .and_then(|event| {
                let entry = Entry { line: place.text, part: place.part, event, pieces };
                serde_json::to_writer(&mut self.out, &entry)
            })
            .map_err(io::Error::from);
        self.failure = written.and_then(|()| writeln!(self.out)).err();
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<()> {
        let Self { out, path, failure, .. } = self;
        let finished = match failure {
            Some(failure) => Err(anyhow::Error::from(failure)),
            None => (|| Ok(out.into_inner().map_err(io::IntoInnerError::into_error)?.commit()?))(),
        };
        finished.with_context(|| format!("cannot write {}", path.display()))
    }
}
