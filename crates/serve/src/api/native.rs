//! Our own interface: every decoding setting, n-best lists, scores, confidences, forced words.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::header;
use axum::response::IntoResponse;
use padir_decode::decoding::MANUAL;
use padir_translate::Alternative;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::libre::{Choice, Detected, Texts, choose};
use crate::app::{Active, App, How, Item, Translated};
use crate::catalogue::Model;
use crate::error::{ErrorBody, Refusal};
use crate::limits::MAX_NBEST;
use crate::words::Force;

/// A request for translations.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TranslateRequest {
    /// One text or several.
    pub(crate) q: Texts,
    /// The language to translate from, or `auto`.
    #[serde(default = "auto")]
    #[schema(example = "en", default = "auto")]
    pub(crate) source: String,
    /// The language to translate into.
    #[schema(example = "de")]
    pub(crate) target: String,
    /// Changes of the model's decoding settings: the keys of `padir translate --set`, as an object. `/v1/manual` lists them.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({"steps": 2}))]
    pub(crate) settings: Map<String, Value>,
    /// How many of the best translations are wanted.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 64, default = 1)]
    pub(crate) nbest: usize,
    /// Whether tokens and their confidences are wanted.
    #[serde(default)]
    pub(crate) tokens: bool,
    /// Words that stand fixed at every step, in a translation to start from; for one sentence.
    pub(crate) force: Option<Force>,
    /// The API key, if the server needs one.
    #[serde(default, rename = "api_key")]
    #[expect(dead_code, reason = "it is read before the rest")]
    api_key: Option<String>,
}

fn auto() -> String {
    "auto".to_owned()
}

fn one() -> usize {
    1
}

/// Translations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TranslateResponse {
    /// One for each text.
    pub(crate) translations: Vec<TranslationEntry>,
}

/// A translated text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TranslationEntry {
    /// The best translation.
    text: String,
    /// The n best translations of the whole text, distinct, best first: number i of each sentence, or its last.
    nbest: Vec<String>,
    /// Its sentences, each with its own n-best list.
    sentences: Vec<SentenceEntry>,
    /// The name of the model.
    model: String,
    /// What the language was found to be, if it was `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    detected: Option<Detected>,
}

/// A translated sentence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SentenceEntry {
    /// What was translated.
    source: String,
    /// Its translations, best first.
    nbest: Vec<AlternativeEntry>,
}

/// A translation of a sentence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlternativeEntry {
    /// The translation.
    text: String,
    /// What translations are ordered by.
    score: f64,
    /// ln p, as the model sees it.
    log_prob: f64,
    /// How many steps it took.
    steps: usize,
    /// The numbers of its hypotheses, as in steps of the stream: one, or one for each part of a sentence that was too long for the model.
    hypotheses: Vec<usize>,
    /// Whether it did not end by itself.
    cut: bool,
    /// Its tokens, if they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<TokenEntry>>,
}

/// A token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenEntry {
    /// As it stands in the vocabulary; `▁` is a space.
    piece: String,
    /// Its probability when it was last predicted, from 0 to 1; 1 for a forced one.
    confidence: f64,
}

/// A probability in no more digits than mean something.
pub(crate) fn probability(log_prob: f64) -> f64 {
    let p = log_prob.exp();
    if p.is_finite() { (p.clamp(0.0, 1.0) * 1e4).round() / 1e4 } else { 0.0 }
}

/// Where numbers may be infinite, JSON has none.
fn finite(x: f64) -> f64 {
    if x.is_nan() { f64::MIN } else { x.clamp(f64::MIN, f64::MAX) }
}

fn alternative_entry(model: &Model, alternative: &Alternative, tokens: bool) -> AlternativeEntry {
    let token =
        |(&id, &log_prob)| TokenEntry { piece: model.piece(id), confidence: probability(log_prob) };
    let list = || alternative.token_ids.iter().zip(&alternative.log_probs).map(token).collect();
    AlternativeEntry {
        text: alternative.text.clone(),
        score: finite(alternative.score),
        log_prob: finite(alternative.log_prob),
        steps: alternative.steps,
        hypotheses: alternative.hypotheses.clone(),
        cut: alternative.cut,
        tokens: tokens.then(list),
    }
}

/// A request that was read and checked.
pub(crate) struct Ready {
    pub(crate) items: Vec<Item>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) how: How,
    pub(crate) tokens: bool,
    pub(crate) nbest: usize,
}

