//! How a model computes: options of every command that opens one.

use std::path::Path;

use anyhow::{Context, Result};
use padir_engine::Precision;
use padir_text::shortlist::SHORTLIST;
use padir_translate::{Options, TranslateError, Translator};

use crate::hint::WithHint;

/// How a model computes.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Arithmetic {
    /// Compute in int8: faster and smaller, at a small loss of quality [default for models stored in int8].
    #[arg(long)]
    int8: bool,

    /// Compute in single precision [default for all other models].
    #[arg(long, conflicts_with = "int8")]
    f32: bool,

    /// Restrict each text to the tokens of its lexical shortlist (`padir shortlist`): faster, at a small loss of quality.
    #[arg(long)]
    pub(crate) shortlist: bool,
}

impl Arithmetic {
    /// The shortlist that a model is used with, if it is. It lies in the model's directory, but is no part of what the model's stage in a
    /// recipe made.
    pub(crate) fn shortlist_of(self, model: &Path) -> Vec<String> {
        self.shortlist.then(|| model.join(SHORTLIST).display().to_string()).into_iter().collect()
    }

    /// Opens a model, or says what can be done about it.
    pub(crate) fn open(self, directory: &Path, threads: usize) -> Result<Translator> {
        let precision = match (self.int8, self.f32) {
            (true, _) => Some(Precision::Int8),
            (_, true) => Some(Precision::F32),
            _ => None,
        };
        let options = Options { precision, threads, shortlist: self.shortlist };
        let opened = Translator::open(directory, options);
        let advice = match &opened {
            Err(TranslateError::Checkpoint(_)) => {
                "--model takes the directory that `padir train` writes, such as runs/en-de/best"
            }
            Err(TranslateError::Vocabulary(_) | TranslateError::ForeignVocabulary(_)) => {
                "copy the spiece.model the model was trained with into its directory"
            }
            Err(TranslateError::Shortlist(_)) => {
                "`padir shortlist --model DIR train.en train.de` makes one for the model"
            }
            _ => return opened.with_context(|| format!("cannot use {}", directory.display())),
        };
        opened.hint(advice)
    }
}
