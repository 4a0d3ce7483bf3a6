//! Files: uploaded, translated, and kept in memory until they are downloaded.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::libre::choose;
use crate::app::{Active, App, How, Translated};
use crate::document::{Document, Kind};
use crate::error::{ErrorBody, Refusal};

/// A file to translate.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileForm {
    /// The file: its name ends with `.txt`, `.srt` or `.html`, and its text is UTF-8.
    #[schema(content_media_type = "application/octet-stream")]
    file: String,
    /// The language to translate from, or `auto`.
    source: String,
    /// The language to translate into.
    target: String,
    /// The API key, if the server needs one.
    api_key: Option<String>,
}

/// Where the translated file is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileAnswer {
    /// Its address; it is kept for some minutes.
    translated_file_url: String,
}

/// Translates a file.
#[utoipa::path(
    post, path = "/translate_file", tag = "LibreTranslate",
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "Where the translated file is", body = FileAnswer),
        (status = 400, description = "The request is wrong, or a key is missing", body = ErrorBody),
        (status = 403, description = "The key is wrong", body = ErrorBody),
        (status = 413, description = "Too much text", body = ErrorBody),
        (status = 415, description = "A body of another type", body = ErrorBody),
        (status = 429, description = "Too many requests of one client", body = ErrorBody),
        (status = 500, description = "The server failed", body = ErrorBody),
        (status = 503, description = "Too many requests, or out of time", body = ErrorBody),
    )
)]
pub(crate) async fn translate_file(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Result<Json<FileAnswer>, Refusal> {
    let host = host(request.headers());
    let (client, fields) = app.admit(&active, request).await?;
    let missing = || Refusal::invalid("Invalid request: missing file parameter");
    let upload = fields.file.as_ref().ok_or_else(missing)?;
    let unknown = || {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.extension()).collect();
        Refusal::Invalid(format!(
            "Invalid request: file format must be one of {}",
            known.join(", ")
        ))
    };
    let kind = Kind::of(&upload.name).ok_or_else(unknown)?;
    let (source, target) = (fields.needed("source")?, fields.needed("target")?);
    let content = str::from_utf8(&upload.content)
        .map_err(|_| Refusal::invalid("Invalid request: the file is not UTF-8"))?;
    let document = Document::parse(kind, content.strip_prefix('\u{feff}').unwrap_or(content));
    let texts = document.texts();
    let sample: String = texts.join(" ").chars().take(4000).collect();
    let choice = choose(&app.catalogue(), &sample, source, target)?;
    let items: Vec<_> = texts.into_iter().map(|text| choice.item(text)).collect();
    let translated = app.translate(&active, &client, &items, &How::default()).await?;
    let content = document.with(translated.iter().map(Translated::text).collect());
    let title = format!("translated_{}.{}", choice.model.target, kind.extension());
    let name = app.store.keep(kind, title, content)?;
    Ok(Json(FileAnswer { translated_file_url: format!("http://{host}/download_file/{name}") }))
}

/// What the client calls this server. Anything that is no host and port is not repeated.
fn host(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']' | '_');
    if host.is_empty() || !host.chars().all(plain) {
        "localhost".to_owned()
    } else {
        host.to_owned()
    }
}

/// Gives a translated file.
#[utoipa::path(
    get, path = "/download_file/{name}", tag = "LibreTranslate",
    params(("name" = String, Path, description = "The name, from `translatedFileUrl`")),
    responses(
        (status = 200, description = "The file", content_type = "text/plain", body = String),
        (status = 404, description = "No such file, or not any more", body = ErrorBody),
    )
)]
pub(crate) async fn download_file(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let gone = Refusal::Missing("there is no such file, or not any more");
    let file = app.store.get(&name).ok_or(gone)?;
    let attachment = format!("attachment; filename=\"{}\"", file.title);
    let attachment = HeaderValue::from_str(&attachment).map_err(|_| Refusal::Failed)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.kind.content_type())),
        (header::CONTENT_DISPOSITION, attachment),
        // Somebody else's page does not act in the name of this server.
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    ];
    Ok((headers, file.content).into_response())
}
