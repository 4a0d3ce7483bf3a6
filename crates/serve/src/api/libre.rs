//! LibreTranslate's interface, so that its clients work unchanged.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::fields::Fields;
use crate::app::{Active, App, How, Item};
use crate::catalogue::{Catalogue, Model};
use crate::detect;
use crate::document::Kind;
use crate::document::html::Html;
use crate::error::{ErrorBody, Refusal};
use crate::limits::MAX_NBEST;

/// One text or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Texts {
    /// One text.
    One(String),
    /// Several texts.
    Many(Vec<String>),
}

impl Texts {
    /// As a list.
    pub(crate) fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// What texts are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Plain text.
    #[default]
    Text,
    /// HTML: the text between tags is translated.
    Html,
}

/// A request for translations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TranslateForm {
    /// One text or several.
    q: Texts,
    /// The language to translate from, or `auto`.
    #[schema(example = "en")]
    source: String,
    /// The language to translate into.
    #[schema(example = "de")]
    target: String,
    /// What the texts are made of.
    #[serde(default)]
    #[schema(default = "text")]
    format: Option<Format>,
    /// How many other translations are wanted; 0 if none are named.
    #[schema(minimum = 0, maximum = 63)]
    alternatives: Option<usize>,
    /// The API key, if the server needs one.
    api_key: Option<String>,
}

/// A detected language.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Detected {
    /// From 0 to 100.
    pub(crate) confidence: f64,
    /// The language's code.
    pub(crate) language: String,
}

/// One of something for one text, or a list for several.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    /// For one text.
    One(T),
    /// For several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn of(mut list: Vec<T>, many: bool) -> Option<Self> {
        if many { Some(Self::Many(list)) } else { list.pop().map(Self::One) }
    }
}

/// Translations.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TranslateAnswer {
    /// The translation, or a list of them.
    translated_text: OneOrMany<String>,
    /// What the language was found to be, if it was `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    detected_language: Option<OneOrMany<Detected>>,
    /// Other translations, if they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<OneOrMany<Vec<String>>>,
}

/// Reads `q`: a text or a list of texts.
fn texts(fields: &Fields) -> Result<Texts, Refusal> {
    let missing = || Refusal::invalid("Invalid request: missing q parameter");
    let wrong = || Refusal::invalid("Invalid request: q must be a string or an array of strings");
    match fields.values.get("q").ok_or_else(missing)? {
        Value::Null => Err(missing()),
        Value::String(text) => Ok(Texts::One(text.clone())),
        Value::Array(list) => {
            let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
            Ok(Texts::Many(list.iter().map(text).collect::<Result<_, _>>()?))
        }
        _ => Err(wrong()),
    }
}

impl TranslateForm {
    fn of(fields: &Fields) -> Result<Self, Refusal> {
        let format = match fields.string("format")?.unwrap_or("text") {
            "text" | "" => Format::Text,
            "html" => Format::Html,
            _ => return Err(Refusal::invalid("Invalid request: format must be text or html")),
        };
        let number = match fields.values.get("alternatives") {
            None | Some(Value::Null) => Some(0),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_u64().and_then(|n| usize::try_from(n).ok()),
        };
        let alternatives = number.filter(|&n| n < MAX_NBEST).ok_or_else(|| {
            let most = MAX_NBEST - 1;
            Refusal::Invalid(format!("Invalid request: alternatives must be from 0 to {most}"))
        })?;
        Ok(Self {
            q: texts(fields)?,
            source: fields.needed("source")?.to_owned(),
            target: fields.needed("target")?.to_owned(),
            format: Some(format),
            alternatives: Some(alternatives),
            api_key: None,
        })
    }
}

/// How a text is to be translated.
#[derive(Clone)]
pub(crate) struct Choice {
    pub(crate) model: Arc<Model>,
    /// What its language was found to be, if that was to be found out.
    pub(crate) detected: Option<Detected>,
    /// Whether it is in the target's language already.
    kept: bool,
}

