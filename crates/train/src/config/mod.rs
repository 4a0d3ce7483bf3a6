//! One TOML file says what a run is.
//!
//! ```text
//! file ─┐
//! --set ┴► document ─► sections ─► Config ─► config.toml of the run, every default spelled out
//!                        └► problems: all of them, each with its line or flag
//! ```
//!
//! Every section is a plain struct, documented field by field; [`MANUAL`] is a file with every
//! key. A fault does not end the reading: unknown keys, wrong types, impossible shapes and
//! missing files are reported together, before any work is done.
//!
//! A resumed run must have the configuration it was begun with: [`Config::differences`] names
//! what changed, save for keys that do not touch what is learnt, such as budgets, and says which changes a run can go on with.

mod batch;
mod check;
mod data;
mod decode;
mod difference;
mod document;
mod model;
mod noise;
mod objective;
mod optimiser;
mod problem;
mod run;
mod section;

use std::fs;
use std::path::Path;

use serde::Serialize;

pub use batch::{BatchLayout, BatchSettings};
pub use data::{DataConfig, TextFiles, TrainData};
pub use decode::DecodeConfig;
pub use difference::Difference;
pub use model::{LengthSettings, ModelSettings, ParallelSettings};
pub use noise::Noise;
pub use objective::{
    Cmlm, Corruption, Ctc, FirstStage, Inat, LengthObjective, Objective, ObjectiveConfig, Padir,
    Rate, Reduce, Sundae,
};
pub use optimiser::{Algorithm, OptimiserConfig};
pub use problem::{ConfigError, Origin, Problem};
pub use run::{DeviceConfig, DeviceKind, Measure, Metric, RunConfig};

use padir_checkpoint::ModelConfig;
use padir_text::batch::BatchConfig;
use padir_text::vocab::Vocabulary;
use padir_translate::abilities_of;
use section::{Files, Report, Section};

/// A configuration with every key, its default and its meaning.
pub const MANUAL: &str = include_str!("manual.toml");

/// Everything that determines a run, defaults resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// `[data]`: what to learn from and what to watch.
    pub data: DataConfig,
    /// `[model]`: the shape of the network.
    pub model: ModelSettings,
    /// `[objective]`: what is learnt from a pair.
    pub objective: ObjectiveConfig,
    /// `[optimiser]`: how parameters move.
    pub optimiser: OptimiserConfig,
    /// `[batch]`: how pairs become batches.
    pub batch: BatchSettings,
    /// `[run]`: where, how long, and what is watched meanwhile.
    pub run: RunConfig,
    /// `[device]`: what computes.
    pub device: DeviceConfig,
    /// What was read otherwise than it is written today.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Config {
    /// Reads a file, applies `a.b=c` flags, and checks everything, the files it names included.
    ///
    /// # Errors
    /// If the file cannot be read, or all its problems.
    pub fn read(path: impl AsRef<Path>, flags: &[String]) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        Self::parse(path, &read_text(path)?, flags, Files::Required)
    }

    /// Reads the configuration of an earlier run, whose data may be gone.
    ///
    /// # Errors
    /// If the file cannot be read, or all its problems.
    pub fn recall(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        Self::parse(path, &read_text(path)?, &[], Files::Ignored)
    }

    /// Checks a text as if it stood in a file. What it names need not be there yet.
    ///
    /// # Errors
    /// All its problems.
    pub fn preview(
        path: impl AsRef<Path>,
        text: &str,
        flags: &[String],
    ) -> Result<Self, ConfigError> {
        Self::parse(path.as_ref(), text, flags, Files::Ignored)
    }

    fn parse(path: &Path, text: &str, flags: &[String], files: Files) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let entries = document::read(path, text, flags, &mut problems);
        // What a broken file lacks is not worth reporting.
        let broken = !problems.is_empty();
        let report = Report::new(path, files, problems);
        let config = Self::assemble(Section::root(&report, entries));
        if !broken {
            check::check(&config, &report);
        }
        let mut problems = report.finish();
        if broken {
            problems.retain(|problem| !matches!(problem.origin, Origin::File(_)));
        }
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError::Problems { path: path.to_owned(), problems })
        }
    }

    fn assemble(mut root: Section<'_>) -> Self {
        let data = DataConfig::read(root.section("data"));
        let objective = ObjectiveConfig::read(root.section("objective"));
        let model = ModelSettings::read(root.section("model"), objective.kind.training());
        let device = DeviceConfig::read(root.section("device"));
        let layout = if device.fused { BatchLayout::Ragged } else { BatchLayout::Padded };
        let batch = BatchSettings::read(root.section("batch"), layout);
        // Any vocabulary shows what the model will be able to do.
        let abilities = abilities_of(&model.to_config(32_100, 32_000));
        let mut run = RunConfig::read(root.section("run"), &abilities);
        let optimiser = OptimiserConfig::read(root.section("optimiser"), run.step_limit());
        let notes = root.notes();
        root.finish();
        run.metric = run.metric.or_else(|| {
            let set = data.dev.keys().next()?.clone();
            Some(Metric { set, measure: Measure::Loss })
        });
        Self { data, model, objective, optimiser, batch, run, device, notes }
    }

    /// The shape of the network for a vocabulary, and what it translates.
    pub fn model_config(&self, vocabulary: &Vocabulary) -> ModelConfig {
        let languages = self.data.languages();
        ModelConfig { languages, ..self.model.to_config(vocabulary.size(), vocabulary.pieces()) }
    }

    /// What the batch planner needs.
    pub fn batch_config(&self) -> BatchConfig {
        self.batch.to_config(self.run.seed, self.optimiser.accumulate)
    }

    /// As TOML, every default spelled out; reading it gives the same configuration.
    ///
    /// # Panics
    /// Never: all values are numbers, words and tables.
    pub fn to_toml(&self) -> String {
        self.to_table().to_string()
    }

    fn to_table(&self) -> toml::Table {
        toml::Table::try_from(self).expect("numbers, words and tables")
    }

    /// What a resumed run may not change unasked but did, key by key.
    pub fn differences(&self, new: &Self) -> Vec<Difference> {
        difference::differences(&self.to_table(), &new.to_table())
    }
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
