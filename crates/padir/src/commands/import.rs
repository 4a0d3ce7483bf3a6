//! `padir import`: a model of another program becomes one of ours.

use std::path::PathBuf;

use anyhow::Result;
use padir_checkpoint::import::Given;
use padir_checkpoint::{Language, Languages};
use padir_translate::{ImportFailure, ImportOptions, import};

use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Import a translation model of CTranslate2, Argos Translate or Hugging Face (Marian, OPUS-MT).
///
/// The result is a directory like those that `padir train` writes: an autoregressive model that `translate`, `distil`, `evaluate` and `--rerank` can use. It decodes
/// like its own program does. What the network cannot express is refused by its name. Nothing in a file is ever run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir import opus-mt-en-de --output models/opus-en-de                  # config.json, model.safetensors or pytorch_model.bin, source.spm, target.spm, vocab.json
  padir import translate-zh_en-1_9.argosmodel --output models/zh-en      # also unpacked
  padir import ct2-model --spm sentencepiece.model --from zh --to en --output models/zh-en --int8
  padir import opus-mt-en-de --output models/opus-en-de --licence CC-BY-4.0 --origin https://example.org/opus-mt-en-de
  padir translate --model models/zh-en \"你好。\"")]
pub(crate) struct Import {
    /// The directory or package of the model.
    #[arg(value_name = "SRC")]
    source: PathBuf,

    /// Where the imported model goes.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Store matrices in int8, a quarter of the size.
    #[arg(long)]
    int8: bool,

    /// The language it translates from, if its files do not say so.
    #[arg(long, value_name = "LANGUAGE", value_parser = language)]
    from: Option<Language>,

    /// The language it translates into, if its files do not say so.
    #[arg(long, value_name = "LANGUAGE", value_parser = language)]
    to: Option<Language>,

    /// The SentencePiece model of sources, and of targets too unless --target-spm is given [default: beside the model].
    #[arg(long, value_name = "FILE")]
    spm: Option<PathBuf>,

    /// The SentencePiece model of targets.
    #[arg(long, value_name = "FILE", requires = "spm")]
    target_spm: Option<PathBuf>,

    /// The licence of the model, for its card [default: what its files say].
    #[arg(long, value_name = "NAME")]
    licence: Option<String>,

    /// Where the model came from, for its card.
    #[arg(long, value_name = "TEXT")]
    origin: Option<String>,

    #[command(flatten)]
    force: Force,
}

fn language(code: &str) -> Result<Language, String> {
    Language::try_from(code.to_owned()).map_err(|error| error.to_string())
}

impl Import {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        Places::default()
            .reads([&self.source].into_iter().chain(&self.spm).chain(&self.target_spm))
            .makes_directory(&self.output)
            .check(self.force)?;
        let options = ImportOptions {
            given: Given { source_spm: self.spm, target_spm: self.target_spm },
            languages: Languages { source: self.from, target: self.to },
            licence: self.licence,
            origin: self.origin,
            int8: self.int8,
        };
        let imported = import(&self.source, &self.output, &options);
        let advice = match &imported {
            Err(ImportFailure::Foreign(error)) => error.fault.hint(),
            Err(ImportFailure::Checkpoint(error)) => error.hint(),
            Err(ImportFailure::Vocabulary(_)) => {
                "the SentencePiece model and the lists of tokens must be the model's own; only unigram models can be used"
            }
            _ => "vocabulary and weights belong to different models; copy both from one",
        };
        let imported = imported.hint(advice)?;
        if console.wants_json() {
            let mut report = serde_json::to_value(&imported)?;
            report["output"] = serde_json::json!(self.output);
            return console.print_json(&report);
        }
        let languages = match (&imported.source_language, &imported.target_language) {
            (Some(source), Some(target)) => format!("{source} → {target}"),
            _ => "languages unknown".to_owned(),
        };
        console.note(format!(
            "{}: {} model, {languages}, {} + {} layers, width {}, {} tokens, {:.1} million parameters{}",
            self.output.display(),
            imported.format,
            imported.layers[0],
            imported.layers[1],
            imported.width,
            imported.vocabulary,
            imported.parameters as f64 / 1e6,
            if imported.int8 { ", int8" } else { "" },
        ));
        match &imported.licence {
            Some(licence) => console.note(format!("licence: {licence}")),
            None => console.note("its files name no licence; --licence puts one into the card"),
        }
        if imported.source_language.is_none() || imported.target_language.is_none() {
            console.note("--from and --to say what it translates, so that `padir translate --from --to` finds it");
        }
        Ok(())
    }
}