impl Choice {
    /// A text to be translated so.
    pub(crate) fn item(&self, text: String) -> Item {
        Item { text, model: Arc::clone(&self.model), kept: self.kept }
    }
}

/// Chooses the model for a text.
pub(crate) fn choose(
    catalogue: &Catalogue,
    text: &str,
    source: &str,
    target: &str,
) -> Result<Choice, Refusal> {
    if !source.eq_ignore_ascii_case("auto") {
        return Ok(Choice { model: catalogue.find(source, target)?, detected: None, kept: false });
    }
    let found = detect::detect(text, &catalogue.sources()).ok_or(Refusal::Failed)?;
    let detected = Detected { confidence: found.confidence, language: found.language };
    let kept = detected.language.eq_ignore_ascii_case(target);
    let model = match catalogue.find(&detected.language, target) {
        Err(_) if kept => {
            let into = |model: &&Arc<Model>| model.target.eq_ignore_ascii_case(target);
            let unknown = || Refusal::invalid("the target language is not supported");
            catalogue.models.iter().find(into).map(Arc::clone).ok_or_else(unknown)?
        }
        found => found?,
    };
    Ok(Choice { model, detected: Some(detected), kept })
}

/// Translates a text or a list of texts.
#[utoipa::path(
    post, path = "/translate", tag = "LibreTranslate",
    request_body(content((TranslateForm = "application/json"), (TranslateForm = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The translation", body = TranslateAnswer),
        (status = 400, description = "The request is wrong, or a key is missing", body = ErrorBody),
        (status = 403, description = "The key is wrong", body = ErrorBody),
        (status = 413, description = "Too much text", body = ErrorBody),
        (status = 415, description = "A body of another type", body = ErrorBody),
        (status = 429, description = "Too many requests of one client; `Retry-After` says when", body = ErrorBody),
        (status = 500, description = "The server failed", body = ErrorBody),
        (status = 503, description = "Too many requests, or out of time; `Retry-After` says when", body = ErrorBody),
    )
)]
pub(crate) async fn translate(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Result<Json<TranslateAnswer>, Refusal> {
    let (client, fields) = app.admit(&active, request).await?;
    let form = TranslateForm::of(&fields)?;
    let many = matches!(form.q, Texts::Many(_));
    let html = form.format == Some(Format::Html);
    let alternatives = form.alternatives.unwrap_or(0);
    let wanted = if html { 0 } else { alternatives };
    let catalogue = app.catalogue();
    let texts = form.q.list();
    if texts.len() > app.limits.sentences {
        let most = app.limits.sentences;
        return Err(Refusal::TooLarge(format!("more than {most} texts")));
    }
    let mut items = Vec::new();
    let mut detections = Vec::new();
    let mut pages = Vec::new();
    for text in &texts {
        let choice = choose(&catalogue, text, &form.source, &form.target)?;
        detections.extend(choice.detected.clone());
        let runs = if html {
            let page = Html::parse(text);
            let runs = page.texts();
            pages.push(page);
            runs
        } else {
            vec![text.clone()]
        };
        items.extend(runs.into_iter().map(|text| choice.item(text)));
    }
    let how = How { nbest: wanted + 1, ..How::default() };
    let translated = app.translate(&active, &client, &items, &how).await?;
    let (mut best, mut others) = (Vec::new(), Vec::new());
    if html {
        let mut runs = translated.iter().map(crate::app::Translated::text);
        for page in &pages {
            let own = runs.by_ref().take(page.texts().len()).collect();
            best.push(page.with(own));
            others.push(Vec::new());
        }
    } else {
        for text in &translated {
            let mut all = text.texts(wanted + 1).into_iter();
            best.push(all.next().unwrap_or_default());
            others.push(all.collect());
        }
    }
    Ok(Json(TranslateAnswer {
        translated_text: OneOrMany::of(best, many).ok_or(Refusal::Failed)?,
        detected_language: if detections.is_empty() {
            None
        } else {
            OneOrMany::of(detections, many)
        },
        alternatives: if alternatives > 0 { OneOrMany::of(others, many) } else { None },
    }))
}

/// A request for the language of a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DetectForm {
    /// The text.
    #[schema(example = "Guten Morgen")]
    q: String,
    /// The API key, if the server needs one.
    api_key: Option<String>,
}