/// Checks a request.
pub(crate) fn prepare(app: &App, values: Map<String, Value>) -> Result<Ready, Refusal> {
    let request: TranslateRequest = serde_json::from_value(Value::Object(values))
        .map_err(|e| Refusal::Invalid(e.to_string()))?;
    if !(1..=MAX_NBEST).contains(&request.nbest) {
        return Err(Refusal::Invalid(format!(
            "`nbest` is {}; it must be from 1 to {MAX_NBEST}",
            request.nbest
        )));
    }
    let catalogue = app.catalogue();
    let texts = request.q.list();
    if texts.len() > app.limits.sentences {
        return Err(Refusal::TooLarge(format!("more than {} texts", app.limits.sentences)));
    }
    let mut items = Vec::with_capacity(texts.len());
    let mut choices: Vec<Choice> = Vec::with_capacity(texts.len());
    for text in texts {
        let choice = choose(&catalogue, &text, &request.source, &request.target)?;
        items.push(choice.item(text));
        choices.push(choice);
    }
    let template = match (&request.force, choices.first()) {
        (Some(force), Some(choice)) => Some(force.template(&choice.model)?),
        _ => None,
    };
    let how = How { settings: request.settings, nbest: request.nbest, template, watched: false };
    Ok(Ready { items, choices, how, tokens: request.tokens, nbest: request.nbest })
}

/// Puts an answer together.
pub(crate) fn respond(
    translated: &[Translated],
    choices: &[Choice],
    nbest: usize,
    tokens: bool,
) -> TranslateResponse {
    let entry = |(text, choice): (&Translated, &Choice)| {
        let sentence = |(source, list): (&str, &Arc<Vec<Alternative>>)| SentenceEntry {
            source: source.to_owned(),
            nbest: list.iter().map(|one| alternative_entry(&choice.model, one, tokens)).collect(),
        };
        TranslationEntry {
            text: text.text(),
            nbest: text.texts(nbest),
            sentences: text.layout.sentences().zip(&text.sentences).map(sentence).collect(),
            model: choice.model.name.clone(),
            detected: choice.detected.clone(),
        }
    };
    TranslateResponse { translations: translated.iter().zip(choices).map(entry).collect() }
}

/// Translates with every decoding setting.
#[utoipa::path(
    post, path = "/v1/translate", tag = "padir", request_body = TranslateRequest,
    responses(
        (status = 200, description = "The translations", body = TranslateResponse),
        (status = 400, description = "The request is wrong, or a key is missing", body = ErrorBody),
        (status = 403, description = "The key is wrong", body = ErrorBody),
        (status = 413, description = "Too much text", body = ErrorBody),
        (status = 415, description = "A body of another type", body = ErrorBody),
        (status = 429, description = "Too many requests of one client", body = ErrorBody),
        (status = 500, description = "The server failed", body = ErrorBody),
        (status = 503, description = "Too many requests, or out of time", body = ErrorBody),
    )
)]
pub(crate) async fn translate(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Result<Json<TranslateResponse>, Refusal> {
    let (client, fields) = app.admit(&active, request).await?;
    let Ready { items, choices, how, tokens, nbest } = prepare(&app, fields.values)?;
    let translated = app.translate(&active, &client, &items, &how).await?;
    Ok(Json(respond(&translated, &choices, nbest, tokens)))
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelEntry {
    /// Its name.
    name: String,
    /// The language it translates from.
    source: String,
    /// The language it translates into.
    target: String,
    /// In which order it predicts tokens: `autoregressive`, `parallel` or `alignment`.
    order: &'static str,
    /// Its decoding settings, with the `method`.
    #[schema(value_type = Object)]
    settings: Value,
    /// The most steps that a request may ask for.
    max_steps: usize,
}

/// Lists the models and their decoding settings.
#[utoipa::path(
    get, path = "/v1/models", tag = "padir",
    responses((status = 200, description = "All models", body = Vec<ModelEntry>))
)]
pub(crate) async fn models(State(app): State<Arc<App>>) -> Json<Vec<ModelEntry>> {
    let entry = |model: &Arc<Model>| ModelEntry {
        name: model.name.clone(),
        source: model.source.clone(),
        target: model.target.clone(),
        order: match model.abilities.order {
            padir_decode::Order::Autoregressive => "autoregressive",
            padir_decode::Order::Parallel => "parallel",
            padir_decode::Order::Alignment => "alignment",
        },
        settings: serde_json::to_value(&*model.decoding).unwrap_or_default(),
        max_steps: app.limits.steps,
    };
    Json(app.catalogue().models.iter().map(entry).collect())
}

/// Explains every decoding setting, its default and its range.
#[utoipa::path(
    get, path = "/v1/manual", tag = "padir",
    responses((status = 200, description = "Markdown", content_type = "text/markdown", body = String))
)]
pub(crate) async fn manual() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], MANUAL)
}
