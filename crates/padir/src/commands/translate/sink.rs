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

/// A translation as JSON.
#[derive(Serialize)]
struct Record<'a> {
    line: u64,
    source: &'a str,
    text: &'a str,
    parts: usize,
    source_tokens: usize,
    alternatives: &'a [Alternative],
    /// The text after each step, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<&'a [String]>,
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

    /// Writes translations, and lets them out at once. JSON says how they came about, if that is known.
    pub(super) fn write(
        &mut self,
        lines: &[Line],
        translations: &[Translation],
        refinement: Option<&[String]>,
    ) -> Result<()> {
        for (line, translation) in lines.iter().zip(translations) {
            self.write_one(line, translation, refinement)?;
        }
        Ok(self.out.flush()?)
    }

    fn write_one(
        &mut self,
        line: &Line,
        translation: &Translation,
        refinement: Option<&[String]>,
    ) -> Result<()> {
        let score = translation.alternatives.first().map_or(0.0, |best| best.score);
        match self.form {
            Form::Plain => writeln!(self.out, "{}", unbroken(translation.text()))?,
            Form::Scored => writeln!(self.out, "{score:.4}\t{}", unbroken(translation.text()))?,
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
