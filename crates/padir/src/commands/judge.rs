//! Who has the last word: options of commands that translate.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use padir_translate::{Judge, Options, Translator};
use serde::{Deserialize, Serialize};

use super::report::evaluation::Model;
use crate::commands::distil::task::hash_model;
use crate::hint::WithHint;

/// Who orders what was found.
#[derive(clap::Args)]
pub(crate) struct JudgeArgs {
    /// An autoregressive model with the same vocabulary that orders the hypotheses of a parallel one: better, and slower by one pass
    /// over all of them.
    #[arg(long, value_name = "DIR", help_heading = "Decoding")]
    judge: Option<PathBuf>,

    /// α of the judge's length penalty [default: that of its beam search].
    #[arg(
        long,
        value_name = "α",
        requires = "judge",
        allow_negative_numbers = true,
        help_heading = "Decoding"
    )]
    judge_penalty: Option<f64>,
}

/// A judge, on record.
#[derive(Serialize, Deserialize)]
pub(crate) struct JudgeRecord {
    #[serde(flatten)]
    pub(crate) model: Model,
    pub(crate) length_penalty: f64,
}

impl JudgeArgs {
    /// Gives a translator its judge, if one was asked for, who computes as the translator does.
    pub(crate) fn appoint(&self, translator: &mut Translator, threads: usize) -> Result<()> {
        let Some(directory) = &self.judge else { return Ok(()) };
        let precision = Some(translator.engine().precision());
        let mut judge = Judge::open(directory, Options { precision, threads, shortlist: false })
            .with_context(|| format!("{} cannot judge", directory.display()))
            .hint(
                "--judge takes the directory of an autoregressive model, such as runs/teacher/best",
            )?;
        if let Some(alpha) = self.judge_penalty {
            judge.set_length_penalty(alpha)?;
        }
        translator
            .set_judge(Some(judge))
            .hint("train both with the same vocabulary, as recipes do with teacher and student")
    }

    /// Who judged, for the record.
    pub(crate) fn record(&self, translator: &Translator) -> Result<Option<JudgeRecord>> {
        let (Some(directory), Some(judge)) = (&self.judge, translator.judge()) else {
            return Ok(None);
        };
        let files = hash_model(directory, false)?;
        ensure!(!files.is_empty(), "{} is gone", directory.display());
        let files = files.into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect();
        let model = Model { directory: directory.clone(), files };
        Ok(Some(JudgeRecord { model, length_penalty: judge.length_penalty() }))
    }
}
