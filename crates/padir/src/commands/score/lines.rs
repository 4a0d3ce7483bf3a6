//! Reads whole files of segments, one a line.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use padir_score::python::rstrip;
use padir_text::input::{display_name, open};
use rayon::prelude::*;

use crate::hint::WithHint;

/// A file in memory.
pub(super) struct Text {
    /// What messages call it.
    pub(super) name: String,
    text: String,
}

impl Text {
    fn read(path: &Path) -> Result<Self> {
        let name = display_name(path);
        let mut bytes = Vec::new();
        open(path)?.read_to_end(&mut bytes)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..valid].split(|&b| b == b'\n').count();
                Err(anyhow!("{name}, line {line}: invalid UTF-8"))
                    .hint("convert the file first, for example with iconv")
            }
        }
    }

    /// The segments. Lines end in `\n` only; white space at their end, `\r` too, is dropped, as
    /// Python's `rstrip` does.
    pub(super) fn lines(&self) -> Vec<&str> {
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        if self.text.is_empty() {
            return Vec::new();
        }
        text.split('\n').map(rstrip).collect()
    }

    pub(super) fn starts_with_bom(&self) -> bool {
        self.text.starts_with('\u{feff}')
    }
}

/// Reads the files, several at a time.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Text>> {
    paths.par_iter().map(|path| Text::read(path)).collect::<Vec<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_feeds_only() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\r\nb \n\n", &["a", "b", ""]),
            ("a\u{2028}b\u{85}c\rd\n", &["a\u{2028}b\u{85}c\rd"]),
        ] {
            let text = Text { name: "test".into(), text: text.into() };
            assert_eq!(text.lines(), expected, "{:?}", text.text);
        }
    }
}
