//! The card of a model that is passed on: words from a file, numbers from an evaluation.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use padir_checkpoint::{CardScore, GenerationConfig, Method, ModelCard};
use serde::Deserialize;

use crate::commands::report::evaluation::{Evaluation, Row};
use crate::hint::WithHint;

/// What people say about a model, as TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    title: String,
    /// Source first.
    languages: Vec<String>,
    training_data: String,
    attribution: String,
    licence: String,
    limits: String,
    /// What the evaluation translated.
    #[serde(default)]
    test_set: String,
}

/// The card that a file describes, with the scores of the setting that the model decodes with.
pub(super) fn read(
    words: &Path,
    evaluation: Option<&Path>,
    generation: &GenerationConfig,
) -> Result<ModelCard> {
    let text =
        fs::read_to_string(words).with_context(|| format!("cannot read {}", words.display()))?;
    let words: Words =
        toml::from_str(&text).with_context(|| format!("{} is not a card", words.display())).hint(
            "it has title, languages, training_data, attribution, licence, limits and test_set",
        )?;
    let scores = evaluation.map(|path| scores(path, &words.test_set, generation)).transpose()?;
    Ok(ModelCard {
        title: words.title,
        languages: words.languages,
        training_data: words.training_data,
        attribution: words.attribution,
        licence: words.licence,
        scores: scores.unwrap_or_default(),
        limits: words.limits,
    })
}

fn scores(path: &Path, set: &str, generation: &GenerationConfig) -> Result<Vec<CardScore>> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let evaluation: Evaluation = serde_json::from_slice(&text)
        .with_context(|| format!("{} is not an evaluation", path.display()))
        .hint("`padir evaluate --json` writes one")?;
    let setting = match generation.method {
        Method::Beam(beam) => format!("beam{}", beam.num_beams),
        Method::Refine(refinement) => {
            format!("steps{}.lengths{}", refinement.steps, refinement.lengths)
        }
    };
    let Row { figures, .. } = evaluation
        .rows
        .iter()
        .find(|row| row.name == setting)
        .ok_or_else(|| anyhow!("{} has no setting {setting}", path.display()))
        .hint("evaluate what the model decodes with, or change that with --set")?;
    let set = format!("{set}, {setting}, {}", evaluation.precision);
    let score = |(metric, signature): (&String, &String)| {
        let value = match metric.as_str() {
            "BLEU" => figures.bleu,
            "chrF2" => figures.chrf,
            "stutter" => figures.stutter,
            _ => return None,
        };
        let (metric, signature) = (metric.clone(), signature.clone());
        Some(CardScore { set: set.clone(), metric, value, signature })
    };
    Ok(evaluation.signatures.iter().filter_map(score).collect())
}
