//! The card of a model that is passed on: words from a file, numbers from an evaluation.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use padir_checkpoint::{CardScore, Checkpoint, ModelCard};
use padir_pipeline::evaluate::{Evaluation, Row};
use padir_pipeline::model::hash_model;
use padir_translate::Decoding;
use serde::Deserialize;

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

/// The card that a file describes, with the scores that this model reached as it decodes.
pub(super) fn read(
    words: &Path,
    evaluation: Option<&Path>,
    model: &Checkpoint,
    own: &Decoding,
) -> Result<ModelCard> {
    let text =
        fs::read_to_string(words).with_context(|| format!("cannot read {}", words.display()))?;
    let path = words;
    let words: Words =
        toml::from_str(&text).with_context(|| format!("{} is not a card", path.display())).hint(
            "it has title, languages, training_data, attribution, licence, limits and test_set",
        )?;
    let scores = match evaluation {
        Some(_) if words.test_set.trim().is_empty() => {
            bail!("{} does not name the test_set of the evaluation", path.display())
        }
        Some(evaluation) => scores(evaluation, &words.test_set, model, own)?,
        None => Vec::new(),
    };
    Ok(ModelCard {
        title: words.title,
        languages: words.languages,
        origin: String::new(),
        training_data: words.training_data,
        attribution: words.attribution,
        licence: words.licence,
        scores,
        limits: words.limits,
    })
}

fn scores(path: &Path, set: &str, model: &Checkpoint, own: &Decoding) -> Result<Vec<CardScore>> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let evaluation: Evaluation = serde_json::from_slice(&text)
        .with_context(|| format!("{} is not an evaluation", path.display()))
        .hint("`padir evaluate --json` writes one")?;
    let files = hash_model(model.directory(), evaluation.shortlist)?;
    if files != evaluation.model.files {
        let model = model.directory().display();
        return Err(anyhow!("{} is about another model than {model}", path.display()))
            .hint("evaluate this one");
    }
    let how = match &evaluation {
        Evaluation { shortlist: true, .. } => Some("with a shortlist"),
        Evaluation { reranker: Some(_), .. } => Some("with a reranker"),
        Evaluation { precision, .. } => Some(precision.as_str()).filter(|name| *name != "int8"),
    };
    if let Some(how) = how {
        return Err(anyhow!(
            "{} was made {how}, as the new model does not compute",
            path.display()
        ))
        .hint("evaluate with --int8, without --shortlist and without --rerank");
    }
    // As settings, not as text: what an older evaluation did not know has its default.
    let is_own = |row: &&Row| {
        serde_json::from_value(row.decoding.clone()).is_ok_and(|found: Decoding| found == *own)
    };
    let Row { name, figures, .. } = evaluation
        .rows
        .iter()
        .find(is_own)
        .ok_or_else(|| anyhow!("{} was not made with the settings of this model", path.display()))
        .hint(format!(
            "it decodes with {}; evaluate that, or change it with --set",
            serde_json::to_value(own)?
        ))?;
    let set = format!("{set}, {name}, {}", evaluation.precision);
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
