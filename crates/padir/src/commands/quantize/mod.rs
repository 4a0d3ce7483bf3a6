//! `padir quantize`: a model with 8-bit weights, a quarter of the size.

mod card;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use padir_checkpoint::{
    CARD, Checkpoint, CheckpointWriter, Extras, Language, Languages, MODEL, ModelCard, ModelConfig,
    SENTENCEPIECE, TOKENIZER,
};
use padir_decode::decoding::stored;
use padir_text::shortlist::SHORTLIST;
use padir_text::vocab::MARIAN_FILES;
use padir_translate::{Decoding, abilities_of, decoding_of};
use serde_json::json;

use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Store a model in int8, a quarter of the size.
///
/// Matrices become whole numbers with a scale for each row; what is small stays as it is. The result translates
/// exactly like the original does with --int8. It can be opened like any other model.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir quantize runs/en-de/best --output models/en-de
  padir translate --model models/en-de \"Two men are talking.\"
  padir quantize runs/en-de/best --output models/en-de --set length_penalty=1.2 --card card.toml --evaluation test.json")]
pub(crate) struct Quantize {
    /// The model's directory.
    #[arg(value_name = "DIR")]
    model: PathBuf,

    /// Where the new model goes.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Change a setting that the new model decodes with, such as steps or `length_penalty`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// What people should know of the model: a TOML file with title, languages, `training_data`, attribution, licence, limits and
    /// `test_set` [default: its card stays].
    #[arg(long, value_name = "FILE")]
    card: Option<PathBuf>,

    /// The scores for the card: what `padir evaluate --json` printed.
    #[arg(long, value_name = "FILE", requires = "card")]
    evaluation: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

impl Quantize {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        Places::default()
            .reads([&self.model].into_iter().chain(&self.card).chain(&self.evaluation))
            .makes_directory(&self.output)
            .check(self.force)?;
        let checkpoint = Checkpoint::open(&self.model)
            .hint("DIR is a directory that `padir train` writes, such as runs/en-de/best")?;
        let place = checkpoint.directory();
        let before = size(place)?;
        let (tokenizer, pieces) = (file(place, TOKENIZER)?, file(place, SENTENCEPIECE)?);
        let decoding = self.decoding(&checkpoint)?;
        let card = match &self.card {
            Some(words) => card::read(words, self.evaluation.as_deref(), &checkpoint, &decoding)?,
            None => ModelCard::default(),
        };
        let mut generation = checkpoint.generation().keys().clone();
        stored::write(&decoding, &mut generation);
        let extras = Extras {
            generation: Some(generation.into()),
            card,
            tokenizer: tokenizer.as_deref(),
            sentencepiece: pieces.as_deref(),
        };
        let config = with_languages(checkpoint.config(), &extras.card)?;
        let writer = CheckpointWriter::create(&self.output, &config, &extras)?;
        let copied = MARIAN_FILES.into_iter().chain([SHORTLIST]);
        for name in copied.chain(self.card.is_none().then_some(CARD)) {
            if let Some(content) = file(place, name)? {
                writer.file(name, &content)?;
            }
        }
        let mut failure = None;
        let written = writer.quantised_tensors(|parameter| {
            checkpoint.tensor(&parameter.name).map_err(|error| failure = Some(error)).ok()
        });
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        written?;
        writer.commit()?;
        let after = size(&self.output)?;
        if console.wants_json() {
            let report = json!({"output": self.output, "bytes_before": before, "bytes": after});
            return console.print_json(&report);
        }
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        console.note(format!(
            "{}: {:.1} MB of weights became {:.1} MB",
            self.output.display(),
            megabytes(before),
            megabytes(after)
        ));
        Ok(())
    }
}

impl Quantize {
    /// How the model decodes, with what the user changed.
    fn decoding(&self, checkpoint: &Checkpoint) -> Result<Decoding> {
        let model = abilities_of(checkpoint.config());
        let decoding = decoding_of(checkpoint)?.with_assignments(&self.set, &model)?;
        decoding.check_for(&model)?;
        Ok(decoding)
    }
}

/// The configuration with the languages of the card, if it has none of its own: models are found by them.
fn with_languages(config: &ModelConfig, card: &ModelCard) -> Result<ModelConfig> {
    let mut config = config.clone();
    let [source, target] = &card.languages[..] else { return Ok(config) };
    let languages = Languages {
        source: Some(Language::try_from(source.clone())?),
        target: Some(Language::try_from(target.clone())?),
    };
    match config.languages.pair() {
        Some((own_source, own_target)) if config.languages != languages => {
            bail!(
                "the model translates {own_source} into {own_target}; its card says {source} into {target}"
            );
        }
        Some(_) => {}
        None => config.languages = languages,
    }
    Ok(config)
}

/// The content of a file that may be missing.
pub(super) fn file(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?))
}

pub(super) fn size(directory: &Path) -> Result<u64> {
    Ok(fs::metadata(directory.join(MODEL))?.len())
}