/// Finds out the language of a text, of those that are translated here.
#[utoipa::path(
    post, path = "/detect", tag = "LibreTranslate",
    request_body(content((DetectForm = "application/json"), (DetectForm = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The language, and how certain that is", body = Vec<Detected>),
        (status = 400, description = "The request is wrong, or a key is missing", body = ErrorBody),
        (status = 403, description = "The key is wrong", body = ErrorBody),
        (status = 413, description = "Too much text", body = ErrorBody),
        (status = 415, description = "A body of another type", body = ErrorBody),
        (status = 429, description = "Too many requests of one client", body = ErrorBody),
        (status = 503, description = "Too many requests", body = ErrorBody),
    )
)]
pub(crate) async fn detect(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Result<Json<Vec<Detected>>, Refusal> {
    let (_, fields) = app.admit(&active, request).await?;
    let form = DetectForm { q: fields.needed("q")?.to_owned(), api_key: None };
    if form.q.chars().count() > app.limits.characters {
        let most = app.limits.characters;
        return Err(Refusal::TooLarge(format!("more than {most} characters")));
    }
    let found = detect::detect(&form.q, &app.catalogue().sources()).ok_or(Refusal::Failed)?;
    Ok(Json(vec![Detected { confidence: found.confidence, language: found.language }]))
}

/// A language.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LanguageEntry {
    /// Its code.
    code: String,
    /// Its English name.
    name: String,
    /// What it can be translated into.
    targets: Vec<String>,
}

/// Lists the languages.
#[utoipa::path(
    get, path = "/languages", tag = "LibreTranslate",
    responses((status = 200, description = "All languages", body = Vec<LanguageEntry>))
)]
pub(crate) async fn languages(State(app): State<Arc<App>>) -> Json<Vec<LanguageEntry>> {
    let languages = app.catalogue().languages().into_iter();
    let entry = |language: crate::catalogue::Language| LanguageEntry {
        code: language.code,
        name: language.name,
        targets: language.targets,
    };
    Json(languages.map(entry).collect())
}

/// What a user interface needs to know.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "it is not ours")]
pub(crate) struct FrontendSettings {
    /// Most characters of a request.
    char_limit: usize,
    /// Milliseconds between typing and translating.
    frontend_timeout: u64,
    /// Whether there are API keys.
    api_keys: bool,
    /// Whether a key is needed.
    key_required: bool,
    /// Whether suggestions are taken: they are not.
    suggestions: bool,
    /// Whether files are translated.
    files_translation: bool,
    /// The ends of their names.
    supported_files_format: Vec<String>,
    /// The languages to begin with.
    language: Pair,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Pair {
    source: CodeAndName,
    target: CodeAndName,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CodeAndName {
    code: String,
    name: String,
}

/// Says what a user interface needs to know.
#[utoipa::path(
    get, path = "/frontend/settings", tag = "LibreTranslate",
    responses((status = 200, description = "Limits and defaults", body = FrontendSettings))
)]
pub(crate) async fn settings(
    State(app): State<Arc<App>>,
) -> Result<Json<FrontendSettings>, Refusal> {
    let catalogue = app.catalogue();
    let first = catalogue.models.first().ok_or(Refusal::Failed)?;
    let language = |code: &str| CodeAndName { code: code.to_owned(), name: detect::name(code) };
    Ok(Json(FrontendSettings {
        char_limit: app.limits.characters,
        frontend_timeout: 500,
        api_keys: app.gate.needs_key(),
        key_required: app.gate.needs_key(),
        suggestions: false,
        files_translation: true,
        supported_files_format: Kind::ALL
            .iter()
            .map(|kind| format!(".{}", kind.extension()))
            .collect(),
        language: Pair { source: language(&first.source), target: language(&first.target) },
    }))
}
