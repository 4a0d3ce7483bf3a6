//! Translations on stdout: plain, with scores, n-best lists, or JSON.

use std::borrow::Cow;
use std::io::{BufWriter, StdoutLock, Write};

use anyhow::Result;
use padir_translate::{Alternative, Translation};
use serde::Serialize;

use super::source::Line;
use crate::console::Console;

/// Where translations go.
pub(super) struct Sink {
    out: BufWriter<StdoutLock<'static>>,
    form: Form,
}

/// What a line looks like.
enum Form {
    Plain,
    /// score, tab, text.
    Scored,
    /// number ||| text ||| score.
    List,
    Json,
}

/// What says which words of a translation come of which of the source.
pub(super) trait Pharaoh: Serialize {
    /// `0-0 1-2`.
    fn pharaoh(&self) -> String;
}

/// Builds without alignments have none.
#[cfg(not(feature = "attention"))]
#[derive(Serialize)]
pub(super) struct NoAlignment;

#[cfg(not(feature = "attention"))]
impl Pharaoh for NoAlignment {
    fn pharaoh(&self) -> String {
        String::new()
    }
}

/// A translation as JSON.
#[derive(Serialize)]
struct Record<'a, A> {
    line: u64,
    source: &'a str,
    text: &'a str,
    parts: usize,
    source_tokens: usize,
    alternatives: &'a [Alternative],
    /// The text after each step, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<&'a [String]>,
    /// Which units of source and translation say the same, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    alignment: Option<&'a A>,
}

/// A text without ends of lines, which a model may spell byte by byte.
fn unbroken(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

impl Sink {
    pub(super) fn new(console: &Console, nbest: Option<usize>, scores: bool) -> Self {
        let form = match (console.wants_json(), nbest, scores) {
            (true, _, _) => Form::Json,
            (_, Some(_), _) => Form::List,
            (_, None, true) => Form::Scored,
            (_, None, false) => Form::Plain,
        };
        Self { out: console.out(), form }
    }

    /// Writes translations, with their alignments if there are any, and lets them out at once. JSON says how they came about, if that is known.
    pub(super) fn write<A: Pharaoh>(
        &mut self,
        lines: &[Line],
        translations: &[Translation],
        refinement: Option<&[String]>,
        alignments: &[A],
    ) -> Result<()> {
        for (number, (line, translation)) in lines.iter().zip(translations).enumerate() {
            self.write_one(line, translation, refinement, alignments.get(number))?;
        }
        Ok(self.out.flush()?)
    }

    fn write_one<A: Pharaoh>(
        &mut self,
        line: &Line,
        translation: &Translation,
        refinement: Option<&[String]>,
        alignment: Option<&A>,
    ) -> Result<()> {
        // As Marian and Moses print it: text ||| 0-0 1-2.
        let links = alignment.map_or_else(String::new, |links| format!(" ||| {}", links.pharaoh()));
        let score = translation.alternatives.first().map_or(0.0, |best| best.score);
        match self.form {
            Form::Plain => writeln!(self.out, "{}{links}", unbroken(translation.text()))?,
            Form::Scored => {
                writeln!(self.out, "{score:.4}\t{}{links}", unbroken(translation.text()))?;
            }
            Form::List => {
                for Alternative { text, score, .. } in &translation.alternatives {
                    writeln!(self.out, "{} ||| {} ||| {score:.4}", line.number, unbroken(text))?;
                }
            }
            Form::Json => {
                let record = Record {
                    line: line.number,
                    source: &line.text,
                    text: translation.text(),
                    parts: translation.parts,
                    source_tokens: translation.source_tokens,
                    alternatives: &translation.alternatives,
                    refinement,
                    alignment,
                };
                serde_json::to_writer(&mut self.out, &record)?;
                writeln!(self.out)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_a_line() {
        for (text, expected) in [("a\nb", "a b"), ("a\r\n", "a  "), ("a\tb\u{7}", "a\tb\u{7}")] {
            assert_eq!(unbroken(text), expected, "{text:?}");
        }
    }
}
