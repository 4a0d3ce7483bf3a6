//! Reranking: options of commands that translate.

use std::path::PathBuf;

use anyhow::{Context, Result};
#[cfg(feature = "toolkit")]
use padir_pipeline::model::{ModelRecord, RerankerRecord};
use padir_translate::{Options, Reranker, Translator};

use crate::hint::WithHint;

/// Which model orders the hypotheses.
#[derive(clap::Args)]
pub(crate) struct RerankArgs {
    /// Rerank with an autoregressive model of the same vocabulary: it scores the hypotheses of a parallel one by forced decoding. Better,
    /// and slower by one pass over all of them.
    #[arg(long, alias = "judge", value_name = "DIR", help_heading = "Decoding")]
    rerank: Option<PathBuf>,

    /// α of the reranker's length penalty [default: that of its beam search].
    #[arg(
        long,
        alias = "judge-penalty",
        value_name = "α",
        requires = "rerank",
        allow_negative_numbers = true,
        help_heading = "Decoding"
    )]
    rerank_penalty: Option<f64>,
}

impl RerankArgs {
    /// Gives a translator its reranker, if one was asked for, which computes as the translator does.
    pub(crate) fn attach(&self, translator: &mut Translator, threads: usize) -> Result<()> {
        let Some(directory) = &self.rerank else { return Ok(()) };
        let precision = Some(translator.engine().precision());
        let mut reranker = Reranker::open(
            directory,
            Options { precision, threads, shortlist: false },
        )
        .with_context(|| format!("{} cannot rerank", directory.display()))
        .hint(
            "--rerank takes the directory of an autoregressive model, such as runs/teacher/best",
        )?;
        if let Some(alpha) = self.rerank_penalty {
            reranker.set_length_penalty(alpha)?;
        }
        translator
            .set_reranker(Some(reranker))
            .hint("train both with the same vocabulary, as recipes do with teacher and student")
    }

    /// The reranker, for the record.
    #[cfg(feature = "toolkit")]
    pub(crate) fn record(&self, translator: &Translator) -> Result<Option<RerankerRecord>> {
        let (Some(directory), Some(reranker)) = (&self.rerank, translator.reranker()) else {
            return Ok(None);
        };
        let model = ModelRecord::of(directory, false)?;
        anyhow::ensure!(!model.files.is_empty(), "{} is gone", directory.display());
        Ok(Some(RerankerRecord { model, length_penalty: reranker.length_penalty() }))
    }
}
